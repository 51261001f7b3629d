"""NoGo on boards of at most 64 cells.

Rules: two players, x first, alternately put a stone on an empty cell.  Stones of one colour that
are connected in rows and columns are a *block*, and the empty cells next to it are its *liberties*.
No block may ever be without a liberty, of either colour: a move must neither capture nor be
suicide.  A player who cannot move loses.

Values: 1 a win, -1 a loss.

Text: a move by its cell (``a1``; columns from ``a`` at the left, rows from 1 at the bottom), or a
board, rows from the top, separated by line ends or ``/``, of ``x``, ``o``, ``.`` empty and ``#`` no
cell of the board, and then who is to move, ``x`` or ``o``.  A variant is a size, columns and then
rows: ``5x4``.

Encoding: one bit for each cell, row by row from the top, which is also the number of a move.  On
the board of 4x3::

    0  1  2  3
    4  5  6  7
    8  9 10 11

A cell that a player may not take can never be taken by him: no block next to it can grow but by
way of the cell itself, so none gets another liberty.

Parts are the connected components of cells, where neighbours are joined if one of them is empty, or
both have a stone of the same colour.  So a block and its liberties are in one part, and so are
empty neighbours.  Whether a stone may be put on a cell depends on its empty neighbours, the blocks
next to it and their liberties alone, and the stone changes nothing else: all this is in one part.
Blocks never vanish, so what is apart stays apart.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cutnode import (
    Bits,
    PositionError,
    compiled,
    lowest,
    lowest_index,
    popcount,
    without_lowest,
)
from cutnode.contract.bits import random_index
from cutnode.contract.cells import STONES, Grid
from cutnode.contract.default_keys import key_of_fields
from cutnode.contract.part_keys import key_of_part
from cutnode.contract.regions import (
    cell_text,
    cells_of,
    connected,
    grid,
    half_turned,
    names_of_lines,
    neighbours,
)
from cutnode.contract.variants import board_size, variants

DECISIVE = True
VALUE_LIMIT = 1


class Stones(NamedTuple):
    """The stones of the player to move and of the other, the empty cells, and whether o moves."""

    mine: Bits
    theirs: Bits
    empty: Bits
    second: bool


@compiled
def cell(position, index):
    """Return 0 for an empty cell, 1 for an x, 2 for an o, 3 for what is not of the board."""
    place = Bits(1) << Bits(index)
    if position.empty & place:
        return 0
    if not (position.mine | position.theirs) & place:
        return 3
    return 1 if (position.mine & place == place) != position.second else 2


@compiled(inline=False)
def places(position, own, others):
    """Return the cells that a player with the stones *own* may take."""
    empty = position.empty
    safe, forbidden = Bits(0), Bits(0)
    left = own & neighbours(position, empty)
    while left:
        block = connected(position, lowest(left), own)
        left &= ~block
        if without_lowest(neighbours(position, block) & empty):
            safe |= block
    left = others & neighbours(position, empty)
    while left:
        block = connected(position, lowest(left), others)
        left &= ~block
        liberties = neighbours(position, block) & empty
        if not without_lowest(liberties):
            forbidden |= liberties
    return empty & neighbours(position, empty | safe) & ~forbidden


@compiled
def moves(position, buffer, at):
    left = places(position, position.mine, position.theirs)
    while left:
        buffer[at] = lowest_index(left)
        left = without_lowest(left)
        at += 1
    return at


@compiled
def random_move(position, word):
    return random_index(places(position, position.mine, position.theirs), word)


@compiled
def play(position, move):
    stone = Bits(1) << Bits(move)
    return swapped(position._replace(mine=position.mine | stone, empty=position.empty & ~stone))


@compiled
def swapped(position):
    return position._replace(mine=position.theirs, theirs=position.mine, second=not position.second)


@compiled
def outcome(position):
    return (False, 0) if places(position, position.mine, position.theirs) else (True, -1)


@compiled
def evaluate(position):
    """Count the cells that the mover may take, minus those that the other may."""
    mine, theirs = position.mine, position.theirs
    return popcount(places(position, mine, theirs)) - popcount(places(position, theirs, mine))


@compiled
def order(position, move, child):
    return -evaluate(child)


# Equivalent positions


@compiled
def canonical(position):
    return key_of_fields(position._replace(second=False)), 0


# Parts


@compiled
def parts(position, buffer, at):
    mine, theirs, empty = position.mine, position.theirs, position.empty
    left = places(position, mine, theirs) | places(position, theirs, mine)
    while left:
        component = lowest(left)
        while True:
            grown = component | neighbours(position, component) & empty
            grown |= neighbours(position, grown & empty) & (mine | theirs)
            grown |= neighbours(position, grown & mine) & mine
            grown |= neighbours(position, grown & theirs) & theirs
            if grown == component:
                break
            component = grown
        buffer[at] = component
        at += 1
        left &= ~component
    return at


@compiled
def part(position, mask):
    return position._replace(
        mine=position.mine & mask, theirs=position.theirs & mask, empty=position.empty & mask
    )


@compiled
def part_key(position):
    return key_of_part(position._replace(second=False))


@compiled
def asymmetry(position):
    """Count the cells whose image by a half turn is not the same for the other player.

    It is 0 on boards with an odd and an even side: the two cells in their middle are neighbours, so
    copying fails there.
    """
    if (position.WIDTH + position.HEIGHT) % 2:
        return 0
    mine, theirs = position.mine, position.theirs
    stones = mine ^ half_turned(position, theirs)
    open_cells = places(position, mine, theirs)
    open_cells ^= half_turned(position, places(position, theirs, mine))
    return popcount(stones) + popcount(open_cells)


# Boards of all sizes

VARIANTS = "5x5", "4x4", "5x4", "7x3"


@variants(Stones, usual="5x5", read=board_size, about="columns and rows: 4x5")
def board(width: int, height: int) -> dict[str, Any]:
    """Return the constants of a board; :class:`PositionError` if no board has that size."""
    return {
        **grid(width, height),
        "CELLS": Grid(
            height,
            width,
            contents={".": "empty", "x": "first player", "o": "second player", "#": "blocked"},
            glyphs={**STONES, "#": "■"},
            players={"x": "first player (x)", "o": "second player (o)"},
            **names_of_lines(width, height),
        ),
        "MAX_MOVES": width * height,
        "MAX_PLIES": width * height,
    }


Position = board(5, 5)


# Text

MOVE_PATTERN = r"[a-zA-Z][0-9]{1,2}|[^\s,]+"


def start(variant: str = "") -> Any:
    """Return the empty board of a variant."""
    cls = board.of(variant)
    return cls(Bits(0), Bits(0), cls.BOARD, False)


def mover(position: Stones) -> str:
    return "xo"[position.second]


def parse_move(position: Any, text: str) -> int:
    """Read a cell such as ``a1``."""
    (move,) = cells_of(position, text, 1, "a1")
    if not position.empty >> move & 1:
        raise PositionError(f"{text} is not empty")
    if not places(position, position.mine, position.theirs) >> move & 1:
        raise PositionError(f"a stone of {mover(position)} on {text} leaves a block no liberty")
    return move


def move_text(position: Any, move: int) -> str:
    return cell_text(position, move)


def from_cells(contents: list[int], mover: str, start: Any) -> Any:
    empty, x, o = (
        Bits(sum(1 << n for n, c in enumerate(contents) if c == content)) for content in range(3)
    )
    for stones in (x, o):
        alive = connected(start, stones & neighbours(start, empty), stones)
        if stones & ~alive:
            dead = cell_text(start, lowest_index(stones & ~alive))
            raise PositionError(f"the block of {dead} has no liberty")
    mine, theirs = (o, x) if mover == "o" else (x, o)
    return type(start)(mine, theirs, empty, mover == "o")
