"""The Python that drives the kernels: deepening, threads, limits, results.

The package is callable: ``cutnode.search(position, depth=8)`` calls
:func:`cutnode.search.api.search`.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any


class _SearchModule(ModuleType):
    """A package that is also the function of its name."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        from cutnode.search.api import search

        return search(*args, **options)

    def __reduce__(self) -> Any:
        return importlib.import_module, (self.__name__,)


sys.modules[__name__].__class__ = _SearchModule
