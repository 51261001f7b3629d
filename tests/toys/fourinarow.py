"""Connect Four as a user first writes it: loops and shifts, and only the required verbs.

Rules, values and text are the same as in ``games/connect4.py`` on its default board.  Columns are
side by side, seven bits each; their top bit is always empty, so that no line runs from one column
into the next.
"""

from __future__ import annotations

from typing import NamedTuple

from cutnode import Bits, PositionError, compiled
from cutnode.cells import Grid

MAX_MOVES = 7
MAX_PLIES = 42
CELLS = Grid(6, 7, column_names="1234567")
MOVE_PATTERN = "."
DECISIVE = True


class Position(NamedTuple):
    mine: Bits = Bits(0)
    theirs: Bits = Bits(0)
    stones: int = 0


@compiled
def cell(position, index):
    stone = Bits(1) << Bits(7 * (index % 7) + 5 - index // 7)
    if position.mine & stone:
        return 1 + position.stones % 2
    return 2 - position.stones % 2 if position.theirs & stone else 0


@compiled
def moves(position, buffer, at):
    filled = position.mine | position.theirs
    for column in range(7):
        if not filled & (Bits(1) << Bits(7 * column + 5)):
            buffer[at] = column
            at += 1
    return at


@compiled
def play(position, move):
    filled = position.mine | position.theirs
    cell = Bits(1) << Bits(7 * move)
    while filled & cell:
        cell <<= Bits(1)
    return Position(position.theirs, position.mine | cell, position.stones + 1)


@compiled
def outcome(position):
    for step in (1, 6, 7, 8):
        pairs = position.theirs & (position.theirs >> Bits(step))
        if pairs & (pairs >> Bits(2 * step)):
            return True, -((44 - position.stones) // 2)
    return position.stones == 42, 0


@compiled
def key(position):
    """Return the mover's stones plus a bit on top of each column: a unique key."""
    return position.mine | ((position.mine | position.theirs) + Bits(0x40810204081))


def from_cells(contents: list[int], mover: str, start: Position) -> Position:
    first, second = (
        sum(1 << 7 * (n % 7) + 5 - n // 7 for n, c in enumerate(contents) if c == m) for m in (1, 2)
    )
    for column in range(7):
        height = (first | second) >> 7 * column & 63
        if height & (height + 1):
            raise PositionError(f"column {column + 1} has a stone above an empty cell")
    stones = first.bit_count() + second.bit_count()
    if first.bit_count() != (stones + 1) // 2:
        raise PositionError("x moves first: there are as many x as o, or one more")
    if stones % 2:
        first, second = second, first
    if outcome(Position(Bits(0), Bits(first), stones))[1] < 0:
        raise PositionError("the player to move has four in a row already")
    return Position(Bits(first), Bits(second), stones)


def move_text(position: Position, move: int) -> str:
    return str(move + 1)
