"""Rows of small numbers, each one vector: what small networks are made of.

A :class:`Rows` is a :class:`~engine.contract.constants.Constant` of two dimensions: an element
of it is a whole row of 16-bit numbers.  Compiled, rows are vectors of LLVM (as many registers as
they take), and ``+``, ``-`` and ``*`` work on all numbers of two rows at once; in plain Python they
are arrays.  The first layer of a network is the sum of the rows of those inputs that are set::

    WEIGHTS = Rows("game.network", np.load(...))

    @compiled
    def score(position):
        total = WEIGHTS[0]
        for square in ...:
            total = total + WEIGHTS[square]
        return dot(clipped(total, 255), OUTPUT[0])
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model, typeof_impl
from numba.np.numpy_support import from_dtype

from engine.contract.constants import Constant, pointer, symbol_of
from engine.contract.errors import GameError
from engine.contract.native import in_compiled_code

__all__ = ["Rows", "clipped", "dot"]


class Rows(Constant):
    """A table of 16-bit numbers with a name; an element is a row.

    *array* has two dimensions, of whole numbers within 16 bits with a sign.  :class:`GameError`
    if it is no such array.
    """

    def __init__(self, name: str, array: Any):
        array = np.asarray(array)
        within = np.iinfo(np.int16)
        if array.ndim != 2 or array.dtype.kind not in "iu" or not array.size:
            raise GameError(f"the rows {name} are an array of two dimensions of whole numbers")
        if array.min() < within.min or array.max() > within.max:
            raise GameError(f"the rows {name} have numbers beyond {within.min}..{within.max}")
        self.width: int = array.shape[1]
        super().__init__(name, array.astype(np.int16).ravel())

    def __getitem__(self, index: int) -> Any:
        start = int(index) * self.width
        return self.array[start : start + self.width]

    def __len__(self) -> int:
        return len(self.array) // self.width


def clipped(row: Any, most: int) -> Any:
    """A row with each number within 0 and *most*."""
    return np.clip(row, 0, most)


def dot(row: Any, other: Any) -> int:
    """The sum of the products of the numbers of two rows; it has 32 bits."""
    return int(np.dot(row.astype(np.int32), other.astype(np.int32)))


# Compiled: a vector of LLVM


class _RowsType(types.Opaque):  # type: ignore[misc]
    def __init__(self, name: str, width: int):
        self.symbol = symbol_of(name)
        self.element = from_dtype(np.dtype(np.int16))
        self.width = width
        super().__init__(name=f"rows {name} of {width}")


class _RowType(types.Type):  # type: ignore[misc]
    def __init__(self, width: int):
        self.width = width
        super().__init__(name=f"row of {width}")


register_model(_RowsType)(models.OpaqueModel)


@register_model(_RowType)
class _RowModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any):
        super().__init__(manager, kind, _vector(kind))


def _vector(kind: _RowType, bits: int = 16) -> Any:
    return ir.VectorType(ir.IntType(bits), kind.width)


@typeof_impl.register(Rows)
def _typeof_rows(rows: Rows, context: Any) -> types.Type:
    return _RowsType(rows.name, rows.width)


def _same(kind: _RowType, builder: Any, number: Any) -> Any:
    """A row with the same number everywhere."""
    i32 = ir.IntType(32)
    undefined = ir.Constant(_vector(kind), ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(i32, 0))
    order = ir.Constant(ir.VectorType(i32, kind.width), [0] * kind.width)
    return builder.shuffle_vector(first, undefined, order)


@intrinsic
def _row(typing: Any, rows: Any, index: Any) -> Any:
    kind = _RowType(rows.width)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        start = builder.mul(args[1], ir.Constant(args[1].type, rows.width))
        place = builder.gep(pointer(context, builder, rows), [start])
        return builder.load(builder.bitcast(place, _vector(kind).as_pointer()), align=2)

    return kind(rows, types.uint64), generate


@intrinsic
def _clipped(typing: Any, row: Any, most: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number = builder.trunc(args[1], ir.IntType(16))
        most = _same(row, builder, number)
        none = ir.Constant(_vector(row), [0] * row.width)
        above = builder.select(builder.icmp_signed(">", args[0], none), args[0], none)
        return builder.select(builder.icmp_signed("<", above, most), above, most)

    return row(row, types.int64), generate


@intrinsic
def _dot(typing: Any, row: Any, other: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = _vector(row, 32)
        products = builder.mul(*(builder.sext(arg, wide) for arg in args))
        name = f"llvm.vector.reduce.add.v{row.width}i32"
        kind = ir.FunctionType(ir.IntType(32), [wide])
        function = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.sext(builder.call(function, [products]), ir.IntType(64))

    return types.int64(row, other), generate


@in_compiled_code(operator.getitem)
def _compiled_getitem(rows: Any, index: Any) -> Any:
    if isinstance(rows, _RowsType):
        return lambda rows, index: _row(rows, np.uint64(index))
    return None


@in_compiled_code(clipped)
def _compiled_clipped(row: Any, most: Any) -> Any:
    return lambda row, most: _clipped(row, np.int64(most))


@in_compiled_code(dot)
def _compiled_dot(row: Any, other: Any) -> Any:
    return lambda row, other: _dot(row, other)


def _operator(symbol: Callable[..., Any], instruction: str) -> None:
    """Let compiled code apply an operator of Python to rows."""

    @intrinsic
    def apply(typing: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return getattr(builder, instruction)(*args)

        return a(a, b), generate

    def choose(a: Any, b: Any) -> Any:
        if isinstance(a, _RowType) and a == b:
            return lambda a, b: apply(a, b)
        return None

    in_compiled_code(symbol)(choose)


for _symbols, _instruction in (
    ((operator.add, operator.iadd), "add"),
    ((operator.sub, operator.isub), "sub"),
    ((operator.mul, operator.imul), "mul"),
):
    for _symbol in _symbols:
        _operator(_symbol, _instruction)
