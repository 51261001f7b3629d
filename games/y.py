"""Y on triangles with sides of 2 to 19 cells.

Rules: two players alternately put stones of their colour on empty cells of a triangle of hexagons;
the first player is x.  A chain of neighbouring stones that touches all three sides wins; a corner
belongs to two sides.  There is always a winner, and an extra stone never does harm, so the first
player wins with best play.  The swap rule is not part of the game: the value of the first move
tells whether to swap.

Values: 1 a win, -1 a loss.

Text: moves such as ``a1 b3`` (columns from ``a``, along the left side, rows from 1 at the top; the
blanks may be left out), or a board, rows from the top, separated by line ends or ``/``, ``x`` the
first player, ``o`` the second, ``.`` empty.

Encoding: one bit for each cell of a rhombus, row by row from the top, of which the board is the
lower half, so the rows lie as in Hex (:mod:`cutnode.games.hex.cells`); on large boards in several
words (:mod:`cutnode.contract.boards`).  A move is the number of a bit.  On the board of side 4::

              3
           6  7
        9 10 11
    12 13 14 15

The neighbours of 10 are 9 and 11, 6 and 7, 13 and 14: steps of 1, 3 or 4, up or down.

The winner is found by *reduction*: each three cells in the shape of the board vote, and the
majorities are the cells of a board with sides one cell shorter.  It has the same winner, and so on
down to a single cell (J. van Rijswijck, "Search and evaluation in Hex", 2002).
"""

from __future__ import annotations

import functools
import re
from math import log
from typing import Any

from cutnode import (
    NO_MOVE,
    Bits,
    PositionError,
    compiled,
    lowest,
    lowest_index,
    popcount,
    quoted,
    without_lowest,
)
from cutnode.contract.boards import (
    board,
    constant,
    fields,
    key_of_stones,
    random_cells,
    remade,
    scratch,
    single,
    wide,
    word,
    write,
)
from cutnode.contract.cells import STONES, Hexagons
from cutnode.contract.stones import canonical as canonical
from cutnode.contract.stones import free_cells, read_cell, require_free, stone_on, stones_of
from cutnode.contract.stones import moves as moves
from cutnode.contract.stones import plies_left as plies_left
from cutnode.contract.stones import random_move as random_move
from cutnode.contract.variants import variants
from cutnode.games.hex.cells import chain, neighbours

DECISIVE = True
VALUE_LIMIT = 1
UNIT = 100
COLUMNS = "abcdefghijklmnopqrs"


@functools.cache
def stones(words: int) -> Any:
    """Return the fields: the stones of the mover and of the other."""
    return fields("Stones", ("mine", "theirs"), words)


@compiled
def cell(position, index):
    return stone_on(position, single(position, position.BITS[index]))


@compiled
def bit_of(position, row, column):
    return (position.SIDE - 1) * (row + 1) + column


@compiled
def place_of(position, bit):
    """Return the row and the column of a cell, from 0."""
    row = bit // position.SIDE
    return row, bit % position.SIDE + row + 1 - position.SIDE


@compiled
def random_result(position, word):
    """Fill all cells at random: stones after the end do not change who has joined the sides."""
    free = free_cells(position)
    drawn = random_cells(position, free, (popcount(free) + 1) >> 1, word)
    return 1 if joins_sides(position, board(position, 0) | drawn) else -1


@compiled
def play(position, move):
    return remade(position, board(position, 1), board(position, 0) | single(position, move))


@compiled
def joins_sides(position, stones):
    """Return whether stones join all sides, by reduction, with all other cells the other's."""
    for _ in range(position.SIDE - 1):
        left, right = stones >> (position.ROW - Bits(1)), stones >> position.ROW
        stones = (stones & (left | right)) | (left & right)
    return bool(stones & position.TOP)


@compiled
def outcome(position):
    stones = board(position, 1)
    if stones & position.LEFT and stones & position.RIGHT and stones & position.BOTTOM:
        over = joins_sides(position, stones)
        return over, -1 if over else 0
    return False, 0


@compiled
def key(position):
    return key_of_stones(position, board(position, 0), board(position, 1))


# Results known without search


@compiled
def beside_chains(position, own, side):
    """Return the cells next to chains that begin at a side, and those along it."""
    return side | neighbours(position, chain(position, own & side, own))


@compiled(inline=False)
def winning_cells(position, own, empty):
    """Return the cells on which a player joins all sides."""
    return (
        empty
        & beside_chains(position, own, position.LEFT)
        & beside_chains(position, own, position.RIGHT)
        & beside_chains(position, own, position.BOTTOM)
    )


@compiled(inline=False)
def bridged(position, own, empty):
    """Return whether chains and bridges join all sides, whatever the other does.

    A bridge is two empty cells next to a chain that are also next to another chain, or lie along a
    side: if the other takes one of them, the player takes the other.  So no cell may be in two.
    """
    rest = own
    while rest:
        added = chain(position, lowest(rest), own)
        rest &= ~added
        group, free, touched = position.NONE, empty, 0
        while added:
            group |= added
            for number in range(3):
                side = position.SIDES[number]
                bridge = two_of(neighbours(position, group) & free & side)
                if group & side:
                    touched |= 1 << number
                elif without_lowest(bridge) and not touched >> number & 1:
                    touched |= 1 << number
                    free &= ~bridge
            if touched == 7:
                return True
            near = neighbours(position, group) & free
            added, bridge = over_bridge(position, near, own & ~group)
            free &= ~bridge
    return False


@compiled
def over_bridge(position, cells, stones):
    """Return a chain of *stones* next to two or more of some cells, and two of these, if any."""
    others = neighbours(position, cells) & stones
    while others:
        group = chain(position, lowest(others), stones)
        others &= ~group
        bridge = neighbours(position, group) & cells
        if without_lowest(bridge):
            return group, two_of(bridge)
    return position.NONE, position.NONE


@compiled
def two_of(cells):
    """Return two of some cells."""
    return lowest(cells) | lowest(without_lowest(cells))


@compiled
def bounds(position, alpha, beta):
    """Decide positions whose sides are joined, or can be now, or cannot be kept from it."""
    if outcome(position)[0]:
        return -1, -1
    mine, theirs, empty = board(position, 0), board(position, 1), free_cells(position)
    if winning_cells(position, mine, empty) or bridged(position, mine, empty):
        return 1, 1
    if without_lowest(winning_cells(position, theirs, empty)) or bridged(position, theirs, empty):
        return -1, -1
    return -1, 1


@compiled
def candidates(position, buffer, at):
    """Write the cell that the opponent needs to join the sides, or all."""
    empty = free_cells(position)
    threats = winning_cells(position, board(position, 1), empty)
    return write(position, threats if threats else empty, buffer, at)


@compiled
def forced(position):
    """Return the cell that the opponent needs to join the sides, if there is one.

    Where bounds do not decide, the opponent has one such cell at most, and the mover none.
    """
    threats = winning_cells(position, board(position, 1), free_cells(position))
    return lowest_index(threats) if threats else NO_MOVE


# Heuristics for searches that stop before the end of the game


@compiled
def order(position, move, child):
    return -evaluate(child)


@compiled(inline=False)
def evaluate(position):
    """Return the log-odds, in hundredths, that the mover wins if all cells are filled at random.

    By reduction: an empty cell is won with probability 1/2, and the chance of a majority is
    computed as if its cells were independent (J. van Rijswijck, 2002).
    """
    mine, theirs = board(position, 0), board(position, 1)
    chances = scratch(position)
    for row in range(position.SIDE):
        for bit in range(bit_of(position, row, 0), bit_of(position, row, row + 1)):
            place = single(position, bit)
            halves = 2 if mine & place else 0 if theirs & place else 1
            chances[bit] = wide(position, halves << 19)
    for side in range(position.SIDE - 1, 0, -1):
        for row in range(side):
            for bit in range(bit_of(position, row, 0), bit_of(position, row, row + 1)):
                left, right = bit + position.SIDE - 1, bit + position.SIDE
                chance = vote(chances[bit], chances[left], chances[right])
                chances[bit] = wide(position, chance)
    won = int(word(chances[position.SIDE - 1], 0)) + 1
    return int(100 * log(won / ((1 << 20) + 2 - won)))


@compiled
def vote(first, second, third):
    """Return the chance of the majority of three cells; all chances are in units of 2 ** -20."""
    a, b, c = int(word(first, 0)), int(word(second, 0)), int(word(third, 0))
    return (((a * b + b * c + c * a) << 20) - 2 * a * b * c) >> 40


# Equivalent positions


@compiled
def image(position, place, symmetry):
    """Return a cell mirrored left-right (bit 1), then turned by ``symmetry >> 1`` thirds."""
    row, column = place_of(position, place)
    if symmetry & 1:
        column = row - column
    for _ in range(symmetry >> 1):
        row, column = position.SIDE - 1 - column, row - column
    return bit_of(position, row, column)


@compiled
def canonical_move(position, move, symmetry):
    return image(position, move, symmetry)


@compiled
def original_move(position, move, symmetry):
    """Mirror an image once more, or complete the turn of one that is only turned."""
    return image(position, move, symmetry if symmetry & 1 else (6 - symmetry) % 6)


# Boards of all sizes


def size(text: str) -> int:
    """Read the number of cells along a side, as in ``11``."""
    if not re.fullmatch("[0-9]{1,9}", text):
        raise PositionError(
            f"{quoted(text)} is not a side of a triangle; write its number of cells, as in 11"
        )
    return int(text)


VARIANTS = "11", "9", "7", "5"


@variants(stones, usual="11", read=size, about="cells along a side, 2 to 19: 7")
def triangle(side: int) -> dict[str, Any]:
    """Return the constants of a board; :class:`PositionError` if no board has that size."""
    if not 2 <= side <= 19:
        raise PositionError(
            f"there is no board of side {side}: a side has 2 to 19 cells, as in 11 or 7"
        )
    words = -(-side * side // 64)
    bits = {
        side * row + side - 1 - row + column: (row, column)
        for row in range(side)
        for column in range(row + 1)
    }

    def cells(wanted: Any) -> Any:
        return constant(sum(1 << bit for bit, place in bits.items() if wanted(*place)), words)

    left, right = cells(lambda row, column: column == 0), cells(lambda row, column: column == row)
    bottom = cells(lambda row, column: row == side - 1)
    return {
        "SIDE": side,
        "AREA": side * side,
        "SCRATCH": side * side,
        "ROW": Bits(side),
        "BITS": tuple(bits),
        "NONE": constant(0, words),
        "NOT_LEFT": constant(sum(1 << n for n in range(side**2) if n % side), words),
        "NOT_RIGHT": constant(sum(1 << n for n in range(side**2) if (n + 1) % side), words),
        "TOP": constant(1 << side - 1, words),
        "BOARD": cells(lambda row, column: True),
        "LEFT": left,
        "RIGHT": right,
        "BOTTOM": bottom,
        "SIDES": (left, right, bottom),
        "SYMMETRIES": 6,
        "WORDS": words,
        "VARIANT": f"{side}",
        "CELLS": Hexagons(
            tuple(range(1, side + 1)),
            glyphs=STONES,
            row_names=[str(row) for row in range(1, side + 1)],
            column_names=COLUMNS[:side],
            edges=[
                (None, [n for n, (_, column) in enumerate(bits.values()) if column == 0]),
                (None, [n for n, (row, column) in enumerate(bits.values()) if column == row]),
                (None, range(len(bits) - side, len(bits))),
            ],
        ),
        "MAX_MOVES": len(bits),
        "MAX_PLIES": len(bits),
    }


Position = triangle(11)


# Text

MOVE_PATTERN = r"[a-sA-S][0-9]{1,2}|[^\s,]+"


def start(variant: str = "") -> Any:
    """Return the empty board of a side such as ``7``; the usual one is 11."""
    cls = triangle.of(variant)
    return cls(*[Bits(0)] * 2 * cls.WORDS)


def parse_move(position: Any, text: str) -> int:
    """Read a cell such as ``a1``."""
    column, row = read_cell(text)
    if not column < row <= position.SIDE:
        corners = f"a1, a{position.SIDE} and {COLUMNS[position.SIDE - 1]}{position.SIDE}"
        raise PositionError(f"{text} is not on the board, whose corners are {corners}")
    return require_free(position, bit_of(position, row - 1, column), text)


def move_text(position: Any, move: int) -> str:
    row, column = place_of(position, move)
    return f"{COLUMNS[column]}{row + 1}"


def winning_line(position: Any) -> set[int]:
    """Return a shortest chain that joins all sides."""
    stones = board(position, 1)
    cells = {n for n, bit in enumerate(position.BITS) if stones >> int(bit) & 1}
    return position.CELLS.chain(cells, [edge for _, edge in position.CELLS.edges])


def from_cells(contents: list[int], mover: str, start: Any) -> Any:
    mine, theirs, more = stones_of(contents, start.BITS)
    if joins_sides(start, mine):
        raise PositionError(
            f"{'xo'[more]} is to move but has joined the sides already: "
            f"the game ended before the last stone"
        )
    return remade(start, mine, theirs)
