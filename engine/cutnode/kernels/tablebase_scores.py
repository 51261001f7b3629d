"""The scores that a search takes from a tablebase, in compiled code.

In games without an ``index`` the functions are constants.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cutnode.compiler.jit import compiled
from cutnode.contract.dispatch import declared, defines, derived, game_constant
from cutnode.contract.verbs import NO_INDEX, index, layer
from cutnode.kernels.layer_points import banked
from cutnode.kernels.scores import final_score
from cutnode.kernels.tablebase import ENTRY, is_solved, meaning_at, value_at

NO_TABLES, TO_THE_END, NO_DISTANCE, POINTS = range(4)
"""Kinds of tablebase: none; with distances to the end of the game; with distances to conversion, or
none; with points, or expected values."""

FAR = 2000
"""Plies added to the distance of wins whose distance to the end is unknown."""

FARTHEST = 4000
"""The most plies that a distance counts as, so that a win stays above all estimates."""


def tablebase_fields(cls: Any) -> list[Any]:
    """Return the fields of a search's memory that lead to a tablebase, if a game has indices."""
    if not defines(cls, "index"):
        return []
    layers = len(declared(cls, "LAYER_SIZES"))
    return [
        ("tablebase", np.int64),  # of what kind it is
        ("tables", np.int64, (layers * ENTRY,)),  # see cutnode.kernels.tablebase
    ]


@derived
def tablebase_score(cls: type) -> Callable[..., Any]:
    """``tablebase_score(position, ply, search)``: whether a tablebase has the score, and the score.

    The game must not be over.  The root has none, because it has to find a move.
    """
    if not defines(cls, "index"):
        return lambda position, ply, search: (False, 0)
    if defines(cls, "chance"):
        return _expected_value
    decisive = game_constant(cls, "DECISIVE", 0) != 0
    return _decisive_score if decisive else _plain_score


@derived
def tablebase_value(cls: type) -> Callable[..., Any]:
    """``tablebase_value(position, search)``: whether a tablebase has the exact value, and it."""
    if not defines(cls, "index") or defines(cls, "chance"):
        return lambda position, search: (False, 0)
    return lambda position, search: _plain_score(position, 1, search)


@compiled
def is_there(position, ply, search):
    """Return whether a position is in a table, its layer and its index; never at the root."""
    if search.tablebase == NO_TABLES or ply == 0:
        return False, 0, 0
    number = index(position)
    if number == NO_INDEX:
        return False, 0, 0
    at = layer(position)
    return is_solved(search.tables, at, number), at, number


@compiled
def _code(position, ply, search):
    """Return whether a position is in a table, and its code there."""
    found, at, number = is_there(position, ply, search)
    return found, meaning_at(search.tables, at, number) if found else 0


@compiled
def _decisive_score(position, ply, search):
    found, code = _code(position, ply, search)
    if not found:
        return False, 0
    distance = abs(code) - 1 if search.tablebase == TO_THE_END else FAR + abs(code)
    return True, final_score(code, ply + min(distance, FARTHEST), search.win, search.step)


@compiled
def _plain_score(position, ply, search):
    found, code = _code(position, ply, search)
    if not found:
        return False, 0
    if search.tablebase == POINTS:
        return True, banked(position) + code
    return True, 1 if code > 0 else -1 if code < 0 else 0


@compiled
def _expected_value(position, ply, search):
    found, at, number = is_there(position, ply, search)
    if not found:
        return False, 0.0
    return True, value_at(search.tables, at, number)
