"""Domineering on boards of up to 7x7, whose winners are published for each size.

Rules: alternately, Vertical covers two free cells, one above the other, and Horizontal two free
cells side by side; a player who cannot move loses.  Values: 1 a win, -1 a loss.

A move is the number of its upper or left cell, with eight numbers to a row.  A variant is a size
and the player who begins, ``4x5`` (rows, columns) or ``4x5 h``; the default is ``4x4``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from cutnode import Bits, PositionError, compiled, lowest_index, popcount, quoted, without_lowest
from cutnode.cells import Grid

SIDE = 7
MAX_MOVES = SIDE * (SIDE - 1)
MAX_PLIES = SIDE * SIDE // 2 + 1
DECISIVE = True
VALUE_LIMIT = 1
CELLS = Grid(
    *(SIDE, SIDE),
    contents={".": "free", "#": "covered, or beyond the board"},
    players={"vertical": "vertical", "horizontal": "horizontal"},
)


class Position(NamedTuple):
    free: Bits
    """The free cells: eight bits for each row, the last of which is never free."""
    vertical: bool
    """Whether Vertical is to move."""


@compiled
def cell(position, index):
    return 0 if position.free >> Bits(8 * (index // SIDE) + index % SIDE) & Bits(1) else 1


def mover(position: Position) -> str:
    return "vertical" if position.vertical else "horizontal"


@compiled
def places(position):
    """Return the upper or left cells of the mover's possible dominoes."""
    return position.free & (position.free >> Bits(8 if position.vertical else 1))


@compiled
def moves(position, buffer, at):
    left = places(position)
    while left:
        buffer[at] = lowest_index(left)
        left = without_lowest(left)
        at += 1
    return at


@compiled
def play(position, move):
    domino = Bits(257 if position.vertical else 3) << Bits(move)
    return Position(position.free ^ domino, not position.vertical)


@compiled
def outcome(position):
    over = places(position) == 0
    return over, -1 if over else 0


@compiled
def order(position, move, child):
    """Prefer moves that leave the opponent few places, and oneself many."""
    return popcount(places(Position(child.free, position.vertical))) - popcount(places(child))


def start(variant: str = "") -> Position:
    match = re.fullmatch(r"([1-7])x([1-7])( [vh])?", variant or "4x4")
    if not match:
        raise PositionError(f"{quoted(variant)} is not a size of up to {SIDE}x{SIDE}: 4x5, 4x5 h")
    row = (1 << int(match[2])) - 1
    free = sum(row << 8 * number for number in range(int(match[1])))
    return Position(Bits(free), match[3] != " h")
