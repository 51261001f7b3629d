"""m,n,k games: k stones in a row on a board of m columns and n rows, such as Gomoku.

Rules: two players alternately put stones of their colour on empty cells; the first player is x.
Whoever first has an unbroken row, column or diagonal of k stones or more wins; a full board is a
draw.  ``mnk:15x15x5``, the usual variant, is free-style Gomoku, and ``mnk:3x3x3`` tic-tac-toe.

Values: 1 a win, 0 a draw, -1 a loss.

Text: moves such as ``h8 i9`` (columns from ``a`` at the left, rows from 1 at the bottom; the blanks
may be left out), or a board, rows from the top, separated by line ends or ``/``, ``x`` the first
player, ``o`` the second, ``.`` empty.

Encoding: one bit for each cell, row by row from the top, on large boards in several words
(:mod:`cutnode.contract.boards`).  On the board of 5x4::

     0  1  2  3  4
     5  6  7  8  9
    10 11 12 13 14
    15 16 17 18 19

so the cells of a line are 1, 5, 6 or 4 apart (its *step*).  A *window* is a line of k cells, named
by its first cell; ``STARTS`` has the first cells of all windows of a step, so none wraps from one
row into the next.  With k = 3 the stones on 6, 12 and 18 fill window 6 of step 6, and bit 6 is set
in ``stones & stones >> 6 & stones >> 12``.

A *four* is a window that lacks one stone (in Gomoku, of four), and a *three* one that lacks two.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from cutnode import (
    NO_MOVE,
    Bits,
    PositionError,
    compiled,
    lowest,
    lowest_index,
    mix,
    popcount,
    quoted,
    without_lowest,
)
from cutnode.contract.boards import (
    board,
    constant,
    fields,
    key_of_stones,
    random_cell,
    random_cells,
    remade,
    single,
    write,
)
from cutnode.contract.cells import STONES, Grid
from cutnode.contract.stones import canonical as canonical
from cutnode.contract.stones import cell as cell
from cutnode.contract.stones import (
    free_cells,
    mirrored,
    read_cell,
    require_free,
    stones_of,
    unmirrored,
)
from cutnode.contract.stones import moves as moves
from cutnode.contract.stones import plies_left as plies_left
from cutnode.contract.stones import random_move as random_move
from cutnode.contract.variants import variants

DECISIVE = True
VALUE_LIMIT = 1
UNIT = 100
COLUMNS = "abcdefghijklmnopqrs"
FEW = 32
"""The last plies of a random game, which are played one by one."""


@functools.cache
def stones(words: int) -> Any:
    """Return the fields: the stones of mover and opponent, and whether the opponent has won."""
    return fields("Stones", ("mine", "theirs"), words, won=bool)


@compiled
def random_result(position, word):
    """Return the result of a random game for the mover.

    All moves are drawn at once; the first line among them is found by bisection, and the last few
    moves are played one by one.
    """
    mine, theirs = board(position, 0), board(position, 1)
    free = free_cells(position)
    plies = popcount(free)
    my_moves = random_cells(position, free, (plies + 1) >> 1, word)
    their_moves = free ^ my_moves
    mover = 1
    while plies > FEW:
        half = plies >> 1
        first = (half + (mover > 0)) >> 1
        word = mix(word)
        my_half = random_cells(position, my_moves, first, word)
        word = mix(word)
        their_half = random_cells(position, their_moves, half - first, word)
        if has_line(position, mine | my_half) or has_line(position, theirs | their_half):
            my_moves, their_moves, plies = my_half, their_half, half
        else:
            mine |= my_half
            theirs |= their_half
            my_moves ^= my_half
            their_moves ^= their_half
            plies -= half
            mover = -mover if half & 1 else mover
    if mover < 0:
        mine, theirs, my_moves, their_moves = theirs, mine, their_moves, my_moves
    while my_moves:
        word = mix(word)
        move = single(position, random_cell(position, my_moves, word))
        mine |= move
        if has_line(position, mine):
            return mover
        mine, theirs, my_moves, their_moves = theirs, mine, their_moves, my_moves ^ move
        mover = -mover
    return 0


@compiled
def play(position, move):
    mine = board(position, 0) | single(position, move)
    return remade(position, board(position, 1), mine, has_line(position, mine))


@compiled(inline=False)
def has_line(position, stones):
    s, a = position.STEPS, position.STARTS
    return bool(
        windows_in(position, stones, s[0], a[0])
        | windows_in(position, stones, s[1], a[1])
        | windows_in(position, stones, s[2], a[2])
        | windows_in(position, stones, s[3], a[3])
    )


@compiled
def windows_in(position, stones, step, starts):
    """Return the windows that *stones* (or other cells) fill."""
    length = 1
    while 2 * length <= position.LENGTH:
        stones &= stones >> (Bits(length) * step)
        length *= 2
    if length < position.LENGTH:
        stones &= stones >> (Bits(position.LENGTH - length) * step)
    return stones & starts


@compiled
def outcome(position):
    if position.won:
        return True, -1
    return (False, 0) if free_cells(position) else (True, 0)


@compiled
def key(position):
    return key_of_stones(position, board(position, 0), board(position, 1))


# Results known without search


@compiled
def lacking(position, own, empty, step, starts):
    """Return the windows that lack one, two and three own stones and have none of the other's."""
    full, one, two, three = starts, position.NONE, position.NONE, position.NONE
    for _ in range(position.LENGTH):
        three = (three & own) | (two & empty)
        two = (two & own) | (one & empty)
        one = (one & own) | (full & empty)
        full &= own
        own = own >> step
        empty = empty >> step
    return one, two, three


@compiled(inline=False)
def winning_cells(position, own, empty):
    """Return the cells on which a player completes a line."""
    s, a = position.STEPS, position.STARTS
    return (
        winning_cells_of(position, own, empty, s[0], a[0])
        | winning_cells_of(position, own, empty, s[1], a[1])
        | winning_cells_of(position, own, empty, s[2], a[2])
        | winning_cells_of(position, own, empty, s[3], a[3])
    )


@compiled
def winning_cells_of(position, own, empty, step, starts):
    windows, _, _ = lacking(position, own, empty, step, starts)
    found = position.NONE
    if windows:
        for _ in range(position.LENGTH):
            found |= windows & empty
            windows = windows << step
    return found


@compiled(inline=False)
def four_cells(position, own, empty):
    """Return the cells that make a four, and those that make two, to be completed on two cells."""
    s, a = position.STEPS, position.STARTS
    once, twice = position.NONE, position.NONE
    once, twice = four_cells_of(position, own, empty, s[0], a[0], once, twice)
    once, twice = four_cells_of(position, own, empty, s[1], a[1], once, twice)
    once, twice = four_cells_of(position, own, empty, s[2], a[2], once, twice)
    return four_cells_of(position, own, empty, s[3], a[3], once, twice)


@compiled
def four_cells_of(position, own, empty, step, starts, once, twice):
    """Add the fours of one step.

    Windows that lack the same two stones are one four, so the fours of a cell are told apart by the
    cell that completes them: how far away it is, and on which side.
    """
    _, windows, _ = lacking(position, own, empty, step, starts)
    if windows:
        beyond, before, ends = empty, empty, windows
        for distance in range(1, position.LENGTH):
            beyond, before, ends = beyond >> step, before << step, ends << step
            low, high = windows, ends
            lower, upper = position.NONE, position.NONE
            for _ in range(position.LENGTH - distance):
                lower |= low & beyond
                upper |= high & before
                low, high = low << step, high << step
            lower, upper = lower & empty, upper & empty
            twice |= once & lower
            once |= lower
            twice |= once & upper
            once |= upper
    return once, twice


@compiled
def bounds(position, alpha, beta):
    """Decide positions by a line to complete, two of the opponent's, a double four, or no room."""
    if position.won:
        return -1, -1
    mine, theirs = board(position, 0), board(position, 1)
    empty = position.BOARD & ~(mine | theirs)
    if not empty:
        return 0, 0
    if winning_cells(position, mine, empty):
        return 1, 1
    threats = winning_cells(position, theirs, empty)
    if without_lowest(threats):
        return -1, -1
    _, doubles = four_cells(position, mine, empty)
    if doubles & (threats if threats else empty):
        return 1, 1
    if not threats and not answers(position, mine, theirs, empty):
        return -1, -1
    lower, upper = -1, 1
    if not has_line(position, theirs | empty):
        lower = 0
    if not has_line(position, mine | empty):
        upper = 0
    return lower, upper


@compiled(inline=False)
def answers(position, mine, theirs, empty):
    """Return the cells that may meet a threat to make two fours at once; all if there is none.

    Nobody completes a line now.  The mover loses unless he makes a four or takes one of the cells
    that each such threat needs: the cell itself, and those where its fours would be completed.
    """
    _, doubles = four_cells(position, theirs, empty)
    if not doubles:
        return empty
    fours, _ = four_cells(position, mine, empty)
    found = empty
    while doubles:
        threat = lowest(doubles)
        doubles = without_lowest(doubles)
        found &= threat | winning_cells(position, theirs | threat, empty & ~threat)
    return found | fours


@compiled
def candidates(position, buffer, at):
    """Write the cell that the opponent needs for a line, else the answers to threats, or all."""
    mine, theirs = board(position, 0), board(position, 1)
    empty = position.BOARD & ~(mine | theirs)
    threats = winning_cells(position, theirs, empty)
    cells = threats if threats else answers(position, mine, theirs, empty)
    return write(position, cells if cells else empty, buffer, at)


@compiled
def forced(position):
    """Return the cell that the opponent needs for a line, if there is one.

    Where bounds do not decide, the opponent has one such cell at most, and the mover none.
    """
    mine, theirs = board(position, 0), board(position, 1)
    threats = winning_cells(position, theirs, position.BOARD & ~(mine | theirs))
    return lowest_index(threats) if threats else NO_MOVE


# Heuristics for searches that stop before the end of the game


@compiled
def evaluate(position):
    """Count windows without a stone of the other: 1, 8 and 64 for lacking three, two and one."""
    mine, theirs = board(position, 0), board(position, 1)
    empty = position.BOARD & ~(mine | theirs)
    return 10 + strength(position, mine, empty) - strength(position, theirs, empty)


@compiled(inline=False)
def strength(position, own, empty):
    s, a = position.STEPS, position.STARTS
    return (
        strength_of(position, own, empty, s[0], a[0])
        + strength_of(position, own, empty, s[1], a[1])
        + strength_of(position, own, empty, s[2], a[2])
        + strength_of(position, own, empty, s[3], a[3])
    )


@compiled
def strength_of(position, own, empty, step, starts):
    one, two, three = lacking(position, own, empty, step, starts)
    return 64 * popcount(one) + 8 * popcount(two) + popcount(three)


@compiled(inline=False)
def order(position, move, child):
    """Order by the evaluation, and moves of equal value from the middle outwards."""
    row, column = move // position.WIDTH, move % position.WIDTH
    middle = min(row, position.HEIGHT - 1 - row) + min(column, position.WIDTH - 1 - column)
    return 16 * -evaluate(child) + middle


@compiled
def noisy(position, buffer, at):
    """Write the moves that complete or block a line; if there are none, those that make fours."""
    mine, theirs = board(position, 0), board(position, 1)
    empty = position.BOARD & ~(mine | theirs)
    fours, _ = four_cells(position, mine, empty)
    lines = winning_cells(position, mine, empty) | winning_cells(position, theirs, empty)
    return write(position, lines if lines else fours, buffer, at)


@compiled
def check(position):
    mine, theirs = board(position, 0), board(position, 1)
    return bool(winning_cells(position, theirs, position.BOARD & ~(mine | theirs)))


# Equivalent positions


@compiled
def canonical_move(position, move, symmetry):
    return mirrored(position, move, symmetry)


@compiled
def original_move(position, move, symmetry):
    return unmirrored(position, move, symmetry)


# Boards of all sizes


def size(text: str) -> tuple[int, int, int]:
    """Read columns, rows and the length of a line, as in ``15x15x5``."""
    match = re.fullmatch("([0-9]{1,9})x([0-9]{1,9})x([0-9]{1,9})", text)
    if not match:
        raise PositionError(
            f"{quoted(text)} is not a board and a length; write COLUMNSxROWSxLENGTH, as in 15x15x5"
        )
    return int(match[1]), int(match[2]), int(match[3])


VARIANTS = "15x15x5", "3x3x3", "4x4x4", "7x7x5"


@variants(
    stones,
    usual="15x15x5",
    read=size,
    about="columns, rows, and how many in a row win: 15x15x5",
)
def rules(width: int, height: int, length: int) -> dict[str, Any]:
    """Return the constants of a board; :class:`PositionError` if no board has that size."""
    if not (1 <= width <= 19 and 1 <= height <= 19 and 1 <= length <= 19):
        raise PositionError(
            f"there is no game of {width}x{height}x{length}: a board has 1 to 19 columns and rows, "
            f"and a line 1 to 19 stones, as in 15x15x5"
        )
    area = width * height
    words = -(-area // 64)

    def starts(right: int, down: int) -> Any:
        """Return the first cells of windows: the top ones, or in a row the leftmost."""
        far = length - 1
        return constant(
            sum(
                1 << row * width + column
                for row in range(height)
                for column in range(width)
                if 0 <= column + far * right < width and row + far * down < height
            ),
            words,
        )

    steps = ((1, 0), (0, 1), (1, 1), (-1, 1))
    return {
        "WIDTH": width,
        "HEIGHT": height,
        "LENGTH": length,
        "AREA": area,
        "NONE": constant(0, words),
        "BOARD": constant((1 << area) - 1, words),
        "STEPS": tuple(Bits(down * width + right) for right, down in steps),
        "STARTS": tuple(starts(right, down) for right, down in steps),
        "SYMMETRIES": 8 if width == height else 4,
        "WORDS": words,
        "VARIANT": f"{width}x{height}x{length}",
        "CELLS": Grid(
            height,
            width,
            glyphs=STONES,
            row_names=[str(row) for row in range(height, 0, -1)],
            column_names=COLUMNS[:width],
        ),
        "MAX_MOVES": area,
        "MAX_PLIES": area,
    }


Position = rules(15, 15, 5)


# Text

MOVE_PATTERN = r"[a-sA-S][0-9]{1,2}|[^\s,]+"


def start(variant: str = "") -> Any:
    """Return the empty board of a variant."""
    cls = rules.of(variant)
    return cls(*[Bits(0)] * 2 * cls.WORDS, False)


def parse_move(position: Any, text: str) -> int:
    """Read a cell such as ``a1``."""
    column, row = read_cell(text)
    if not (column < position.WIDTH and 1 <= row <= position.HEIGHT):
        last = f"{COLUMNS[position.WIDTH - 1]}{position.HEIGHT}"
        raise PositionError(f"{text} is not on the board, whose cells are a1..{last}")
    return require_free(position, position.WIDTH * (position.HEIGHT - row) + column, text)


def move_text(position: Any, move: int) -> str:
    return f"{COLUMNS[move % position.WIDTH]}{position.HEIGHT - move // position.WIDTH}"


def winning_line(position: Any) -> set[int]:
    stones = board(position, 1)
    cells = {n for n in range(position.AREA) if stones >> n & 1}
    return position.CELLS.runs(cells, position.LENGTH)


def from_cells(contents: list[int], mover: str, start: Any) -> Any:
    mine, theirs, more = stones_of(contents, range(start.AREA))
    if has_line(start, mine):
        raise PositionError(
            f"{'xo'[more]} is to move but has {start.LENGTH} in a row already: "
            f"the game ended before the last stone"
        )
    return remade(start, mine, theirs, has_line(start, theirs))
