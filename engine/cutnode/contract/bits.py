"""Bit tricks and casts: every operation on 64-bit words that needs care has a name here.

A bitboard is a :class:`Bits`: an ``int`` in Python, an unsigned 64-bit word in compiled code.  Each
function below works in both and gives the same answer in both, for words below 2**64.

In the rules of games ``Bits`` mix with ``int`` as in Python (:mod:`cutnode.contract.inference`).
In the engine's own compiled code an expression that mixes ``Bits`` with a bare integer (``board &
1``, ``board - 1``) is *signed*, so a later ``>>`` would drag the top bit along: write constants as
``Bits(1)`` there, or use the functions of this module.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, typeof_impl

from cutnode.contract.native import in_compiled_code, usable_in_compiled_code

__all__ = [
    "WORD",
    "Bits",
    "as_bits",
    "as_float",
    "bytes_reversed",
    "fetch_add",
    "high_product",
    "highest_index",
    "lowest",
    "lowest_index",
    "mix",
    "nth_index",
    "ordered",
    "popcount",
    "prefetch",
    "product",
    "random_index",
    "without_lowest",
]

WORD = (1 << 64) - 1
"""All 64 bits set."""


if TYPE_CHECKING:
    # Operators of words give plain integers, which fields of positions take.
    Bits: TypeAlias = int
else:

    class Bits(int):
        """A 64-bit word: an annotation, a constant, and a cast.

        ``board: Bits`` declares a field of a position, ``Bits(0x41)`` makes a constant that
        compiled code sees as unsigned, and ``Bits(x)`` inside compiled code casts.
        """

        __slots__ = ()


@typeof_impl.register(Bits)
def _typeof_bits(value: Bits, context: Any) -> types.Type:
    return types.uint64


@in_compiled_code(Bits)
def _cast_to_bits(x: Any) -> Any:
    if isinstance(x, types.Integer | types.Boolean):
        return lambda x: np.uint64(x)
    return None


def popcount(word: int) -> int:
    """Return the number of set bits."""
    word = operator.index(word)
    return (word if word >= 0 else word & WORD).bit_count()


def lowest(word: int) -> int:
    """Return the lowest set bit alone, 0 for 0."""
    return word & -word


def without_lowest(word: int) -> int:
    """Return the word without its lowest set bit, 0 for 0."""
    return word & (word - 1) if word else 0


def lowest_index(word: int) -> int:
    """Return the index, 0 to 63, of the lowest set bit, 64 for 0."""
    word = operator.index(word)
    return (word & -word).bit_length() - 1 if word else 64


def highest_index(word: int) -> int:
    """Return the index, 0 to 63, of the highest set bit, -1 for 0."""
    return operator.index(word).bit_length() - 1


def nth_index(word: int, number: int) -> int:
    """Return the index of the set bit with *number* set bits below it; there must be one."""
    for _ in range(number):
        word = without_lowest(word)
    return lowest_index(word)


def random_index(word: int, random: int) -> int:
    """Return the index of a set bit chosen by 64 random bits; all are equally likely."""
    return nth_index(word, int(high_product(random, Bits(popcount(word)))))


def bytes_reversed(word: int) -> int:
    """Return the word with its eight bytes in reverse order: a board upside down."""
    return int.from_bytes(int(word).to_bytes(8, "little"), "big")


def as_bits(value: float) -> int:
    """Return the 64 bits of a float."""
    return Bits(struct.unpack("<Q", struct.pack("<d", value))[0])


def as_float(word: int) -> float:
    """Return the float that 64 bits represent."""
    return float(struct.unpack("<d", struct.pack("<Q", word))[0])


def product(a: int, b: int) -> int:
    """Return the low 64 bits of ``a * b``."""
    return (int(a) * int(b)) & WORD


def high_product(a: int, b: int) -> int:
    """Return the high 64 bits of ``a * b``: maps a random word ``a`` evenly onto ``range(b)``."""
    return (int(a) * int(b)) >> 64


def prefetch(array: Any, index: int) -> None:
    """Prefetch ``array[index]`` into the cache; never fails, changes nothing."""


def fetch_add(numbers: Any, index: int, number: int) -> int:
    """Add to an element of an array of 64-bit integers atomically, and return its old value.

    Compiled, no addition is lost when threads add at the same time.
    """
    before = int(numbers[index])
    numbers[index] = before + number
    return before


def ordered() -> None:
    """Make earlier writes visible to other threads before any later one (a release fence)."""


def mix(word: int) -> int:
    """Scatter a word over all 64 bits; distinct words stay distinct.

    Two rounds of xor-shift and multiplication by an odd number, each invertible (constants from
    D. Stafford's "Mix13", as in SplitMix64).
    """
    word = operator.index(word) & WORD
    word = (word ^ (word >> 30)) * _MIX[0] & WORD
    word = (word ^ (word >> 27)) * _MIX[1] & WORD
    return word ^ (word >> 31)


_MIX = Bits(0xBF58476D1CE4E5B9), Bits(0x94D049BB133111EB)


def _call(name: str) -> Any:
    """Return an intrinsic that calls the LLVM function *name* on a 64-bit word."""
    result = types.uint64 if "bswap" in name else types.int64

    @intrinsic
    def call(typing: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            i64 = ir.IntType(64)
            extra = [ir.Constant(ir.IntType(1), 0)] if name in _OF_ZEROS else []
            kinds = [i64] + [constant.type for constant in extra]
            function = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(i64, kinds), name
            )
            return builder.call(function, [args[0], *extra])

        return result(types.uint64), generate

    return call


_OF_ZEROS = "llvm.cttz.i64", "llvm.ctlz.i64"
"""LLVM functions with a parameter that says whether the result for 0 is undefined."""

_popcount = _call("llvm.ctpop.i64")
_trailing_zeros, _leading_zeros = map(_call, _OF_ZEROS)
_bytes_reversed = _call("llvm.bswap.i64")


@intrinsic
def _as_bits(typing: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.uint64(types.float64), generate


@intrinsic
def _as_float(typing: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.uint64), generate


@intrinsic
def _high_product(typing: Any, a: Any, b: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        i64, i128 = ir.IntType(64), ir.IntType(128)
        wide = builder.mul(builder.zext(args[0], i128), builder.zext(args[1], i128))
        return builder.trunc(builder.lshr(wide, ir.Constant(i128, 64)), i64)

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic
def _prefetch(typing: Any, array: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(array)(context, builder, args[0]).data
        i32 = ir.IntType(32)
        address = builder.bitcast(builder.gep(data, [args[1]]), cgutils.voidptr_t)
        function = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, i32, i32, i32]),
            "llvm.prefetch.p0",
        )
        read, keep, data_cache = (ir.Constant(i32, n) for n in (0, 3, 1))
        builder.call(function, [address, read, keep, data_cache])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@intrinsic
def _fence(typing: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.fence("release")
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def _fetch_add(typing: Any, numbers: Any, index: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(numbers)(context, builder, args[0]).data
        return builder.atomic_rmw("add", builder.gep(data, [args[1]]), args[2], "monotonic")

    return types.int64(numbers, types.intp, types.int64), generate


def _of_word(function: Callable[..., Any], compiled: Callable[..., Any]) -> None:
    """Let compiled code call a function of a word as an intrinsic."""

    def choose(word: Any) -> Any:
        return (lambda word: compiled(np.uint64(word))) if isinstance(word, _SHORT) else None

    in_compiled_code(function)(choose)


_SHORT = types.Integer | types.Boolean
"""Types of a single word, not of a board of several (:mod:`cutnode.contract.boards`)."""

_of_word(popcount, _popcount)
_of_word(lowest_index, _trailing_zeros)
_of_word(bytes_reversed, _bytes_reversed)
_of_word(as_float, _as_float)


@in_compiled_code(highest_index)
def _compiled_highest_index(word: Any) -> Any:
    if not isinstance(word, _SHORT):
        return None
    return lambda word: 63 - _leading_zeros(np.uint64(word))


@in_compiled_code(lowest)
def _compiled_lowest(word: Any) -> Any:
    if not isinstance(word, _SHORT):
        return None
    return lambda word: np.uint64(word) & (~np.uint64(word) + np.uint64(1))


@in_compiled_code(without_lowest)
def _compiled_without_lowest(word: Any) -> Any:
    if not isinstance(word, _SHORT):
        return None
    return lambda word: np.uint64(word) & (np.uint64(word) - np.uint64(1))


def _deposits(context: Any) -> bool:
    """Return whether ``pdep`` takes only a few cycles: on Zen and Zen 2 it takes hundreds."""
    _, name, features = context.codegen().magic_tuple()
    return "+bmi2" in features.split(",") and name not in ("znver1", "znver2")


def _counted_index(word: Any, number: Any) -> Any:
    for _ in range(number):
        word = without_lowest(word)
    return lowest_index(word)


@intrinsic
def _nth_index(typing: Any, word: Any, number: Any) -> Any:
    """Deposit one bit at the n-th set bit (Y. Hilewitz and R. Lee, 2006), or count in a loop."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if not _deposits(context):
            loop = types.int64(types.uint64, types.int64)
            return context.compile_internal(builder, _counted_index, loop, args)
        i64 = ir.IntType(64)
        deposit = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(i64, [i64, i64]), "llvm.x86.bmi.pdep.64"
        )
        alone = builder.call(deposit, [builder.shl(ir.Constant(i64, 1), args[1]), args[0]])
        return builder.cttz(alone, ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64, types.int64), generate


@in_compiled_code(nth_index)
def _compiled_nth_index(word: Any, number: Any) -> Any:
    if isinstance(word, _SHORT):
        return lambda word, number: _nth_index(np.uint64(word), np.int64(number))
    return _counted_index


usable_in_compiled_code(random_index)


@in_compiled_code(as_bits)
def _compiled_as_bits(value: Any) -> Any:
    return lambda value: _as_bits(np.float64(value))


@in_compiled_code(product)
def _compiled_product(a: Any, b: Any) -> Any:
    return lambda a, b: np.uint64(a) * np.uint64(b)


@in_compiled_code(high_product)
def _compiled_high_product(a: Any, b: Any) -> Any:
    return lambda a, b: _high_product(np.uint64(a), np.uint64(b))


@in_compiled_code(fetch_add)
def _compiled_fetch_add(numbers: Any, index: Any, number: Any) -> Any:
    return lambda numbers, index, number: _fetch_add(numbers, index, number)


@in_compiled_code(ordered)
def _compiled_ordered() -> Any:
    return lambda: _fence()


@in_compiled_code(prefetch)
def _compiled_prefetch(array: Any, index: Any) -> Any:
    return lambda array, index: _prefetch(array, index)


@in_compiled_code(mix)
def _compiled_mix(word: Any) -> Any:
    def compiled_mix(word: Any) -> Any:
        word = np.uint64(word)
        word = (word ^ (word >> np.uint64(30))) * _MIX[0]
        word = (word ^ (word >> np.uint64(27))) * _MIX[1]
        return word ^ (word >> np.uint64(31))

    return compiled_mix
