"""Compiled versions of functions that numba cannot compile from their Python body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.extending import overload

__all__ = ["in_compiled_code"]


def in_compiled_code(function: Callable[..., Any]) -> Any:
    """Decorate a typing function: it chooses what *function* means in compiled code.

    ``numba.extending.overload``, always inlined, and with annotations allowed.
    """
    options = {"forceinline": True, "error_model": "numpy"}
    return overload(function, jit_options=options, strict=False)
