"""Ranks of sets of squares, from which a game builds the ``index`` of a position.

The sets of three out of nine free squares have the ranks 0 to 83 (combinatorial number system).
Each piece counts as the number of free squares below it: if these numbers are ``a < b < c``, the
rank is ``C(a, 1) + C(b, 2) + C(c, 3)``.  An example, in which # is not free::

    squares    0  1  2  3  4  5  6  7  8  9 10 11
    free       0  #  1  2  #  3  4  5  #  6  7  8
    pieces              x        x        x     2, 4 and 6: C(2, 1) + C(4, 2) + C(6, 3) = 28

Here and below *free* and *pieces* are bitboards, and pieces stand on free squares.
"""

from __future__ import annotations

import math

from cutnode.contract.bits import Bits, lowest, popcount, without_lowest
from cutnode.contract.constants import Constant
from cutnode.contract.native import usable_in_compiled_code

MOST = 12
"""The size of the largest set."""

_BINOMIALS = Constant(
    "binomials", [math.comb(n, count) for count in range(MOST + 1) for n in range(64)]
)
"""The binomial coefficients, 64 for each size of a set."""


@usable_in_compiled_code
def binomial(squares: int, count: int) -> int:
    """Return how many sets of *count* (0 to ``MOST``) of *squares* (0 to 63) there are."""
    return _BINOMIALS[64 * count + squares]  # type: ignore[no-any-return]


@usable_in_compiled_code
def rank_of(pieces: int, free: int) -> int:
    """Return the rank of a set of free squares among all sets of the same size."""
    rank, row = 0, 0
    while pieces:
        row += 64
        rank += _BINOMIALS[row + popcount(free & (lowest(pieces) - Bits(1)))]
        pieces = without_lowest(pieces)
    return rank


@usable_in_compiled_code
def set_of_rank(rank: int, count: int, free: int) -> int:
    """Return the set of *count* free squares that has a rank."""
    pieces: int = Bits(0)
    for row in range(64 * count, 0, -64):
        square = 0  # the last square for which the sets below it are no more than the rank
        for power in range(5, -1, -1):
            further = square + (1 << power)
            if _BINOMIALS[row + _below(free, further)] <= rank:
                square = further
        pieces |= Bits(1) << Bits(square)
        rank -= _BINOMIALS[row + _below(free, square)]
    return pieces


@usable_in_compiled_code
def _below(free: int, square: int) -> int:
    """Return the number of free squares below a square."""
    return popcount(free & ((Bits(1) << Bits(square)) - Bits(1)))
