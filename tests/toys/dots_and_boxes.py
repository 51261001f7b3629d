"""Dots and boxes on boards of up to 5x5 boxes: extra turns, and a decisive parity.

Rules: players alternately draw the lines of a rectangle of boxes; a player who completes a box owns
it and draws again.  Values: the mover's boxes minus the opponent's.

A move is the number of a line: first the horizontal ones, row by row, and then the vertical ones.
A variant is the numbers of rows and columns; the default is ``3x3``.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from cutnode import Bits, PositionError, compiled, lowest_index, popcount, without_lowest
from cutnode.cells import board_size, variants

UNIT = 1


class Lines(NamedTuple):
    """The lines drawn, the lead of the mover in boxes, and whether the second player moves."""

    drawn: Bits = Bits(0)
    lead: int = 0
    second: bool = False


@compiled
def moves(position, buffer, at):
    left = position.ALL & ~position.drawn
    while left:
        buffer[at] = lowest_index(left)
        left = without_lowest(left)
        at += 1
    return at


@compiled
def sides(position, box):
    """Return the four lines around a box."""
    row, column = box // position.COLUMNS, box % position.COLUMNS
    left = position.VERTICAL + row * (position.COLUMNS + 1) + column
    return (
        Bits(1) << Bits(box)
        | Bits(1) << Bits(box + position.COLUMNS)
        | Bits(3) << Bits(left)
    )  # fmt: skip


@compiled
def completed(position, drawn, move):
    """Count the boxes that a line completes, out of its two neighbours."""
    count = 0
    if move < position.VERTICAL:
        if move >= position.COLUMNS:
            count += is_complete(position, drawn, move - position.COLUMNS)
        if move < position.BOXES:
            count += is_complete(position, drawn, move)
        return count
    row, column = divmod(move - position.VERTICAL, position.COLUMNS + 1)
    box = row * position.COLUMNS + column
    if column > 0:
        count += is_complete(position, drawn, box - 1)
    if column < position.COLUMNS:
        count += is_complete(position, drawn, box)
    return count


@compiled
def is_complete(position, drawn, box):
    around = sides(position, box)
    return 1 if drawn & around == around else 0


@compiled
def play(position, move):
    drawn = position.drawn | (Bits(1) << Bits(move))
    won = completed(position, drawn, move)
    if won > 0:
        return position._replace(drawn=drawn, lead=position.lead + won)
    return position._replace(drawn=drawn, lead=-position.lead, second=not position.second)


@compiled
def outcome(position):
    over = position.drawn == position.ALL
    return over, position.lead if over else 0


@compiled
def turn(position):
    return 1 if position.second else 0


@compiled
def plies_left(position):
    return popcount(position.ALL & ~position.drawn)


@compiled
def evaluate(position):
    return position.lead


@compiled
def order(position, move, child):
    return child.lead if child.second == position.second else -child.lead


@variants(Lines, usual="3x3", read=functools.partial(board_size, example="3x4"))
def board(rows: int, columns: int) -> dict[str, Any]:
    if not (1 <= rows <= 5 and 1 <= columns <= 5):
        raise PositionError(f"there is no board of {rows}x{columns} boxes: 1 to 5 by 1 to 5")
    lines = (rows + 1) * columns + rows * (columns + 1)
    return {
        "VARIANT": f"{rows}x{columns}",
        "COLUMNS": columns,
        "BOXES": rows * columns,
        "VERTICAL": (rows + 1) * columns,
        "ALL": Bits((1 << lines) - 1),
        "VALUE_LIMIT": rows * columns,
        "MAX_MOVES": lines,
        "MAX_PLIES": lines,
    }


Position = board(3, 3)
