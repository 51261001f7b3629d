"""The libraries that adapters need, each of which is an extra."""

from __future__ import annotations

import importlib
from typing import Any

from engine.contract.errors import CutnodeError

__all__ = ["extra"]


def extra(module: str, name: str, what: str) -> Any:
    """Return a module of the extra *name*; :class:`CutnodeError` that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if error.name not in (module, module.partition(".")[0]):
            raise
        raise CutnodeError(f"{what} need an extra: pip install 'cutnode[{name}]'") from None
