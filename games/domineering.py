"""Domineering on boards of up to 26x26 cells, 256 in all.

Rules: Vertical covers two free cells, one below the other, with a domino, and Horizontal two side
by side, by turns; who cannot move loses.

Values: 1 a win, -1 a loss.

Text: a domino by its two cells, the upper or the left one first (``a2a1``, ``a1b1``; columns from
``a`` at the left, rows from 1 at the bottom), or a board, rows from the top, separated by line ends
or ``/``, of ``.`` free and ``#`` covered cells, and then who is to move, ``vertical`` or
``horizontal``.  Any cells may be covered.  A variant is a size, columns and then rows, and who
begins if that is not Vertical: ``8x8``, ``5x4,horizontal``.

Encoding: one bit for each free cell, row by row from the top, on large boards in several words
(:mod:`engine.contract.boards`).  On the board of 4x3::

    0  1  2  3
    4  5  6  7
    8  9 10 11

A move is the number of the upper or left cell: 5 covers 5 and 9, or 5 and 6.

A position is decided where one player surely has more moves left than the other can have at best,
as in D. Breuker, J. Uiterwijk and J. van den Herik, "Solving 8x8 Domineering", 2000, and in
N. Bullock, "Domineering: solving large combinatorial search spaces", 2002.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from engine import (
    Bits,
    PositionError,
    compiled,
    mix,
    popcount,
    quoted,
)
from engine.contract.boards import (
    board,
    constant,
    fields,
    random_cell,
    remade,
    reversed_bits,
    single,
    word,
    write,
)
from engine.contract.cells import Grid
from engine.contract.variants import board_size, variants

DECISIVE = True
VALUE_LIMIT = 1
COLUMNS = "abcdefghijklmnopqrstuvwxyz"


@functools.cache
def cells(words: int) -> Any:
    """The fields: the free cells, and whether Vertical is to move."""
    return fields("Cells", ("free",), words, vertical=bool)


@compiled
def cell(position, index):
    """0 a free cell, 1 a covered one."""
    return 0 if board(position, 0) & single(position, index) else 1


@compiled
def places(position, free, vertical):
    """The upper or left cells of the dominoes for which a player has room."""
    if vertical:
        return free & (free >> position.ROW)
    return free & (free >> Bits(1)) & position.NOT_RIGHT


@compiled
def moves(position, buffer, at):
    left = places(position, board(position, 0), position.vertical)
    return write(position, left, buffer, at)


@compiled
def random_move(position, word):
    return random_cell(position, places(position, board(position, 0), position.vertical), word)


@compiled
def play(position, move):
    first = single(position, move)
    second = first << (position.ROW if position.vertical else Bits(1))
    return remade(position, board(position, 0) & ~(first | second), not position.vertical)


@compiled
def outcome(position):
    return (False, 0) if places(position, board(position, 0), position.vertical) else (True, -1)


@compiled
def key(position):
    return key_of(position, board(position, 0))


@compiled
def key_of(position, free):
    """The free cells and who is to move side by side on boards of up to 63 cells, else a hash."""
    if position.AREA <= 63:
        return (word(free, 0) << Bits(1)) | Bits(position.vertical)
    hashed = mix(Bits(position.vertical))
    for number in range(position.WORDS):
        hashed = mix(hashed ^ word(free, number))
    return hashed


# What can be seen without search


@compiled
def bounds(position, alpha, beta):
    """Decided is who surely has more moves left than the other can have."""
    free, vertical = board(position, 0), position.vertical
    if not places(position, free, vertical):
        return -1, -1
    sure, others = sure_moves(position, free, vertical, True)
    if sure > min(others, most_moves(position, free, not vertical)):
        return 1, 1
    sure, others = sure_moves(position, free, not vertical, False)
    if sure >= min(others, most_moves(position, free, vertical)):
        return -1, -1
    return -1, 1


@compiled(inline=False)
def packed(position, free, vertical):
    """The upper or left cells of as many dominoes as a player can put side by side."""
    found, last = position.NONE, position.NONE
    if vertical:
        room = places(position, free, True)
        for number in range(position.HEIGHT - 1):
            last = (
                room & ~(last << position.ROW) & (position.TOP_ROW << Bits(number * position.WIDTH))
            )
            found |= last
    else:
        room = places(position, free, False)
        for number in range(position.WIDTH - 1):
            line = position.LEFT_COLUMN << Bits(number)
            last = room & line & ~(last << Bits(1))
            found |= last
    return found


@compiled
def most_moves(position, free, vertical):
    """No player can make more moves than he can put dominoes side by side."""
    return popcount(packed(position, free, vertical))


@compiled
def covered(position, dominoes, vertical):
    """The cells of dominoes."""
    return dominoes | (dominoes << (position.ROW if vertical else Bits(1)))


@compiled(inline=False)
def sure_moves(position, free, vertical, first):
    """The moves that a player surely can make, and the most that the other can have beside them.

    Safe are places on cells that the other cannot cover.  Of further places that have no cell in
    common a domino of the other takes two at most, and only one if no place has another beside it.
    While the player takes one of them after the other, each turn of both costs three of the former,
    or two of the latter.  He moves *first*, or the other does.

    Each of the player's moves that is not safe covers a cell that the other could have covered, or
    two where all these places lie on such cells.
    """
    others = covered(position, places(position, free, not vertical), not vertical)
    safe = packed(position, free & ~others, vertical)
    left = free & ~covered(position, safe, vertical)
    open_places = packed(position, left, vertical)
    taken = covered(position, open_places, vertical)
    if vertical:
        beside = ((taken << Bits(1)) & position.NOT_LEFT) | (
            (taken >> Bits(1)) & position.NOT_RIGHT
        )
        beside |= beside >> position.ROW
    else:
        beside = (taken << position.ROW) | (taken >> position.ROW)
        beside |= beside >> Bits(1)
    pairs = popcount(open_places & beside)
    lone = popcount(open_places) - pairs
    sixths = 2 * pairs + 3 * lone
    if not first:
        sixths = max(sixths - (4 if pairs else 3), 0)
    open_moves = (sixths + 5) // 6
    lost = 2 * open_moves if not taken & ~others else open_moves
    return popcount(safe) + open_moves, (popcount(others) - lost) // 2


@compiled
def plies_left(position):
    """As many moves as the mover can have, and as many of the other."""
    free = board(position, 0)
    mine = most_moves(position, free, position.vertical)
    theirs = most_moves(position, free, not position.vertical)
    return min(2 * mine, 2 * theirs + 1, popcount(free) // 2)


@compiled
def evaluate(position):
    """Places, own minus the other's."""
    free, vertical = board(position, 0), position.vertical
    mine, theirs = places(position, free, vertical), places(position, free, not vertical)
    return 2 * (popcount(mine) - popcount(theirs)) + 1


@compiled
def order(position, move, child):
    """Leave the other few places, and oneself many; of equal moves, safe ones later."""
    free = board(child, 0)
    mine = places(position, free, position.vertical)
    theirs = places(position, free, child.vertical)
    return popcount(mine) - popcount(theirs)


# Equivalent positions


@compiled(inline=False)
def upside_down(position, free):
    found = position.NONE
    for number in range(position.HEIGHT):
        row = (free >> Bits(number * position.WIDTH)) & position.TOP_ROW
        found |= row << Bits((position.HEIGHT - 1 - number) * position.WIDTH)
    return found


@compiled
def canonical(position):
    """The smallest key of all mirror images, without the cells that nobody can cover."""
    free, row = board(position, 0), position.ROW
    across = ((free << Bits(1)) & position.NOT_LEFT) | ((free >> Bits(1)) & position.NOT_RIGHT)
    free &= across | (free << row) | (free >> row)
    flipped = upside_down(position, free)
    least, found = key_of(position, free), 0
    word_1 = key_of(position, flipped)
    word_2 = key_of(position, reversed_bits(position, flipped))
    word_3 = key_of(position, reversed_bits(position, free))
    if word_1 < least:
        least, found = word_1, 1
    if word_2 < least:
        least, found = word_2, 2
    if word_3 < least:
        least, found = word_3, 3
    return least, found


@compiled
def canonical_move(position, move, symmetry):
    """Top and bottom exchanged (1), left and right (2), or both."""
    row, column = move // position.WIDTH, move % position.WIDTH
    if symmetry & 1:
        row = position.HEIGHT - 1 - row - (1 if position.vertical else 0)
    if symmetry & 2:
        column = position.WIDTH - 1 - column - (0 if position.vertical else 1)
    return row * position.WIDTH + column


# Boards of all sizes


def variant_of(text: str) -> tuple[int, int, bool]:
    """Read columns and rows, and who begins, as in ``5x4,horizontal``."""
    size, _, beginner = text.partition(",")
    if beginner not in ("", "vertical", "horizontal"):
        raise PositionError(f"{quoted(beginner)} does not begin: vertical or horizontal does")
    return (*board_size(size, example="8x8"), beginner != "horizontal")


@variants(cells, usual="8x8", read=variant_of)
def dominoes(width: int, height: int, vertical: bool) -> dict[str, Any]:
    """The constants of a board; :class:`PositionError` if there is none of that size."""
    area = width * height
    fits = area > 1 and (height if vertical else width) > 1
    if not (1 <= width <= 26 and 1 <= height <= 26 and area <= 256 and fits):
        raise PositionError(
            f"there is no board of {width}x{height}: a board has 1 to 26 columns and rows, "
            f"256 cells at most, and room for the first domino, as in 8x8 or 5x4"
        )
    words = -(-area // 64)
    row = (1 << width) - 1
    column = sum(1 << width * number for number in range(height))
    return {
        "WIDTH": width,
        "HEIGHT": height,
        "AREA": area,
        "ROW": Bits(width),
        "NONE": constant(0, words),
        "BOARD": constant((1 << area) - 1, words),
        "TOP_ROW": constant(row, words),
        "LEFT_COLUMN": constant(column, words),
        "NOT_LEFT": constant(column * (row - 1), words),
        "NOT_RIGHT": constant(column * (row >> 1), words),
        "WORDS": words,
        "BEGINS": vertical,
        "VARIANT": f"{width}x{height}" + "" * vertical + ",horizontal" * (not vertical),
        "CELLS": Grid(
            height,
            width,
            contents={".": "free", "#": "covered"},
            players={"vertical": "Vertical", "horizontal": "Horizontal"},
            row_names=[str(number) for number in range(height, 0, -1)],
            column_names=COLUMNS[:width],
        ),
        "MAX_MOVES": area,
        "MAX_PLIES": area // 2 + 1,
    }


Position = dominoes(8, 8, True)


# Text

MOVE_PATTERN = r"[a-zA-Z][0-9]{1,2}[a-zA-Z][0-9]{1,2}|[^\s,]+"


def start(variant: str = "") -> Any:
    """The empty board of a variant."""
    cls = dominoes.of(variant)
    words = [Bits(word(cls.BOARD, number)) for number in range(cls.WORDS)]
    return cls(*words, cls.BEGINS)


def mover(position: Any) -> str:
    return "vertical" if position.vertical else "horizontal"


def parse_move(position: Any, text: str) -> int:
    """Read a domino such as ``a2a1`` or ``a1b1``."""
    match = re.fullmatch("([a-z])([0-9]{1,2})([a-z])([0-9]{1,2})", text.lower())
    if not match:
        raise PositionError(f"{quoted(text)} is not a domino; write two cells, as in a2a1 or a1b1")
    spots = []
    for column, row in (match.groups()[:2], match.groups()[2:]):
        x, y = ord(column) - ord("a"), position.HEIGHT - int(row)
        if not (x < position.WIDTH and 0 <= y < position.HEIGHT):
            last = f"{COLUMNS[position.WIDTH - 1]}{position.HEIGHT}"
            raise PositionError(
                f"{text}: {column}{row} is not on the board, whose cells are a1..{last}"
            )
        spots.append((y, x))
    (y, x), other = sorted(spots)
    if other != ((y + 1, x) if position.vertical else (y, x + 1)):
        lies = "one below the other" if position.vertical else "side by side"
        raise PositionError(f"{text}: {mover(position)} covers two cells {lies}")
    move = position.WIDTH * y + x
    if not places(position, board(position, 0), position.vertical) >> move & 1:
        raise PositionError(f"{text}: a cell of that is covered already")
    return move


def move_text(position: Any, move: int) -> str:
    def name(cell: int) -> str:
        return f"{COLUMNS[cell % position.WIDTH]}{position.HEIGHT - cell // position.WIDTH}"

    return name(move) + name(move + (position.WIDTH if position.vertical else 1))


def from_cells(contents: list[int], mover: str, start: Any) -> Any:
    free = sum(1 << number for number, content in enumerate(contents) if content == 0)
    return remade(start, free, mover == "vertical")
