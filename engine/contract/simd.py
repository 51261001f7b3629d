"""Four words at once: what a processor with vector registers does in one instruction.

Rules that do the same along several lines (the four directions of a board, say) write it
once for all: a :class:`Lanes` holds four words, and its operators work on each of them.
Compiled, it is one vector register and portable (LLVM takes it apart where a processor has
none); in plain Python it is a tuple.  Move generation of Othello is twice as fast for it.
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

from engine.contract.bits import WORD
from engine.contract.constants import ConstantType, pointer
from engine.contract.native import in_compiled_code

__all__ = [
    "Lanes",
    "common",
    "highest_in",
    "load_lanes",
    "nonzero_in",
    "spread",
    "union",
    "words_of",
]


class Lanes(NamedTuple):
    """Four 64-bit words.

    ``&``, ``|``, ``^``, ``~``, ``+``, ``-``, ``<<`` and ``>>`` work lane by lane, the last two by
    0 to 63 bits, on words without a sign.
    """

    first: int
    second: int
    third: int
    fourth: int

    def __and__(self, other: Lanes) -> Lanes:
        return _each(operator.and_, self, other)

    def __or__(self, other: Lanes) -> Lanes:
        return _each(operator.or_, self, other)

    def __xor__(self, other: Lanes) -> Lanes:
        return _each(operator.xor, self, other)

    def __lshift__(self, other: Lanes) -> Lanes:
        return _each(operator.lshift, self, other)

    def __rshift__(self, other: Lanes) -> Lanes:
        return _each(operator.rshift, self, other)

    def __add__(self, other: Lanes) -> Lanes:  # type: ignore[override]
        return _each(operator.add, self, other)

    def __sub__(self, other: Lanes) -> Lanes:
        return _each(operator.sub, self, other)

    def __invert__(self) -> Lanes:
        return _each(operator.invert, self)


def _each(operation: Callable[..., int], *operands: Lanes) -> Lanes:
    return Lanes(*(int(operation(*words)) & WORD for words in zip(*operands, strict=True)))


def spread(word: int) -> Lanes:
    """The same word four times."""
    return Lanes(word, word, word, word)


def load_lanes(array: Any, index: int) -> Lanes:
    """The words ``array[index : index + 4]`` of a flat array, or constant, of uint64."""
    return Lanes(*(int(array[index + lane]) for lane in range(4)))


def words_of(lanes: Lanes) -> tuple[int, int, int, int]:
    """The four words."""
    return lanes.first, lanes.second, lanes.third, lanes.fourth


def union(lanes: Lanes) -> int:
    """The bits that are set in any lane."""
    return lanes.first | lanes.second | lanes.third | lanes.fourth


def common(lanes: Lanes) -> int:
    """The bits that are set in every lane."""
    return lanes.first & lanes.second & lanes.third & lanes.fourth


def nonzero_in(lanes: Lanes) -> Lanes:
    """1 in each lane that has a bit, 0 in the others."""
    return _each(bool, lanes)


def highest_in(lanes: Lanes) -> Lanes:
    """The highest set bit of each lane alone (0 for 0)."""
    return _each(lambda word: 1 << word.bit_length() >> 1, lanes)


# Compiled: a vector of LLVM


class _LanesType(types.Type):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__(name="Lanes")


LANES = _LanesType()
COUNT = 4
VECTOR = ir.VectorType(ir.IntType(64), COUNT)


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any):
        super().__init__(manager, kind, VECTOR)


@typeof_impl.register(Lanes)
def _typeof_lanes(value: Lanes, context: Any) -> types.Type:
    return LANES


@lower_constant(_LanesType)
def _constant(context: Any, builder: Any, kind: Any, value: Lanes) -> Any:
    return ir.Constant(VECTOR, [int(word) for word in value])


def _same(word: int) -> Any:
    return ir.Constant(VECTOR, [word] * COUNT)


def _vector_function(builder: Any, name: str, result: Any, *parameters: Any) -> Any:
    return cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(result, parameters), f"llvm.{name}.v{COUNT}i64"
    )


@intrinsic
def _spread(typing: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        i32 = ir.IntType(32)
        undefined = ir.Constant(VECTOR, ir.Undefined)
        first = builder.insert_element(undefined, args[0], ir.Constant(i32, 0))
        order = ir.Constant(ir.VectorType(i32, COUNT), [0] * COUNT)
        return builder.shuffle_vector(first, undefined, order)

    return LANES(types.uint64), generate


@intrinsic
def _load_lanes(typing: Any, array: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if isinstance(array, ConstantType):
            data = pointer(context, builder, array)
        else:
            data = context.make_array(array)(context, builder, args[0]).data
        place = builder.bitcast(builder.gep(data, [args[1]]), VECTOR.as_pointer())
        return builder.load(place, align=8)

    return LANES(array, types.intp), generate


@intrinsic
def _words_of(typing: Any, lanes: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        words = [
            builder.extract_element(args[0], ir.Constant(ir.IntType(32), n)) for n in range(COUNT)
        ]
        return cgutils.pack_array(builder, words)

    return types.UniTuple(types.uint64, COUNT)(LANES), generate


def _reduction(name: str) -> Any:
    """An intrinsic that makes one word of four."""

    @intrinsic
    def reduce(typing: Any, lanes: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            function = _vector_function(builder, f"vector.reduce.{name}", ir.IntType(64), VECTOR)
            return builder.call(function, args)

        return types.uint64(LANES), generate

    return reduce


_union, _common = _reduction("or"), _reduction("and")


@intrinsic
def _nonzero_in(typing: Any, lanes: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.zext(builder.icmp_unsigned("!=", args[0], _same(0)), VECTOR)

    return LANES(LANES), generate


@intrinsic
def _highest_in(typing: Any, lanes: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zeros = _vector_function(builder, "ctlz", VECTOR, VECTOR, ir.IntType(1))
        above = builder.call(zeros, [args[0], ir.Constant(ir.IntType(1), 0)])
        shift = builder.and_(above, _same(63))  # 64 zeros: there is no bit to keep
        return builder.and_(builder.lshr(_same(1 << 63), shift), args[0])

    return LANES(LANES), generate


@in_compiled_code(spread)
def _compiled_spread(word: Any) -> Any:
    return lambda word: _spread(np.uint64(word))


@in_compiled_code(load_lanes)
def _compiled_load_lanes(array: Any, index: Any) -> Any:
    return lambda array, index: _load_lanes(array, index)


@in_compiled_code(words_of)
def _compiled_words_of(lanes: Any) -> Any:
    return lambda lanes: _words_of(lanes)


@in_compiled_code(union)
def _compiled_union(lanes: Any) -> Any:
    return lambda lanes: _union(lanes)


@in_compiled_code(common)
def _compiled_common(lanes: Any) -> Any:
    return lambda lanes: _common(lanes)


@in_compiled_code(nonzero_in)
def _compiled_nonzero_in(lanes: Any) -> Any:
    return lambda lanes: _nonzero_in(lanes)


@in_compiled_code(highest_in)
def _compiled_highest_in(lanes: Any) -> Any:
    return lambda lanes: _highest_in(lanes)


def _operator(symbol: Callable[..., Any], instruction: str) -> None:
    """Let compiled code apply an operator of Python to lanes."""

    @intrinsic
    def apply(typing: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return getattr(builder, instruction)(*args)

        return LANES(LANES, LANES), generate

    def choose(a: Any, b: Any) -> Any:
        if isinstance(a, _LanesType) and isinstance(b, _LanesType):
            return lambda a, b: apply(a, b)
        return None

    in_compiled_code(symbol)(choose)


for _symbols, _instruction in (
    ((operator.and_, operator.iand), "and_"),
    ((operator.or_, operator.ior), "or_"),
    ((operator.xor, operator.ixor), "xor"),
    ((operator.lshift, operator.ilshift), "shl"),
    ((operator.rshift, operator.irshift), "lshr"),
    ((operator.add, operator.iadd), "add"),
    ((operator.sub, operator.isub), "sub"),
):
    for _symbol in _symbols:
        _operator(_symbol, _instruction)


@intrinsic
def _invert(typing: Any, lanes: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.not_(args[0])

    return LANES(LANES), generate


@in_compiled_code(operator.invert)
def _compiled_invert(lanes: Any) -> Any:
    if isinstance(lanes, _LanesType):
        return lambda lanes: _invert(lanes)
    return None
