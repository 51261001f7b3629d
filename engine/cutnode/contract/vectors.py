"""Vectors of 16-bit numbers, of which small networks are made.

A :class:`Vectors` is a two-dimensional :class:`~cutnode.contract.constants.Constant`: a table of
vectors of 16-bit numbers.  Compiled, they are LLVM vectors (in as many registers as they take), and
``+``, ``-`` and ``*`` work on all numbers of two vectors at once; in plain Python they are arrays.
The first layer of a network is the sum of the vectors of the inputs that are set::

    WEIGHTS = Vectors("game.network", np.load(...))

    @compiled
    def score(position):
        total = WEIGHTS[0]
        for square in ...:
            total = total + WEIGHTS[square]
        return dot(clip(total, 255), OUTPUT[0])

Vectors that are data of a search are read from addresses: :func:`vectors_at`.
"""

from __future__ import annotations

import ctypes
import functools
import operator
from collections.abc import Callable
from math import gcd
from typing import Any, SupportsInt

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic, models, register_model, typeof_impl
from numba.np.numpy_support import from_dtype

from cutnode.contract.constants import Constant, pointer, symbol_of
from cutnode.contract.errors import GameError
from cutnode.contract.native import in_compiled_code, operators_in_compiled_code

TILE = 64
"""The numbers that eight registers of 128 bits hold."""


class Vectors(Constant):
    """A table of vectors of 16-bit numbers, with a name.

    *array* is a two-dimensional array of integers that fit into signed 16 bits.
    :class:`GameError` for any other array.
    """

    def __init__(self, name: str, array: Any):
        array = np.asarray(array)
        within = np.iinfo(np.int16)
        if array.ndim != 2 or array.dtype.kind not in "iu" or not array.size:
            raise GameError(f"the vectors {name} must be a two-dimensional array of integers")
        if array.min() < within.min or array.max() > within.max:
            raise GameError(f"the vectors {name} must be from {within.min} to {within.max}")
        self.width: int = array.shape[1]
        super().__init__(name, array.astype(np.int16).ravel())

    def __getitem__(self, index: SupportsInt) -> Any:
        start = int(index) * self.width
        return self.array[start : start + self.width]

    def __len__(self) -> int:
        return len(self.array) // self.width


def clip(vector: Any, most: int) -> Any:
    """Return a vector with each number limited to 0 to *most*."""
    return np.clip(vector, 0, most)


def dot(vector: Any, other: Any) -> int:
    """Return the dot product of two vectors; it has 32 bits."""
    return int(np.dot(vector.astype(np.int32), other.astype(np.int32)))


@functools.cache
def vectors_at(width: int) -> tuple[Callable[[int], Any], Callable[[int, Any], None]]:
    """Return functions that load a vector of *width* numbers from an address, and store one."""

    def memory(address: int) -> Any:
        return (ctypes.c_int16 * width).from_address(int(address))

    def load(address: int) -> Any:
        return np.array(memory(address))

    def store(address: int, vector: Any) -> None:
        memory(address)[:] = [int(number) for number in vector]

    loaded = _loading(width)
    in_compiled_code(load)(lambda address: lambda address: loaded(address))
    in_compiled_code(store)(lambda address, vector: lambda address, vector: _store(address, vector))
    return load, store


def tile_of(width: int) -> int:
    """Return how many of *width* numbers compiled code should handle at a time, a divisor of it.

    They stay in registers, which with AVX2 hold up to 256.
    """
    features = cpu_target.target_context.codegen().magic_tuple()[2].split(",")
    return width if "+avx2" in features else gcd(width, TILE)


# Compiled: a vector of LLVM


class _VectorsType(types.Opaque):  # type: ignore[misc]
    def __init__(self, name: str, width: int):
        self.symbol = symbol_of(name)
        self.element = from_dtype(np.dtype(np.int16))
        self.width = width
        super().__init__(name=f"vectors {name} of {width}")


class _VectorType(types.Type):  # type: ignore[misc]
    def __init__(self, width: int):
        self.width = width
        super().__init__(name=f"vector of {width}")


register_model(_VectorsType)(models.OpaqueModel)


@register_model(_VectorType)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any):
        super().__init__(manager, kind, _vector(kind))


def _vector(kind: _VectorType, bits: int = 16) -> Any:
    return ir.VectorType(ir.IntType(bits), kind.width)


@typeof_impl.register(Vectors)
def _typeof_vectors(vectors: Vectors, context: Any) -> types.Type:
    return _VectorsType(vectors.name, vectors.width)


def _same(kind: _VectorType, builder: Any, number: Any) -> Any:
    """Return a vector with the same number everywhere."""
    i32 = ir.IntType(32)
    undefined = ir.Constant(_vector(kind), ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(i32, 0))
    order = ir.Constant(ir.VectorType(i32, kind.width), [0] * kind.width)
    return builder.shuffle_vector(first, undefined, order)


@intrinsic
def _element(typing: Any, vectors: Any, index: Any) -> Any:
    kind = _VectorType(vectors.width)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        start = builder.mul(args[1], ir.Constant(args[1].type, vectors.width))
        place = builder.gep(pointer(context, builder, vectors), [start])
        return builder.load(builder.bitcast(place, _vector(kind).as_pointer()), align=2)

    return kind(vectors, types.uint64), generate


def _loading(width: int) -> Any:
    """Return an intrinsic that loads a vector of *width* numbers from an address."""
    kind = _VectorType(width)

    @intrinsic
    def load(typing: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load(builder.inttoptr(args[0], _vector(kind).as_pointer()), align=2)

        return kind(types.int64), generate

    return load


@intrinsic
def _store(typing: Any, address: Any, vector: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.inttoptr(args[0], _vector(vector).as_pointer())
        builder.store(args[1], place, align=2)
        return context.get_dummy_value()

    return types.void(types.int64, vector), generate


@intrinsic
def _clip(typing: Any, vector: Any, most: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number = builder.trunc(args[1], ir.IntType(16))
        most = _same(vector, builder, number)
        none = ir.Constant(_vector(vector), [0] * vector.width)
        above = builder.select(builder.icmp_signed(">", args[0], none), args[0], none)
        return builder.select(builder.icmp_signed("<", above, most), above, most)

    return vector(vector, types.int64), generate


@intrinsic
def _dot(typing: Any, vector: Any, other: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = _vector(vector, 32)
        products = builder.mul(*(builder.sext(arg, wide) for arg in args))
        name = f"llvm.vector.reduce.add.v{vector.width}i32"
        kind = ir.FunctionType(ir.IntType(32), [wide])
        function = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.sext(builder.call(function, [products]), ir.IntType(64))

    return types.int64(vector, other), generate


@in_compiled_code(operator.getitem)
def _compiled_getitem(vectors: Any, index: Any) -> Any:
    if isinstance(vectors, _VectorsType):
        return lambda vectors, index: _element(vectors, np.uint64(index))
    return None


@in_compiled_code(clip)
def _compiled_clip(vector: Any, most: Any) -> Any:
    return lambda vector, most: _clip(vector, np.int64(most))


@in_compiled_code(dot)
def _compiled_dot(vector: Any, other: Any) -> Any:
    return lambda vector, other: _dot(vector, other)


operators_in_compiled_code(_VectorType, {"add": "add", "sub": "sub", "mul": "mul"})
