"""Rules that games share in which two players put stones on empty cells, and nothing moves.

Their positions begin with two boards (:mod:`cutnode.contract.boards`), the stones of the mover and
of the other player or of the first and the second, and have a constant ``BOARD`` of all cells.  A
game imports what it needs, verbs included::

    from cutnode.contract.stones import free_cells, moves, plies_left, random_move
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Any

from cutnode.contract.bits import lowest_index, popcount, without_lowest
from cutnode.contract.boards import board, key_of_stones, random_cell, single, write
from cutnode.contract.errors import PositionError
from cutnode.contract.native import usable_in_compiled_code
from cutnode.contract.text import quoted
from cutnode.contract.verbs import canonical_move, outcome

EARLY = 8
"""With at most this many stones :func:`canonical` compares a position with its images."""


@usable_in_compiled_code
def free_cells(position: Any) -> Any:
    return position.BOARD & ~(board(position, 0) | board(position, 1))


@usable_in_compiled_code
def moves(position: Any, buffer: Any, at: int) -> int:
    return write(position, free_cells(position), buffer, at)


@usable_in_compiled_code
def random_move(position: Any, word: int) -> int:
    return random_cell(position, free_cells(position), word)


@usable_in_compiled_code
def plies_left(position: Any) -> int:
    return popcount(free_cells(position))


@usable_in_compiled_code
def stone_on(position: Any, place: Any) -> int:
    """Return 0 for an empty cell, 1 for a stone of the first player, 2 for one of the second.

    The boards are the stones of the mover and of the other player, who put down the last one.
    """
    mine, theirs = board(position, 0), board(position, 1)
    if not (mine | theirs) & place:
        return 0
    return 1 + int(popcount(mine | theirs) + (theirs & place == place)) % 2


@usable_in_compiled_code
def cell(position: Any, index: int) -> Any:
    return stone_on(position, single(position, index))


@usable_in_compiled_code
def mirrored(position: Any, place: int, symmetry: int) -> Any:
    """Return a cell mirrored left-right (1), top-bottom (2) and at a diagonal (4), in this order.

    The board has ``WIDTH`` columns and ``HEIGHT`` rows; the diagonal is a symmetry of square ones.
    """
    row, column = place // position.WIDTH, place % position.WIDTH
    if symmetry & 1:
        column = position.WIDTH - 1 - column
    if symmetry & 2:
        row = position.HEIGHT - 1 - row
    if symmetry & 4:
        row, column = column, row
    return row * position.WIDTH + column


@usable_in_compiled_code
def unmirrored(position: Any, place: int, symmetry: int) -> Any:
    """Undo the mirrors in reverse order: first the diagonal, which exchanges the other two."""
    if symmetry & 4:
        place = mirrored(position, place, 4)
    return mirrored(position, place, symmetry & 3)


@functools.partial(usable_in_compiled_code, inline=False)
def images(position: Any, cells: Any, symmetry: int) -> Any:
    """Return the cells to which ``canonical_move`` takes some cells."""
    found = position.NONE
    while cells:
        found |= single(position, canonical_move(position, lowest_index(cells), symmetry))
        cells = without_lowest(cells)
    return found


@usable_in_compiled_code
def canonical(position: Any) -> tuple[Any, int]:
    """Return the smallest key of all images with few stones; later, images are hardly met.

    The constant ``SYMMETRIES`` is the number of images, the position itself among them.
    """
    mine, theirs = board(position, 0), board(position, 1)
    least, found = key_of_stones(position, mine, theirs), 0
    if popcount(mine | theirs) <= EARLY:
        for symmetry in range(1, position.SYMMETRIES):
            other = key_of_stones(
                position, images(position, mine, symmetry), images(position, theirs, symmetry)
            )
            if other < least:
                least, found = other, symmetry
    return least, found


def stones_of(contents: list[int], bits: Iterable[int]) -> tuple[int, int, int]:
    """Return the stones of the mover and of the other player, and how many more x has: 0 or 1.

    *contents* has 0, 1 for x or 2 for o for each cell, whose numbers on the board are *bits*.
    :class:`PositionError` unless there are as many x as o, or one more.
    """
    places = list(zip(bits, contents, strict=True))
    first, second = (sum(1 << bit for bit, c in places if c == player) for player in (1, 2))
    more = popcount(first) - popcount(second)
    if more not in (0, 1):
        raise PositionError(
            f"{popcount(first)} x and {popcount(second)} o: x begins, so there are as many x as o "
            f"or one more"
        )
    return (second, first, more) if more else (first, second, more)


def read_cell(text: str) -> tuple[int, int]:
    """Return the column, from 0, and the number of the row of a cell such as ``a1``.

    :class:`PositionError` if the text is no cell.
    """
    match = re.fullmatch("([a-z])([0-9]{1,2})", text.lower())
    if not match:
        raise PositionError(f"{quoted(text)} is not a cell; cells are written as in a1")
    return ord(match[1]) - ord("a"), int(match[2])


def require_free(position: Any, move: int, text: str) -> int:
    """Return a move; :class:`PositionError` if the game is over or a stone is on its cell."""
    if outcome(position)[0]:
        raise PositionError(f"{text} is played after the game is over")
    if not free_cells(position) >> move & 1:
        raise PositionError(f"there is a stone on {text} already")
    return move
