"""Four words at once, as a processor with vector registers handles them in one instruction.

Rules that do the same along several lines (the four directions of a board, for instance) are
written once for all: a :class:`Words` holds four words, and its operators work on each of them.
Compiled, it is one vector register, and portable (LLVM splits it up for processors without them);
in plain Python it is a tuple.  It makes move generation in Othello twice as fast.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_constant
from numba.extending import intrinsic, models, register_model, typeof_impl

from cutnode.contract.bits import WORD
from cutnode.contract.constants import ConstantType, pointer
from cutnode.contract.native import in_compiled_code, operators_in_compiled_code


class Words(NamedTuple):
    """Four 64-bit words.

    ``&``, ``|``, ``^``, ``~``, ``+``, ``-``, ``<<`` and ``>>`` work on each unsigned word; shifts
    are by 0 to 63 bits.
    """

    first: int
    second: int
    third: int
    fourth: int

    def __and__(self, other: Words) -> Words:
        return _each(operator.and_, self, other)

    def __or__(self, other: Words) -> Words:
        return _each(operator.or_, self, other)

    def __xor__(self, other: Words) -> Words:
        return _each(operator.xor, self, other)

    def __lshift__(self, other: Words) -> Words:
        return _within_a_word(operator.lshift, self, other)

    def __rshift__(self, other: Words) -> Words:
        return _each(operator.rshift, self, other)

    def __add__(self, other: Words) -> Words:  # type: ignore[override]
        return _within_a_word(operator.add, self, other)

    def __sub__(self, other: Words) -> Words:
        return _within_a_word(operator.sub, self, other)

    def __invert__(self) -> Words:
        return _within_a_word(operator.invert, self)


def _each(operation: Callable[..., int], *operands: Words) -> Words:
    return Words._make(map(operation, *operands))


def _within_a_word(operation: Callable[..., int], *operands: Words) -> Words:
    return _each(operation, *operands) & _ALL


_ALL = Words(WORD, WORD, WORD, WORD)


def broadcast(word: int) -> Words:
    """Return the same word four times."""
    return Words(word, word, word, word)


def load_words(array: Any, index: int) -> Words:
    """Return the words ``array[index : index + 4]`` of a flat array, or constant, of uint64."""
    return Words(*(int(array[index + at]) for at in range(4)))


def words_of(words: Words) -> tuple[int, int, int, int]:
    """Return the four words as a tuple."""
    return words.first, words.second, words.third, words.fourth


def shorts_of(words: Words) -> tuple[int, ...]:
    """Return the sixteen unsigned 16-bit numbers in the four words, the lowest first."""
    return tuple(word >> shift & 0xFFFF for word in words for shift in range(0, 64, 16))


def union(words: Words) -> int:
    """Return the bits that are set in any of the words."""
    return words.first | words.second | words.third | words.fourth


def common(words: Words) -> int:
    """Return the bits that are set in all of the words."""
    return words.first & words.second & words.third & words.fourth


def nonzero(words: Words) -> Words:
    """Return 1 for each nonzero word, 0 for the others."""
    return _within_a_word(bool, words)


def highest(words: Words) -> Words:
    """Return the highest set bit of each word alone (0 for 0)."""
    return _each(lambda word: 1 << word.bit_length() >> 1, words)


# Compiled: a vector of LLVM


class _WordsType(types.Type):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__(name="Words")


WORDS = _WordsType()
COUNT = 4
VECTOR = ir.VectorType(ir.IntType(64), COUNT)


@register_model(_WordsType)
class _WordsModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any):
        super().__init__(manager, kind, VECTOR)


@typeof_impl.register(Words)
def _typeof_words(value: Words, context: Any) -> types.Type:
    return WORDS


@lower_constant(_WordsType)
def _constant(context: Any, builder: Any, kind: Any, value: Words) -> Any:
    return ir.Constant(VECTOR, [int(word) for word in value])


def _same(word: int) -> Any:
    return ir.Constant(VECTOR, [word] * COUNT)


def _vector_function(builder: Any, name: str, result: Any, *parameters: Any) -> Any:
    return cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(result, parameters), f"llvm.{name}.v{COUNT}i64"
    )


@intrinsic
def _broadcast(typing: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        i32 = ir.IntType(32)
        undefined = ir.Constant(VECTOR, ir.Undefined)
        first = builder.insert_element(undefined, args[0], ir.Constant(i32, 0))
        order = ir.Constant(ir.VectorType(i32, COUNT), [0] * COUNT)
        return builder.shuffle_vector(first, undefined, order)

    return WORDS(types.uint64), generate


@intrinsic
def _load_words(typing: Any, array: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if isinstance(array, ConstantType):
            data = pointer(context, builder, array)
        else:
            data = context.make_array(array)(context, builder, args[0]).data
        place = builder.bitcast(builder.gep(data, [args[1]]), VECTOR.as_pointer())
        return builder.load(place, align=8)

    return WORDS(array, types.intp), generate


@intrinsic
def _words_of(typing: Any, words: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        words = [
            builder.extract_element(args[0], ir.Constant(ir.IntType(32), n)) for n in range(COUNT)
        ]
        return cgutils.pack_array(builder, words)

    return types.UniTuple(types.uint64, COUNT)(WORDS), generate


@intrinsic
def _shorts_of(typing: Any, words: Any) -> Any:
    count = 4 * COUNT

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        shorts = builder.bitcast(args[0], ir.VectorType(ir.IntType(16), count))
        each = (
            builder.extract_element(shorts, ir.Constant(ir.IntType(32), n)) for n in range(count)
        )
        return cgutils.pack_array(builder, [builder.zext(n, ir.IntType(64)) for n in each])

    return types.UniTuple(types.int64, count)(WORDS), generate


def _reduction(name: str) -> Any:
    """Return an intrinsic that reduces four words to one."""

    @intrinsic
    def reduce(typing: Any, words: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            function = _vector_function(builder, f"vector.reduce.{name}", ir.IntType(64), VECTOR)
            return builder.call(function, args)

        return types.uint64(WORDS), generate

    return reduce


_union, _common = _reduction("or"), _reduction("and")


@intrinsic
def _nonzero(typing: Any, words: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.zext(builder.icmp_unsigned("!=", args[0], _same(0)), VECTOR)

    return WORDS(WORDS), generate


@intrinsic
def _highest(typing: Any, words: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zeros = _vector_function(builder, "ctlz", VECTOR, VECTOR, ir.IntType(1))
        above = builder.call(zeros, [args[0], ir.Constant(ir.IntType(1), 0)])
        shift = builder.and_(above, _same(63))  # 64 zeros: there is no bit to keep
        return builder.and_(builder.lshr(_same(1 << 63), shift), args[0])

    return WORDS(WORDS), generate


@in_compiled_code(broadcast)
def _compiled_broadcast(word: Any) -> Any:
    return lambda word: _broadcast(np.uint64(word))


@in_compiled_code(load_words)
def _compiled_load_words(array: Any, index: Any) -> Any:
    return lambda array, index: _load_words(array, index)


def _of_words(function: Callable[..., Any], compiled: Callable[..., Any]) -> None:
    """Let compiled code call a function of words as an intrinsic."""
    in_compiled_code(function)(lambda words: lambda words: compiled(words))


_of_words(words_of, _words_of)
_of_words(shorts_of, _shorts_of)
_of_words(union, _union)
_of_words(common, _common)
_of_words(nonzero, _nonzero)
_of_words(highest, _highest)

operators_in_compiled_code(
    _WordsType,
    {
        "and_": "and_",
        "or_": "or_",
        "xor": "xor",
        "lshift": "shl",
        "rshift": "lshr",
        "add": "add",
        "sub": "sub",
    },
)


@intrinsic
def _invert(typing: Any, words: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.not_(args[0])

    return WORDS(WORDS), generate


@in_compiled_code(operator.invert)
def _compiled_invert(words: Any) -> Any:
    if isinstance(words, _WordsType):
        return lambda words: _invert(words)
    return None
