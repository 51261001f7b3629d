"""Numbering of positions with few pieces, and retreats (steps taken back), for tablebases.

A layer has the positions with given numbers of men and kings of the two sides.  Captures reduce
the number of pieces, and promotion the number of men, so both lead to earlier layers.  The only
symmetric positions are those with the players exchanged, which are the same to the mover.

The number of a position is a mixed radix number.  Its digits are the ranks of sets of squares
among all sets of the same size of the squares that are free for them
(``cutnode.contract.subsets``): men come first, as they cannot stand everywhere, then kings on the
remaining squares.  So there are no holes, and there are as many numbers as other programs count
positions without a player to move: with the board turned, each number is a position with black to
move and one with white to move.
"""

from __future__ import annotations

import itertools
import math

from cutnode import Bits, compiled, lowest_index, popcount, without_lowest
from cutnode.contract.constants import Constant
from cutnode.contract.subsets import binomial, rank_of, set_of_rank
from cutnode.contract.verbs import NO_INDEX
from cutnode.games.draughts.generator import (
    DOWN_LEFT,
    DOWN_RIGHT,
    ROWS_OF_MEN,
    UP_LEFT,
    UP_RIGHT,
    can_capture,
    end_of_step,
    turned,
)

__all__ = [
    "LAYERS",
    "LAYER_NAMES",
    "MEN_TABLES",
    "index",
    "layer",
    "placements",
    "position_at",
    "retreat",
    "retreats",
]

MOST = 6
"""The most pieces of a position that has a number."""


@compiled
def layer(position):
    """Return the layer by the pieces of both sides; with too many, the number after the last."""
    return max(layer_code(position) >> 1, 0)


@compiled
def layer_code(position):
    """Return twice the layer, plus 1 if the mover has the weaker side; -1 if a side is bare."""
    men, kings = popcount(position.men), popcount(position.kings)
    their_men, their_kings = popcount(position.their_men), popcount(position.their_kings)
    if men + kings + their_men + their_kings > MOST:
        return NO_LAYER
    return LAYER_CODES[343 * men + 49 * kings + 7 * their_men + their_kings]


@compiled
def index(position):
    """Return the number of a position in its layer; those with the weaker side to move are last."""
    code = layer_code(position)
    if not 0 <= code < NO_LAYER:
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
def men_number(position, men, their_men):
    """Return the number of all men, ordered by how many of the mover's are on the first row.

    The other's men cannot stand there, so these do not take any square from them.
    """
    home, rest = men & position.FIRST_ROW, men & ~position.FIRST_ROW
    number = with_digit(0, home, position.FIRST_ROW)
    number = with_digit(number, rest, position.MIDDLE)
    number = with_digit(number, their_men, position.UPPER & ~rest)
    group = position.MEN + 56 * popcount(men) + 8 * popcount(their_men)
    return number + MEN_BEFORE[group + popcount(home)]


@compiled
def with_digit(number, pieces, free):
    """Append a digit to a number: the rank of *pieces* among the sets of as many free squares."""
    return number * binomial(popcount(free), popcount(pieces)) + rank_of(pieces, free)


@compiled
def without_digit(number, squares, count):
    """Split off a number's last digit: the rank of a set of *count* of *squares* squares."""
    sets = binomial(squares, count)
    return number // sets, number % sets


@compiled
def placements(position, men, kings, their_men, their_kings):
    """Return how many positions there are with given pieces of the mover and of the other."""
    free = position.SQUARES - men - their_men
    all_men = MEN_BEFORE[position.MEN + 56 * men + 8 * their_men + 7]
    return all_men * binomial(free, kings) * binomial(free - kings, their_kings)


@compiled
def position_at(example, layer, index):
    """Return the position of a number, taking its digits from the last one on."""
    sides = LAYER_SIDES[layer]
    men, kings, their_men, their_kings = sides >> 9, sides >> 6 & 7, sides >> 3 & 7, sides & 7
    stronger = placements(example, men, kings, their_men, their_kings)
    if index >= stronger:
        index -= stronger
        men, kings, their_men, their_kings = their_men, their_kings, men, kings
    free = example.SQUARES - men - their_men
    index, their_kings_rank = without_digit(index, free - kings, their_kings)
    index, kings_rank = without_digit(index, free, kings)
    group, home = example.MEN + 56 * men + 8 * their_men, 0
    while MEN_BEFORE[group + home + 1] <= index:
        home += 1
    index -= MEN_BEFORE[group + home]
    upper, middle = popcount(example.UPPER), popcount(example.MIDDLE)
    index, their_men_rank = without_digit(index, upper - men + home, their_men)
    home_rank, rest_rank = without_digit(index, middle, men - home)

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


# Retreats


@compiled
def retreats(position, buffer, at):
    """Write each step that the other may have made with no capture possible, by where it ended."""
    mine = turned(position, position.men | position.kings)
    kings = position.their_kings
    pieces = kings | position.their_men
    empty = position.BOARD & ~(mine | pieces)
    right, left = position.RIGHT, position.LEFT
    at = write_possible(position, pieces & (empty << right), UP_RIGHT, buffer, at)
    at = write_possible(position, pieces & (empty << left), UP_LEFT, buffer, at)
    at = write_possible(position, kings & (empty >> left), DOWN_RIGHT, buffer, at)
    return write_possible(position, kings & (empty >> right), DOWN_LEFT, buffer, at)


@compiled
def write_possible(position, targets, direction, buffer, at):
    while targets:
        number = 4 * lowest_index(targets) + direction
        targets = without_lowest(targets)
        if not can_capture(retreat(position, number)):
            buffer[at] = number
            at += 1
    return at


@compiled
def retreat(position, number):
    """Take a step back, and exchange the players."""
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


# Tables


def _layers() -> list[tuple[int, int, int, int]]:
    """Return the men and kings of the stronger side and of the other, for each layer."""
    sides = [(count - kings, kings) for count in range(1, MOST) for kings in range(count + 1)]
    pairs = [(*b, *a) for a, b in itertools.combinations_with_replacement(sides, 2)]
    pairs = [pair for pair in pairs if sum(pair) <= MOST]
    return sorted(pairs, key=lambda pair: (sum(pair), pair[0] + pair[2]))


def _side(men: int, kings: int) -> str:
    return f"{men}m" * (men > 0) + f"{kings}k" * (kings > 0)


def _layer_codes() -> list[int]:
    codes = [-1] * 7**4
    for number, (a, b, c, d) in enumerate(LAYERS):
        codes[343 * c + 49 * d + 7 * a + b] = 2 * number + 1
        codes[343 * a + 49 * b + 7 * c + d] = 2 * number
    return codes


def _men_before(width: int) -> list[int]:
    """Return how many placements of men have fewer than 0 to 7 of one side's on the first row."""
    half, middle, upper = width // 2, width * (width - 2) // 2, width * (width - 1) // 2
    found = []
    for men, others in itertools.product(range(7), repeat=2):
        sets = [
            math.comb(half, men - rest) * math.comb(middle, rest) * math.comb(upper - rest, others)
            for rest in range(men, -1, -1)
        ]
        found += [sum(sets[:home]) for home in range(8)]
    return found


LAYERS = _layers()
NO_LAYER = 2 * len(LAYERS)
LAYER_NAMES = tuple(f"{_side(a, b)}-{_side(c, d)}" for a, b, c, d in LAYERS)
LAYER_SIDES = Constant("draughts.sides", [512 * a + 64 * b + 8 * c + d for a, b, c, d in LAYERS])
LAYER_CODES = Constant("draughts.layers", _layer_codes())

MEN_BEFORE = Constant("draughts.men", [n for width in ROWS_OF_MEN for n in _men_before(width)])
MEN_TABLES = {width: 7 * 7 * 8 * number for number, width in enumerate(ROWS_OF_MEN)}
"""Where the part of each board begins."""
