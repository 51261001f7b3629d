"""A compiled game-tree search engine: solve, search and play any board game.

::

    import cutnode

    cutnode.solve("connect4", "4455")       # the value, a best move, and the line of best play
    board = cutnode.Board("chess")          # a game with its moves
    board.push("e4")
    cutnode.search(board, seconds=1)        # as deep as the limits allow

For users: :func:`load_game`, :func:`solve`, :func:`analyse`, :func:`solve_many`, :func:`perft`,
:func:`minimax`, :func:`alphabeta`, :func:`iterate`, :func:`prove_win`, :func:`write_proof`,
:func:`value_of`, and :class:`Table`; for programs that search repeatedly, :class:`Engine` or
:class:`MonteCarlo`; for playing, :func:`make_player`, :func:`play_game` and :func:`match`; for
reasons, :func:`explain` and :func:`review`; for drawing search trees, :func:`record_tree` and
:func:`to_svg`. For authors of games: :mod:`cutnode.contract` describes what a game is; the other
names here are for use in a game's file.

Names are imported when they are first used, so the rules of a game load neither the search nor
the code that runs it: ``cutnode/__init__.pyi`` lists them.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # type checkers take it as True; importing typing would take longest here
if TYPE_CHECKING:
    from typing import Any


def __getattr__(name: str) -> Any:
    known = globals()
    if name == "__version__":
        return _version()
    if name == "search":  # the package, which is callable
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
    """Return the module that defines each public name."""
    import re
    from pathlib import Path

    listed = Path(__file__).with_suffix(".pyi").read_text("utf-8")
    found = re.findall(r"^from (\S+) import (\w+) as", listed, re.MULTILINE)
    return {name: module for module, name in found}


def _version() -> str:
    """Return the installed version."""
    from importlib import metadata

    try:
        return metadata.version("cutnode")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def __dir__() -> list[str]:
    return [*__getattr__("__all__"), "__version__"]
