"""Tablebases: every position of a game, solved and stored in files; cycles and dice are allowed.

``build_tablebase`` solves a game layer by layer and writes the results to a folder;
``Tablebase.open`` opens that folder to look positions up::

    from cutnode import load_game
    from cutnode.tablebases import Tablebase, build_tablebase

    game = load_game("tictactoe")
    build_tablebase(game.start(), "tictactoe.tablebase")
    with_values = Tablebase.open("tictactoe.tablebase")
    with_values.entry(game.parse("12"))         # Entry(value=1, distance=5)

The last group of :mod:`cutnode.contract.verbs` lists what a game defines to number its positions
and to split them into layers.
"""

from __future__ import annotations

from cutnode.tablebases.building import BuildProgress, build_tablebase
from cutnode.tablebases.solving import Settings
from cutnode.tablebases.tablebase import Entry, Tablebase, Verification

__all__ = [
    "BuildProgress",
    "Entry",
    "Settings",
    "Tablebase",
    "Verification",
    "build_tablebase",
]
