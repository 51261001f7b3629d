"""Boards of at most 64 squares in rows and columns: neighbours, connected regions, names of cells.

Bit *n* of a board is cell *n* of its ``Grid``, row by row from the top.  A game spreads the
constants of :func:`grid` over its own, and imports the functions that it needs::

    @variants(Cells, usual="5x5", read=board_size, about="columns and rows: 5x5")
    def free_cells(width, height):
        return {**grid(width, height), "CELLS": Grid(height, width), "MAX_MOVES": width * height}

    @compiled
    def parts(position, buffer, at):
        return write_regions(position, position.free, buffer, at)
"""

from __future__ import annotations

import re
from typing import Any

from cutnode.contract.bits import Bits, bytes_reversed, lowest
from cutnode.contract.errors import PositionError
from cutnode.contract.native import usable_in_compiled_code
from cutnode.contract.part_keys import reversed_rows
from cutnode.contract.text import quoted

COLUMNS = "abcdefghijklmnopqrstuvwxyz"

RIGHT, LEFT, DOWN, UP = range(4)
"""Directions of :func:`shifted`; ``direction ^ 1`` is the opposite one."""


def grid(width: int, height: int) -> dict[str, Any]:
    """Return the constants of a board that the functions here use, and its ``VARIANT``.

    ``WIDTH``, ``HEIGHT`` and ``AREA`` are numbers, ``BOARD`` is all cells, and ``NOT_LEFT`` and
    ``NOT_RIGHT`` are all but a column at the side.  :class:`PositionError` if there are more than
    26 columns, or fewer than 2 or more than 64 cells.
    """
    if not (1 <= width <= len(COLUMNS) and 2 <= width * height <= 64):
        raise PositionError(
            f"there is no board of {width}x{height}: a board has 1 to {len(COLUMNS)} columns and "
            f"2 to 64 cells, as in 8x8 or 2x12"
        )
    left = sum(1 << width * row for row in range(height))
    full = (1 << width * height) - 1
    return {
        "WIDTH": width,
        "HEIGHT": height,
        "AREA": width * height,
        "BOARD": Bits(full),
        "NOT_LEFT": Bits(full & ~left),
        "NOT_RIGHT": Bits(full & ~(left << width - 1)),
        "VARIANT": f"{width}x{height}",
    }


def names_of_lines(width: int, height: int) -> dict[str, Any]:
    """Return the names of rows, from 1 at the bottom, and of columns, for a ``Grid``."""
    return {
        "row_names": [str(row) for row in range(height, 0, -1)],
        "column_names": COLUMNS[:width],
    }


@usable_in_compiled_code
def shifted(position: Any, cells: Any, direction: int) -> Any:
    """Return the neighbours of some cells in one direction: ``RIGHT``, ``LEFT``, ``DOWN``, ``UP``.

    Cells that would leave the board are dropped.
    """
    if direction == RIGHT:
        return (cells & position.NOT_RIGHT) << Bits(1)
    if direction == LEFT:
        return (cells & position.NOT_LEFT) >> Bits(1)
    if direction == DOWN:
        return cells << Bits(position.WIDTH) & position.BOARD
    return cells >> Bits(position.WIDTH)


@usable_in_compiled_code
def neighbours(position: Any, cells: Any) -> Any:
    """Return the cells next to any of some cells, in a row or a column."""
    across = (cells & position.NOT_RIGHT) << Bits(1) | (cells & position.NOT_LEFT) >> Bits(1)
    width = Bits(position.WIDTH)
    return across | cells << width & position.BOARD | cells >> width


@usable_in_compiled_code
def half_turned(position: Any, cells: Any) -> Any:
    """Return the images of some cells if the board is turned by 180 degrees."""
    return reversed_rows(Bits(bytes_reversed(cells))) >> Bits(64 - position.AREA)


@usable_in_compiled_code
def connected(position: Any, start: Any, cells: Any) -> Any:
    """Return *start*, and the cells that are connected with it by way of *cells*."""
    region = start
    while True:
        grown = region | neighbours(position, region) & cells
        if grown == region:
            return region
        region = grown


@usable_in_compiled_code
def write_regions(position: Any, cells: Any, buffer: Any, at: int) -> int:
    """Write the connected regions of some cells to ``buffer[at:]``, as masks; return the end.

    Single cells without a neighbour are left out.
    """
    left = cells & neighbours(position, cells)
    while left:
        region = connected(position, lowest(left), left)
        buffer[at] = region
        at += 1
        left &= ~region
    return at


# Texts


def cell_text(position: Any, cell: int) -> str:
    """Return the name of a cell, such as ``a1`` for the one at the bottom left."""
    return f"{COLUMNS[cell % position.WIDTH]}{position.HEIGHT - cell // position.WIDTH}"


def cells_of(position: Any, text: str, count: int, example: str) -> list[int]:
    """Return the numbers of *count* cells in a text such as ``a1b1`` or ``a1-b1``.

    :class:`PositionError` if the text, for which *example* is a valid one, names anything else.
    """
    match = re.fullmatch("-?".join(["([a-z])([0-9]{1,2})"] * count), text.lower())
    if not match:
        raise PositionError(f"{quoted(text)} is not a move; moves are written as in {example}")
    found = []
    for column, row in zip(match.groups()[::2], match.groups()[1::2], strict=True):
        x, y = COLUMNS.index(column), position.HEIGHT - int(row)
        if not (x < position.WIDTH and 0 <= y < position.HEIGHT):
            last = cell_text(position, position.WIDTH - 1)
            raise PositionError(
                f"{text}: {column}{row} is not on the board, whose cells are a1..{last}"
            )
        found.append(position.WIDTH * y + x)
    return found
