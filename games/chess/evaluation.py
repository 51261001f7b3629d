"""What a position of chess is worth, in hundredths of a pawn.

Every feature has two weights, one for the middle game and one for the end game, kept in one
number: that for the end game is in its upper half.  What pieces are worth on their squares is
a field of the position, which ``play`` keeps; all else is counted here.  How much of each
weight counts is a matter of the pieces that are left (the *phase*).
"""

from __future__ import annotations

import numpy as np

from engine.bits import popcount
from engine.constants import Constant
from engine.jit import compiled

__all__ = ["SQUARES", "tapered"]

VALUES = (100, 320, 330, 500, 950, 0)
"""Of a pawn, a knight, a bishop, a rook and a queen."""

PHASES = 24
"""The phase with all pieces: one for each knight and bishop, two for a rook, four for a queen."""


def packed(middle: int, end: int) -> int:
    return middle + (end << 32)


def usual_squares() -> np.ndarray:
    """For each kind of piece and each square of the mover what it is worth there."""
    worth = np.zeros(6 * 64, np.int64)
    for square in range(64):
        file, row = square % 8, square // 8
        centre = min(file, 7 - file) + min(row, 7 - row)
        middle = (2 * centre + 3 * row, 6 * centre, 4 * centre, centre, centre, -8 * centre)
        end = (10 * row, 6 * centre, 4 * centre, centre, 4 * centre, 10 * centre)
        for kind, value in enumerate(VALUES):
            worth[64 * kind + square] = packed(value + middle[kind], value + end[kind])
    return worth


SQUARES = Constant("chess.squares", usual_squares())


@compiled
def tapered(position):
    phase = popcount(position.knights | position.bishops) + 2 * popcount(position.rooks)
    phase = min(phase + 4 * popcount(position.queens), PHASES)
    middle = middle_of(position.placed)
    end = (position.placed - middle) >> 32
    return (phase * middle + (PHASES - phase) * end) // PHASES + 10


@compiled
def middle_of(worth):
    """The weight for the middle game: the lower half, with its sign."""
    return ((worth + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)
