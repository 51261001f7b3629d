"""Amazons on boards from 4x4 to 8x8: turns of two actions, and about a hundred moves.

Rules: a player moves one of his amazons over free cells, like a queen of chess; then it burns a
cell that a queen could reach from there.  A player who cannot move loses.  Values: 1 a win, -1 a
loss.

Each row has eight bits, from the top.  The first action is 64 times the amazon's cell plus its
destination; the second is the cell to burn.  A variant is a size; the default is ``6x6``.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from cutnode import Bits, PositionError, compiled, lowest_index, mix, popcount, without_lowest
from cutnode.cells import Grid, board_size, variants

DECISIVE = True
VALUE_LIMIT = 1
UNIT = 4
NOBODY = 64
"""The cell recorded when no amazon has to burn a cell."""


class Amazons(NamedTuple):
    """The mover's amazons, the opponent's amazons, and the burnt cells."""

    mine: Bits
    theirs: Bits
    burnt: Bits
    moved: int
    """The cell of the amazon that has just moved; ``NOBODY`` at the beginning of a turn."""
    second: bool
    """Whether the second player is to move."""


@compiled
def cell(position, index):
    """0 a free cell, 1 and 2 an amazon of the first and second player, 3 a burnt cell."""
    row, column = index // position.COLUMNS, index % position.COLUMNS
    place = Bits(1) << Bits(8 * row + column)
    if position.burnt & place:
        return 3
    if position.mine & place:
        return 2 if position.second else 1
    if position.theirs & place:
        return 1 if position.second else 2
    return 0


@compiled
def free(position):
    return position.BOARD & ~(position.mine | position.theirs | position.burnt)


@compiled
def ray(begin, step, edge, empty):
    """Return the cells reachable along a line, in both directions, while they are *empty*."""
    up, down, reached = begin, begin, Bits(0)
    for _ in range(7):
        up = ((up & ~edge) << Bits(step)) & empty
        down = (down >> Bits(step)) & ~edge & empty
        reached |= up | down
    return reached


FIRST, LAST = Bits(0x0101010101010101), Bits(0x8080808080808080)


@compiled(inline=False)
def reach(begin, empty):
    """Return the cells that queens can reach from some cells."""
    return (
        ray(begin, 1, LAST, empty)
        | ray(begin, 8, Bits(0), empty)
        | ray(begin, 9, LAST, empty)
        | ray(begin, 7, FIRST, empty)
    )


@compiled
def moves(position, buffer, at):
    empty = free(position)
    if position.moved != NOBODY:
        targets = reach(Bits(1) << Bits(position.moved), empty)
        while targets:
            buffer[at] = lowest_index(targets)
            targets = without_lowest(targets)
            at += 1
        return at
    left = position.mine
    while left:
        begin = lowest_index(left)
        left = without_lowest(left)
        targets = reach(Bits(1) << Bits(begin), empty)
        while targets:
            buffer[at] = 64 * begin + lowest_index(targets)
            targets = without_lowest(targets)
            at += 1
    return at


@compiled
def play(position, move):
    if position.moved == NOBODY:
        change = (Bits(1) << Bits(move // 64)) | (Bits(1) << Bits(move % 64))
        return position._replace(mine=position.mine ^ change, moved=move % 64)
    return position._replace(
        mine=position.theirs,
        theirs=position.mine,
        burnt=position.burnt | (Bits(1) << Bits(move)),
        moved=NOBODY,
        second=not position.second,
    )


@compiled
def outcome(position):
    # The player who has just moved can burn the cell that the amazon left.
    over = position.moved == NOBODY and reach(position.mine, free(position)) == Bits(0)
    return over, -1 if over else 0


@compiled
def key(position):
    rest = mix(position.burnt) ^ Bits(2 * position.moved + position.second)
    return mix(mix(rest) ^ position.mine) ^ mix(position.theirs)


@compiled
def turn(position):
    return 1 if position.second else 0


@compiled
def plies_left(position):
    return 2 * popcount(free(position))


@compiled
def evaluate(position):
    """Count the cells that the mover reaches in fewer moves, less the cells the opponent does."""
    empty = free(position)
    mine, theirs, lead = position.mine, position.theirs, 0
    left = empty
    while left:
        mine_next = (mine | reach(mine, empty)) & left
        theirs_next = (theirs | reach(theirs, empty)) & left
        if not mine_next | theirs_next:
            break
        lead += popcount(mine_next & ~theirs_next) - popcount(theirs_next & ~mine_next)
        left &= ~(mine_next | theirs_next)
        mine, theirs = mine | mine_next, theirs | theirs_next
    return lead


@compiled
def order(position, move, child):
    return evaluate(child) if child.second == position.second else -evaluate(child)


@variants(Amazons, usual="6x6", read=functools.partial(board_size, example="5x6"))
def board(rows: int, columns: int) -> dict[str, Any]:
    if not (4 <= rows <= 8 and 4 <= columns <= 8):
        raise PositionError(f"there is no board of {rows}x{columns}: 4 to 8 rows and columns")
    cells = sum(((1 << columns) - 1) << 8 * row for row in range(rows))
    return {
        "VARIANT": f"{rows}x{columns}",
        "ROWS": rows,
        "COLUMNS": columns,
        "BOARD": Bits(cells),
        "MAX_MOVES": 256,
        "MAX_PLIES": 2 * rows * columns,
        "CELLS": Grid(
            rows,
            columns,
            contents={".": "free", "a": "first player", "b": "second player", "#": "burnt"},
            players={"first": "first", "second": "second"},
        ),
    }


Position = board(6, 6)


def start(variant: str = "") -> Amazons:
    cls = board.of(variant)
    low, high, right = (cls.ROWS - 1) // 3, cls.ROWS - 1 - (cls.ROWS - 1) // 3, cls.COLUMNS - 1
    near = (cls.COLUMNS - 1) // 3
    theirs = _amazons((low, 0), (0, near), (0, right - near), (low, right))
    mine = _amazons((high, 0), (cls.ROWS - 1, near), (cls.ROWS - 1, right - near), (high, right))
    return cls(mine, theirs, Bits(0), NOBODY, False)


def _amazons(*places: tuple[int, int]) -> Bits:
    return Bits(sum(1 << 8 * row + column for row, column in places))
