"""Ranks of sets of squares, compared with all sets in order."""

from __future__ import annotations

from itertools import combinations
from math import comb

import pytest

from cutnode.contract.bits import popcount
from cutnode.contract.subsets import MOST, binomial, rank_of, set_of_rank


@pytest.mark.parametrize("free", [0b11111111, 0b1011010011101001, 0b111 << 61 | 0b10001])
@pytest.mark.parametrize("count", range(5))
def test_ranks_follow_the_sets_as_numbers(free, count):
    squares = [1 << bit for bit in range(64) if free >> bit & 1]
    sets = sorted(sum(chosen) for chosen in combinations(squares, count))
    assert len(sets) == binomial(popcount(free), count)
    assert [rank_of(pieces, free) for pieces in sets] == list(range(len(sets)))
    assert [set_of_rank(rank, count, free) for rank in range(len(sets))] == sets


def test_large_sets():
    last = comb(63, MOST) - 1
    pieces = set_of_rank(last, MOST, (1 << 63) - 1)
    assert pieces == ((1 << MOST) - 1) << 63 - MOST
    assert rank_of(pieces, (1 << 63) - 1) == last
