"""Gobblet Gobblers: tic-tac-toe with men that cover smaller ones, a game with cycles.

Rules: a player places a man from the hand, or moves an uncovered one, to another cell that is empty
or has only smaller men.  Three uncovered men in a row win.  If lifting a man uncovers a row of the
opponent, the opponent wins unless the man comes down on that row; so if a move leaves rows of both
players, the opponent's row counts.  Values: 1 a win, -1 a loss.

A variant is a player's number of men of each size, smallest first; the commercial game is
``2-2-2``.  There is always a move: nothing covers the largest men, and they do not fill the board.

Each size has a board of nine bits, seen by the mover, row by row from the top left; the smallest
men are in the lowest bits: a man of size 1 on one of size 0, in the centre, is
``000010000 000010000``.  A move is 32 times the man's cell (9 plus its size, if it is in the hand)
plus its destination.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from cutnode import Bits, PositionError, compiled, lowest_index, popcount, quoted, without_lowest
from cutnode.cells import Grid, variants
from toys.quixo import from_cells as cubes
from toys.quixo import reversible
from toys.teeko import canonical_move, cell, key, original_move, position_of, write

__all__ = ["canonical_move", "cell", "key", "original_move", "position_of", "reversible"]

DECISIVE = True
VALUE_LIMIT = 1
MAX_MOVES = 96
MAX_PLIES = 1000

HAND, BOARD = 9, Bits(0o777)
LINES = tuple(map(Bits, (0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o124, 0o421)))
EACH_BOARD = Bits(sum(1 << start + 9 * size for start in (0, 32) for size in range(3)))
FLIPS = (1, 0o007, 6), (2, 0o111, 2), (4, 0o042, 2), (4, 0o004, 4)
"""The symmetries, as in quixo: masks of cells to exchange with the cells a distance further on."""


class Men(NamedTuple):
    """A position: the mover's men and the opponent's men."""

    mine: Bits = Bits(0)
    theirs: Bits = Bits(0)

    SIZE = STRIDE = 3


@compiled
def of_size(men, size):
    return (men >> Bits(9 * size)) & BOARD


@compiled
def moves(position, buffer, at):
    """Write the moves, largest men first: they block smaller men on and from their cells."""
    closed = Bits(0)
    for size in position.LARGEST_FIRST:
        mine = of_size(position.mine, size)
        left, closed = mine & ~closed, closed | mine | of_size(position.theirs, size)
        if popcount(mine) < position.MEN[size]:
            at = write(HAND + size, BOARD & ~closed, buffer, at)
        while left:
            at = write(lowest_index(left), BOARD & ~closed, buffer, at)
            left = without_lowest(left)
    return at


@compiled
def play(position, move):
    source, target = move >> 5, move & 31
    size, lifted = source - HAND, Bits(0)
    if source < HAND:
        size = position.LARGEST_FIRST[0]
        while not (position.mine >> Bits(9 * size + source)) & Bits(1):
            size -= 1
        lifted = Bits(1) << Bits(9 * size + source)
    mine = (position.mine ^ lifted) | (Bits(1) << Bits(9 * size + target))
    return position._replace(mine=position.theirs, theirs=mine)


@compiled
def has_line(position, men):
    """Return whether a player has three uncovered men in a row."""
    seen, covered = Bits(0), Bits(0)
    for size in position.LARGEST_FIRST:
        seen |= of_size(men, size) & ~covered
        covered |= of_size(position.mine | position.theirs, size)
    for line in LINES:
        if seen & line == line:
            return True
    return False


@compiled
def outcome(position):
    if has_line(position, position.mine):
        return True, 1
    return (True, -1) if has_line(position, position.theirs) else (False, 0)


@compiled
def canonical(position):
    """Return the least of the symmetric images."""
    least, chosen = key(position), 0
    for symmetry in range(1, 8):
        word = key(position)
        for flip, places, step in FLIPS:
            if symmetry & flip:
                change = (word ^ (word >> Bits(step))) & (Bits(places) * EACH_BOARD)
                word ^= change ^ (change << Bits(step))
        if word < least:
            least, chosen = word, symmetry
    return least, chosen


def men(variant: str) -> tuple[int, ...]:
    if not re.fullmatch("[1-4](-[1-4]){0,2}", variant):
        raise PositionError(f"{quoted(variant)} is not 1 to 4 men for each of 1 to 3 sizes: 2-2-2")
    return tuple(map(int, variant.split("-")))


@variants(Men, usual="2-1", read=men)
def board(*men: int) -> dict[str, Any]:
    return {
        "MEN": men,
        "LARGEST_FIRST": tuple(range(len(men)))[::-1],
        "VARIANT": "-".join(map(str, men)),
        "CELLS": Grid(3 * len(men), 3, contents={".": "empty", "x": "mover", "o": "other"}),
    }


Position = board(2, 1)


def from_cells(contents: list[int], mover: str, start: Any) -> Men:
    """Make a position from the boards of all sizes, one below the other."""
    men: Men = cubes(contents, mover, start)
    for size, most in enumerate(start.MEN):
        if max(popcount(of_size(men.mine, size)), popcount(of_size(men.theirs, size))) > most:
            raise PositionError(f"a player has more than {most} men of size {size}")
    return men
