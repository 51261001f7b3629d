"""Domineering on boards of up to 7x7: who wins is published for each size.

Rules: Vertical covers two free cells, one below the other, and Horizontal two side by side,
by turns; who cannot loses.  Values: 1 a win, -1 a loss.

Text: who is to move, and the rows of the board, ``.`` free and ``#`` covered or not there:
``v .../.#.``.  A move is a row and a column, counted from 1, of its upper or left cell:
``2,1``.  A variant is a size and who begins, ``4x5`` (rows, columns) or ``4x5 h``; ``4x4``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from engine import (
    Bits,
    PositionError,
    compiled,
    draw_board,
    legal_moves,
    lowest_index,
    popcount,
    quoted,
    without_lowest,
)

SIDE = 7
MAX_MOVES = SIDE * (SIDE - 1)
MAX_PLIES = SIDE * SIDE // 2 + 1
DECISIVE = True


class Position(NamedTuple):
    free: Bits
    """Eight bits for each row, the last of them never free."""
    vertical: bool
    """Whether Vertical is to move."""

    def __str__(self) -> str:
        return f"{draw_board(rows(self))}\n{'vertical' if self.vertical else 'horizontal'} to move"


@compiled
def places(position):
    """The cells that a domino of the mover can cover with the next one."""
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
def bounds(position, alpha, beta):
    """Nothing is better than a win: a search that knows looks no further."""
    over, value = outcome(position)
    return (value, value) if over else (-1, 1)


@compiled
def key(position):
    return position.free | Bits(position.vertical) << Bits(63)


@compiled
def order(position, move, child):
    """Leave the other few places, and oneself many."""
    return popcount(places(Position(child.free, position.vertical))) - popcount(places(child))


def start(variant: str = "") -> Position:
    match = re.fullmatch(r"([1-7])x([1-7])( [vh])?", variant or "4x4")
    if not match:
        raise PositionError(f"{quoted(variant)} is not a size of up to {SIDE}x{SIDE}: 4x5, 4x5 h")
    row = (1 << int(match[2])) - 1
    free = sum(row << 8 * number for number in range(int(match[1])))
    return Position(Bits(free), match[3] != " h")


def parse_position(text: str, variant: str = "") -> Position:
    if not text.strip():
        return start(variant)
    match = re.fullmatch(r"([vh]) ([.#]{1,7}(?:/[.#]{1,7}){0,6})", text.strip())
    if not match:
        raise PositionError(f"{quoted(text)} is not a player and a board, such as v .../.#.")
    free = 0
    for number, row in enumerate(match[2].split("/")):
        free |= sum(1 << 8 * number + at for at, cell in enumerate(row) if cell == ".")
    return Position(Bits(free), match[1] == "v")


def position_text(position: Position) -> str:
    return f"{'v' if position.vertical else 'h'} {'/'.join(rows(position))}"


def rows(position: Position) -> list[str]:
    return [
        "".join("#."[position.free >> 8 * row + column & 1] for column in range(SIDE))
        for row in range(SIDE)
    ]


def parse_move(position: Position, text: str) -> int:
    for move in legal_moves(position):
        if move_text(position, move) == text:
            return move
    raise PositionError(f"{quoted(text)} is not a row and a column with a free place, such as 2,1")


def move_text(position: Position, move: int) -> str:
    return f"{move // 8 + 1},{move % 8 + 1}"
