"""Four words at once: the same in plain Python and compiled, and as word by word."""

from __future__ import annotations

import operator

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.bits import WORD
from engine.lanes import Lanes, common, highest_in, load_lanes, nonzero_in, spread, union

words = st.lists(st.integers(0, WORD), min_size=4, max_size=4)

OPERATORS = {
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "add": operator.add,
    "sub": operator.sub,
}


@numba.njit
def compiled_results(first, second, steps):
    a, b = load_lanes(first, 0), load_lanes(second, 0)
    s = load_lanes(steps, 0)
    return (
        (union(a & b), union(a | b), union(a ^ b), union(a + b), union(a - b)),
        (union(a << s), union(a >> s), union(~a), common(a | b)),
        (union(nonzero_in(a)), union(highest_in(a)), union(spread(first[0]) & b)),
    )


def results(a, b, s):
    a, b, s = Lanes(*a), Lanes(*b), Lanes(*s)
    return (
        (union(a & b), union(a | b), union(a ^ b), union(a + b), union(a - b)),
        (union(a << s), union(a >> s), union(~a), common(a | b)),
        (union(nonzero_in(a)), union(highest_in(a)), union(spread(a[0]) & b)),
    )


@given(words, words, st.lists(st.integers(0, 63), min_size=4, max_size=4))
def test_compiled_and_plain_agree(a, b, steps):
    arrays = (np.array(each, np.uint64) for each in (a, b, steps))
    assert compiled_results(*arrays) == results(a, b, steps)


@pytest.mark.parametrize("name", OPERATORS)
@given(words, words)
def test_each_word_for_itself(name, a, b):
    operation = OPERATORS[name]
    expected = tuple(operation(x, y) & WORD for x, y in zip(a, b, strict=True))
    assert operation(Lanes(*a), Lanes(*b)) == expected


@given(words)
def test_highest(a):
    assert highest_in(Lanes(*a)) == tuple(1 << w.bit_length() - 1 if w else 0 for w in a)
    assert nonzero_in(Lanes(*a)) == tuple(int(w > 0) for w in a)
