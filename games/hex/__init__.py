"""Hex on rhombic boards of up to 13x13 cells.

Rules: two players alternately put stones of their colour on empty cells.  The first player, x, wins
by a chain of neighbouring stones from the top row to the bottom row; the second, o, by one from the
left column to the right one.  There is always a winner, and an extra stone never does harm.  The
swap rule is not part of the game: the value of the first move tells whether to swap.

Values: 1 a win, -1 a loss.

Text: moves such as ``a1 c3`` (columns from ``a`` at the left, rows from 1 at the top; in a line the
blanks may be left out), or a board, rows from the top, separated by line ends or ``/``, of ``x``,
``o`` and ``.``, and then who is to move: ``.../.x./... o``.  Any board may be set up.

Encoding: see :mod:`cutnode.games.hex.cells`.  A position has the stones of both players and, of
these, the chains that begin at the top and at the left: most moves add nothing to the chains, and a
game is over when one of them reaches the opposite edge.

The solver looks for virtual connections (:mod:`cutnode.games.hex.connections`) on a board on which
all cells that do not matter have been filled (:mod:`cutnode.games.hex.filling`).
"""

from __future__ import annotations

import functools
import re
from typing import Any

from cutnode import (
    Bits,
    PositionError,
    compiled,
    lowest,
    mix,
    popcount,
    without_lowest,
)
from cutnode.contract.boards import (
    board,
    constant,
    fields,
    random_cells,
    remade,
    reversed_bits,
    single,
    word,
    write,
)
from cutnode.contract.cells import STONES, Hexagons
from cutnode.contract.stones import free_cells, read_cell, require_free
from cutnode.contract.stones import moves as moves
from cutnode.contract.stones import plies_left as plies_left
from cutnode.contract.stones import random_move as random_move
from cutnode.contract.variants import board_size, variants
from cutnode.games.hex.cells import chain, neighbours, twice_beside
from cutnode.games.hex.connections import common_carrier, constants
from cutnode.games.hex.filling import fill, filled

DECISIVE = True
VALUE_LIMIT = 1
UNIT = 100
FAR = 4
"""The most stones that a player may lack for a search for his threats: of those who lacked more, in
random positions on boards of 9x9 to 13x13, one in 48 had a threat that would have been found."""
COLUMNS = "abcdefghijklm"


@functools.cache
def stones(words: int) -> Any:
    """Return the fields: the stones of both players, and those connected to the top and left."""
    boards = ("first", "second", "first_chain", "second_chain")
    return fields("Stones", boards, words, second_moves=bool)


@compiled
def cell(position, index):
    """Return 0 for an empty cell, 1 for a stone of the first player, 2 for one of the second."""
    place = single(position, index)
    if board(position, 0) & place:
        return 1
    return 2 if board(position, 1) & place else 0


@compiled
def random_result(position, word):
    """Fill all cells at random: stones after the end do not change who has connected his edges."""
    free = free_cells(position)
    drawn = random_cells(position, free, (popcount(free) + 1) >> 1, word)
    first = board(position, 0) | (free & ~drawn if position.second_moves else drawn)
    top = chain(position, first & (board(position, 2) | position.TOP_ROW), first)
    wins = bool(top & position.BOTTOM_ROW)
    return 1 if wins != position.second_moves else -1


@compiled
def play(position, move):
    stone = single(position, move)
    first, second = board(position, 0), board(position, 1)
    top, left = board(position, 2), board(position, 3)
    if position.second_moves:
        second |= stone
        if stone & position.LEFT_COLUMN or neighbours(position, stone) & left:
            left |= chain(position, stone, second & ~left)
    else:
        first |= stone
        if stone & position.TOP_ROW or neighbours(position, stone) & top:
            top |= chain(position, stone, first & ~top)
    return remade(position, first, second, top, left, not position.second_moves)


@compiled
def outcome(position):
    across = board(position, 3) & position.RIGHT_COLUMN
    if board(position, 2) & position.BOTTOM_ROW or across:
        return True, -1
    return False, 0


@compiled
def key(position):
    """Pack both players' stones into a word on boards of up to 31 cells, else hash them."""
    return key_of(position, board(position, 0), board(position, 1))


@compiled
def key_of(position, first, second):
    mover = Bits(position.second_moves)
    if position.AREA <= 31:
        return word(first, 0) | (word(second, 0) << Bits(32)) | (mover << Bits(31))
    hashed = mix(mover)
    for number in range(position.WORDS):
        hashed = mix(mix(hashed ^ word(first, number)) ^ word(second, number))
    return hashed


# Results known without search


@compiled
def bounds(position, alpha, beta):
    """Decide positions that a player has connected, or connects whatever the other does."""
    if outcome(position)[0]:
        return -1, -1
    first, second = filled(position)
    if threats(position, first, second, not position.second_moves) != position.BOARD:
        return 1, 1
    if not threats(position, first, second, position.second_moves):
        return -1, -1
    return -1, 1


@compiled
def threats(position, first, second, of_first):
    """Return what all threats of a player to connect have in common (see ``common_carrier``).

    A single threat of the player to move wins, so for him no others are looked for.  A player who
    is far from connecting is taken to have none.
    """
    empty = position.BOARD & ~(first | second)
    own = first if of_first else second
    start = position.TOP_ROW if of_first else position.LEFT_COLUMN
    goal = position.BOTTOM_ROW if of_first else position.RIGHT_COLUMN
    if distance(position, own, empty, start, goal)[0] > FAR:
        return position.BOARD
    return common_carrier(position, own, empty, start, goal, of_first != position.second_moves)


@compiled
def candidates(position, buffer, at):
    """Write the empty cells in the carriers of all threats of the opponent, but dominated ones."""
    first, second = filled(position)
    common = threats(position, first, second, position.second_moves)
    cells = undominated(position, common & ~(first | second), first, second)
    return write(position, cells if cells else free_cells(position), buffer, at)


@compiled(inline=False)
def undominated(position, cells, first, second):
    """Return *cells* without the dominated ones, which a move to another cell kills or captures.

    A stone on a dominated cell alone is worth no more than one on the other, which gets both.
    """
    left = cells
    while left:
        cell = lowest(left)
        if position.second_moves:
            own = fill(position, first, second | cell, True)[1]
        else:
            own = fill(position, first | cell, second, False)[0]
        left &= ~own
        cells &= ~own | cell
    return cells


@compiled(inline=False)
def distance(position, own, empty, start, goal):
    """Return how many stones a player lacks to connect two edges, counting bridges as connected.

    Also return how many cells are within reach on the way, to compare equal distances.
    """
    reached = chain(position, start & own, own)
    near = (neighbours(position, reached) | start) & empty
    total, width = 0, 0
    while not reached & goal:
        if without_lowest(near & goal):
            break
        total += 1
        cells = near | (twice_beside(position, near) & empty)
        if not cells:
            return 30, 0
        width += popcount(cells & ~reached)
        reached = chain(position, reached | cells, own)
        near = neighbours(position, reached) & empty & ~reached
    return total, width


@compiled
def strength(position, own, empty, start, goal):
    """Return how near a player is to connecting two edges, measured from both of them."""
    there, wide = distance(position, own, empty, start, goal)
    back, high = distance(position, own, empty, goal, start)
    return wide + high - 50 * (there + back)


@compiled
def evaluate(position):
    """Return how many stones fewer the mover lacks to connect his edges than the other, x 100."""
    first, second = board(position, 0), board(position, 1)
    empty = free_cells(position)
    score = strength(position, first, empty, position.TOP_ROW, position.BOTTOM_ROW)
    score -= strength(position, second, empty, position.LEFT_COLUMN, position.RIGHT_COLUMN)
    return -score if position.second_moves else score


@compiled
def order(position, move, child):
    """Order by how few cells a threat leaves the opponent to play on, then by the evaluation."""
    first, second = filled(child)
    common = threats(child, first, second, child.second_moves) & ~(first | second)
    return 1000 * (position.AREA - popcount(common)) - evaluate(child)


# Equivalent positions


@compiled
def canonical(position):
    """Return a key that half a turn keeps, in the frame with the smaller key of a filled board."""
    first, second = board(position, 0), board(position, 1)
    here = key_of(position, first, second)
    there = key_of(position, reversed_bits(position, first), reversed_bits(position, second))
    filled_here, filled_there = filled_keys(position)
    turn = filled_there < filled_here or (filled_there == filled_here and there < here)
    return (there, 1) if turn else (here, 0)


@compiled
def settled(position):
    """Return the key of the filled board: positions that share it have the same value."""
    here, there = filled_keys(position)
    return 0, min(here, there)


@compiled
def filled_keys(position):
    """Return the key of the filled board of a position, and of the position after half a turn."""
    first, second = board(position, 0), board(position, 1)
    other_first, other_second = reversed_bits(position, first), reversed_bits(position, second)
    return filled_key(position, first, second), filled_key(position, other_first, other_second)


@compiled
def filled_key(position, first, second):
    """Return the key of a board after filling."""
    first, second = fill(position, first, second, False)
    return key_of(position, first, second)


@compiled
def canonical_move(position, move, symmetry):
    return position.AREA - 1 - move if symmetry else move


# Boards of all sizes


def size(text: str) -> tuple[int, int]:
    """Read a size: ``11`` or ``11x11``, or a width and a height, as in ``6x7``."""
    return board_size(f"{text}x{text}" if re.fullmatch("[0-9]{1,9}", text) else text, example="6x7")


VARIANTS = "11", "7", "6", "5"


@variants(
    stones,
    usual="11",
    read=size,
    about="cells along a side, 1 to 13, or columns and rows: 7 or 6x7",
)
def rhombus(width: int, height: int) -> dict[str, Any]:
    """Return the constants of a board; :class:`PositionError` if no board has that size."""
    if not (1 <= width <= 13 and 1 <= height <= 13):
        raise PositionError(
            f"there is no board of {width}x{height}: a board has 1 to 13 columns and rows, "
            f"as in 11, 6 or 6x7"
        )
    area = width * height
    words = -(-area // 64)

    def cells(wanted: Any) -> Any:
        each = ((row, column) for row in range(height) for column in range(width))
        return constant(sum(1 << width * r + c for r, c in each if wanted(r, c)), words)

    return {
        "WIDTH": width,
        "HEIGHT": height,
        "AREA": area,
        **constants(area),
        "ROW": Bits(width),
        "NONE": constant(0, words),
        "BOARD": cells(lambda row, column: True),
        "NOT_LEFT": cells(lambda row, column: column > 0),
        "NOT_RIGHT": cells(lambda row, column: column < width - 1),
        "TOP_ROW": cells(lambda row, column: row == 0),
        "BOTTOM_ROW": cells(lambda row, column: row == height - 1),
        "LEFT_COLUMN": cells(lambda row, column: column == 0),
        "RIGHT_COLUMN": cells(lambda row, column: column == width - 1),
        # Cells with an edge up and right of them, or down and left; corners have one of each edge.
        "TOP": cells(lambda row, column: row == 0 and column < width - 1),
        "RIGHT": cells(lambda row, column: row > 0 and column == width - 1),
        "LEFT": cells(lambda row, column: row < height - 1 and column == 0),
        "BOTTOM": cells(lambda row, column: row == height - 1 and column > 0),
        "WORDS": words,
        "VARIANT": f"{width}" if width == height else f"{width}x{height}",
        "CELLS": Hexagons(
            (width,) * height,
            glyphs=STONES,
            players={"x": "first player (x)", "o": "second player (o)"},
            row_names=[str(row) for row in range(1, height + 1)],
            column_names=COLUMNS[:width],
            edges=[
                (0, range(width)),
                (0, range(area - width, area)),
                (1, range(0, area, width)),
                (1, range(width - 1, area, width)),
            ],
        ),
        "MAX_MOVES": area,
        "MAX_PLIES": area,
    }


Position = rhombus(11, 11)


# Text

MOVE_PATTERN = r"[a-mA-M][0-9]{1,2}|[^\s,]+"


def start(variant: str = "") -> Any:
    """Return the empty board of a size such as ``6`` or ``6x7``; the usual one is 11."""
    cls = rhombus.of(variant)
    return cls(*[Bits(0)] * 4 * cls.WORDS, False)


def mover(position: Any) -> str:
    return "xo"[position.second_moves]


def parse_move(position: Any, text: str) -> int:
    """Read a cell such as ``a1``."""
    column, row = read_cell(text)
    if not (column < position.WIDTH and 1 <= row <= position.HEIGHT):
        last = f"{COLUMNS[position.WIDTH - 1]}{position.HEIGHT}"
        raise PositionError(f"{text} is not on the board, whose cells are a1..{last}")
    return require_free(position, position.WIDTH * (row - 1) + column, text)


def move_text(position: Any, move: int) -> str:
    return f"{COLUMNS[move % position.WIDTH]}{move // position.WIDTH + 1}"


def winning_line(position: Any) -> set[int]:
    """Return a shortest chain of the player who connected the edges."""
    winner = 0 if position.second_moves else 1
    stones = board(position, winner)
    cells = {n for n in range(position.AREA) if stones >> n & 1}
    edges = [edge for owner, edge in position.CELLS.edges if owner == winner]
    return position.CELLS.chain(cells, edges)


def from_cells(contents: list[int], mover: str, start: Any) -> Any:
    first, second = (sum(1 << n for n, c in enumerate(contents) if c == m) for m in (1, 2))
    top = chain(start, first & start.TOP_ROW, first)
    left = chain(start, second & start.LEFT_COLUMN, second)
    connected = "x" * bool(top & start.BOTTOM_ROW) + "o" * bool(left & start.RIGHT_COLUMN)
    if mover in connected:
        raise PositionError(f"{mover} is to move but has connected his edges already")
    return remade(start, first, second, top, left, mover == "o")
