"""A duel on a ring of five cells, in which a repetition is a draw.

Rules: a player steps to a neighbouring cell, or leaps two cells forward, which only one of them can
do once in a duel; a player who lands on the opponent wins.  Values: 1 a win, -1 a loss.

Text: the mover's cell, the opponent's cell, and ``leap`` while a leap is possible, as in
``0 3 leap``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from cutnode import Bits, PositionError, compiled

CELLS = 5
MAX_MOVES = 3
MAX_PLIES = 50

NAMES = ("back", "forth", "leap")
BACK, FORTH, LEAP = range(3)
STRIDES = (CELLS - 1, 1, 2)


class Position(NamedTuple):
    """The mover's cell, the opponent's cell, and whether a leap is still possible."""

    mine: int = 0
    theirs: int = 3
    leap: bool = True


@compiled
def moves(position, buffer, at):
    buffer[at] = BACK
    buffer[at + 1] = FORTH
    if not position.leap:
        return at + 2
    buffer[at + 2] = LEAP
    return at + 3


@compiled
def play(position, move):
    cell = (position.mine + STRIDES[move]) % CELLS
    return Position(position.theirs, cell, position.leap and move != LEAP)


@compiled
def outcome(position):
    over = position.mine == position.theirs
    return over, -1 if over else 0


@compiled
def key(position):
    return Bits(position.mine) << Bits(4) | Bits(position.theirs) << Bits(1) | Bits(position.leap)


@compiled
def reversible(position, child):
    return position.leap == child.leap


@compiled
def evaluate(position):
    return (position.theirs - position.mine) % CELLS


def position_text(position: Position) -> str:
    return f"{position.mine} {position.theirs}{' leap' * position.leap}"


def parse_position(text: str, variant: str = "") -> Position:
    match = re.fullmatch(r"([0-4]) ([0-4])( leap)?", text)
    if not match:
        raise PositionError(f"{text!r} is not two cells, 0 to 4, and perhaps leap")
    return Position(int(match[1]), int(match[2]), bool(match[3]))


def move_text(position: Position, move: int) -> str:
    return NAMES[move]
