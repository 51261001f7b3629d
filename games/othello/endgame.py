"""What is known of the end of a game of Othello: stable discs, the last moves, an order.

Sources: stable discs bound the value, and moves that leave the other few replies come first
(fastest first), both as in programs since M. Buro's Logistello; odd regions first, D. Parker.
"""

from __future__ import annotations

from engine import NO_MOVE, Bits, compiled, lowest_index, popcount, without_lowest
from engine.lanes import Lanes, common, spread
from games.othello.discs import (
    ALL,
    PASS,
    STEP,
    empties,
    final_value,
    flipped,
    mobility,
    reach,
)

__all__ = ["bounds", "candidates", "endgame", "forced", "order", "stable"]

LAST = 4
"""With so many empty squares or fewer, :func:`endgame` solves a position."""

A, H = Bits(0x0101010101010101), Bits(0x8080808080808080)
ROWS = Bits(0xFF000000000000FF)
NOT_A, NOT_H = ALL ^ A, ALL ^ H
BORDER = A | H | ROWS

EDGES = Lanes(A | H, BORDER, ROWS, BORDER)
"""Where a line of each direction ends: nothing can turn a disc there over along the line."""


def runs(sense: int) -> tuple[Lanes, Lanes, Lanes]:
    """The squares with 1, 2 and 4 squares before them in each direction, on the frame."""
    before = []
    for across, along in ((1, 0), (-1, 1), (0, 1), (1, 1)):
        for count in (1, 2, 4):
            squares = 0
            for square in range(64):
                column = square % 8 - sense * count * across
                row = square // 8 - sense * count * along
                squares |= (0 <= column < 8 and 0 <= row < 8) << square
            before.append(squares)
    first, second, third = (Lanes(*before[n::3]) for n in range(3))
    return first, second, third


UP_1, UP_2, UP_4 = runs(1)
DOWN_1, DOWN_2, DOWN_4 = runs(-1)
STEP_2 = Lanes(*(2 * step for step in STEP))
STEP_4 = Lanes(*(4 * step for step in STEP))

QUADRANTS = tuple(Bits(0x0F0F0F0F << shift) for shift in (0, 4, 32, 36))


@compiled
def full_lines(discs):
    """For each direction the squares on lines without an empty square."""
    holes = ~spread(discs)
    run = holes | ((holes << STEP) & UP_1)
    run |= (run << STEP_2) & UP_2
    run |= (run << STEP_4) & UP_4
    holes |= (holes >> STEP) & DOWN_1
    holes |= (holes >> STEP_2) & DOWN_2
    holes |= (holes >> STEP_4) & DOWN_4
    return ~(run | holes)


@compiled
def stable(discs, others):
    """Discs that can surely never be turned over.

    In each direction the line is full, or ends at the disc, or the next one is stable.
    """
    safe = full_lines(discs | others) | EDGES
    found = discs & common(safe)
    if found == Bits(0):
        return found
    while True:
        beside = spread(found)
        more = discs & common(safe | (beside << STEP) | (beside >> STEP))
        if more == found:
            return found
        found = more


@compiled
def bounds(position, alpha, beta):
    """The end of the game, and what stable discs leave to win."""
    left = empties(position)
    lower, upper = -position.AREA, position.AREA
    if left > LAST and mobility(position) == Bits(0):
        if reach(position.theirs, position.mine) & position.BOARD == Bits(0):
            value = final_value(position)
            return value, value
    if alpha >= 2 * left:
        upper = position.AREA - 2 * popcount(stable(position.theirs, position.mine))
    return lower, upper


@compiled
def forced(position):
    return PASS if mobility(position) == Bits(0) else NO_MOVE


@compiled
def odd_squares(free):
    """The squares of *free* in quadrants with an odd number of them."""
    odd = Bits(0)
    for quadrant in QUADRANTS:
        if popcount(free & quadrant) & 1:
            odd |= quadrant
    return free & odd


@compiled
def candidates(position, buffer, at):
    """Moves into odd regions first: who moves last in a region gains by it."""
    squares = mobility(position)
    odd = squares & odd_squares(position.BOARD & ~(position.mine | position.theirs))
    squares ^= odd
    while odd:
        buffer[at] = lowest_index(odd)
        odd = without_lowest(odd)
        at += 1
    while squares:
        buffer[at] = lowest_index(squares)
        squares = without_lowest(squares)
        at += 1
    return at


CORNERS = Bits(0x8100000000000081)


@compiled
def order(position, move, child):
    """Few replies first, those into corners counted twice; then odd regions."""
    replies = mobility(child)
    score = -8 * (popcount(replies) + popcount(replies & CORNERS))
    free = position.BOARD & ~(position.mine | position.theirs)
    if (odd_squares(free) >> Bits(move)) & Bits(1):
        score += 4
    if (CORNERS >> Bits(move)) & Bits(1):
        score += 8
    return score


# The last moves


@compiled
def endgame(position, alpha, beta):
    """The last four empty squares, by code that needs no list of moves."""
    left = empties(position)
    if left > LAST:
        return False, 0, 0
    mine, theirs, area = position.mine, position.theirs, position.AREA
    free = position.BOARD & ~(mine | theirs)
    if left < 3:
        if left == 2:
            value, nodes = last_two(mine, theirs, free, area, alpha, beta)
        elif left == 1:
            value, nodes = last_one(mine, theirs, free, area), 1
        else:
            value, nodes = final_value(position), 1
    elif left == 3:
        value, nodes = last_three(mine, theirs, free, area, alpha, beta)
    else:
        value, nodes = last_four(mine, theirs, free, area, alpha, beta)
    return True, value, nodes


NOTHING = -65
"""Less than every value."""


@compiled
def at_the_end(mine, theirs, area):
    """The value when nobody can move, as ``final_value``."""
    own, other = popcount(mine), popcount(theirs)
    if own > other:
        return area - 2 * other
    return 2 * own - area if own < other else 0


@compiled
def last_one(mine, theirs, free, area):
    """The value with one empty square."""
    square = lowest_index(free)
    turned = flipped(mine, theirs, square)
    if turned:
        return 2 * popcount(mine) + 2 * popcount(turned) + 2 - area
    turned = flipped(theirs, mine, square)
    if turned:
        return 2 * popcount(mine) - 2 * popcount(turned) - area
    return at_the_end(mine, theirs, area)


@compiled
def try_two(mine, theirs, free, area, beta):
    """The best of the mover's moves on two empty squares, ``NOTHING`` without one; nodes."""
    best, nodes = NOTHING, 0
    first = lowest_index(free)
    other = without_lowest(free)
    turned = flipped(mine, theirs, first)
    if turned:
        nodes += 1
        best = -last_one(theirs ^ turned, mine | turned | (free ^ other), other, area)
        if best >= beta:
            return best, nodes
    turned = flipped(mine, theirs, lowest_index(other))
    if turned:
        nodes += 1
        best = max(best, -last_one(theirs ^ turned, mine | turned | other, free ^ other, area))
    return best, nodes


@compiled(inline=False)
def last_two(mine, theirs, free, area, alpha, beta):
    """The value with two empty squares, and the nodes."""
    value, nodes = try_two(mine, theirs, free, area, beta)
    if value == NOTHING:
        value, nodes = try_two(theirs, mine, free, area, -alpha)
        value = -value
        if value == -NOTHING:
            value = at_the_end(mine, theirs, area)
    return value, nodes + 1


@compiled
def try_three(mine, theirs, free, area, alpha, beta):
    """As :func:`try_two`."""
    best, nodes = NOTHING, 0
    odd = odd_squares(free)
    squares = odd
    for _ in range(2):
        while squares:
            square = lowest_index(squares)
            rest = without_lowest(squares)
            bit = squares ^ rest
            squares = rest
            turned = flipped(mine, theirs, square)
            if turned:
                value, more = last_two(
                    theirs ^ turned, mine | turned | bit, free ^ bit, area, -beta, -alpha
                )
                nodes += more
                if -value > best:
                    best = -value
                    if best >= beta:
                        return best, nodes
                    alpha = max(alpha, best)
        squares = free ^ odd
    return best, nodes


@compiled(inline=False)
def last_three(mine, theirs, free, area, alpha, beta):
    """The value with three empty squares, and the nodes."""
    value, nodes = try_three(mine, theirs, free, area, alpha, beta)
    if value == NOTHING:
        value, nodes = try_three(theirs, mine, free, area, -beta, -alpha)
        value = -value
        if value == -NOTHING:
            value = at_the_end(mine, theirs, area)
    return value, nodes + 1


@compiled
def try_four(mine, theirs, free, area, alpha, beta):
    """As :func:`try_two`."""
    best, nodes = NOTHING, 0
    odd = odd_squares(free)
    squares = odd
    for _ in range(2):
        while squares:
            square = lowest_index(squares)
            rest = without_lowest(squares)
            bit = squares ^ rest
            squares = rest
            turned = flipped(mine, theirs, square)
            if turned:
                value, more = last_three(
                    theirs ^ turned, mine | turned | bit, free ^ bit, area, -beta, -alpha
                )
                nodes += more
                if -value > best:
                    best = -value
                    if best >= beta:
                        return best, nodes
                    alpha = max(alpha, best)
        squares = free ^ odd
    return best, nodes


@compiled(inline=False)
def last_four(mine, theirs, free, area, alpha, beta):
    """The value with four empty squares, and the nodes."""
    value, nodes = try_four(mine, theirs, free, area, alpha, beta)
    if value == NOTHING:
        value, nodes = try_four(theirs, mine, free, area, -beta, -alpha)
        value = -value
        if value == -NOTHING:
            value = at_the_end(mine, theirs, area)
    return value, nodes + 1
