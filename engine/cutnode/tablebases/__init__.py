"""Tablebases: all positions of a game solved, loops and dice included, and kept in files.

``build_tablebase`` solves a game layer by layer and keeps the results in a folder,
``Tablebase.open`` looks positions up there::

    from cutnode import load_game
    from cutnode.tablebases import Tablebase, build_tablebase

    game = load_game("tictactoe")
    build_tablebase(game.start(), "tictactoe.tablebase")
    with_values = Tablebase.open("tictactoe.tablebase")
    with_values.entry(game.parse("12"))         # Entry(value=1, distance=5)

What a game says so that its positions can be numbered and split into layers is the last group of
:mod:`cutnode.contract.verbs`.
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
