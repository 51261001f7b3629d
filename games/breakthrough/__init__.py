"""Breakthrough on boards of 2x4 to 8x8 cells.

Rules: each player begins with two full rows of stones, the first player at the bottom.  A
stone steps one row forward: straight or diagonally to an empty cell, or diagonally onto
an opposing stone, which is captured.  Whoever first has a stone on the last row wins, as does
a player who captures all stones.  There is always a move and never a draw.

Values: 1 a win, -1 a loss.

Text: moves such as ``a2a3 b7b6 a3xb4`` (columns from ``a`` at the left, rows from 1 at the
bottom; the ``x`` of a capture may be omitted, and so may the blanks), or a board, rows
from the top, separated by line ends or ``/``, ``x`` the first player, ``o`` the second,
``.`` empty, and then who is to move: ``ooo/ooo/.../xxx/xxx x``.  Any board may be set up
on which no player has more stones than at the beginning.

Encoding: one bit for each cell, eight bits for each row, of which narrower boards leave
the right ones empty.  The board is always seen by the mover, whose stones move up, so all
rules are written once.  On the usual board of 8 columns and 8 rows::

    56 57 58 59 60 61 62 63      the mover wins here
    48 49 50 51 52 53 54 55
    40 41 42 43 44 45 46 47
    32 33 34 35 36 37 38 39
    24 25 26 27 28 29 30 31
    16 17 18 19 20 21 22 23
     8  9 10 11 12 13 14 15
     0  1  2  3  4  5  6  7      the opponent wins here

so steps are +7, +8 and +9, and after a move the rows change places.  The number of a move is
four times the cell where it begins, plus 0 for a step to the left, 1 straight, 2 to the right.
"""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple

import numpy as np

from cutnode import (
    NO_MOVE,
    Bits,
    PositionError,
    compiled,
    count_moves,
    lowest,
    lowest_index,
    popcount,
    quoted,
    without_lowest,
)
from cutnode.contract.bits import bytes_reversed, high_product, mix, nth_index, product
from cutnode.contract.cells import STONES, Grid
from cutnode.contract.variants import board_size, variants
from cutnode.games.breakthrough.fights import NEVER, ROWS, TERNARY, WIDEST, fights

DECISIVE = True
UNIT = 100

LEFT, STRAIGHT, RIGHT = range(3)
COLUMNS = "abcdefgh"


class Stones(NamedTuple):
    """A position: the stones of the mover, who moves up, and of the opponent."""

    mine: Bits
    theirs: Bits
    second: bool
    """Whether the second player is to move; matters for texts only."""


@compiled
def cell(position, index):
    """Return 0 for an empty cell, 1 for a stone of the first player, 2 for one of the second."""
    row, column = position.HEIGHT - 1 - index // position.WIDTH, index % position.WIDTH
    if position.second:
        row = position.HEIGHT - 1 - row
    stone = Bits(1) << Bits(8 * row + column)
    if position.mine & stone:
        return 2 if position.second else 1
    if position.theirs & stone:
        return 1 if position.second else 2
    return 0


# Steps of stones that move up, and down


@compiled
def diagonal(position, stones):
    """Return the cells diagonally in front of stones that move up: the cells they attack."""
    left = (stones << Bits(7)) & position.LEFT_ENDS
    return left | ((stones << Bits(9)) & position.RIGHT_ENDS)


@compiled
def diagonal_down(position, stones):
    left = (stones >> Bits(9)) & position.LEFT_ENDS
    return left | ((stones >> Bits(7)) & position.RIGHT_ENDS)


@compiled
def flip(position, stones):
    """Return the stones as the other player sees them, with the rows in reverse order."""
    return bytes_reversed(stones) >> position.UNUSED


@compiled
def moves(position, buffer, at):
    """Write steps to the left, then straight, then to the right, each from the lowest row up."""
    return moves_to(position, position.BOARD, buffer, at)


@compiled
def moves_to(position, cells, buffer, at):
    """Write the moves that end on some *cells*."""
    mine = position.mine
    cells = cells & ~mine
    at = write((mine << Bits(7)) & cells & position.LEFT_ENDS, LEFT, buffer, at)
    at = write((mine << Bits(8)) & cells & ~position.theirs, STRAIGHT, buffer, at)
    return write((mine << Bits(9)) & cells & position.RIGHT_ENDS, RIGHT, buffer, at)


@compiled
def write(ends, direction, buffer, at):
    while ends:
        buffer[at] = 4 * (lowest_index(ends) - 7 - direction) + direction
        ends = without_lowest(ends)
        at += 1
    return at


@compiled
def random_move(position, word):
    """Draw a number and count it through the three kinds of steps, in the order of moves."""
    mine, cells = position.mine, position.BOARD & ~position.mine
    left = (mine << Bits(7)) & cells & position.LEFT_ENDS
    straight = (mine << Bits(8)) & cells & ~position.theirs
    right = (mine << Bits(9)) & cells & position.RIGHT_ENDS
    lefts, straights = popcount(left), popcount(straight)
    steps = lefts + straights
    number = int(high_product(word, Bits(steps + popcount(right))))
    # No branches: nobody could predict them.
    is_left, is_right = number < lefts, number >= steps
    ends = left if is_left else right if is_right else straight
    before = 0 if is_left else steps if is_right else lefts
    direction = LEFT if is_left else RIGHT if is_right else STRAIGHT
    return 4 * (nth_index(ends, number - before) - 7 - direction) + direction


@compiled
def end_of(move):
    """Return the cell on which a move ends, as a bit."""
    return Bits(1) << Bits((move >> 2) + 7 + (move & 3))


@compiled
def play(position, move):
    end = end_of(move)
    mine = position.mine ^ (Bits(1) << Bits(move >> 2)) ^ end
    theirs = position.theirs & ~end
    return position._replace(
        mine=flip(position, theirs), theirs=flip(position, mine), second=not position.second
    )


@compiled
def outcome(position):
    if position.theirs & position.FIRST_ROW or position.mine == Bits(0):
        return True, -1
    return False, 0


@compiled
def key(position):
    """Return a key whose highest bit tells the second player's positions from the first's."""
    return word_of(position, position.mine, position.theirs) ^ (Bits(position.second) << Bits(63))


@compiled
def word_of(position, mine, theirs):
    """Pack the stones on boards that are narrow enough, else hash them."""
    if position.NARROW:
        return mine | (theirs << Bits(4))
    return mix(mine) ^ theirs


# Results known without search


@compiled
def bounds(position, alpha, beta):
    """Decide finished games, double threats to win at once, races, and fights for the last rows."""
    if outcome(position)[0]:
        return -1, -1
    mine, theirs = position.mine, position.theirs
    row = lowest_index(theirs) >> 3
    # Races of two steps are fights.
    if row > position.SHORTEST_RACE and breaks_through(position, mine, mine, theirs, row):
        return 1, 1
    attack = fight(position, mine, theirs)
    mine, theirs = flip(position, theirs), flip(position, mine)
    defence = fight(position, mine, theirs)
    if attack & 7 <= turns_to_spend(position, defence, position.theirs, row):
        return 1, 1
    if popcount(position.theirs & position.SECOND_ROW) > 1:
        return -1, -1
    attacked = diagonal_down(position, theirs)
    reached = theirs | attacked | (theirs >> Bits(8))
    row = lowest_index(theirs) >> 3
    if row > position.SHORTEST_RACE + 1 and breaks_through(
        position, mine & ~attacked, mine, reached, row - 1
    ):
        return -1, -1
    if (defence >> 3) & 7 <= turns_to_spend(position, attack, theirs, row):
        return -1, -1
    return -1, 1


@compiled
def fight(position, mine, theirs):
    """Return the results for the last three rows, of which *mine* attack the last one."""
    if not position.HAS_FIGHTS:
        return NEVER | NEVER << 3
    third = Bits(8 * (position.HEIGHT - 3))
    mine, theirs = mine >> third, theirs >> third
    number = content(mine, theirs) * position.POWER + content(mine >> Bits(8), theirs >> Bits(8))
    return position.FIGHTS[(number << position.WIDTH) + int(theirs >> Bits(16))]


@compiled
def content(mine, theirs):
    """Return the digits of the lowest row: 1 for a stone of *theirs*, 2 for one of *mine*."""
    return TERNARY[theirs & Bits(31)] + 2 * TERNARY[mine & Bits(31)]


@compiled
def turns_to_spend(position, answers, attackers, row):
    """Return the turns that the defender of a fight can spend elsewhere, the attacker to move.

    *attackers* are seen by the defender, and so is the lowest *row* on which one stands.
    """
    turns = row - 1
    if position.HAS_TWO_FIGHTS:
        join = 3 if attackers >> Bits(24) else 0
        turns = max(turns, (answers >> 6 + join) & 7)
    return turns


@compiled
def breaks_through(position, runners, mine, theirs, turns):
    """Return whether a runner, moving first, surely reaches the last row within *turns* turns.

    The opponent gets more than he can have: in each of his turns all his stones make all
    their steps, and stay as well, so *theirs* are all cells that he may have reached.  A
    runner steps only where none of them can take it.  The others of *mine* stay and are
    in its way; losing one only helps.  (Race patterns, A. Saffidine et al.,
    "Solving Breakthrough with race patterns and job-level proof number search", 2011, in a
    more general form.)
    """
    for _ in range(turns):
        ends = ((runners << Bits(8)) & ~theirs) | diagonal(position, runners)
        if ends & position.LAST_ROW & ~mine:
            return True
        attacked = diagonal_down(position, theirs)
        runners = ends & position.BOARD & ~mine & ~attacked
        if runners == Bits(0):
            return False
        theirs |= attacked | (theirs >> Bits(8))
    return False


@compiled
def takers(position):
    """Return the mover's stones that can take one that threatens to win with its next step."""
    return diagonal_down(position, position.theirs & position.SECOND_ROW) & position.mine


@compiled
def forced(position):
    stones = takers(position)
    if stones == Bits(0) or stones != lowest(stones):
        return NO_MOVE
    threat = position.theirs & position.SECOND_ROW
    return 4 * lowest_index(stones) + (LEFT if stones << Bits(7) == threat else RIGHT)


@compiled
def candidates(position, buffer, at):
    """Write the captures of the one stone (at most) that threatens to win, or all moves."""
    threat = position.theirs & position.SECOND_ROW
    return moves_to(position, threat if threat else position.BOARD, buffer, at)


@compiled
def plies_left(position):
    """Return a bound on the plies left: all moves are steps, and the last must win.

    A player who has no other step left must step on the last row.
    """
    mine = steps_left(position, position.mine)
    theirs = steps_left(position, flip(position, position.theirs))
    return min(2 * mine + 1, 2 * theirs + 2)


@compiled
def steps_left(position, stones):
    """Return the most steps that stones that move up can make without reaching the last row."""
    rows_below = 0
    for power in range(3):
        rows_below += popcount(stones & position.ROW_NUMBERS[power]) << power
    return popcount(stones) * (position.HEIGHT - 2) - rows_below


@compiled
def order(position, move, child):
    """Order captures first, of far advanced stones, then steps guarded and not attacked."""
    # A single cell is looked up: the sets of all guarded or attacked cells cost more.
    end = Bits((move >> 2) + 7 + (move & 3))
    mine, theirs = position.mine, position.theirs
    from_left = (mine << Bits(9) & position.RIGHT_ENDS) >> end & Bits(1)
    from_right = (mine << Bits(7) & position.LEFT_ENDS) >> end & Bits(1)
    by_left = (theirs >> Bits(7) & position.RIGHT_ENDS) >> end & Bits(1)
    by_right = (theirs >> Bits(9) & position.LEFT_ENDS) >> end & Bits(1)
    # A stone that steps diagonally used to guard the cell itself.
    guards = int(from_left) + int(from_right) - (move & 3 != STRAIGHT)
    score = 80 * (guards - int(by_left) - int(by_right))
    if theirs & end_of(move):
        score += 40 * (position.HEIGHT + 4 - (move >> 5))
    return score


# Heuristics for searches that stop before the end of the game


@compiled
def evaluate(position):
    """Score stones, their advance, and pairs side by side, own minus theirs."""
    theirs = flip(position, position.theirs)
    return strength(position, position.mine) - strength(position, theirs)


def row_weights(first: int) -> Bits:
    """Return the weights of stones in every second row, for :func:`strength`."""
    return Bits(sum((100 + 2 * row * row) << 48 - 8 * (row - first) for row in range(first, 8, 2)))


EVEN_ROWS, ODD_ROWS = row_weights(0), row_weights(1)


@compiled
def strength(position, stones):
    """Return the worth of stones that move up, with weights that won matches 4 plies deep."""
    pairs = stones & ((stones & position.LEFT_ENDS) << Bits(1))
    # Count the stones of each row in its byte; then take every second row in 16 bits each, so that
    # a product leaves the weighted sum in the highest 16.
    rows = stones - (stones >> Bits(1) & Bits(0x5555555555555555))
    rows = (rows & Bits(0x3333333333333333)) + (rows >> Bits(2) & Bits(0x3333333333333333))
    rows = (rows + (rows >> Bits(4))) & Bits(0x0F0F0F0F0F0F0F0F)
    even = product(rows & Bits(0x00FF00FF00FF00FF), EVEN_ROWS)
    odd = product(rows >> Bits(8) & Bits(0x00FF00FF00FF00FF), ODD_ROWS)
    return 10 * popcount(pairs) + int(even >> Bits(48)) + int(odd >> Bits(48))


@compiled
def evaluate_material(position):
    return 100 * (popcount(position.mine) - popcount(position.theirs))


@compiled
def noisy(position, buffer, at):
    """Write captures, and steps that win or threaten to win with the next one."""
    return moves_to(position, position.theirs | position.LAST_ROWS, buffer, at)


@compiled
def extension(position, move, child):
    """Extend by one for a threat to win with the next step: there is little choice then."""
    return 1 if end_of(move) & position.LAST_ROWS else 0


@compiled
def skip(position):
    """Allow a null move unless stones are few or the opponent threatens to win at once.

    Of 2900 solved positions without such a threat in which a pass would win (random play on
    boards of 4x5 to 6x5), there were three in which no move wins.
    """
    few = popcount(position.mine) < position.WIDTH
    return not few and position.theirs & position.SECOND_ROW == Bits(0), passed(position)


@compiled
def passed(position):
    """Return the same board with the other to move."""
    mine, theirs = flip(position, position.theirs), flip(position, position.mine)
    return position._replace(mine=mine, theirs=theirs, second=not position.second)


@compiled
def features(position):
    """Return moves, stones, cells attacked, and opposing stones attacked."""
    other = passed(position)
    mine, theirs = diagonal(position, position.mine), diagonal(position, other.mine)
    return (
        *(count_moves(position), count_moves(other)),
        *(0, 0),
        *(popcount(position.mine), popcount(other.mine)),
        *(popcount(mine), popcount(theirs)),
        *(0, 0),
        *(popcount(mine & position.theirs), popcount(theirs & other.theirs)),
    )


# Equivalent positions


@compiled
def mirror(position, stones):
    """Mirror the stones left-right: reverse the bits of each row."""
    odd = Bits(0x5555555555555555)
    stones = ((stones >> Bits(1)) & odd) | ((stones & odd) << Bits(1))
    odd = Bits(0x3333333333333333)
    stones = ((stones >> Bits(2)) & odd) | ((stones & odd) << Bits(2))
    odd = Bits(0x0F0F0F0F0F0F0F0F)
    stones = ((stones >> Bits(4)) & odd) | ((stones & odd) << Bits(4))
    return stones >> Bits(8 - position.WIDTH)


@compiled
def canonical(position):
    """Return the smaller key of a position and its mirror image, the same for both players."""
    word = word_of(position, position.mine, position.theirs)
    mine, theirs = mirror(position, position.mine), mirror(position, position.theirs)
    image = word_of(position, mine, theirs)
    return (image, 1) if image < word else (word, 0)


@compiled
def canonical_move(position, move, symmetry):
    if symmetry == 0:
        return move
    cell, direction = move >> 2, move & 3
    column = position.WIDTH - 1 - (cell & 7)
    return 4 * ((cell & ~7) + column) + RIGHT - direction


@compiled
def original_move(position, move, symmetry):
    return canonical_move(position, move, symmetry)


# Boards of all sizes

VARIANTS = "8x8", "6x6", "5x6", "5x5"


@variants(
    Stones,
    usual="8x8",
    read=functools.partial(board_size, example="6x6"),
    about="columns and rows of the board, 2x4 to 8x8: 6x6",
)
def board(width: int, height: int) -> dict[str, Any]:
    """Return the constants of a board; :class:`PositionError` if no board has that size."""
    if not (2 <= width <= 8 and 4 <= height <= 8):
        raise PositionError(
            f"there is no board of {width}x{height}: a board has 2 to 8 columns "
            f"and 4 to 8 rows, as in 8x8 or 5x6"
        )
    row = (1 << width) - 1
    column = sum(1 << 8 * number for number in range(height))
    numbers = range(height)
    return {
        "WIDTH": width,
        "HEIGHT": height,
        "NARROW": width <= 4 and height < 8,
        "FIGHTS": fights(width) if width <= WIDEST else np.zeros(1, np.int16),
        "HAS_FIGHTS": width <= WIDEST,
        "SHORTEST_RACE": ROWS - 1 if width <= WIDEST else 0,
        "HAS_TWO_FIGHTS": width <= WIDEST and height >= 2 * ROWS,
        "POWER": 3**width,
        "UNUSED": Bits(8 * (8 - height)),
        "BOARD": Bits(row * column),
        "LEFT_ENDS": Bits((row >> 1) * column),
        "RIGHT_ENDS": Bits((row - 1) * column),
        "FIRST_ROW": Bits(row),
        "SECOND_ROW": Bits(row << 8),
        "LAST_ROW": Bits(row << 8 * (height - 1)),
        "LAST_ROWS": Bits((row | row << 8) << 8 * (height - 2)),
        "ROW_NUMBERS": tuple(
            Bits(sum(row << 8 * n for n in numbers if n >> power & 1)) for power in range(3)
        ),
        "VARIANT": f"{width}x{height}",
        "CELLS": Grid(
            height,
            width,
            glyphs=STONES,
            players={"x": "first player (x)", "o": "second player (o)"},
            row_names="87654321"[8 - height :],
            column_names=COLUMNS[:width],
        ),
        "MAX_MOVES": 6 * width,
        "MAX_PLIES": 2 * width * (2 * height - 5) + 1,
    }


Position = board(8, 8)


# Text

MOVE_PATTERN = r"[a-hA-H][1-8][xX]?[a-hA-H][1-8]|[^\s,]+"


def start(variant: str = "") -> Stones:
    """Return two full rows each on a board of a size such as ``6x6``; the usual one is 8x8."""
    cls = board.of(variant)
    home = cls.FIRST_ROW | cls.SECOND_ROW
    return cls(Bits(home), Bits(home << 8 * (cls.HEIGHT - 2)), False)


def mover(position: Stones) -> str:
    return "xo"[position.second]


def parse_move(position: Stones, text: str) -> int:
    """Read a move such as ``a2a3`` or ``a2xb3``; an ``x`` requires a capture."""
    match = re.fullmatch("([a-h])([1-8])(x?)([a-h])([1-8])", text.lower())
    if not match:
        raise PositionError(f"{quoted(text)} is not a move; moves are written as in a2a3")
    left, low, takes, right, high = match.groups()
    for cell in (left + low, right + high):
        if COLUMNS.index(cell[0]) >= position.WIDTH or int(cell[1]) > position.HEIGHT:
            last = f"{COLUMNS[position.WIDTH - 1]}{position.HEIGHT}"
            raise PositionError(f"{text}: {cell} is not on the board, whose cells are a1..{last}")
    if outcome(position)[0]:
        raise PositionError(f"{text} is played after the game is over")
    down = position.second
    begin, end = (
        8 * (position.HEIGHT - int(row) if down else int(row) - 1) + COLUMNS.index(column)
        for column, row in ((left, low), (right, high))
    )
    if not position.mine >> begin & 1:
        raise PositionError(f"{text}: there is no {mover(position)} on {left}{low}")
    direction = end - begin - 7
    if direction not in (LEFT, STRAIGHT, RIGHT) or (end >> 3) - (begin >> 3) != 1:
        way = "down" if down else "up"
        raise PositionError(
            f"{text}: {mover(position)} steps one row {way}, straight or diagonally"
        )
    if position.mine >> end & 1:
        raise PositionError(f"{text}: the mover has a stone on {right}{high}")
    if position.theirs >> end & 1:
        if direction == STRAIGHT:
            raise PositionError(f"{text}: {right}{high} is taken, and captures are diagonal")
    elif takes:
        raise PositionError(f"{text}: there is nothing to capture on {right}{high}")
    return 4 * begin + direction


def move_text(position: Stones, move: int) -> str:
    def name(cell: int) -> str:
        row = position.HEIGHT - (cell >> 3) if position.second else (cell >> 3) + 1
        return f"{COLUMNS[cell & 7]}{row}"

    end = lowest_index(end_of(move))
    return f"{name(move >> 2)}{'x' * (position.theirs >> end & 1)}{name(end)}"


def from_cells(contents: list[int], mover: str, start: Stones) -> Stones:
    width, first_row = start.WIDTH, start.HEIGHT - 1
    x, o = (
        Bits(
            sum(
                1 << 8 * (first_row - n // width) + n % width
                for n, content in enumerate(contents)
                if content == player
            )
        )
        for player in (1, 2)
    )
    for side, stones in (("x", x), ("o", o)):
        if popcount(stones) > 2 * width:
            raise PositionError(
                f"{popcount(stones)} {side}: a player has {2 * width} stones at the beginning"
            )
    second = mover == "o"
    mine, theirs = (flip(start, o), flip(start, x)) if second else (x, o)
    waiting = "x" if second else "o"
    if mine & start.LAST_ROW:
        raise PositionError(f"{mover} is to move but has a stone on the last row already")
    if not theirs:
        raise PositionError(f"{mover} is to move but {waiting} has no stones left")
    if popcount(theirs & start.FIRST_ROW) > 1:
        raise PositionError(f"{waiting} has two stones on the last row: the first of them won")
    return type(start)(Bits(mine), Bits(theirs), second)
