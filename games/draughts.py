"""English draughts (checkers) on boards of 8x8, 6x6 and 4x4 squares.

Rules: those of the World Checkers Draughts Federation.  Black, with twelve men on the first three
rows, moves first.  A man steps one square diagonally forward, a king in all four directions.
A piece captures an adjacent opposing one by jumping over it to the empty square behind, a man
only forward, and jumps on as long as it can; what it jumps over leaves the board.  Who can capture
must, in any way that he likes.  A man that reaches the last row becomes a king, and the move ends
there.  Who cannot move has lost.  A game is drawn when a position occurs for the third time, and
after forty moves of each player without a capture or a move of a man.

Each way to capture is a move of its own, also if another one takes the same pieces and ends on the
same square (counts of lines with "duplicates kept").

Values: 1 a win, 0 a draw, -1 a loss.

Variants: ``6x6`` with two rows of men each and ``4x4`` with one; ``8x8`` is the usual board.

Text: squares have the usual numbers::

       1   2   3   4        black
     5   6   7   8
       9  10  11  12
    13  14  15  16
      17  18  19  20
    21  22  23  24
      25  26  27  28
    29  30  31  32          white

Moves are written ``11-15`` and ``22x15``, and with all squares where that is ambiguous:
``22x15x8``.  A position is a FEN of portable draughts notation: who is to move, the pieces of
both, ``K`` before a king, and, unless it is 0, the number of moves, of both players together, since
the last capture or move of a man: ``W:W18,K22:B1,K9,12:H7``.

Encoding: a word for the men and one for the kings of each player, *as their owner sees them* from
his own side.  So all rules are written once, a move changes the words of its player, and then the
players only change places.  A bit for each square, and one unused (8, 17, 26) after every second
row, so that a step up to the right is +4 everywhere, to the left +5, down to the right -5, to the
left -4::

         34    33    32    31      a man of the owner's is crowned here
      30    29    28    27
         25    24    23    22
      21    20    19    18         16-19 of white: bit 16 (square 17) and +4 = 20 (square 14)
         16    15    14    13
      12    11    10     9
          7     6     5     4
       3     2     1     0

Bit n of one player is bit 34 - n of the other.  A step is a move of the number four times its
first square plus 0 up to the right, 1 up to the left, 2 down to the right, 3 down to the left.
Captures are numbered from ``CAPTURES`` on: no more than 1436 paths of jumps that take no piece
twice are possible on the board, 108 of men and 1328 of kings (see ``_paths``).
"""

from __future__ import annotations

import bisect
import functools
import itertools
import math
import re
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from engine import (
    Bits,
    PositionError,
    compiled,
    legal_moves,
    lowest,
    lowest_index,
    play_texts,
    popcount,
    quoted,
    without_lowest,
)
from engine.contract.bits import bytes_reversed, mix, product
from engine.contract.cells import Grid
from engine.contract.constants import Constant
from engine.contract.notation import prints_board
from engine.contract.variants import board_size, variants
from engine.contract.verbs import NO_INDEX

DECISIVE = True
VALUE_LIMIT = 1
UNIT = 100
REPETITIONS = 3
MAX_MOVES = 64

UP_RIGHT, UP_LEFT, DOWN_RIGHT, DOWN_LEFT = range(4)
CAPTURES = 4 * 36
"""The number of the first path of jumps; lower ones are steps."""

DRAWN = 80
"""Plies without a capture or a move of a man after which a game is drawn."""
LATE = 16
"""No search is asked to go deeper than ``DRAWN`` less this."""

SCATTER = Bits(0x9E3779B97F4A7C15)
"""An odd number without a pattern: kings times it, plus men, are a hash of both."""

MOST_PIECES = 12
"""Of a player."""

MOST = 6
"""The pieces of positions that have a number."""


@prints_board
class Pieces(NamedTuple):
    """A position: the men and kings of the mover, and of the other, as their owner sees them."""

    men: Bits
    kings: Bits
    their_men: Bits
    their_kings: Bits
    second: bool
    """Whether the second player, white, is to move; only texts depend on it."""
    quiet: int
    """The plies since a capture or a move of a man."""


@compiled
def cell(position, index):
    """0 an empty square, 1 a black man, 2 a black king, 3 a white man, 4 a white king, 5 no square.

    Squares are those where the numbers of the row and the column have an odd sum.
    """
    width = position.WIDTH
    if (index // width + index) & 1 == 0:
        return 5
    square = index >> 1
    black = Bits(1) << Bits(square + square // width)
    white = Bits(1) << Bits(position.LAST - square - square // width)
    mine, theirs = (white, black) if position.second else (black, white)
    if (position.men & mine) | (position.kings & mine):
        return (3 if position.second else 1) + (position.kings & mine != Bits(0))
    if (position.their_men & theirs) | (position.their_kings & theirs):
        return (1 if position.second else 3) + (position.their_kings & theirs != Bits(0))
    return 0


# Steps and captures


@compiled
def turned(position, squares):
    """The squares as the other player sees them: the bits in the opposite order."""
    odd = Bits(0x5555555555555555)
    squares = ((squares >> Bits(1)) & odd) | ((squares & odd) << Bits(1))
    odd = Bits(0x3333333333333333)
    squares = ((squares >> Bits(2)) & odd) | ((squares & odd) << Bits(2))
    odd = Bits(0x0F0F0F0F0F0F0F0F)
    squares = ((squares >> Bits(4)) & odd) | ((squares & odd) << Bits(4))
    return bytes_reversed(squares) >> Bits(63 - position.LAST)


@compiled
def up(position, squares):
    """The squares that can be entered by a step up from some squares."""
    return (squares << position.RIGHT) | (squares << position.LEFT)


@compiled
def down(position, squares):
    return (squares >> position.RIGHT) | (squares >> position.LEFT)


@compiled
def capturers(position, theirs, empty):
    """The mover's pieces that can capture one of *theirs*."""
    right, left = position.RIGHT, position.LEFT
    forward = (((empty >> right) & theirs) >> right) | (((empty >> left) & theirs) >> left)
    backward = (((empty << right) & theirs) << right) | (((empty << left) & theirs) << left)
    return ((position.men | position.kings) & forward) | (position.kings & backward)


@compiled
def opponents(position):
    """All of the other's pieces as the mover sees them."""
    return turned(position, position.their_men | position.their_kings)


@compiled
def empty_squares(position, theirs):
    return position.BOARD & ~(position.men | position.kings | theirs)


@compiled
def can_capture(position):
    theirs = opponents(position)
    return capturers(position, theirs, empty_squares(position, theirs)) != Bits(0)


@compiled
def moves(position, buffer, at):
    """Captures if there are any, else steps: of all pieces up, then of kings down."""
    theirs = opponents(position)
    empty = empty_squares(position, theirs)
    capturing = capturers(position, theirs, empty)
    if capturing:
        return write_captures(position, capturing, empty, buffer, at)
    return write_steps(position, position.men | position.kings, empty, buffer, at)


@compiled
def write_steps(position, pieces, empty, buffer, at):
    """The steps of *pieces* of the mover, down only those of kings."""
    right, left, kings = position.RIGHT, position.LEFT, position.kings & pieces
    at = write((pieces & (empty >> right)), UP_RIGHT, buffer, at)
    at = write((pieces & (empty >> left)), UP_LEFT, buffer, at)
    if kings:
        at = write((kings & (empty << left)), DOWN_RIGHT, buffer, at)
        at = write((kings & (empty << right)), DOWN_LEFT, buffer, at)
    return at


@compiled
def write(sources, direction, buffer, at):
    while sources:
        buffer[at] = 4 * lowest_index(sources) + direction
        sources = without_lowest(sources)
        at += 1
    return at


@compiled
def write_captures(position, capturing, empty, buffer, at):
    """All complete paths of jumps of the pieces that can capture."""
    while capturing:
        source = lowest(capturing)
        capturing ^= source
        group = position.GROUPS + lowest_index(source)
        if position.kings & source:
            group += position.LAST + 1
        at = write_paths(position, source, group, empty | source, buffer, at)
    return at


@compiled
def write_paths(position, source, group, empty, buffer, at):
    """The complete ones of a group of paths, those of a man or a king that begin on a square.

    They stand in preorder: after a path come those that go on from its end, and where a path is
    not possible, these are skipped.
    """
    theirs = position.their_men | position.their_kings
    path, end = FIRST[group], FIRST[group + 1]
    complete, longer = 0, 0
    while path < end:
        to = CHANGE[path] ^ source
        if to & ~empty or TAKEN[path] & ~theirs:
            path = NEXT[path]
            continue
        if path >= longer > 0:
            buffer[at] = CAPTURES + complete
            at += 1
        complete, longer = path, NEXT[path]
        path += 1
    buffer[at] = CAPTURES + complete
    return at + 1


@compiled
def end_of_step(position, move):
    """The square where a step ends."""
    direction = move & 3
    right = position.HALF
    return (move >> 2) + (right + direction if direction < 2 else direction - 3 - right)


@compiled
def play(position, move):
    men, kings = position.men, position.kings
    their_men, their_kings = position.their_men, position.their_kings
    if move < CAPTURES:
        source = Bits(1) << Bits(move >> 2)
        change = source | (Bits(1) << Bits(end_of_step(position, move)))
        is_king = kings & source != Bits(0)
        quiet = position.quiet + 1 if is_king else 0
    else:
        change = CHANGE[move - CAPTURES]
        taken = TAKEN[move - CAPTURES]
        their_men &= ~taken
        their_kings &= ~taken
        is_king = move - CAPTURES >= position.KING_PATHS
        quiet = 0
    if is_king:
        kings ^= change
    else:
        men ^= change
        crowned = men & position.LAST_ROW
        men ^= crowned
        kings |= crowned
    return position._replace(
        men=their_men,
        kings=their_kings,
        their_men=men,
        their_kings=kings,
        second=not position.second,
        quiet=quiet,
    )


@compiled
def outcome(position):
    theirs = opponents(position)
    empty = empty_squares(position, theirs)
    pieces = position.men | position.kings
    if (pieces & down(position, empty)) | (position.kings & up(position, empty)):
        return False, 0
    if capturers(position, theirs, empty):
        return False, 0
    return True, -1


@compiled
def word_of(position):
    """A hash of the pieces as the mover sees them."""
    mine = product(position.kings, SCATTER) + position.men
    theirs = product(position.their_kings, SCATTER) + position.their_men
    return mix(mix(mine) ^ theirs)


@compiled
def key(position):
    """White's positions differ from black's in the highest bit.

    The count of quiet plies is a part of it where a search can come near its end.
    """
    word = word_of(position) ^ (Bits(position.second) << Bits(63))
    return word if position.quiet < LATE else word ^ mix(Bits(position.quiet))


@compiled
def canonical(position):
    """Players do not matter."""
    word = word_of(position)
    return (word if position.quiet < LATE else word ^ mix(Bits(position.quiet))), 0


@compiled
def reversible(position, child):
    return child.quiet > 0


@compiled
def recurrence(position):
    return word_of(position) ^ (Bits(position.second) << Bits(63))


@compiled
def drawn(position):
    return position.quiet >= DRAWN


# What helps a search that has to stop before the end of the game


@compiled
def evaluate(position):
    """Material, where it stands, and who is ahead with few pieces left."""
    mine = strength(position, position.men, position.kings)
    theirs = strength(position, position.their_men, position.their_kings)
    count = popcount(position.men | position.kings)
    other = popcount(position.their_men | position.their_kings)
    trade = (count - other) * (24 - count - other)
    return mine - theirs + trade


@compiled
def strength(position, men, kings):
    """The worth of a player's pieces, seen from the own side."""
    total = 100 * popcount(men) + 140 * popcount(kings)
    total += 3 * popcount(men & position.FAR_HALF) + 6 * popcount(men & position.NEARLY)
    total += 4 * popcount((men | kings) & position.CENTRE)
    return total + 6 * popcount(men & position.GUARDS)


@compiled
def evaluate_material(position):
    return 100 * (popcount(position.men) - popcount(position.their_men)) + 140 * (
        popcount(position.kings) - popcount(position.their_kings)
    )


@compiled
def check(position):
    """A capture is compulsory, so nobody can stop there and count."""
    return can_capture(position)


@compiled
def noisy(position, buffer, at):
    """Steps that crown a man; captures, if there are any, are all moves and need no search."""
    theirs = opponents(position)
    empty = empty_squares(position, theirs)
    runners = position.men & down(position, position.LAST_ROW)
    return write_steps(position, runners, empty & position.LAST_ROW, buffer, at)


@compiled
def gain(position, move):
    """The pieces taken, and a new king."""
    if move < CAPTURES:
        target = Bits(1) << Bits(end_of_step(position, move))
        man = position.men & (Bits(1) << Bits(move >> 2))
        return 40 if man and target & position.LAST_ROW else 0
    taken = TAKEN[move - CAPTURES]
    return 100 * popcount(taken) + 40 * popcount(taken & position.their_kings)


@compiled
def order(position, move, child):
    """What is taken, and then moves after which the other has nothing to take."""
    return gain(position, move) - 50 * can_capture(child)


# All positions of a few pieces, numbered
#
# A layer has the positions in which one side has some men and kings and the other side others.
# Captures make the pieces fewer, and crowning the men, so both lead to layers before.  A position's
# number is made of one digit after the other, each the rank of a set of squares among those that
# can hold it (combinatorial number system): men first, as they cannot stand everywhere.


@compiled
def layer(position):
    """By the pieces of both sides; with too many of them a number that no layer has."""
    return layer_code(position) >> 1


@compiled
def layer_code(position):
    """Twice the layer, plus 1 if the mover has the weaker one of two sides."""
    men, kings = popcount(position.men), popcount(position.kings)
    their_men, their_kings = popcount(position.their_men), popcount(position.their_kings)
    if men + kings + their_men + their_kings > MOST:
        return NO_LAYER
    return LAYER_CODES[343 * men + 49 * kings + 7 * their_men + their_kings]


@compiled
def index(position):
    """The weaker side's positions come after those of the stronger."""
    code = layer_code(position)
    if code == NO_LAYER:
        return NO_INDEX
    men, their_men = position.men, turned(position, position.their_men)
    number = men_number(position, men, their_men)
    free = position.BOARD & ~(men | their_men)
    number = with_digit(number, position.kings, free)
    free ^= position.kings
    number = with_digit(number, turned(position, position.their_kings), free)
    if code & 1:
        kings, their_kings = popcount(position.kings), popcount(position.their_kings)
        number += placements(position, popcount(men), kings, popcount(their_men), their_kings)
    return number


@compiled
def placements(position, men, kings, their_men, their_kings):
    """How many positions there are with so many pieces."""
    free = position.SQUARES - men - their_men
    all_men = MEN_BEFORE[position.MEN + 56 * men + 8 * their_men + 7]
    return all_men * CHOOSE[64 * kings + free] * CHOOSE[64 * their_kings + free - kings]


@compiled
def men_number(position, men, their_men):
    """The number of all men, those with fewer of the mover's on the first row first.

    The other's men cannot be there, so these do not take any square from them.
    """
    home, rest = men & position.FIRST_ROW, men & ~position.FIRST_ROW
    number = with_digit(0, home, position.FIRST_ROW)
    number = with_digit(number, rest, position.MIDDLE)
    number = with_digit(number, their_men, position.UPPER & ~rest)
    group = position.MEN + 56 * popcount(men) + 8 * popcount(their_men)
    return number + MEN_BEFORE[group + popcount(home)]


@compiled
def with_digit(number, pieces, free):
    """A number with a digit more: the rank of *pieces* among the sets of so many free squares."""
    rank, count = 0, 0
    left = pieces
    while left:
        count += 64
        rank += CHOOSE[count + popcount(free & (lowest(left) - Bits(1)))]
        left = without_lowest(left)
    return number * CHOOSE[count + popcount(free)] + rank


@compiled
def set_of_rank(rank, count, free):
    """The set of *count* free squares that has a rank: the inverse of :func:`with_digit`."""
    pieces = Bits(0)
    for row in range(64 * count, 0, -64):
        square = 0
        for power in range(5, -1, -1):
            further = square + (1 << power)
            below = popcount(free & ((Bits(1) << Bits(further)) - Bits(1)))
            if CHOOSE[row + below] <= rank:
                square = further
        piece = Bits(1) << Bits(square)
        pieces |= piece
        rank -= CHOOSE[row + popcount(free & (piece - Bits(1)))]
    return pieces


@compiled
def position_at(example, layer, index):
    """The digits from the last one on."""
    sides = LAYER_SIDES[layer]
    men, kings, their_men, their_kings = sides >> 9, sides >> 6 & 7, sides >> 3 & 7, sides & 7
    stronger = placements(example, men, kings, their_men, their_kings)
    if index >= stronger:
        index -= stronger
        men, kings, their_men, their_kings = their_men, their_kings, men, kings
    free = example.SQUARES - men - their_men
    index, their_kings_rank = divided(index, free - kings, their_kings)
    index, kings_rank = divided(index, free, kings)
    group, home = example.MEN + 56 * men + 8 * their_men, 0
    while MEN_BEFORE[group + home + 1] <= index:
        home += 1
    index -= MEN_BEFORE[group + home]
    index, their_men_rank = divided(index, popcount(example.UPPER) - men + home, their_men)
    home_rank, rest_rank = divided(index, popcount(example.MIDDLE), men - home)

    rest = set_of_rank(rest_rank, men - home, example.MIDDLE)
    our_men = rest | set_of_rank(home_rank, home, example.FIRST_ROW)
    other_men = set_of_rank(their_men_rank, their_men, example.UPPER & ~rest)
    left = example.BOARD & ~(our_men | other_men)
    our_kings = set_of_rank(kings_rank, kings, left)
    other_kings = set_of_rank(their_kings_rank, their_kings, left ^ our_kings)
    return example._replace(
        men=our_men,
        kings=our_kings,
        their_men=turned(example, other_men),
        their_kings=turned(example, other_kings),
        second=False,
        quiet=0,
    )


@compiled
def divided(number, squares, count):
    """A number without its last digit, and that digit: the rank of *count* of some squares."""
    sets = CHOOSE[64 * count + squares]
    return number // sets, number % sets


@compiled
def retreats(position, buffer, at):
    """The other's steps taken back, if nothing could be captured instead."""
    mine = turned(position, position.men | position.kings)
    theirs = position.their_men | position.their_kings
    empty = position.BOARD & ~(mine | theirs)
    right, left = position.RIGHT, position.LEFT
    at = write_possible(position, theirs & (empty << right), UP_RIGHT, buffer, at)
    at = write_possible(position, theirs & (empty << left), UP_LEFT, buffer, at)
    kings = position.their_kings
    at = write_possible(position, kings & (empty >> left), DOWN_RIGHT, buffer, at)
    return write_possible(position, kings & (empty >> right), DOWN_LEFT, buffer, at)


@compiled
def write_possible(position, targets, direction, buffer, at):
    """Number the steps to some squares, if they were possible, by where they end."""
    while targets:
        number = 4 * lowest_index(targets) + direction
        targets = without_lowest(targets)
        if not can_capture(retreat(position, number)):
            buffer[at] = number
            at += 1
    return at


@compiled
def retreat(position, number):
    """A step backwards in the direction opposite to that of the move."""
    target = Bits(1) << Bits(number >> 2)
    change = target | (Bits(1) << Bits(end_of_step(position, number ^ 3)))
    men, kings = position.their_men, position.their_kings
    if kings & target:
        kings ^= change
    else:
        men ^= change
    return position._replace(
        men=men,
        kings=kings,
        their_men=position.men,
        their_kings=position.kings,
        second=not position.second,
        quiet=0,
    )


# Boards of all sizes

ROWS_OF_MEN = {8: 3, 6: 2, 4: 1}
"""The boards, and how many rows of men each player has at first."""


def _rows(width: int, *numbers: int) -> Bits:
    """The squares of some rows of a board, counted from 0 at the mover."""
    half = width // 2
    return Bits(sum(((1 << half) - 1) << half * row + row // 2 for row in numbers))


def _path_tables() -> tuple[dict[int, int], list[list[int]]]:
    """All paths of jumps, as they are on a board with nothing on it but what is taken.

    They stand in preorder, by groups: those of a man on each square, then those of a king.
    ``CHANGE`` has the first and the last square of a path (none if it comes back), ``TAKEN`` what
    it takes, as the other sees that, ``NEXT`` the number of the next path that does not go on from
    its end, ``FIRST`` that of the first path of each group.
    """
    groups: dict[int, int] = {}
    change, taken, following, first = tables = [list[int]() for _ in range(4)]

    def extend(board: int, source: int, end: int, victims: int, steps: tuple[int, ...]) -> None:
        last = board.bit_length() - 1
        for step in steps:
            over, to = end + step, end + 2 * step
            if min(over, to) < 0 or not board >> over & board >> to & ~(victims >> over) & 1:
                continue
            number, both = len(taken), victims | 1 << over
            change.append(1 << source ^ 1 << to)
            taken.append(sum(1 << last - n for n in range(last + 1) if both >> n & 1))
            following.append(0)
            extend(board, source, to, both, steps)
            following[number] = len(taken)

    for width in ROWS_OF_MEN:
        groups[width] = len(first)
        board, right = _rows(width, *range(width)), width // 2
        for steps in ((right, right + 1), (right, right + 1, -right - 1, -right)):
            for square in range(board.bit_length()):
                first.append(len(taken))
                if board >> square & 1:
                    extend(board, square, square, 0, steps)
    first.append(len(taken))
    return groups, tables


GROUPS, _TABLES = _path_tables()
CHANGE = Constant("draughts.change", np.array(_TABLES[0], np.uint64))
TAKEN = Constant("draughts.taken", np.array(_TABLES[1], np.uint64))
NEXT = Constant("draughts.next", np.array(_TABLES[2], np.int16))
FIRST = Constant("draughts.first", np.array(_TABLES[3], np.int16))


def _men_before(width: int) -> list[int]:
    """For all numbers of men of both sides, the positions with fewer on the mover's first row."""
    half, middle, upper = width // 2, width * (width - 2) // 2, width * (width - 1) // 2
    found = []
    for men, others in itertools.product(range(7), repeat=2):
        sets = [
            math.comb(half, men - rest) * math.comb(middle, rest) * math.comb(upper - rest, others)
            for rest in range(men, -1, -1)
        ]
        found += [sum(sets[:home]) for home in range(8)]
    return found


MEN_BEFORE = Constant("draughts.men", [n for width in ROWS_OF_MEN for n in _men_before(width)])

CHOOSE = Constant(
    "draughts.choose", [math.comb(min(n, 36), k) for k in range(MOST + 1) for n in range(64)]
)
"""The sets of 0 to ``MOST`` of so many squares, 64 numbers for each size of a set."""


def _layers() -> list[tuple[int, int, int, int]]:
    """The men and kings of the stronger side, and of the other, in each layer."""
    sides = [(count - kings, kings) for count in range(1, MOST) for kings in range(count + 1)]
    pairs = [(*b, *a) for a, b in itertools.combinations_with_replacement(sides, 2)]
    pairs = [pair for pair in pairs if sum(pair) <= MOST]
    return sorted(pairs, key=lambda pair: (sum(pair), pair[0] + pair[2]))


LAYERS = _layers()
NO_LAYER = 2 * len(LAYERS)
LAYER_SIDES = Constant("draughts.sides", [512 * a + 64 * b + 8 * c + d for a, b, c, d in LAYERS])
LAYER_NAMES = tuple(
    "-".join(f"{m}m" * (m > 0) + f"{k}k" * (k > 0) for m, k in (pair[:2], pair[2:]))
    for pair in LAYERS
)


def _layer_codes() -> list[int]:
    codes = [NO_LAYER] * 7**4
    for number, (a, b, c, d) in enumerate(LAYERS):
        codes[343 * c + 49 * d + 7 * a + b] = 2 * number + 1
        codes[343 * a + 49 * b + 7 * c + d] = 2 * number
    return codes


LAYER_CODES = Constant("draughts.layers", _layer_codes())


@variants(Pieces, usual="8x8", read=functools.partial(board_size, example="6x6"))
def board(width: int, height: int) -> dict[str, Any]:
    """The constants of a board; :class:`PositionError` if there is none of that size."""
    if width != height or width not in ROWS_OF_MEN:
        raise PositionError(f"there is no board of {width}x{height}: there are 8x8, 6x6 and 4x4")
    half, squares, rows = width // 2, width * width // 2, functools.partial(_rows, width)
    whole = rows(*range(height))
    inner = sum(rows(n) & rows(n) << 1 & rows(n) >> 1 for n in range(height))
    constants = {
        "WIDTH": width,
        "HALF": half,
        "SQUARES": squares,
        "LAST": whole.bit_length() - 1,
        "RIGHT": Bits(half),
        "LEFT": Bits(half + 1),
        "BOARD": whole,
        "FIRST_ROW": rows(0),
        "MIDDLE": rows(*range(1, height - 1)),
        "UPPER": rows(*range(1, height)),
        "LAST_ROW": rows(height - 1),
        "NEARLY": rows(height - 2),
        "FAR_HALF": rows(*range(half, height)),
        "CENTRE": Bits(rows(half - 1, half) & inner),
        "GUARDS": Bits(rows(0) & 0b101),
        "START": rows(*range(ROWS_OF_MEN[width])),
        "GROUPS": GROUPS[width],
        "KING_PATHS": FIRST[GROUPS[width] + whole.bit_length()],
        "MEN": 392 * list(ROWS_OF_MEN).index(width),
        "VARIANT": f"{width}x{height}",
        "MAX_PLIES": DRAWN * width * height * ROWS_OF_MEN[width],
        "CELLS": Grid(
            height,
            width,
            contents={
                ".": "empty",
                "b": "black man",
                "B": "black king",
                "w": "white man",
                "W": "white king",
                " ": "no square",
            },
            players={"black": "black", "white": "white"},
            row_names=[f"{n + 1}-{n + half}" for n in range(0, squares, half)],
        ),
    }
    sizes = SimpleNamespace(**constants)
    constants["LAYER_SIZES"] = np.array(
        [placements(sizes, *sides) * (1 + (sides[:2] != sides[2:])) for sides in LAYERS]
    )
    return constants


Position = board(8, 8)


# Text


def start(variant: str = "") -> Pieces:
    """Rows of men on both sides of a board of a size such as ``6x6``; the usual one is 8x8."""
    cls = board.of(variant)
    return cls(cls.START, Bits(0), cls.START, Bits(0), False, 0)


def mover(position: Pieces) -> str:
    return "white" if position.second else "black"


def caption(position: Pieces) -> str:
    quiet = f", {position.quiet} plies without progress" if position.quiet else ""
    return f"{mover(position)} to move{quiet}"


def _number(position: Any, bit: int, second: bool) -> int:
    """The usual number of a square, given by its bit as a player sees it."""
    number = bit - bit // (position.WIDTH + 1)
    return position.SQUARES - number if second else number + 1


def _bit(position: Any, number: int, second: bool) -> int:
    number = position.SQUARES - number if second else number - 1
    return number + number // position.WIDTH


def _numbers(position: Any, squares: int, second: bool) -> list[int]:
    bits = (n for n in range(position.LAST + 1) if squares >> n & 1)
    return [_number(position, bit, second) for bit in bits]


def position_text(position: Pieces) -> str:
    sides = [(position.men, position.kings), (position.their_men, position.their_kings)]
    if position.second:
        sides.reverse()
    written = []
    for second, (men, kings) in enumerate(sides):
        pieces = [(n, "") for n in _numbers(position, men, bool(second))]
        pieces += [(n, "K") for n in _numbers(position, kings, bool(second))]
        written.append("BW"[second] + ",".join(f"{king}{n}" for n, king in sorted(pieces)))
    quiet = f":H{position.quiet}" if position.quiet else ""
    return f"{mover(position)[0].upper()}:{written[1]}:{written[0]}{quiet}"


def parse_position(text: str, variant: str = "") -> Pieces:
    """Read a FEN, or the moves played, with or without numbers (``1. 11-15 23-19``)."""
    empty = start(variant)
    if ":" in text:
        return _parse_fen(text, empty)
    texts = re.findall(r"[^\s,]+", re.sub(r"(^|\s)[0-9]+\.+", " ", text))
    return play_texts(empty, texts, text)


FEN = "B:W18,K22:B1,K9,12"


def _parse_fen(text: str, empty: Any) -> Pieces:
    fields = re.sub(r"\s", "", text).upper().removesuffix(".").split(":")
    if not re.fullmatch("[BW]", fields[0]):
        raise PositionError(f"{quoted(text)} does not begin with who is to move, as in {FEN}")
    men, kings, quiet, known, taken = [0, 0], [0, 0], 0, set(), set()
    for field in fields[1:]:
        if field[:1] in known or field[:1] not in ("B", "W", "H"):
            raise PositionError(
                f"{quoted(field)} is none of the pieces of white, W, those of black, B, and the "
                f"plies without progress, H, once each, as in {FEN}"
            )
        known.add(field[:1])
        if field[0] == "H":
            quiet = _parse_quiet(field)
            continue
        second = int(field[0] == "W")
        for piece in filter(None, field[1:].split(",")):
            for number, king in _parse_piece(piece, empty):
                here = 1 << _bit(empty, number, second)
                if number in taken:
                    raise PositionError(f"two pieces are on square {number}")
                taken.add(number)
                if king:
                    kings[second] |= here
                elif here & empty.LAST_ROW:
                    raise PositionError(f"a man on square {number} has become a king: K{number}")
                else:
                    men[second] |= here
    for name, squares in zip(("black", "white"), map(int.__or__, men, kings), strict=True):
        if popcount(squares) > MOST_PIECES:
            raise PositionError(
                f"{name} has {popcount(squares)} pieces; a player has {MOST_PIECES} at most"
            )
    second = fields[0] == "W"
    if not men[not second] | kings[not second]:
        other = "black" if second else "white"
        raise PositionError(f"{other} has no pieces, and it is not {other}'s turn")
    mine, theirs = (men[second], kings[second]), (men[not second], kings[not second])
    return type(empty)(*map(Bits, (*mine, *theirs)), second, quiet)


def _parse_piece(text: str, empty: Any) -> list[tuple[int, bool]]:
    """The squares of a piece, or of a row of them (``1-4``), and whether it is a king."""
    match = re.fullmatch("(K?)([0-9]{1,9})(?:-(K?)([0-9]{1,9}))?", text)
    if not match:
        raise PositionError(f"{quoted(text)} is not a piece; write its square, as in 12 or K12")
    low, high = int(match[2]), int(match[4] or match[2])
    if not 1 <= low <= high <= empty.SQUARES:
        raise PositionError(f"{quoted(text)}: squares are 1..{empty.SQUARES}")
    return [(number, bool(match[1])) for number in range(low, high + 1)]


def _parse_quiet(text: str) -> int:
    if not re.fullmatch("H[0-9]{1,9}", text) or int(text[1:]) > DRAWN:
        raise PositionError(f"{quoted(text)} is not a number of plies, H0 to H{DRAWN}")
    return int(text[1:])


def _squares(position: Any, move: int) -> list[int]:
    """The numbers of the squares of a move, all those where it jumps to."""
    if move < CAPTURES:
        bits = [move >> 2, end_of_step(position, move)]
    else:
        path = move - CAPTURES
        group = bisect.bisect_right(FIRST, path) - 1
        source = (group - position.GROUPS) % (position.LAST + 1)
        ways = [number for number in range(FIRST[group], path + 1) if NEXT[number] > path]
        bits = [source, *(lowest_index(CHANGE[number] ^ 1 << source) for number in ways)]
    return [_number(position, bit, position.second) for bit in bits]


def move_text(position: Pieces, move: int) -> str:
    squares = _squares(position, move)
    if move < CAPTURES:
        return "{}-{}".format(*squares)
    ends = squares[0], squares[-1]
    ways = [_squares(position, other) for other in legal_moves(position)]
    alone = sum((way[0], way[-1]) == ends for way in ways) < 2
    return "x".join(map(str, ends if alone else squares))


def parse_move(position: Pieces, text: str) -> int:
    """Read a move, given by its first and last square or by all."""
    if not re.fullmatch("[0-9]{1,9}([-xX:][0-9]{1,9})+", text):
        raise PositionError(f"{quoted(text)} is not a move; write squares, as in 11-15 or 22x15")
    squares = [int(number) for number in re.findall("[0-9]+", text)]
    wrong = [number for number in squares if not 1 <= number <= position.SQUARES]
    if wrong:
        raise PositionError(f"{quoted(text)}: squares are 1..{position.SQUARES}, not {wrong[0]}")
    if outcome(position)[0]:
        raise PositionError(f"{quoted(text)} is played after the game is over")
    ways = {move: _squares(position, move) for move in legal_moves(position)}
    found = [move for move, way in ways.items() if squares in (way, [way[0], way[-1]])]
    if len(found) == 1:
        return found[0]
    if found:
        some = " or ".join(move_text(position, move) for move in found[:4])
        raise PositionError(f"{quoted(text)} is ambiguous: {some}")
    if squares[0] not in _numbers(position, position.men | position.kings, position.second):
        raise PositionError(f"{quoted(text)}: {mover(position)} has no piece on {squares[0]}")
    some = ", ".join(move_text(position, move) for move in list(ways)[:8])
    must = " and has to capture" * can_capture(position)
    raise PositionError(f"{quoted(text)} is not a legal move of {mover(position)}{must}: {some}")
