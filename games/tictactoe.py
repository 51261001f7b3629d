"""Tic-tac-toe: the smallest example of the contract.

Rules: X and O alternately mark an empty cell of a 3x3 board, X first.  Three own marks in a
row, column or diagonal win; a full board is a draw.

Values: 1 a win, 0 a draw, -1 a loss.

Text: the cells marked, 1 to 9 from the top left (``519``), or a board, rows from the
top, separated by line ends or ``/``, of ``x``, ``o`` and ``.``.

Encoding: bit n is cell n + 1::

    0 1 2
    3 4 5
    6 7 8
"""

from __future__ import annotations

from typing import NamedTuple

from cutnode import Bits, PositionError, compiled, popcount, quoted
from cutnode.contract.bits import random_index
from cutnode.contract.cells import Grid

LINES = tuple(Bits(int(line, 8)) for line in ("7", "70", "700", "111", "222", "444", "421", "124"))
FULL = Bits(0o777)
MAX_MOVES = MAX_PLIES = 9
DECISIVE = True
CELLS = Grid(3, 3)
MOVE_PATTERN = r"[^\s,]"


class Position(NamedTuple):
    """The marks of the player to move, and of the other."""

    mine: Bits = Bits(0)
    theirs: Bits = Bits(0)


@compiled
def cell(position, index):
    """Return 0 for an empty cell, 1 for an x, 2 for an o."""
    mark = Bits(1) << Bits(index)
    if not (position.mine | position.theirs) & mark:
        return 0
    marks = popcount(position.mine | position.theirs)
    return 1 + (marks + (position.theirs & mark == mark)) % 2


@compiled
def moves(position, buffer, at):
    for cell in range(9):
        if not (position.mine | position.theirs) & (Bits(1) << Bits(cell)):
            buffer[at] = cell
            at += 1
    return at


@compiled
def play(position, move):
    return Position(position.theirs, position.mine | (Bits(1) << Bits(move)))


@compiled
def has_line(marks):
    for line in LINES:
        if marks & line == line:
            return True
    return False


@compiled
def outcome(position):
    if has_line(position.theirs):
        return True, -1
    return position.mine | position.theirs == FULL, 0


@compiled
def key(position):
    return position.mine | (position.theirs << Bits(9))


@compiled
def random_move(position, word):
    return random_index(FULL & ~(position.mine | position.theirs), word)


@compiled
def evaluate(position):
    """Score lines without an opposing mark, own minus theirs: 1 for one own mark, 10 for two."""
    total = 0
    for line in LINES:
        mine, theirs = popcount(position.mine & line), popcount(position.theirs & line)
        if theirs == 0 and mine > 0:
            total += 1 if mine == 1 else 10
        elif mine == 0 and theirs > 0:
            total -= 1 if theirs == 1 else 10
    return total


# Text


def winning_line(position: Position) -> set[int]:
    return CELLS.runs({n for n in range(9) if position.theirs >> n & 1}, 3)


def from_cells(contents: list[int], mover: str, start: Position) -> Position:
    first, second = (Bits(sum(1 << n for n, c in enumerate(contents) if c == m)) for m in (1, 2))
    more = popcount(first) - popcount(second)
    if more not in (0, 1):
        raise PositionError(
            f"{popcount(first)} x and {popcount(second)} o: x begins, so there are as many x as o "
            f"or one more"
        )
    position = Position(second, first) if more else Position(first, second)
    if has_line(position.mine):
        raise PositionError(f"{'xo'[more]} is to move but has three in a line already")
    return position


def parse_move(position: Position, text: str) -> int:
    if len(text) != 1 or text not in "123456789":
        raise PositionError(f"{quoted(text)} is not a cell; cells are 1..9")
    if outcome(position)[0]:
        raise PositionError(f"cell {text} is marked after the game is over")
    if (position.mine | position.theirs) >> int(text) - 1 & 1:
        raise PositionError(f"cell {text} is marked already")
    return int(text) - 1


def move_text(position: Position, move: int) -> str:
    return str(move + 1)
