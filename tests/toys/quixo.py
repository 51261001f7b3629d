"""Quixo on boards of 3x3 and 4x4 cubes: a game with cycles, in which a move can lose at once.

Rules: a player takes a cube from the rim, blank or with his own sign, turns it to his own sign, and
pushes it back in at another end of its row or column.  A full line of one sign wins; if a move
makes lines of both signs, the opponent wins.  Values: 1 a win, -1 a loss.

Boards are seen by the mover, row by row from bit 0 at the top left.  A move is 32 times the cell
that the cube leaves plus the cell where it is pushed in.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from cutnode import Bits, PositionError, compiled, lowest_index, popcount, without_lowest
from cutnode.cells import Grid, board_size, variants

DECISIVE = True
VALUE_LIMIT = 1
MAX_PLIES = 1000

INVERSE = (0, 1, 2, 3, 4, 6, 5, 7)
"""The inverse of each symmetry."""


class Cubes(NamedTuple):
    """A position: the cubes with the mover's sign, and the cubes with the opponent's sign."""

    mine: Bits = Bits(0)
    theirs: Bits = Bits(0)


@compiled
def cell(position, index):
    place = Bits(1) << Bits(index // position.SIZE * position.STRIDE + index % position.SIZE)
    return 1 if position.mine & place else 2 if position.theirs & place else 0


@compiled
def moves(position, buffer, at):
    size = position.SIZE
    for row in range(size):
        for column in range(size):
            begin = row * size + column
            on_rim = row % (size - 1) == 0 or column % (size - 1) == 0
            if not on_rim or (position.theirs >> Bits(begin)) & Bits(1):
                continue
            for end in (row * size, row * size + size - 1, column, size * (size - 1) + column):
                if end != begin:
                    buffer[at] = 32 * begin + end
                    at += 1
    return at


@compiled
def play(position, move):
    """Play a move, which shifts the cubes between the two cells by one."""
    begin, end = move >> 5, move & 31
    stride = 1 if begin // position.SIZE == end // position.SIZE else position.SIZE
    between, at = Bits(0), end
    while at != begin:
        between |= Bits(1) << Bits(at)
        at += stride if begin > end else -stride
    gone = between | (Bits(1) << Bits(begin))
    mine, theirs = position.mine & between, position.theirs & between
    if begin > end:
        mine, theirs = mine << Bits(stride), theirs << Bits(stride)
    else:
        mine, theirs = mine >> Bits(stride), theirs >> Bits(stride)
    mine |= (position.mine & ~gone) | (Bits(1) << Bits(end))
    return position._replace(mine=theirs | (position.theirs & ~gone), theirs=mine)


@compiled
def has_line(position, cubes):
    for line in position.LINES:
        if cubes & line == line:
            return True
    return False


@compiled
def outcome(position):
    if has_line(position, position.mine):
        return True, 1
    return (True, -1) if has_line(position, position.theirs) else (False, 0)


@compiled
def reversible(position, child):
    """Return whether no blank cube was used, as a cube never becomes blank again."""
    return popcount(position.mine | position.theirs) == popcount(child.mine | child.theirs)


# The eight symmetries of a square: bit 1 flips rows, 2 flips columns, and 4 then transposes


@compiled
def turned(position, place, symmetry):
    """Return a cell's place in the symmetric image; other numbers stay unchanged."""
    row, column, last = place // position.STRIDE, place % position.STRIDE, position.SIZE - 1
    if row > last or column > last:
        return place
    if symmetry & 1:
        row = last - row
    if symmetry & 2:
        column = last - column
    return column * position.STRIDE + row if symmetry & 4 else row * position.STRIDE + column


@compiled
def key(position):
    return position.mine | (position.theirs << Bits(32))


@compiled
def canonical(position):
    """Return the least of the symmetric images."""
    least, chosen = key(position), 0
    for symmetry in range(1, 8):
        word, left = Bits(0), key(position)
        while left:
            place = lowest_index(left)
            left = without_lowest(left)
            word |= Bits(1) << Bits((place & 32) + turned(position, place & 31, symmetry))
        if word < least:
            least, chosen = word, symmetry
    return least, chosen


@compiled
def canonical_move(position, move, symmetry):
    return 32 * turned(position, move >> 5, symmetry) + turned(position, move & 31, symmetry)


@compiled
def original_move(position, move, symmetry):
    return canonical_move(position, move, INVERSE[symmetry])


@compiled
def position_of(example, word):
    word = Bits(word)
    return example._replace(mine=word & Bits(0xFFFFFFFF), theirs=word >> Bits(32))


@variants(Cubes, usual="3x3", read=functools.partial(board_size, example="4x4"))
def board(width: int, height: int) -> dict[str, Any]:
    if width != height or not 3 <= width <= 5:
        raise PositionError(f"there is no board of {width}x{height}: there are 3x3, 4x4 and 5x5")
    rows = range(width)
    across = [sum(1 << width * row + n for n in rows) for row in rows]
    down = [sum(1 << width * n + column for n in rows) for column in rows]
    aslant = sum(1 << (width + 1) * n for n in rows), sum(1 << (width - 1) * (n + 1) for n in rows)
    return {
        "SIZE": width,
        "STRIDE": width,
        "LINES": tuple(map(Bits, (*across, *down, *aslant))),
        "MAX_MOVES": 12 * width - 16,
        "VARIANT": f"{width}x{width}",
        "CELLS": Grid(width, width, contents={".": "blank", "x": "mover", "o": "other"}),
    }


Position = board(3, 3)


def from_cells(contents: list[int], mover: str, start: Any) -> Cubes:
    mine, theirs = (
        Bits(sum(1 << n for n, content in enumerate(contents) if content == player))
        for player in (1, 2)
    )
    return type(start)(mine, theirs)


def move_text(position: Any, move: int) -> str:
    def name(place: int) -> str:
        return f"{'abcde'[place % position.SIZE]}{position.SIZE - place // position.SIZE}"

    return f"{name(move >> 5)}-{name(move & 31)}"
