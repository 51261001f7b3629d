"""Isolation on three by three cells: turns of two actions, and a group of symmetries.

Rules: a player walks one step in any direction to a free cell, and then closes a free
cell; who cannot walk loses.  Values: 1 a win, -1 a loss.

Text: the cells in rows from the top, ``a`` the mover, ``b`` the other, ``#`` closed,
``.`` free, then the action, and the player to move, as in ``.a./.../.b. walk 1``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from engine import (
    Bits,
    PositionError,
    compiled,
    draw_board,
    lowest_index,
    popcount,
    without_lowest,
)

MAX_MOVES = 8
MAX_PLIES = 14
STEPS = (0o32, 0o75, 0o62, 0o323, 0o757, 0o626, 0o230, 0o570, 0o260)
"""The neighbours of each cell, in octal: a digit for a row, the lowest the top row."""
TURNED = (6, 3, 0, 7, 4, 1, 8, 5, 2)
"""Where each cell goes when the board is turned by a quarter."""


class Position(NamedTuple):
    """The walkers, the closed cells, whether the mover has walked, and who he is."""

    mine: Bits
    theirs: Bits
    closed: Bits
    walked: bool
    second: bool

    def __str__(self) -> str:
        return draw_board(rows(self))


@compiled
def free(position):
    return Bits(0o777) & ~(position.mine | position.theirs | position.closed)


@compiled
def targets(position):
    return free(position) & (
        Bits(0o777) if position.walked else Bits(STEPS[lowest_index(position.mine)])
    )


@compiled
def moves(position, buffer, at):
    cells = targets(position)
    while cells:
        buffer[at] = lowest_index(cells)
        cells = without_lowest(cells)
        at += 1
    return at


@compiled
def play(position, move):
    cell = Bits(1) << Bits(move)
    if position.walked:
        closed = position.closed | cell
        return Position(position.theirs, position.mine, closed, False, not position.second)
    return Position(cell, position.theirs, position.closed, True, position.second)


@compiled
def outcome(position):
    over = targets(position) == Bits(0)
    return over, -1 if over else 0


@compiled
def key(position):
    board = position.mine | position.theirs << Bits(9) | position.closed << Bits(18)
    return board | Bits(position.walked) << Bits(27) | Bits(position.second) << Bits(28)


@compiled
def turn(position):
    return 1 if position.second else 0


@compiled
def turned(cells):
    image = Bits(0)
    for cell in range(9):
        image |= (cells >> Bits(cell) & Bits(1)) << Bits(TURNED[cell])
    return image


@compiled
def canonical(position):
    best, symmetry = key(position), 0
    mine, theirs, closed = position.mine, position.theirs, position.closed
    for quarters in range(1, 4):
        mine, theirs, closed = turned(mine), turned(theirs), turned(closed)
        word = key(Position(mine, theirs, closed, position.walked, position.second))
        if word < best:
            best, symmetry = word, quarters
    return best, symmetry


@compiled
def canonical_move(position, move, symmetry):
    for _ in range(symmetry):
        move = TURNED[move]
    return move


@compiled
def original_move(position, move, symmetry):
    for _ in range(-symmetry % 4):
        move = TURNED[move]
    return move


@compiled
def evaluate(position):
    return popcount(targets(position))


@compiled
def plies_left(position):
    return 2 * popcount(free(position))


def start(variant: str = "") -> Position:
    if variant:
        raise PositionError(f"isolation has no variant {variant!r}")
    return Position(Bits(0o2), Bits(0o200), Bits(0), False, False)


def rows(position: Position) -> list[str]:
    def symbol(cell: int) -> str:
        marked = ((position.mine, "a"), (position.theirs, "b"), (position.closed, "#"))
        return next((mark for cells, mark in marked if cells >> cell & 1), ".")

    cells = "".join(map(symbol, range(9)))
    return [cells[row : row + 3] for row in (0, 3, 6)]


def position_text(position: Position) -> str:
    action = "close" if position.walked else "walk"
    return f"{'/'.join(rows(position))} {action} {1 + position.second}"


def parse_position(text: str, variant: str = "") -> Position:
    start(variant)
    match = re.fullmatch(r"([ab#.]{3}/[ab#.]{3}/[ab#.]{3}) (walk|close) ([12])", text)
    if not match or match[1].count("a") != 1 or match[1].count("b") != 1:
        raise PositionError(f"{text!r} is not a board, an action and a player")
    cells = match[1].replace("/", "")
    marks = (Bits(sum(1 << n for n, c in enumerate(cells) if c == mark)) for mark in "ab#")
    return Position(*marks, match[2] == "close", match[3] == "2")


def parse_move(position: Position, text: str) -> int:
    if text not in [*"123456789"] or not targets(position) >> int(text) - 1 & 1:
        raise PositionError(f"{text!r} is not a cell to go to or to close")
    return int(text) - 1


def move_text(position: Position, move: int) -> str:
    return str(move + 1)
