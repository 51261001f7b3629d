"""Connect Four on any board whose bitboard fits 64 bits.

Rules: players drop stones of their colour into columns; the first to have four of them
in an unbroken horizontal, vertical or diagonal line wins; a full board is a draw.

Values: 0 a draw; a win counts one point for each own stone that the winner has not
played when the line is made, that one included, so a win with the last stone counts 1
and faster wins count more.  (The convention of P. Pons' solver and its test sets.)

Text: the columns played, 1 the leftmost (``4455``, ``4 4 5 5``), or a board, rows from the
top, separated by line ends or ``/``, ``x`` the first player, ``o`` the second, ``.`` empty.

Encoding: one bit for each cell, columns side by side, each with a spare bit on top that
never holds a stone.  On the usual board of 7 columns and 6 rows::

     6 13 20 27 34 41 48      spare
     5 12 19 26 33 40 47      top row
     4 11 18 25 32 39 46
     3 10 17 24 31 38 45
     2  9 16 23 30 37 44
     1  8 15 22 29 36 43
     0  7 14 21 28 35 42      bottom row

so a step up is +1, to the right +7, and along the diagonals +8 and +6, and a line never
runs from the top of one column into the next.  Adding ``BOTTOM`` to the filled cells carries
through each column and leaves a bit in the lowest empty cell: after ``4 4 5`` the filled
cells are bits 21, 22 and 28, and the sum has bits 0, 7, 14, 23, 29, 35 and 42.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

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
from cutnode.contract.bits import WORD, high_product, product, random_index
from cutnode.contract.cells import STONES, Grid
from cutnode.contract.simd import Words, broadcast, union, words_of
from cutnode.contract.variants import board_size, variants

DECISIVE = True

PROFILE = {"solver.crowding": 16, "solver.proof_share": 0.5}
"""Crowding keeps the table in the cache for longer.  Processor time with 8, 16, 32 and 64, relative
to regions half full, on a machine with much other work: 0.80, 0.74, 0.72 and 0.71 for ``44``, with
1.02, 1.04, 1.06 and 1.10 times the nodes; 0.91, 0.90, 0.90 and 0.91 for twenty positions of 12
plies; and 0.82 with 16 for the empty board.  The proof in half of the time is worth 42 Elo at 0.1 s
a move (14 to 70, 280 games)."""

LINES_PLIES = 21
"""With at most this many plies left, counting lines costs more than its move ordering saves."""

SIDEWAYS = Words(0, WORD, WORD, WORD)
"""All directions but straight up, in the order of ``STEPS``."""


class Stones(NamedTuple):
    """A position: the stones of both players, and the cells where each would complete a line.

    ``their_wins & theirs`` is not empty once the player who moved last has won.
    """

    mine: Bits = Bits(0)
    theirs: Bits = Bits(0)
    my_wins: Bits = Bits(0)
    their_wins: Bits = Bits(0)


@compiled
def cell(position, index):
    """Return 0 for an empty cell, 1 for a stone of the first player, 2 for one of the second."""
    row, column = position.HEIGHT - 1 - index // position.WIDTH, index % position.WIDTH
    stone = Bits(1) << Bits(column * position.STRIDE + row)
    if not (position.mine | position.theirs) & stone:
        return 0
    stones = popcount(position.mine | position.theirs)
    return 1 + (stones + (position.theirs & stone == stone)) % 2


@compiled
def winning_cells(position, stones):
    """Return the cells, free or not, that make a line of four with three of the *stones*."""
    each = broadcast(stones)
    before, after = each << position.STEPS, (each >> position.STEPS) & SIDEWAYS
    two_before = before & (each << position.TWO_STEPS)
    two_after = after & (each >> position.TWO_STEPS)
    cells = two_before & ((each << position.THREE_STEPS) | after)
    cells |= two_after & ((each >> position.THREE_STEPS) | before)
    return union(cells) & position.BOARD


@compiled
def playable(position):
    """Return the lowest free cell of each column that is not full."""
    return ((position.mine | position.theirs) + position.BOTTOM) & position.BOARD


@compiled
def moves(position, buffer, at):
    free = playable(position)
    for column in range(position.WIDTH):
        if free & (position.COLUMN << Bits(column * position.STRIDE)):
            buffer[at] = column
            at += 1
    return at


@compiled
def random_move(position, word):
    """Draw a column, and again from those that are left if it is full.

    The column is drawn without looking at the position: few are full in most of a game.
    """
    free = playable(position)
    column = high_product(word, Bits(position.WIDTH))
    if free & (position.COLUMN << Bits(column * position.STRIDE)):
        return column
    return Bits(random_index(free, product(word, Bits(position.WIDTH))) // position.STRIDE)


@compiled
def play(position, move):
    column = position.COLUMN << Bits(move * position.STRIDE)
    mine = position.mine | (playable(position) & column)
    return position._replace(
        mine=position.theirs,
        theirs=mine,
        my_wins=position.their_wins,
        their_wins=winning_cells(position, mine),
    )


@compiled
def outcome(position):
    stones = popcount(position.mine | position.theirs)
    if position.their_wins & position.theirs:
        return True, -((position.AREA - stones + 2) // 2)
    return stones == position.AREA, 0


@compiled
def key(position):
    """Return each column's own stones under a bit that marks its height; no two are the same."""
    return position.mine | ((position.mine | position.theirs) + position.BOTTOM)


# Results known without search


@compiled
def line_starts(position, stones):
    """Return the first cell of each line of four that the *stones* contain, by direction."""
    pairs = broadcast(stones)
    pairs &= pairs >> position.STEPS
    return pairs & (pairs >> position.TWO_STEPS)


@compiled
def count(cells):
    """Count the cells of all directions together."""
    first, second, third, fourth = words_of(cells)
    return popcount(first) + popcount(second) + popcount(third) + popcount(fourth)


@compiled
def has_line(position, stones):
    return union(line_starts(position, stones)) != Bits(0)


@compiled
def bounds(position, alpha, beta):
    filled = position.mine | position.theirs
    stones = popcount(filled)
    left = position.AREA - stones
    if position.their_wins & position.theirs:
        value = -((left + 2) // 2)
        return value, value
    if left == 0:
        return 0, 0

    free = (filled + position.BOTTOM) & position.BOARD
    if position.my_wins & free:
        value = (left + 1) // 2
        return value, value

    threats = position.their_wins & ~filled
    urgent = threats & free
    safe = free & ~(threats >> Bits(1))
    if safe == Bits(0) or (urgent and (urgent != lowest(urgent) or not urgent & safe)):
        value = -(left // 2)
        return value, value

    # Neither player wins with his next stone: later wins are worth less.
    lower = -(max(left - 2, 0) // 2)
    upper = (left - 1) // 2
    empty = position.BOARD & ~filled
    if lower < 0 and alpha < 0 and not has_line(position, position.theirs | empty):
        lower = 0
    if upper > 0 and beta > 0 and not has_line(position, position.mine | empty):
        upper = 0
    if left % 2 == 0:
        upper = min(upper, follow_up_bound(position, filled, free, upper))
    else:
        upper = min(upper, zugzwang_bound(position, filled, free, upper))
    return lower, upper


@compiled
def under(position, cells):
    """Return the cells of each column below its lowest of *cells*; the whole column without any."""
    return ((cells | position.SPARE) - position.BOTTOM) & ~cells & position.BOARD


@compiled
def follow_up_bound(position, filled, free, upper):
    """Return the most the mover can reach if the opponent answers each move in the same column.

    ``REPLIES`` are the cells with an even number of cells above them.  With an even number of
    empty cells left, the opponent can get every one of them that is not free right now: he replies
    above any other cell, and to a free reply cell (the lowest of an odd number left in its column)
    with another such cell, of which there is an even number.  The mover gets at most the rest.
    If the rest holds no line, the mover cannot win; if, in addition, the opponent's cells hold one,
    the mover loses, at the latest when the highest empty cell of that line is filled last.  (The
    "claimeven" rule of V. Allis, "A knowledge-based approach of Connect-Four", 1988, for any
    height.)
    """
    replies = position.REPLIES & ~filled & ~free
    theirs = position.theirs | replies
    rest = position.BOARD & ~theirs & under(position, position.their_wins & replies)
    # A line of the mover does no harm if one of the opponent's lies right below it in the same four
    # columns: that one is complete first.
    their_lines = line_starts(position, theirs) & SIDEWAYS
    below = ((their_lines | position.SPARES) - position.BOTTOMS) & ~their_lines
    if union(line_starts(position, rest) & below):
        return upper
    if not union(their_lines):
        return 0
    for row in range(2 - position.HEIGHT % 2, position.HEIGHT, 2):
        up_to_row = position.BOTTOM * ((Bits(1) << Bits(row)) - Bits(1))
        if has_line(position, position.theirs | (replies & up_to_row)):
            return -((position.HEIGHT - row + 2) // 2)
    return -1


@compiled
def zugzwang_bound(position, filled, free, upper):
    """Return the most the mover can reach if the opponent waits for the cell below a threat.

    With an odd number of empty cells left, an odd number of columns have an odd number of them.
    Let the opponent threaten a cell in one of these that is not in ``REPLIES``.  He answers a move
    there, and any move on a cell not in ``REPLIES``, right above it; and a move on the free reply
    cell of another such column with the next one.  So the mover always moves first, and sooner or
    later must fill the cell below the threat.  If the cells that he can get until then hold no
    line, he loses.
    """
    first = position.BOARD & ~position.REPLIES
    empty = position.BOARD & ~filled
    free_replies = free & position.REPLIES
    threats = position.their_wins & empty & first
    while threats:
        index = lowest_index(threats)
        threat = lowest(threats)
        threats = without_lowest(threats)
        column = index // position.STRIDE
        here = position.COLUMN << Bits(column * position.STRIDE)
        if not free_replies & here:
            continue
        below_threat = position.REPLIES & here & (threat - Bits(1))
        replies = empty & position.REPLIES & ~free & ~here
        elsewhere = (first | free_replies) & ~here
        elsewhere &= under(position, position.their_wins & replies)
        rest = position.mine | (empty & (below_threat | elsewhere))
        if not has_line(position, rest):
            row = index - column * position.STRIDE + 1
            upper = min(upper, -((position.HEIGHT - row + 2) // 2))
    return upper


@compiled
def plies_left(position):
    return position.AREA - popcount(position.mine | position.theirs)


@compiled
def forced(position):
    filled = position.mine | position.theirs
    free = (filled + position.BOTTOM) & position.BOARD
    threats = position.their_wins & ~filled
    urgent = threats & free
    only = urgent if urgent else free & ~(threats >> Bits(1))
    return lowest_index(only) // position.STRIDE if only == lowest(only) else NO_MOVE


@compiled
def candidates(position, buffer, at):
    filled = position.mine | position.theirs
    free = (filled + position.BOTTOM) & position.BOARD
    threats = position.their_wins & ~filled
    urgent = threats & free
    cells = urgent if urgent else free & ~(threats >> Bits(1))
    while cells:
        buffer[at] = lowest_index(cells) // position.STRIDE
        cells = without_lowest(cells)
        at += 1
    return at


@compiled
def order(position, move, child):
    """Order by threats, the sooner they can be used; then by open lines, and the centre.

    A threat right above one of the opponent's is useless.
    """
    filled = child.mine | child.theirs
    free = (filled + position.BOTTOM) & position.BOARD
    useful = child.their_wins & ~filled & ~(position.their_wins << Bits(1))
    soon = popcount(useful & (free << Bits(1)))
    later = popcount(useful & (free << Bits(2)))
    score = 240 * soon + 128 * later + 160 * popcount(useful)
    score += 16 * min(move, position.WIDTH - 1 - move)
    if plies_left(position) > LINES_PLIES:
        score += line_score(position, child)
    return score


@compiled(inline=False)
def line_score(position, child):
    """Score the stone of a move for the open lines of the mover and against the opponent's."""
    stone = child.theirs & ~position.mine
    through = broadcast(stone)
    through |= through >> position.STEPS
    through |= through >> position.TWO_STEPS
    contested = broadcast(position.theirs)
    contested |= contested >> position.STEPS
    contested |= contested >> position.TWO_STEPS
    closed = through & line_starts(position, position.BOARD & ~position.mine)
    score = 4 * count(through & line_starts(position, position.BOARD & ~position.theirs))
    score += 2 * count(closed) + 6 * count(closed & contested)
    return score + lowest_index(stone) % position.STRIDE


# Equivalent positions


@compiled
def mirror(position, word):
    image = Bits(0)
    for column in range(position.WIDTH):
        stripe = (word >> Bits(column * position.STRIDE)) & position.STRIPE
        image |= stripe << Bits((position.WIDTH - 1 - column) * position.STRIDE)
    return image


@compiled
def canonical(position):
    word = key(position)
    image = mirror(position, word)
    return (image, 1) if image < word else (word, 0)


@compiled
def canonical_move(position, move, symmetry):
    return position.WIDTH - 1 - move if symmetry else move


@compiled
def original_move(position, move, symmetry):
    return position.WIDTH - 1 - move if symmetry else move


@compiled
def evaluate(position):
    """Count lines of four without an opposing stone: 1, 10, 100 for 1, 2, 3 own stones."""
    return windows(position, position.mine, position.theirs) - windows(
        position, position.theirs, position.mine
    )


@compiled
def windows(position, own, other):
    lines = line_starts(position, position.BOARD & ~other)
    first = broadcast(own)
    second, third = first >> position.STEPS, first >> position.TWO_STEPS
    fourth = first >> position.THREE_STEPS
    either, both = first | second, first & second
    other_either, other_both = third | fourth, third & fourth
    one = either | other_either
    two = both | other_both | (either & other_either)
    three = (both & other_either) | (either & other_both)
    return count(lines & one) + 9 * count(lines & two) + 90 * count(lines & three)


@compiled
def evaluate_cells(position):
    """Each stone counts the lines of four through its cell, own minus the opponent's."""
    total = 0
    for power, cells in enumerate(position.PLANES):
        total += (popcount(position.mine & cells) - popcount(position.theirs & cells)) << power
    return total


@compiled
def features(position):
    """Return columns safe to play, lines of four still possible, and cells that would win."""
    empty = position.BOARD & ~(position.mine | position.theirs)
    free = playable(position)
    mine, theirs = position.my_wins & empty, position.their_wins & empty
    return (
        *(popcount(free & ~(theirs >> Bits(1))), popcount(free & ~(mine >> Bits(1)))),
        *(0, 0),
        *(0, 0),
        *(
            count(line_starts(position, position.mine | empty)),
            count(line_starts(position, position.theirs | empty)),
        ),
        *(0, 0),
        *(popcount(mine), popcount(theirs)),
    )


# Boards of all sizes

VARIANTS = "7x6", "8x7", "6x5", "5x4"


@variants(
    Stones,
    usual="7x6",
    read=board_size,
    about="columns and rows of the board, which has to fit 64 bits with a row more: 8x7",
)
def board(width: int, height: int) -> dict[str, Any]:
    """Return the constants of a board; :class:`PositionError` if it does not fit 64 bits."""
    if width < 1 or height < 1 or width * (height + 1) > 64:
        raise PositionError(
            f"a board of {width}x{height} does not fit: "
            f"width times (height plus 1) can be at most 64, as in 7x6, 8x7 or 9x6"
        )
    stride = height + 1
    bottom = sum(1 << column * stride for column in range(width))
    column = (1 << height) - 1
    replies = sum(1 << row for row in range((height + 1) % 2, height, 2))
    # No line fits a step longer than 21; on boards with such steps, 21 has no lines either.
    steps = [min(step, 21) for step in (1, stride, stride + 1, stride - 1)]
    constants = {
        "WIDTH": width,
        "HEIGHT": height,
        "AREA": width * height,
        "STRIDE": stride,
        "BOTTOM": Bits(bottom),
        "BOARD": Bits(bottom * column),
        "SPARE": Bits(bottom << height),
        "STEPS": Words(*steps),
        "TWO_STEPS": Words(*(2 * step for step in steps)),
        "THREE_STEPS": Words(*(3 * step for step in steps)),
        "SPARES": broadcast(bottom << height),
        "BOTTOMS": broadcast(bottom),
        "COLUMN": Bits(column),
        "STRIPE": Bits((1 << stride) - 1),
        "REPLIES": Bits(bottom * replies),
        "VARIANT": f"{width}x{height}",
        "CELLS": Grid(
            height,
            width,
            glyphs=STONES,
            column_names=[str(n % 10) for n in range(1, width + 1)],
        ),
        "MOVE_PATTERN": r"[^\s,]" if width < 10 else r"[^\s,]+",
        "MAX_MOVES": width,
        "MAX_PLIES": width * height,
    }
    lines = [0] * 64
    for right, up in ((0, 1), (1, 0), (1, 1), (1, -1)):
        for left in range(width - 3 * right):
            for low in range(max(0, -3 * up), height - 3 * max(0, up)):
                for at in range(4):
                    lines[(left + at * right) * stride + low + at * up] += 1
    constants["PLANES"] = tuple(
        Bits(sum(1 << cell for cell, count in enumerate(lines) if count >> power & 1))
        for power in range(5)
    )
    return constants


Position = board(7, 6)


# Text


def parse_move(position: Stones, text: str) -> int:
    """Read a column, 1 the leftmost."""
    if not re.fullmatch("[0-9]{1,9}", text) or not 1 <= int(text) <= position.WIDTH:
        raise PositionError(f"{quoted(text)} is not a column; columns are 1..{position.WIDTH}")
    if outcome(position)[0]:
        raise PositionError(f"column {text} is played after the game is over")
    move = int(text) - 1
    if not playable(position) & position.COLUMN << move * position.STRIDE:
        raise PositionError(f"column {text} is full")
    return move


def move_text(position: Stones, move: int) -> str:
    return str(move + 1)


def describe(position: Stones, value: int) -> str:
    """Name the winner, and in how many moves he wins."""
    if value == 0:
        return "draw"
    stones = popcount(position.mine | position.theirs)
    winner = stones % 2 if value > 0 else 1 - stones % 2
    name = ("first player (x)", "second player (o)")[winner]
    if outcome(position)[0]:
        return f"{name} has won"
    before = position.AREA - 2 * abs(value)
    before += (before + winner) % 2
    own_moves = (before - stones) // 2 + 1
    return f"{name} wins in {own_moves} move{'s' * (own_moves != 1)}, with stone {before + 1}"


def winning_line(position: Stones) -> set[int]:
    winner = 2 - popcount(position.mine | position.theirs) % 2
    cells = {n for n in range(position.AREA) if cell(position, n) == winner}
    return position.CELLS.runs(cells, 4)


def from_cells(contents: list[int], mover: str, start: Stones) -> Stones:
    mine = theirs = 0
    for column in range(start.WIDTH):
        stones = contents[column :: start.WIDTH][::-1]
        height = next((row for row, stone in enumerate(stones) if not stone), start.HEIGHT)
        if any(stones[height:]):
            row = next(row for row in range(height, start.HEIGHT) if stones[row])
            raise PositionError(
                f"the stone in row {start.HEIGHT - row} from the top, column "
                f"{column + 1} has an empty cell below it"
            )
        for row in range(height):
            cell = 1 << column * start.STRIDE + row
            mine, theirs = mine | cell * (stones[row] == 1), theirs | cell * (stones[row] == 2)
    first, second = popcount(mine), popcount(theirs)
    if first - second not in (0, 1):
        raise PositionError(
            f"{first} x and {second} o: x moves first, so there are as many x as o or one more"
        )
    to_move = "x"
    if first > second:
        to_move, mine, theirs = "o", theirs, mine
    my_wins, their_wins = (winning_cells(start, stones) for stones in (mine, theirs))
    if my_wins & mine:
        both = " and so has the other" if their_wins & theirs else ""
        raise PositionError(
            f"{to_move} is to move but has four in a line already{both}: "
            f"the game ended before the last stone"
        )
    return type(start)(*map(Bits, (mine, theirs, my_wins, their_wins)))
