"""Arrays that compiled code reads but does not contain, such as the weights of an evaluation.

An array that compiled code finds in its module becomes part of the machine code, and of every
cached file of it.  A :class:`Constant` stays outside: the machine code refers to it by name, and
the name is resolved when the code is compiled or loaded, so processes share cached files whatever
the addresses of their arrays.  It is indexed alike in compiled code and in plain Python::

    WEIGHTS = Constant("othello.weights", np.load(...))

    @compiled
    def score(position):
        return WEIGHTS[position.mine & Bits(0xFF)]

Make constants when a game's module is loaded: code loaded from the cache needs their names.
"""

from __future__ import annotations

import operator
from typing import Any, SupportsInt

import llvmlite.binding as llvm
import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model, typeof_impl
from numba.np.numpy_support import from_dtype

from cutnode.contract.errors import GameError
from cutnode.contract.native import in_compiled_code

_kept: list[Any] = []
"""The arrays whose addresses machine code may hold."""

_newest: dict[str, Any] = {}
"""The array that a symbol stands for in code that is compiled now."""


class Constant:
    """A flat, immutable array of numbers with a name.

    *name* must be unique in the process (begin it with the game's name); *array* has one dimension,
    and is copied.  ``constant[index]`` is an ``int`` or a ``float``; an index starts at 0, and
    compiled code does not check it against the length.  A later constant of the same name replaces
    an earlier one in code that is compiled or loaded afterwards.  :class:`GameError` if the array
    is not a one-dimensional array of numbers.
    """

    def __init__(self, name: str, array: Any):
        self.name = name
        array = np.asarray(array)
        if array.ndim != 1 or array.dtype.kind not in "iuf":
            raise GameError(
                f"the constant {name} must be a one-dimensional array of numbers, "
                f"got {array.ndim} dimensions of {array.dtype}"
            )
        self.array = _aligned(array)
        self.array.flags.writeable = False
        _kept.append(self.array)
        _newest[symbol_of(name)] = self.array
        llvm.add_symbol(symbol_of(name), self.array.ctypes.data)

    def __getitem__(self, index: SupportsInt) -> Any:
        return self.array[int(index)].item()

    def __len__(self) -> int:
        return len(self.array)


def _aligned(array: Any) -> Any:
    """Return a copy aligned to a cache line, so that no vector straddles two lines."""
    line = 64
    memory = np.empty(array.nbytes + line, np.uint8)
    start = -memory.ctypes.data % line
    copy = memory[start : start + array.nbytes].view(array.dtype)
    copy[:] = array
    return copy


def symbol_of(name: str) -> str:
    return f"cutnode.{name}"


def array_of(symbol: str) -> Any:
    """Return the array of the newest constant with a symbol; :class:`KeyError` if there is none."""
    return _newest[symbol]


class ConstantType(types.Opaque):  # type: ignore[misc]
    def __init__(self, name: str, dtype: Any):
        self.symbol = symbol_of(name)
        self.element = from_dtype(dtype)
        super().__init__(name=f"constant {name} of {dtype}")


register_model(ConstantType)(models.OpaqueModel)


@typeof_impl.register(Constant)
def _typeof_constant(constant: Constant, context: Any) -> types.Type:
    return ConstantType(constant.name, constant.array.dtype)


def pointer(context: Any, builder: Any, constant: ConstantType) -> Any:
    """Return a pointer to the first element, in LLVM an undefined global symbol."""
    symbols = builder.module.globals
    if constant.symbol not in symbols:
        kind = context.get_data_type(constant.element)
        cgutils.add_global_variable(builder.module, kind, constant.symbol).global_constant = True
    return symbols[constant.symbol]


@intrinsic
def _element(typing: Any, constant: Any, index: Any) -> Any:
    element = constant.element
    wide = types.float64 if isinstance(element, types.Float) else None
    wide = wide or (types.int64 if element.signed else types.uint64)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = builder.load(builder.gep(pointer(context, builder, constant), [args[1]]))
        return context.cast(builder, value, element, wide)

    return wide(constant, types.uint64), generate


@in_compiled_code(operator.getitem)
def _compiled_getitem(constant: Any, index: Any) -> Any:
    if isinstance(constant, ConstantType):
        return lambda constant, index: _element(constant, np.uint64(index))
    return None
