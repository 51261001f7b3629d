"""Domineering on boards of up to 26x26 cells, 256 in all.

Rules: Vertical and Horizontal alternately cover two free cells with a domino, Vertical one below
the other and Horizontal side by side; a player who cannot move loses.

Values: 1 a win, -1 a loss.

Text: a domino by its two cells, the upper or the left one first (``a2a1``, ``a1b1``; columns from
``a`` at the left, rows from 1 at the bottom), or a board, rows from the top, separated by line ends
or ``/``, of ``.`` free and ``#`` covered cells, and then who is to move, ``vertical`` or
``horizontal``.  Any cells may be covered.  A variant is a size, columns and then rows, and who
begins if it is not Vertical: ``8x8``, ``5x4,horizontal``.

Encoding: one bit for each free cell, row by row from the top, on large boards in several words
(:mod:`cutnode.contract.boards`).  On the board of 4x3::

    0  1  2  3
    4  5  6  7
    8  9 10 11

A move is the number of the upper or left cell: 5 covers 5 and 9, or 5 and 6.

A position is decided when one player surely has more moves left than the other can have at best,
as in D. Breuker, J. Uiterwijk and J. van den Herik, "Solving 8x8 Domineering", 2000, and in
N. Bullock, "Domineering: solving large combinatorial search spaces", 2002; the moves are counted
differently here (:func:`sure_moves`).
"""

from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np

from cutnode import (
    Bits,
    PositionError,
    compiled,
    mix,
    popcount,
    quoted,
)
from cutnode.contract.boards import (
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
from cutnode.contract.cells import Grid
from cutnode.contract.variants import board_size, variants

DECISIVE = True
VALUE_LIMIT = 1

PROFILE = {"solver.proof_share": 0.3}
"""The proof is worth 61 Elo at 0.05 s a move (20 to 105, 80 games); with half of the time, at
0.1 s a move, it is worth 35 (-5 to 76, 100 games)."""

MOST_PREFERRED = 256
"""More than any place is worth, so that any gain counts for more."""
COLUMNS = "abcdefghijklmnopqrstuvwxyz"


@functools.cache
def cells(words: int) -> Any:
    """Return the fields: the free cells, and whether Vertical is to move."""
    return fields("Cells", ("free",), words, vertical=bool)


@compiled
def cell(position, index):
    """Return 0 for a free cell, 1 for a covered one."""
    return 0 if board(position, 0) & single(position, index) else 1


@compiled
def places(position, free, vertical):
    """Return the upper or left cells of the dominoes for which a player has room."""
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
def swapped(position):
    return position._replace(vertical=not position.vertical)


@compiled
def outcome(position):
    return (False, 0) if places(position, board(position, 0), position.vertical) else (True, -1)


@compiled
def key(position):
    return key_of(position, board(position, 0))


@compiled
def key_of(position, free):
    """Pack the free cells and who is to move into a word on boards of up to 63 cells, else hash."""
    if position.AREA <= 63:
        return (word(free, 0) << Bits(1)) | Bits(position.vertical)
    hashed = mix(Bits(position.vertical))
    for number in range(position.WORDS):
        hashed = mix(hashed ^ word(free, number))
    return hashed


# Results known without search


@compiled
def bounds(position, alpha, beta):
    """Decide positions in which one player surely has more moves left than the other can have."""
    free, vertical = board(position, 0), position.vertical
    if not places(position, free, vertical):
        return -1, -1
    sure, others = sure_moves(position, free, vertical, True)
    if sure > others:
        return 1, 1
    sure, others = sure_moves(position, free, not vertical, False)
    if sure >= others:
        return -1, -1
    return -1, 1


@compiled
def step_of(position, vertical):
    """Return the distance between the two cells of a domino."""
    return position.ROW if vertical else Bits(1)


@compiled
def packed(position, dominoes, vertical):
    """Return a largest set of a player's dominoes that do not overlap, by their first cells.

    It has the first, the third and so on of each run, found with steps that double.
    """
    reach = step_of(position, vertical)
    found = dominoes & ~(dominoes << reach)
    run = dominoes & (dominoes << reach)
    run &= run << reach
    for _ in range(position.DOUBLINGS - 1):
        reach += reach
        found |= (found << reach) & run
        run &= run << reach
    return found


@compiled
def most_moves(position, free, vertical):
    """Return the most moves that a player can make: as many dominoes as fit without overlap."""
    return popcount(packed(position, places(position, free, vertical), vertical))


@compiled
def covered(position, dominoes, vertical):
    """Return the cells of dominoes."""
    return dominoes | (dominoes << step_of(position, vertical))


@compiled
def safe_dominoes(position, free, others, vertical):
    """Return as many of a player's dominoes as fit on cells that the other cannot cover."""
    return packed(position, places(position, free & ~others, vertical), vertical)


@compiled
def following(position, cells, vertical):
    """Return the cells below some cells, or to their right."""
    return (cells << step_of(position, vertical)) & (
        position.BOARD if vertical else position.NOT_LEFT
    )


@compiled
def preceding(position, cells, vertical):
    """Return the cells above some cells, or to their left."""
    return (cells >> step_of(position, vertical)) & (
        position.BOARD if vertical else position.NOT_RIGHT
    )


@compiled
def line_from(position, cells, lines, vertical):
    """Return cells together with the unbroken lines that follow them."""
    reach = step_of(position, vertical)
    open_cells = lines if vertical else lines & position.NOT_LEFT
    for _ in range(position.DOUBLINGS):
        cells |= (cells << reach) & open_cells
        open_cells &= open_cells << reach
        reach += reach
    return cells


@compiled
def line_to(position, cells, lines, vertical):
    """Return cells together with the unbroken lines that precede them."""
    reach = step_of(position, vertical)
    open_cells = lines if vertical else lines & position.NOT_RIGHT
    for _ in range(position.DOUBLINGS):
        cells |= (cells >> reach) & open_cells
        open_cells &= open_cells >> reach
        reach += reach
    return cells


@compiled(inline=False)
def sure_moves(position, free, vertical, first):
    """Return the moves that a player surely has, and the most that the other can have meanwhile.

    The player moves *first*, or the other does.  He divides the board into areas:

    * *Safe* dominoes lie on cells that the other cannot cover.  They wait until the end.
    * *Twins* are two dominoes side by side, of which the outer one has no free cell on its other
      side.  As soon as he has placed the inner one, the outer one is safe: two moves.
    * *Single* dominoes are *paired* if another single one has a cell next to them, else *lone*.
    * *Options* are cells at the end of a safe domino that the other can cover.  The player may
      shift that domino by one to take such a cell away.  No area is next to them.

    He answers a domino on an option with another option, and any other domino in the areas
    (:func:`shares`).  If the other passes over an option and so gets the last of an odd number, the
    player has one more turn in the areas, and so one more move, which is worth as much as an
    option.  Then both numbers are too small, but their difference is right.
    """
    across = not vertical
    step = step_of(position, vertical)
    theirs = places(position, free, across)
    others = covered(position, theirs, across)
    safe = safe_dominoes(position, free, others, vertical)
    outer, inner = twins(position, free, free & ~covered(position, safe, vertical), vertical)
    left = free & ~covered(position, safe | outer | inner, vertical)
    single = packed(position, places(position, left, vertical), vertical)
    cells = covered(position, single, vertical)
    beside = following(position, cells, across) | preceding(position, cells, across)
    paired = popcount(single & (beside | (beside >> step)))
    count, leads = shares(popcount(outer), paired, popcount(single) - paired, first)

    # A domino of the other touches at most two twins, so at least one of those it touches is left.
    cells = covered(position, inner, vertical)
    beside = following(position, cells, across)
    apart = popcount(outer) - popcount(inner & (beside | (beside >> step)))
    whole = (apart + 1) // 2 if first else apart // 2

    options = options_beside(position, safe, others, outer | inner | single, vertical)
    number = popcount(options)
    given = number // 2 if leads else (number + 1) // 2
    most = packed(position, theirs, across)
    lost = lost_moves(position, others, most, outer, single, options, count, whole, given, vertical)
    return popcount(safe) + count, popcount(most) - lost


@compiled
def twins(position, free, left, vertical):
    """Return the outer and the inner dominoes of twins among the cells that are *left*."""
    across, step = not vertical, step_of(position, vertical)
    # First the twins whose outer domino comes first, and then the others.
    room = places(position, left, vertical)
    shut = left & ~following(position, free, across)
    first = room & shut & (shut >> step) & preceding(position, room, across)
    first = packed(position, first, vertical)
    second = following(position, first, across)
    left &= ~covered(position, first | second, vertical)
    room = places(position, left, vertical)
    shut = left & ~preceding(position, free, across)
    last = room & shut & (shut >> step) & following(position, room, across)
    last = packed(position, last, vertical)
    return first | last, second | preceding(position, last, across)


@compiled
def shares(twins, paired, lone, first):
    """Return how many dominoes of the areas a player surely gets, and whether the turn is then his.

    He plays in twins first, then on paired and then on lone dominoes.  In sixths of a move, let
    twins count 6, a paired domino 2, and a lone one 3.  While there are twins, a domino of the
    other takes away at most 6: either both of them, or 3 of one, whose outer domino it leaves as a
    lone one, and no more than 3 of another area.  Later it takes at most 4 while there are paired
    dominoes, and then 3.  So a turn of each takes away at most 6 for each move that the player
    makes, and he makes at least a sixth of the total.  If he is first and there is one pair of
    twins, he makes its two moves before the other has taken anything but single dominoes.

    His last turn in single dominoes takes away 3, not 6.  So if he has no more than the least
    number of moves, and 4 are left for the last one of them, something is left for the other to
    take away, and then the player has the turn.
    """
    total = 6 * twins + 2 * paired + 3 * lone
    single_loss = 4 if paired else 3 if lone else 0
    sixths = total
    if not first:
        sixths = max(total - (6 if twins else single_loss), 0)
    elif twins == 1:
        sixths += 6 - single_loss
    count = (sixths + 5) // 6
    if total == 0:
        return count, first
    if first and total == 6 and twins == 1:
        return count, False
    return count, sixths - 6 * (count - 1) >= 4


@compiled
def options_beside(position, safe, others, areas, vertical):
    """Return one free cell above or below each safe domino, none next to another or to an area."""
    across = not vertical
    cells = covered(position, areas, vertical)
    near = cells | following(position, cells, across) | preceding(position, cells, across)
    above = preceding(position, safe, vertical) & others & ~near
    rest = safe & ~following(position, above, vertical)
    below = following(position, covered(position, rest, vertical), vertical) & others & ~near
    options = above | below
    return options & ~following(position, options, across)


@compiled
def lost_moves(position, others, most, outer, single, options, count, whole, given, vertical):
    """Return the least number of moves that the other loses by *count* dominoes of these areas.

    In an unbroken line of n cells he has n // 2 moves (together *most* dominoes), and
    (n - k) // 2 if k of them are taken from him: k / 2 less, rounded up where n is even and down
    where it is odd.  A single cell that leaves parts of odd length on both sides takes a move where
    n is odd, too.  So in halves of a move a cell takes 2 if it is the only one of the areas in its
    line, except 0 in an odd line if the parts are even; and 1 if there are several, but for the
    rounding each odd line with several cells gives 1 back if any of its cells is taken.

    Of *whole* twins the player surely gets both dominoes.  They are the last two cells of two
    lines, and take 2 moves, whatever else is taken there.  Of the other twins only the outer domino
    is counted, which is not more than both take.

    The dominoes that the player gets may be the lightest ones, and so may the options, of which
    the other gets *given*.
    """
    across, step = not vertical, step_of(position, vertical)
    seconds = following(position, most, across)
    odd = others & ~(most | seconds)
    cells = (covered(position, single | outer, vertical) & others) | options
    after = following(position, cells, across) & others
    several = cells & line_from(position, after, others, across)
    several = line_from(position, several, others, across) | line_to(
        position, several, others, across
    )
    two = cells & ~several & (seconds | ~line_to(position, odd, others, across))
    one = cells & several
    lower_two, lower_one = two >> step, one >> step
    # Dominoes that take at least 1, 2, 3 and 4 half moves.
    weigh_1 = two | one | lower_two | lower_one
    weigh_2 = two | lower_two | (one & lower_one)
    weigh_3 = (two & (lower_two | lower_one)) | (lower_two & one)
    weigh_4 = two & lower_two
    outer_1 = 2 * max(popcount(outer & weigh_1) - whole, 0)
    outer_2 = 2 * max(popcount(outer & weigh_2) - whole, 0)
    # The count may include all lighter dominoes; the others weigh at least as much.
    heavy = count - popcount(single) - 2 * popcount(outer)
    halves = (
        max(heavy + popcount(single & weigh_1) + outer_1, 0)
        + max(heavy + popcount(single & weigh_2) + outer_2, 0)
        + max(heavy + popcount(single & weigh_3), 0)
        + max(heavy + popcount(single & weigh_4), 0)
        + max(popcount(options & (two | one)) - given, 0)
        + max(popcount(options & two) - given, 0)
    )
    return (4 * whole + max(halves - popcount(odd & several), 0) + 1) // 2


@compiled
def plies_left(position):
    """Return the most plies left: moves alternate, so neither player can run far ahead."""
    free = board(position, 0)
    mine = most_moves(position, free, position.vertical)
    theirs = most_moves(position, free, not position.vertical)
    return min(2 * mine, 2 * theirs + 1, popcount(free) // 2)


@compiled
def evaluate(position):
    """Return twice the places of the mover minus the other's, plus 1 for the turn."""
    free, vertical = board(position, 0), position.vertical
    mine, theirs = places(position, free, vertical), places(position, free, not vertical)
    return 2 * (popcount(mine) - popcount(theirs)) + 1


@compiled
def room_of(position, free, vertical):
    """Return how much room a player has: the dominoes that fit, plus the safe ones once more."""
    theirs = places(position, free, not vertical)
    others = covered(position, theirs, not vertical)
    safe = safe_dominoes(position, free, others, vertical)
    return most_moves(position, free, vertical) + popcount(safe)


@compiled
def order(position, move, child):
    """Leave the other little room and keep much; then order by :func:`preferences`."""
    free = board(child, 0)
    gained = room_of(position, free, position.vertical) - room_of(position, free, child.vertical)
    preferred = position.PREFERRED[2 * move + (1 if position.vertical else 0)]
    return MOST_PREFERRED * gained + preferred


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
    """Return the smallest key of all mirror images, ignoring cells that nobody can cover."""
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
    """Mirror a move top-bottom (1), left-right (2), or both (3)."""
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
        raise PositionError(f"{quoted(beginner)} is not a player; write vertical or horizontal")
    return (*board_size(size, example="8x8"), beginner != "horizontal")


def preferences(width: int, height: int) -> np.ndarray[Any, Any]:
    """Return what places are worth on an empty board: to Horizontal and to Vertical in each cell.

    The best dominoes lie in the second line from the edge, where they make the edge cells next to
    them safe; then come those that leave an even number of cells to the nearer end of the line, and
    those near the edge (after N. Bullock, 2002).
    """
    found = np.zeros((width * height, 2), np.int64)
    for vertical, (lines, length) in enumerate(((height, width), (width, height))):
        ranks = {}
        for line in range(lines):
            for place in range(length - 1):
                far, end = min(line, lines - 1 - line), min(place, length - 2 - place)
                group = (far % 2 == 0, end % 2) if far else (2, 0)
                cell = place * width + line if vertical else line * width + place
                ranks[cell] = (group, far, end)
        order = sorted(set(ranks.values()), reverse=True)
        for cell, rank in ranks.items():
            found[cell, vertical] = order.index(rank)
    return found.ravel()


VARIANTS = "8x8", "6x6", "5x4", "8x8,horizontal"


@variants(
    cells,
    usual="8x8",
    read=variant_of,
    about="columns and rows, and who begins: 6x6 or 5x4,horizontal",
)
def dominoes(width: int, height: int, vertical: bool) -> dict[str, Any]:
    """Return the constants of a board; :class:`PositionError` if no board has that size."""
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
        "DOUBLINGS": (max(width, height) - 1).bit_length(),
        "PREFERRED": preferences(width, height),
        "BEGINS": vertical,
        "VARIANT": f"{width}x{height}" + "" * vertical + ",horizontal" * (not vertical),
        "CELLS": Grid(
            height,
            width,
            contents={".": "free", "#": "covered"},
            glyphs={".": "·", "#": "■"},
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
    """Return the empty board of a variant."""
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
        raise PositionError(f"{text}: one of the two cells is covered already")
    return move


def move_text(position: Any, move: int) -> str:
    def name(cell: int) -> str:
        return f"{COLUMNS[cell % position.WIDTH]}{position.HEIGHT - cell // position.WIDTH}"

    return name(move) + name(move + (position.WIDTH if position.vertical else 1))


def from_cells(contents: list[int], mover: str, start: Any) -> Any:
    free = sum(1 << number for number, content in enumerate(contents) if content == 0)
    return remade(start, free, mover == "vertical")
