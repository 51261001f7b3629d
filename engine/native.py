"""What compiled code and plain Python need to look alike."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.extending import overload, register_jitable

__all__ = ["for_kernel", "in_compiled_code", "is_compiled", "records", "usable_in_compiled_code"]

_usable: weakref.WeakSet[Callable[..., Any]] = weakref.WeakSet()


def usable_in_compiled_code(function: Callable[..., Any], inline: bool) -> Any:
    """Let compiled code call a function, which stays what it is in plain Python."""
    _usable.add(function)
    options = {"forceinline": inline, "error_model": "numpy", "no_cfunc_wrapper": True}
    return register_jitable(**options)(function)


def is_compiled(function: Any) -> bool:
    """Whether compiled code can call a function."""
    return isinstance(function, FunctionType | Dispatcher) and (
        function in _usable or isinstance(function, Dispatcher)
    )


def in_compiled_code(function: Callable[..., Any]) -> Any:
    """Decorate a typing function: it chooses what *function* means in compiled code.

    ``numba.extending.overload``, always inlined, and with annotations allowed.
    """
    options = {"forceinline": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    return overload(function, jit_options=options, strict=False)


def for_kernel(memory: np.recarray[Any, Any]) -> Any:
    """The first of some records, as the argument of a kernel.

    Compiled code takes a plain record 25 microseconds sooner than one with attributes.
    """
    return memory.view(np.dtype((np.void, memory.dtype)), np.ndarray)[0]


def records(count: int, dtype: np.dtype[Any]) -> np.recarray[Any, Any]:
    """Zeroed records; an element's fields are its attributes, compiled or not."""
    return np.zeros(count, dtype).view(np.recarray)
