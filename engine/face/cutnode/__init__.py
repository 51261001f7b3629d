"""A compiled game-tree search engine: solve, search and play any board game.

::

    import cutnode

    cutnode.solve("connect4", "4455")       # the value, a best move, and the line of best play
    board = cutnode.Board("chess")          # a game to play on
    board.push("e4")
    cutnode.search(board, seconds=1)        # as deep as limits allow

All names are those of the package ``engine``, where they are also found, and are loaded when they
are first used.  Type checkers read them in ``__init__.pyi``.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any


def _own_engine() -> Any:
    """Return the package ``engine`` beside this one, whatever else has its name on the path.

    :class:`ImportError` if a program has loaded a module of its own under the name.
    """
    beside = Path(__file__).resolve().parents[1]
    folder = beside / "engine" if (beside / "engine").is_dir() else beside.parent
    loaded = sys.modules.get("engine")
    if loaded is not None:
        place = Path(str(loaded.__file__)).resolve()
        if place.parent != folder:
            raise ImportError(
                f"the module 'engine' of '{place}' hides the package of cutnode: give it another "
                f"name, or import cutnode first"
            )
        return loaded
    spec = importlib.util.spec_from_file_location(
        "engine", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    package = sys.modules["engine"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    return package


_engine = _own_engine()
__all__ = list(_engine.__all__)


def __getattr__(name: str) -> Any:
    if name in __all__ or name == "__version__":
        return getattr(_engine, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
