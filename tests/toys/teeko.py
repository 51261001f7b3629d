"""Teeko, the standard game: men are placed, and then moved forever unless somebody wins.

Rules: on a board of 5x5 cells the players alternately place four men each; then they move one to a
neighbouring cell, also diagonally.  Four in a row, or in a square of 2x2, win.  Values: 1 a win,
-1 a loss.

Boards are seen by the mover, with an unused bit after each row of five.  A move is 32 times the
man's cell (31 if it is placed) plus its destination.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cutnode import Bits, PositionError, compiled, lowest_index, popcount, without_lowest
from cutnode.cells import Grid
from toys.quixo import (
    canonical,
    canonical_move,
    cell,
    key,
    original_move,
    position_of,
)

__all__ = ["canonical", "canonical_move", "cell", "key", "original_move", "position_of"]

DECISIVE = True
VALUE_LIMIT = 1
MAX_MOVES = 32
MAX_PLIES = 1000
CELLS = Grid(5, 5, contents={".": "empty", "x": "mover", "o": "other"})

HAND = 31
MEN = 4
BOARD = Bits(sum(0b11111 << 6 * row for row in range(5)))


class Position(NamedTuple):
    """A position: the mover's men and the opponent's men."""

    mine: Bits = Bits(0)
    theirs: Bits = Bits(0)

    SIZE = 5
    STRIDE = 6


@compiled
def near(men):
    """Return the neighbours of some men, which include men that stand next to each other."""
    across = men | (men << Bits(1)) | (men >> Bits(1))
    beside = ((men << Bits(1)) | (men >> Bits(1))) & BOARD
    return (beside | (across << Bits(6)) | (across >> Bits(6))) & BOARD


@compiled
def moves(position, buffer, at):
    empty = BOARD & ~(position.mine | position.theirs)
    if popcount(position.mine) < MEN:
        return write(HAND, empty, buffer, at)
    left = position.mine
    while left:
        at = write(lowest_index(left), near(left & ~without_lowest(left)) & empty, buffer, at)
        left = without_lowest(left)
    return at


@compiled
def write(source, targets, buffer, at):
    while targets:
        buffer[at] = 32 * source + lowest_index(targets)
        targets = without_lowest(targets)
        at += 1
    return at


@compiled
def play(position, move):
    mine = position.mine | (Bits(1) << Bits(move & 31))
    if move >> 5 != HAND:
        mine ^= Bits(1) << Bits(move >> 5)
    return position._replace(mine=position.theirs, theirs=mine)


@compiled
def has_won(men):
    """Return whether four men form a row or a square."""
    for step in (1, 5, 6, 7):
        two = men & (men >> Bits(step))
        if two & (two >> Bits(2 * step)):
            return True
    two = men & (men >> Bits(1))
    return two & (two >> Bits(6)) != Bits(0)


@compiled
def outcome(position):
    if has_won(position.theirs):
        return True, -1
    empty = BOARD & ~(position.mine | position.theirs)
    stuck = popcount(position.mine) == MEN and near(position.mine) & empty == Bits(0)
    return (True, -1) if stuck else (False, 0)


@compiled
def reversible(position, child):
    return popcount(position.mine) == MEN


def from_cells(contents: list[int], mover: str, start: Any) -> Position:
    mine, theirs = (
        Bits(
            sum(1 << n // 5 * 6 + n % 5 for n, content in enumerate(contents) if content == player)
        )
        for player in (1, 2)
    )
    if not popcount(mine) <= popcount(theirs) <= min(popcount(mine) + 1, MEN):
        raise PositionError(
            f"{popcount(mine)} men of the mover and {popcount(theirs)} of the other"
        )
    return Position(mine, theirs)


def move_text(position: Position, move: int) -> str:
    def name(place: int) -> str:
        return f"{'abcde'[place % 6]}{5 - place // 6}"

    return name(move & 31) if move >> 5 == HAND else f"{name(move >> 5)}-{name(move & 31)}"
