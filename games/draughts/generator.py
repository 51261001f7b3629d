"""Moves of draughts: steps, and the paths of jumps by which pieces capture.

The number of a step is four times its first square plus its direction.  Captures are numbered
from ``CAPTURES`` on, by their paths.  Their number is limited, whatever stands on the board, as no
piece can be taken twice: there are 1436 on the board of 8x8, 108 of them for men.
"""

from __future__ import annotations

import numpy as np

from cutnode import Bits, compiled, lowest, lowest_index, without_lowest
from cutnode.contract.bits import bytes_reversed
from cutnode.contract.constants import Constant

__all__ = [
    "CAPTURES",
    "CHANGE",
    "FIRST",
    "GROUPS",
    "NEXT",
    "ROWS_OF_MEN",
    "TAKEN",
    "can_capture",
    "capturers",
    "down",
    "empty_squares",
    "end_of_step",
    "opponents",
    "rows_of",
    "turned",
    "up",
    "write_captures",
    "write_steps",
]

UP_RIGHT, UP_LEFT, DOWN_RIGHT, DOWN_LEFT = range(4)
"""Directions; the opposite of n is 3 - n."""

CAPTURES = 4 * 36
"""The number of the first path of jumps; lower numbers are steps."""

ROWS_OF_MEN = {8: 3, 6: 2, 4: 1}
"""The boards, and how many rows of men each player has at first."""


def rows_of(width: int, *numbers: int) -> Bits:
    """Return the squares of some rows of a board, counted from 0 at the mover."""
    half = width // 2
    return Bits(sum(((1 << half) - 1) << half * row + row // 2 for row in numbers))


# Sets of squares


@compiled
def turned(position, squares):
    """Return the squares as the other player sees them: the bits in reverse order."""
    odd = Bits(0x5555555555555555)
    squares = ((squares >> Bits(1)) & odd) | ((squares & odd) << Bits(1))
    odd = Bits(0x3333333333333333)
    squares = ((squares >> Bits(2)) & odd) | ((squares & odd) << Bits(2))
    odd = Bits(0x0F0F0F0F0F0F0F0F)
    squares = ((squares >> Bits(4)) & odd) | ((squares & odd) << Bits(4))
    return bytes_reversed(squares) >> Bits(63 - position.LAST)


@compiled
def opponents(position):
    """Return all of the other's pieces as the mover sees them."""
    return turned(position, position.their_men | position.their_kings)


@compiled
def empty_squares(position, theirs):
    """Return the squares without a piece, of the mover's or of *theirs*."""
    return position.BOARD & ~(position.men | position.kings | theirs)


@compiled
def up(position, squares):
    """Return the squares to which a step up from some squares leads."""
    return (squares << position.RIGHT) | (squares << position.LEFT)


@compiled
def down(position, squares):
    return (squares >> position.RIGHT) | (squares >> position.LEFT)


@compiled
def capturers(position, theirs, empty):
    """Return the mover's pieces that can capture one of *theirs*."""
    right, left = position.RIGHT, position.LEFT
    forward = (((empty >> right) & theirs) >> right) | (((empty >> left) & theirs) >> left)
    backward = (((empty << right) & theirs) << right) | (((empty << left) & theirs) << left)
    return ((position.men | position.kings) & forward) | (position.kings & backward)


@compiled
def can_capture(position):
    theirs = opponents(position)
    return capturers(position, theirs, empty_squares(position, theirs)) != Bits(0)


# Steps


@compiled
def end_of_step(position, move):
    """Return the square where a step ends."""
    direction, right = move & 3, position.HALF
    return (move >> 2) + (right + direction if direction < 2 else direction - 3 - right)


@compiled
def write_steps(position, pieces, empty, buffer, at):
    """Write the steps of the mover's *pieces* to empty squares: all up, then kings down."""
    right, left, kings = position.RIGHT, position.LEFT, position.kings & pieces
    at = write(pieces & (empty >> right), UP_RIGHT, buffer, at)
    at = write(pieces & (empty >> left), UP_LEFT, buffer, at)
    if kings:
        at = write(kings & (empty << left), DOWN_RIGHT, buffer, at)
        at = write(kings & (empty << right), DOWN_LEFT, buffer, at)
    return at


@compiled
def write(squares, direction, buffer, at):
    while squares:
        buffer[at] = 4 * lowest_index(squares) + direction
        squares = without_lowest(squares)
        at += 1
    return at


# Captures


@compiled
def write_captures(position, pieces, empty, buffer, at):
    """Write the captures of *pieces*, which can all capture, by complete paths."""
    while pieces:
        source = lowest(pieces)
        pieces ^= source
        group = position.GROUPS + lowest_index(source)
        if position.kings & source:
            group += position.LAST + 1
        at = write_paths(position, source, group, empty | source, buffer, at)
    return at


@compiled
def write_paths(position, source, group, empty, buffer, at):
    """Write the complete paths of a group, of which there is at least one.

    The paths that continue a path follow it.  They are skipped if it is not possible; if it is
    possible and none of them is, it is complete.
    """
    theirs = position.their_men | position.their_kings
    path, end = FIRST[group], FIRST[group + 1]
    possible, after = 0, 0
    while path < end:
        to = CHANGE[path] ^ source
        if to & ~empty or TAKEN[path] & ~theirs:
            path = NEXT[path]
            continue
        if path >= after > 0:
            buffer[at] = CAPTURES + possible
            at += 1
        possible, after = path, NEXT[path]
        path += 1
    buffer[at] = CAPTURES + possible
    return at + 1


def _paths() -> tuple[dict[int, int], list[list[int]]]:
    """Return all paths of jumps on the boards, with nothing in their way.

    They are grouped: for each board the paths of a man on each square, then a king's.
    Within a group the paths that continue a path follow it (preorder).
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
        board, right = rows_of(width, *range(width)), width // 2
        for steps in ((right, right + 1), (right, right + 1, -right - 1, -right)):
            for square in range(board.bit_length()):
                first.append(len(taken))
                if board >> square & 1:
                    extend(board, square, square, 0, steps)
    first.append(len(taken))
    return groups, tables


GROUPS, _TABLES = _paths()
"""The first group of each board."""

CHANGE = Constant("draughts.change", np.array(_TABLES[0], np.uint64))
"""The first and the last square of each path; none if it ends where it began."""

TAKEN = Constant("draughts.taken", np.array(_TABLES[1], np.uint64))
"""The pieces that a path takes, as their owner sees them."""

NEXT = Constant("draughts.next", np.array(_TABLES[2], np.int16))
"""The number of the next path that does not continue this one."""

FIRST = Constant("draughts.first", np.array(_TABLES[3], np.int16))
"""The first path of each group."""
