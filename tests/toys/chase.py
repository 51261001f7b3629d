"""The rules of :mod:`tests.toys.pursuit` without indices, so that positions are enumerated."""

from __future__ import annotations

from toys import pursuit
from toys.pursuit import (
    CELLS,
    DECISIVE,
    MAX_MOVES,
    VALUE_LIMIT,
    cell,
    key,
    moves,
    outcome,
    play,
    reversible,
    turn,
)

__all__ = [
    "CELLS",
    "DECISIVE",
    "MAX_MOVES",
    "VALUE_LIMIT",
    "cell",
    "key",
    "moves",
    "outcome",
    "play",
    "reversible",
    "turn",
]


class Position(pursuit.Position):
    __slots__ = ()
