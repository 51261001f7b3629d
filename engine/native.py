"""What compiled code and plain Python need to look alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import overload

__all__ = ["in_compiled_code", "records"]


def in_compiled_code(function: Callable[..., Any]) -> Any:
    """Decorate a typing function: it chooses what *function* means in compiled code.

    ``numba.extending.overload``, always inlined, and with annotations allowed.
    """
    options = {"forceinline": True, "error_model": "numpy"}
    return overload(function, jit_options=options, strict=False)


def records(count: int, dtype: np.dtype[Any]) -> np.recarray[Any, Any]:
    """Zeroed records; an element's fields are its attributes, compiled or not."""
    return np.zeros(count, dtype).view(np.recarray)
