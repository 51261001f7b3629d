"""Cram, impartial Domineering, on boards of at most 64 cells.

Rules: two players alternately cover two free cells with a domino, side by side or one below the
other; a player who cannot move loses.

Values: 1 a win, -1 a loss.

Text: a domino by its two cells (``a1b1``, ``a2a1`` or ``a2-a1``; columns from ``a`` at the left,
rows from 1 at the bottom), or a board, rows from the top, separated by line ends or ``/``, of ``.``
free and ``#`` covered cells.  Any cells may be covered.  A variant is a size, columns and then
rows: ``5x6``.

Encoding: one bit for each free cell, row by row from the top.  On the board of 4x3::

    0  1  2  3
    4  5  6  7
    8  9 10 11

A move is twice the number of the upper or left cell, plus 1 if the domino is vertical: 10 covers 5
and 6, 11 covers 5 and 9.

Parts are connected regions of free cells.  Both players have the same moves, so a position is worth
a nimber.  M. Gardner described the game ("Mathematical Games", Scientific American, February 1974);
nimbers of boards are in J. Lemoine and S. Viennot, "Nimbers are inevitable", 2012.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cutnode import Bits, PositionError, compiled, count_moves, lowest_index, without_lowest
from cutnode.contract.cells import Grid
from cutnode.contract.regions import (
    cell_text,
    cells_of,
    grid,
    names_of_lines,
    neighbours,
    write_regions,
)
from cutnode.contract.variants import board_size, variants

DECISIVE = True
VALUE_LIMIT = 1


class Cells(NamedTuple):
    """The free cells."""

    free: Bits


@compiled
def cell(position, index):
    """Return 0 for a free cell, 1 for a covered one."""
    return 0 if position.free & Bits(1) << Bits(index) else 1


@compiled
def places(position, vertical):
    """Return the upper or left cells of all dominoes that fit."""
    if vertical:
        return position.free & position.free >> Bits(position.WIDTH)
    return position.free & position.free >> Bits(1) & position.NOT_RIGHT


@compiled
def domino(position, move):
    """Return the cells that a move covers."""
    step = position.WIDTH if move & 1 else 1
    return (Bits(1) | Bits(1) << Bits(step)) << Bits(move >> 1)


@compiled
def moves(position, buffer, at):
    for vertical in range(2):
        left = places(position, vertical)
        while left:
            buffer[at] = 2 * lowest_index(left) + vertical
            left = without_lowest(left)
            at += 1
    return at


@compiled
def play(position, move):
    return position._replace(free=position.free & ~domino(position, move))


@compiled
def outcome(position):
    over = neighbours(position, position.free) & position.free == 0
    return over, -1 if over else 0


@compiled
def order(position, move, child):
    """Prefer moves that leave few: 1.3 to 4 times fewer nodes of alpha-beta on 5x4 to 6x5."""
    return -count_moves(child)


# Parts


@compiled
def parts(position, buffer, at):
    return write_regions(position, position.free, buffer, at)


@compiled
def part(position, mask):
    return position._replace(free=position.free & mask)


# Boards of all sizes

VARIANTS = "5x5", "6x5", "4x4", "7x5"


@variants(Cells, usual="5x5", read=board_size, about="columns and rows: 5x6")
def board(width: int, height: int) -> dict[str, Any]:
    """Return the constants of a board; :class:`PositionError` if no board has that size."""
    return {
        **grid(width, height),
        "CELLS": Grid(
            height,
            width,
            contents={".": "free", "#": "covered"},
            glyphs={".": "·", "#": "■"},
            **names_of_lines(width, height),
        ),
        "MAX_MOVES": 2 * width * height - width - height,
        "MAX_PLIES": width * height // 2,
    }


Position = board(5, 5)


# Text

MOVE_PATTERN = r"[a-zA-Z][0-9]{1,2}-?[a-zA-Z][0-9]{1,2}|[^\s,]+"


def start(variant: str = "") -> Any:
    """Return the empty board of a variant."""
    cls = board.of(variant)
    return cls(cls.BOARD)


def parse_move(position: Any, text: str) -> int:
    """Read a domino such as ``a1b1`` or ``a2a1``, with its cells in any order."""
    first, second = sorted(cells_of(position, text, 2, "a1b1"))
    if not neighbours(position, Bits(1 << first)) >> second & 1:
        raise PositionError(f"{text}: a domino covers two cells next to each other")
    covered = (1 << first | 1 << second) & ~position.free
    if covered:
        raise PositionError(f"{text}: {cell_text(position, lowest_index(covered))} is covered")
    return 2 * first + (second - first == position.WIDTH)


def move_text(position: Any, move: int) -> str:
    first, second = move >> 1, (move >> 1) + (position.WIDTH if move & 1 else 1)
    return cell_text(position, first) + cell_text(position, second)


def from_cells(contents: list[int], mover: str, start: Any) -> Any:
    return type(start)(Bits(sum(1 << n for n, content in enumerate(contents) if content == 0)))
