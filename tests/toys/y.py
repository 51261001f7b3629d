"""Y on triangles with sides of 2 to 8 cells: who joins all three sides wins, and somebody does.

Rules: two players put stones of their colour on empty cells of a triangle of hexagons, by turns.
Who first has a chain of stones that touches all three sides wins; a corner belongs to two of them.
There are no draws, so the first player wins.  Values: 1 a win, -1 a loss.

Encoding: one bit for each cell, eight for each row, from the top; a move is the number of a bit::

     0
     8  9
    16 17 18

The neighbours of 8 are 0, 9, 16 and 17: a step is 1, 8 or 9, up or down.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from engine import (
    Bits,
    PositionError,
    compiled,
    lowest,
    lowest_index,
    mix,
    popcount,
    without_lowest,
)
from engine.contract.cells import Hexagons
from engine.contract.variants import variants

DECISIVE = True
VALUE_LIMIT = 1


class Stones(NamedTuple):
    """A position: the stones of the mover and of the other, and whether the second is to move."""

    mine: Bits = Bits(0)
    theirs: Bits = Bits(0)
    second: bool = False


@compiled
def cell(position, index):
    place = Bits(1) << Bits(position.NUMBERS[index])
    if position.mine & place:
        return 2 if position.second else 1
    if position.theirs & place:
        return 1 if position.second else 2
    return 0


@compiled
def moves(position, buffer, at):
    empty = position.BOARD & ~(position.mine | position.theirs)
    while empty:
        buffer[at] = lowest_index(empty)
        empty = without_lowest(empty)
        at += 1
    return at


@compiled
def play(position, move):
    mine = position.mine | (Bits(1) << Bits(move))
    return position._replace(mine=position.theirs, theirs=mine, second=not position.second)


@compiled
def around(stones):
    """Stones and the cells beside them; beyond a side there are only cells that nobody has."""
    up = stones | (stones >> Bits(1)) | (stones >> Bits(8)) | (stones >> Bits(9))
    return up | (stones << Bits(1)) | (stones << Bits(8)) | (stones << Bits(9))


@compiled(inline=False)
def joins_all(position, stones):
    """Whether a chain of stones touches all sides: chains grow from the left side, one by one."""
    left = stones & position.LEFT
    while left:
        chain, grown = Bits(0), lowest(left)
        while grown != chain:
            chain = grown
            grown = around(chain) & stones
        if chain & position.RIGHT and chain & position.BOTTOM:
            return True
        left &= ~chain
    return False


@compiled
def outcome(position):
    over = joins_all(position, position.theirs)
    return over, -1 if over else 0


@compiled
def key(position):
    return mix(position.mine) ^ position.theirs


@compiled
def plies_left(position):
    return popcount(position.BOARD & ~(position.mine | position.theirs))


def read(variant: str) -> int:
    """The cells of a side; :class:`PositionError` if that is no side."""
    if not variant.isdecimal() or not 2 <= int(variant) <= 8:
        raise PositionError(f"a side of Y has 2 to 8 cells, as in y:4, not {variant!r}")
    return int(variant)


@variants(Stones, usual="4", read=read)
def triangle(side: int) -> dict[str, Any]:
    """The constants of a board."""
    numbers = tuple(8 * row + column for row in range(side) for column in range(row + 1))
    return {
        "VARIANT": str(side),
        "CELLS": Hexagons(tuple(range(1, side + 1))),
        "NUMBERS": numbers,
        "BOARD": Bits(sum(1 << number for number in numbers)),
        "LEFT": Bits(sum(1 << 8 * row for row in range(side))),
        "RIGHT": Bits(sum(1 << 9 * row for row in range(side))),
        "BOTTOM": Bits(((1 << side) - 1) << 8 * (side - 1)),
        "MAX_MOVES": len(numbers),
        "MAX_PLIES": len(numbers),
    }


Position = triangle(4)
