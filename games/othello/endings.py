"""The end of a game of Othello: stable discs, the last moves, and move ordering.

Sources: stable discs bound the value, and moves that leave the other few replies come first
(fastest first), both as in programs since M. Buro's Logistello; odd regions first, D. Parker.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from cutnode import NO_MOVE, Bits, compiled, lowest, lowest_index, popcount, without_lowest
from cutnode.contract.bits import product
from cutnode.contract.constants import Constant
from cutnode.contract.simd import Words, broadcast, common
from cutnode.games.othello.discs import (
    ALL,
    DIRECTIONS,
    DOWN,
    PASS,
    STEP,
    TWO_STEPS,
    UP,
    difference,
    empties,
    final_value,
    flipped,
    mobility,
    reach,
    write,
)
from cutnode.games.othello.patterns import pattern_score

__all__ = ["bounds", "candidates", "endgame", "forced", "order", "scout", "stable"]

LAST = 9
"""With at most this many empty squares :func:`endgame` solves a position, without a table.  Nodes
and time relative to 7: 1.09 and 0.95 for FFO 20 to 39, 1.11 and 0.94 for 40 to 44."""

UNCHECKED = 4
"""With at most this many empty squares, which take at most 41 nodes, :func:`endgame` looks at no
node limit."""

ESTIMATED = 11
"""With at least this many empty squares, patterns rate moves.  9 instead of 11: 7 % fewer nodes and
10 % more time in the positions 42 to 44 of the FFO suite; 14: a quarter more nodes than 11, and
10 % more time."""

REPLY = 512
"""The weight of a reply relative to patterns, in 1/128 disc.  Half or twice as much: 15 % more
nodes."""

STABLE = 2
"""Stable discs are computed where a bound is at least this many discs for each empty square.  1
instead of 2: 4 % fewer nodes and 20 % more time in the positions 40 to 44 of the FFO suite; 3:
12 % more nodes and 8 % more time."""

SCOUTED, SCOUTED_SMALL = 18, 22
"""With at least this many empty squares a search of limited depth precedes a proof, on the usual
board and on small ones.  On 6x6, where mobility is the evaluation, it takes more time than it saves
with 18 to 21, and saves half of the nodes with 24."""

SCOUTED_WHOLLY = 22
"""With at least this many empty squares that search goes to the end."""

A, H = Bits(0x0101010101010101), Bits(0x8080808080808080)
CORNERS = Bits(0x8100000000000081)
ROWS = Bits(0xFF000000000000FF)
NOT_A, NOT_H = ALL ^ A, ALL ^ H
BORDER = A | H | ROWS

EDGES = Words(A | H, BORDER, ROWS, BORDER)
"""Where a line of each direction ends: nothing can flip a disc there along the line."""


def runs(sense: int) -> tuple[Words, Words, Words]:
    """Return the squares with 1, 2 and 4 squares before them in each direction, on the frame."""
    before = []
    for across, along in DIRECTIONS:
        for count in (1, 2, 4):
            squares = 0
            for square in range(64):
                column = square % 8 - sense * count * across
                row = square // 8 - sense * count * along
                squares |= (0 <= column < 8 and 0 <= row < 8) << square
            before.append(squares)
    first, second, third = (Words(*before[n::3]) for n in range(3))
    return first, second, third


UP_1, UP_2, UP_4 = runs(1)
DOWN_1, DOWN_2, DOWN_4 = runs(-1)
FOUR_STEPS = Words(*(4 * step for step in STEP))

QUADRANTS = tuple(Bits(0x0F0F0F0F << shift) for shift in (0, 4, 32, 36))


@compiled
def full_lines(discs):
    """Return for each direction the squares on lines without an empty square."""
    holes = ~broadcast(discs)
    run = holes | ((holes << STEP) & UP_1)
    run |= (run << TWO_STEPS) & UP_2
    run |= (run << FOUR_STEPS) & UP_4
    holes |= (holes >> STEP) & DOWN_1
    holes |= (holes >> TWO_STEPS) & DOWN_2
    holes |= (holes >> FOUR_STEPS) & DOWN_4
    return ~(run | holes)


@compiled
def stable(discs, others):
    """Return discs that can certainly never be flipped.

    In each direction the line is full, or ends at the disc, or the next disc is stable.
    """
    safe = full_lines(discs | others) | EDGES
    found = discs & common(safe)
    if found == Bits(0):
        return found
    while True:
        beside = broadcast(found)
        more = discs & common(safe | (beside << STEP) | (beside >> STEP))
        if more == found:
            return found
        found = more


@compiled
def most(mine, theirs, area, left, alpha):
    """Return the most that stable discs let the mover win, or *area* if they hardly help."""
    if alpha >= STABLE * left and area - 2 * popcount(theirs) <= alpha:
        return area - 2 * popcount(stable(theirs, mine))
    return area


@compiled
def bounds(position, alpha, beta):
    """Return the value if the game is over, else an upper bound from stable discs."""
    left = empties(position)
    if mobility(position) == Bits(0):
        if reach(position.theirs, position.mine) & position.BOARD == Bits(0):
            value = final_value(position)
            return value, value
    return -position.AREA, most(position.mine, position.theirs, position.AREA, left, alpha)


@compiled
def forced(position):
    return PASS if mobility(position) == Bits(0) else NO_MOVE


@compiled
def scout(position):
    """Search to the end where it is far, else to the squares where patterns guess well.

    Positions 40 to 44, 46 and 47 of the FFO suite, million nodes: 140; half as deep 177.  81 with
    20 empty squares: 215 and 10.9 seconds to the end, 228 and 9.4 less deep; with 4 squares less
    instead of 6: 222 and 10.1, with 8: 238 and 10.4.
    """
    left = empties(position)
    if left < (SCOUTED if position.SIZE == 8 else SCOUTED_SMALL):
        return 0
    return left if left >= SCOUTED_WHOLLY else left - 6


@compiled
def odd_squares(free):
    """Return the squares of *free* in quadrants with an odd number of them."""
    odd = Bits(0)
    for quadrant in QUADRANTS:
        if popcount(free & quadrant) & 1:
            odd |= quadrant
    return free & odd


@compiled
def candidates(position, buffer, at):
    """Write moves into odd regions first: the player who moves last in a region gains by it."""
    squares = mobility(position)
    if squares == Bits(0):
        buffer[at] = PASS
        return at + 1
    if empties(position) == LAST + 1:
        # :func:`endgame` solves the children as they are written, before :func:`order` is called.
        free = position.BOARD & ~(position.mine | position.theirs)
        ranks = by_replies(position.mine, position.theirs, free, squares)
        while squares:
            move = first_of(squares, ranks)
            squares ^= move
            buffer[at] = lowest_index(move)
            at += 1
        return at
    odd = squares & odd_squares(position.BOARD & ~(position.mine | position.theirs))
    return write(squares ^ odd, buffer, write(odd, buffer, at))


@compiled
def order(position, move, child):
    """Order moves by patterns and by how few replies they leave.

    Near the end, only by few replies, counting those into corners twice, and then by odd regions.
    """
    if move == PASS:
        return 0
    replies = mobility(child)
    if position.SIZE == 8 and empties(position) >= ESTIMATED:
        return -pattern_score(child) - REPLY * popcount(replies)
    score = -8 * (popcount(replies) + popcount(replies & position.CORNERS))
    free = position.BOARD & ~(position.mine | position.theirs)
    if (odd_squares(free) >> Bits(move)) & Bits(1):
        score += 4
    if (position.CORNERS >> Bits(move)) & Bits(1):
        score += 8
    return score


# The last moves

NOTHING = -65
"""Less than every value."""


def turned_counts() -> np.ndarray:
    """Return how many discs a disc flips in a row that has no other empty square.

    Entry ``256 * place + own`` is for a disc at a place, and the row of own discs.
    """
    counts = np.zeros((8, 256), np.int8)
    for place, own, sense in itertools.product(range(8), range(256), (-1, 1)):
        end = place + sense
        while 0 <= end < 8 and not own >> end & 1:
            end += sense
        if 0 <= end < 8:
            counts[place, own] += abs(end - place) - 1
    return counts.reshape(-1)


TURNED = Constant("othello.turned", turned_counts())
RISING, FALLING = (
    np.array([across[n] | (1 << n) | back[n] for n in range(64)], np.uint64)
    for across, back in ((UP[1::4], DOWN[1::4]), (UP[3::4], DOWN[3::4]))
)
"""The diagonals of each square."""

COLUMN_TO_ROW = Bits(0x0102040810204080)
"""Times the first column, it gives its squares as a row in the highest byte."""


@compiled
def row_of(squares):
    """Return the columns of squares no two of which are in one column."""
    return product(squares, A) >> Bits(56)


@compiled
def turned_last(own, square):
    """Return how many discs a disc on the last empty square flips."""
    place = Bits(square)
    across, along = Bits(256) * (place & Bits(7)), Bits(256) * (place >> Bits(3))
    row = (own >> (place & Bits(56))) & Bits(255)
    column = product((own >> (place & Bits(7))) & A, COLUMN_TO_ROW) >> Bits(56)
    return (
        TURNED[across + row]
        + TURNED[along + column]
        + TURNED[across + row_of(own & Bits(RISING[place]))]
        + TURNED[across + row_of(own & Bits(FALLING[place]))]
    )


@compiled
def last_one(mine, theirs, free, area, alpha):
    """Return the value with one empty square, or an upper bound that is at most *alpha*."""
    square = lowest_index(free)
    own = popcount(mine)
    turned = turned_last(mine, square)
    if turned:
        return 2 * (own + turned + 1) - area
    value = 2 * own - area
    won = value + (2 if value >= 0 else 0)
    if won <= alpha:
        return won
    turned = turned_last(theirs, square)
    return value - 2 * turned if turned else won


@compiled
def try_two(mine, theirs, free, area, alpha, beta):
    """Return the mover's best value with two empty squares, or ``NOTHING``; and the nodes."""
    best, nodes = NOTHING, 0
    first, second = lowest(free), without_lowest(free)
    turned = flipped(mine, theirs, lowest_index(first))
    if turned:
        nodes += 1
        best = -last_one(theirs ^ turned, mine | turned | first, second, area, -beta)
        if best >= beta:
            return best, nodes
    turned = flipped(mine, theirs, lowest_index(second))
    if turned:
        nodes += 1
        best = max(best, -last_one(theirs ^ turned, mine | turned | second, first, area, -beta))
    return best, nodes


@compiled(inline=False)
def last_two(mine, theirs, free, area, alpha, beta, room):
    """Return the value with two empty squares, and the nodes."""
    value, nodes = try_two(mine, theirs, free, area, alpha, beta)
    if value == NOTHING:
        value, nodes = try_two(theirs, mine, free, area, -beta, -alpha)
        value = -value if value != NOTHING else difference(mine, theirs, area)
    return value, nodes + 1


@compiled
def first_of(squares, ranks):
    """Return the square of least rank; *ranks* has a word for each bit, the highest first."""
    for bit in ranks:
        without = squares & ~bit
        squares = without if without else squares
    return lowest(squares)


@compiled
def by_parity(mine, theirs, free, squares):
    """Rank squares to move to, as :func:`first_of` needs them: odd regions first."""
    return (~odd_squares(free),)


@compiled
def by_replies(mine, theirs, free, squares):
    """Rank squares likewise: moves that leave few replies first, and then odd regions."""
    eights = fours = twos = ones = Bits(0)
    odd = odd_squares(free)
    while squares:
        move = lowest(squares)
        squares = without_lowest(squares)
        turned = flipped(mine, theirs, lowest_index(move))
        replies = reach(theirs ^ turned, mine | turned | move) & free
        rank = 2 * (popcount(replies) + popcount(replies & CORNERS))
        rank += (0 if move & odd else 1) + (0 if move & CORNERS else 2)
        rank = min(rank, 15)
        eights |= move if rank & 8 else Bits(0)
        fours |= move if rank & 4 else Bits(0)
        twos |= move if rank & 2 else Bits(0)
        ones |= move if rank & 1 else Bits(0)
    return eights, fours, twos, ones


def one_more(left: int, last: Any, ranks_of: Any) -> Any:
    """Make a solver for *left* empty squares from *last*, the one for one square less.

    It returns a value and its nodes; the value means nothing if the nodes are more than *room*.
    """

    @compiled(inline=False)
    def last_few(mine, theirs, free, area, alpha, beta, room):
        if left > 3:
            upper = most(mine, theirs, area, left, alpha)
            if upper <= alpha:
                return upper, 1
        sign, nodes = 1, 1
        squares = reach(mine, theirs) & free
        if squares == Bits(0):
            squares = reach(theirs, mine) & free
            if squares == Bits(0):
                return difference(mine, theirs, area), 1
            # A pass: the other plays for the mover.
            mine, theirs = theirs, mine
            alpha, beta, sign = -beta, -alpha, -1
        ranks = ranks_of(mine, theirs, free, squares)
        best = NOTHING
        while squares:
            move = first_of(squares, ranks)
            squares ^= move
            turned = flipped(mine, theirs, lowest_index(move))
            value, more = last(
                theirs ^ turned,
                mine | turned | move,
                free ^ move,
                area,
                -beta,
                -alpha,
                room - nodes,
            )
            nodes += more
            if left > UNCHECKED and nodes > room:
                return 0, nodes
            if -value > best:
                best = -value
                if best >= beta:
                    break
                alpha = max(alpha, best)
        return sign * best, nodes

    return last_few


last_three = one_more(3, last_two, by_parity)
last_four = one_more(4, last_three, by_parity)
last_five = one_more(5, last_four, by_parity)
last_six = one_more(6, last_five, by_replies)
last_seven = one_more(7, last_six, by_replies)
last_eight = one_more(8, last_seven, by_replies)
last_nine = one_more(9, last_eight, by_replies)


@compiled
def endgame(position, alpha, beta, nodes):
    """Solve the last empty squares within a number of nodes, with code that lists no moves.

    Where that number is passed, it stops within 50 nodes, and the position is not solved.
    """
    left = empties(position)
    if left > LAST or nodes == 0:
        return False, 0, 0
    mine, theirs, area = position.mine, position.theirs, position.AREA
    free = position.BOARD & ~(mine | theirs)
    if left == 9:
        value, taken = last_nine(mine, theirs, free, area, alpha, beta, nodes)
    elif left == 8:
        value, taken = last_eight(mine, theirs, free, area, alpha, beta, nodes)
    elif left == 7:
        value, taken = last_seven(mine, theirs, free, area, alpha, beta, nodes)
    elif left == 6:
        value, taken = last_six(mine, theirs, free, area, alpha, beta, nodes)
    elif left == 5:
        value, taken = last_five(mine, theirs, free, area, alpha, beta, nodes)
    elif left == 4:
        value, taken = last_four(mine, theirs, free, area, alpha, beta, nodes)
    elif left == 3:
        value, taken = last_three(mine, theirs, free, area, alpha, beta, nodes)
    elif left == 2:
        value, taken = last_two(mine, theirs, free, area, alpha, beta, nodes)
    elif left == 1:
        value, taken = last_one(mine, theirs, free, area, alpha), 1
    else:
        value, taken = final_value(position), 1
    return taken <= nodes, value, taken
