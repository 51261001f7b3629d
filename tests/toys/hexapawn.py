"""Hexapawn on boards of all sizes: chess with pawns only.

Rules: each player has a row of pawns, which step straight forward to an empty cell or capture
diagonally forward.  A player wins by reaching the last row, by capturing all pawns, or by leaving
the opponent without a move.  Values: 1 a win, -1 a loss.

A variant is the numbers of rows and columns; the default is ``3x3``.  Boards are always seen by the
mover, whose pawns, x, move up: bit 0 is the leftmost cell of the lowest row.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from cutnode import Bits, PositionError, compiled, lowest_index, without_lowest
from cutnode.cells import Grid, board_size, variants

DECISIVE = True
VALUE_LIMIT = 1

LEFT, STRAIGHT, RIGHT = range(3)


class Pawns(NamedTuple):
    """A position: the mover's pawns and the opponent's pawns."""

    mine: Bits
    theirs: Bits


@compiled
def cell(position, index):
    row, column = index // position.COLUMNS, index % position.COLUMNS
    pawn = Bits(1) << Bits((position.ROWS - 1 - row) * position.COLUMNS + column)
    return 1 if position.mine & pawn else 2 if position.theirs & pawn else 0


@compiled
def ends(position, direction):
    """Return the cells where steps in a direction end."""
    mine = position.mine << Bits(position.COLUMNS)
    if direction == STRAIGHT:
        return mine & position.BOARD & ~position.theirs & ~position.mine
    if direction == LEFT:
        return ((mine & ~position.FIRST_COLUMN) >> Bits(1)) & position.theirs
    return ((mine & ~position.LAST_COLUMN) << Bits(1)) & position.theirs


@compiled
def moves(position, buffer, at):
    """Write the moves: three times the destination, plus the direction."""
    for direction in range(3):
        left = ends(position, direction)
        while left:
            buffer[at] = 3 * lowest_index(left) + direction
            left = without_lowest(left)
            at += 1
    return at


@compiled
def play(position, move):
    end, direction = move // 3, move % 3
    begin = end - position.COLUMNS + 1 - direction
    change = (Bits(1) << Bits(end)) | (Bits(1) << Bits(begin))
    theirs = position.theirs & ~change
    mine = flipped(position, position.mine ^ change)
    return position._replace(mine=flipped(position, theirs), theirs=mine)


@compiled
def flipped(position, pawns):
    """Return the board with its rows in the opposite order."""
    found, width = Bits(0), Bits(position.COLUMNS)
    for _ in range(position.ROWS):
        found = (found << width) | (pawns & position.FIRST_ROW)
        pawns >>= width
    return found


@compiled
def outcome(position):
    if position.theirs & position.FIRST_ROW:
        return True, -1
    stuck = ends(position, LEFT) | ends(position, STRAIGHT) | ends(position, RIGHT) == Bits(0)
    return (True, -1) if stuck else (False, 0)


@variants(Pawns, usual="3x3", read=functools.partial(board_size, example="4x5"))
def board(rows: int, columns: int) -> dict[str, Any]:
    if not (3 <= rows <= 8 and 2 <= columns <= 8):
        raise PositionError(f"there is no board of {rows}x{columns}: rows 3 to 8, columns 2 to 8")
    column = sum(1 << row * columns for row in range(rows))
    return {
        "ROWS": rows,
        "COLUMNS": columns,
        "BOARD": Bits((1 << rows * columns) - 1),
        "FIRST_ROW": Bits((1 << columns) - 1),
        "FIRST_COLUMN": Bits(column),
        "LAST_COLUMN": Bits(column << columns - 1),
        "MAX_MOVES": 3 * columns,
        "MAX_PLIES": 2 * columns * (rows - 2) + 1,
        "VARIANT": f"{rows}x{columns}",
        "CELLS": Grid(rows, columns, contents={".": "empty", "x": "mover", "o": "other"}),
    }


Position = board(3, 3)


def start(variant: str = "") -> Pawns:
    cls = board.of(variant)
    return cls(cls.FIRST_ROW, Bits(cls.FIRST_ROW << cls.COLUMNS * (cls.ROWS - 1)))


def from_cells(contents: list[int], mover: str, start: Any) -> Pawns:
    width = start.COLUMNS
    mine, theirs = (
        Bits(
            sum(
                1 << (start.ROWS - 1 - n // width) * width + n % width
                for n, content in enumerate(contents)
                if content == player
            )
        )
        for player in (1, 2)
    )
    if mine >> width * (start.ROWS - 1):
        raise PositionError("the mover has a pawn on the last row already")
    return type(start)(mine, theirs)
