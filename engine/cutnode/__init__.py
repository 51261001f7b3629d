"""A compiled game-tree search engine: solve, search and play any board game.

::

    import cutnode

    cutnode.solve("connect4", "4455")       # the value, a best move, and the line of best play
    board = cutnode.Board("chess")          # a game to play on
    board.push("e4")
    cutnode.search(board, seconds=1)        # as deep as limits allow

For users: :func:`load_game`, :func:`solve`, :func:`analyse`, :func:`solve_many`,
:func:`perft`, :func:`minimax`, :func:`alphabeta`, :func:`iterate`, :func:`prove_win`,
:func:`write_proof`, and :class:`Table`; for programs that search again and again
:class:`Engine`, or :class:`MonteCarlo`; for playing :func:`make_player`, :func:`play_game`
and :func:`match`; for seeing what is searched :func:`record_tree` and :func:`to_svg`.
For writers of games: :mod:`cutnode.contract` describes what a game is; the other names
here are what a game's file needs.

Names are imported when they are first used, so the rules of a game load neither the search nor
what runs it: ``cutnode/__init__.pyi`` lists them.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # as type checkers read it: to import typing takes longer than all else here
if TYPE_CHECKING:
    from typing import Any


def __getattr__(name: str) -> Any:
    known = globals()
    if name == "__version__":
        return _version()
    if name == "search":  # the package, which can be called
        return importlib.import_module("cutnode.search")
    if "_HOMES" not in known:
        known["_HOMES"] = _homes()
        known["__all__"] = sorted(known["_HOMES"])
    if name in known:
        return known[name]
    if name not in known["_HOMES"]:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = known[name] = getattr(importlib.import_module(known["_HOMES"][name]), name)
    return value


def _homes() -> dict[str, str]:
    """Return the modules that define the public names."""
    import re
    from pathlib import Path

    listed = Path(__file__).with_suffix(".pyi").read_text("utf-8")
    found = re.findall(r"^from (\S+) import (\w+) as", listed, re.MULTILINE)
    return {name: module for module, name in found}


def _version() -> str:
    """Return the version that is installed."""
    from importlib import metadata

    try:
        return metadata.version("cutnode")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def __dir__() -> list[str]:
    return [*__getattr__("__all__"), "__version__"]
