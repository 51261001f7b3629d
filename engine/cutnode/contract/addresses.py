"""Numbers at addresses: memory that is data of a search, not part of its machine code.

Tables of a tablebase and weights of a learned evaluation come and go while a compiled search stays,
so the search gets their addresses.  The caller who passes an address keeps the memory alive.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from cutnode.contract.bits import WORD, Bits
from cutnode.contract.native import in_compiled_code
from cutnode.contract.simd import COUNT, VECTOR, WORDS, Words


def word_at(address: int) -> int:
    """Return the 64-bit word at an address, which need not be aligned."""
    return Bits(ctypes.c_uint64.from_address(int(address)).value)


def integer_at(address: int) -> int:
    """Return the signed 64-bit integer at an address."""
    return ctypes.c_int64.from_address(int(address)).value


def short_at(address: int) -> int:
    """Return the signed 16-bit integer at an address."""
    return ctypes.c_int16.from_address(int(address)).value


def sum_of_shorts(address: int, begins: tuple[int, ...], numbers: tuple[int, ...]) -> int:
    """Return the sum of signed 16-bit integers, one from each of several rows.

    *begins* are the starts of the rows, counted in integers from *address*; *numbers* are the
    indices within them.  Both have the same length.
    """
    places = (begin + number for begin, number in zip(begins, numbers, strict=True))
    return sum(short_at(int(address) + 2 * int(place)) for place in places)


def words_at(address: int) -> Words:
    """Return the four words that begin at an address."""
    return Words(*(word_at(int(address) + 8 * number) for number in range(COUNT)))


def store_integer(address: int, number: int) -> None:
    """Write a 64-bit integer, signed or unsigned, to an address."""
    ctypes.c_uint64.from_address(int(address)).value = int(number) & WORD


def _loaded(kind: Any, align: int, result: types.Type) -> Any:
    """Return an intrinsic that loads a value of LLVM's type *kind* from an address."""

    @intrinsic
    def load(typing: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            value = builder.load(builder.inttoptr(args[0], kind.as_pointer()))
            value.align = align
            return builder.sext(value, ir.IntType(64)) if result is types.int64 else value

        return result(types.int64), generate

    return load


_word_at = _loaded(ir.IntType(64), 1, types.uint64)
_short_at = _loaded(ir.IntType(16), 2, types.int64)
_words_at = _loaded(VECTOR, 8, WORDS)


@in_compiled_code(word_at)
def _compiled_word_at(address: Any) -> Any:
    return lambda address: _word_at(address)


@in_compiled_code(integer_at)
def _compiled_integer_at(address: Any) -> Any:
    return lambda address: np.int64(_word_at(address))


@in_compiled_code(short_at)
def _compiled_short_at(address: Any) -> Any:
    return lambda address: _short_at(address)


@intrinsic
def _sum_of_shorts(typing: Any, address: Any, begins: Any, numbers: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        i16, i64 = ir.IntType(16), ir.IntType(64)
        base = builder.inttoptr(args[0], i16.as_pointer())
        total = ir.Constant(i64, 0)
        # A constant start becomes part of the load instruction.
        each = (cgutils.unpack_tuple(builder, parts) for parts in args[1:])
        for begin, number in zip(*each, strict=True):
            place = builder.gep(builder.gep(base, [begin]), [number])
            total = builder.add(total, builder.sext(builder.load(place), i64))
        return total

    return types.int64(types.int64, begins, numbers), generate


@in_compiled_code(sum_of_shorts)
def _compiled_sum_of_shorts(address: Any, begins: Any, numbers: Any) -> Any:
    return lambda address, begins, numbers: _sum_of_shorts(address, begins, numbers)


@in_compiled_code(words_at)
def _compiled_words_at(address: Any) -> Any:
    return lambda address: _words_at(address)


@intrinsic
def integers_here(typing: Any, count: Any) -> Any:
    """Return, in compiled code, an array of *count* integers on the stack.

    It lives until the function returns.
    """
    kind = types.Array(types.int64, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        i64 = ir.IntType(64)
        found = make_array(kind)(context, builder)
        populate_array(
            found,
            data=builder.alloca(i64, size=args[0]),
            shape=cgutils.pack_array(builder, [args[0]]),
            strides=cgutils.pack_array(builder, [ir.Constant(i64, 8)]),
            itemsize=ir.Constant(i64, 8),
            meminfo=None,
        )
        return found._getvalue()

    return kind(types.int64), generate


@intrinsic
def room_here(typing: Any, count: Any) -> Any:
    """Return, in compiled code, the address of room for *count* integers on the stack.

    *count* is a constant; the room lives until the function returns.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        i64 = ir.IntType(64)
        with builder.goto_entry_block():
            room = builder.alloca(ir.ArrayType(i64, count.literal_value))
        return builder.ptrtoint(room, i64)

    if not isinstance(count, types.IntegerLiteral):
        return None
    return types.int64(count), generate


@intrinsic
def _store(typing: Any, address: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[1], builder.inttoptr(args[0], ir.IntType(64).as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64, types.uint64), generate


@in_compiled_code(store_integer)
def _compiled_store_integer(address: Any, number: Any) -> Any:
    return lambda address, number: _store(address, np.uint64(number))
