"""Four words at once: the same in plain Python, compiled, and word by word."""

from __future__ import annotations

import operator

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutnode.contract.bits import WORD
from cutnode.contract.simd import (
    Words,
    broadcast,
    common,
    highest,
    load_words,
    nonzero,
    shorts_of,
    union,
    words_of,
)

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
    a, b = load_words(first, 0), load_words(second, 0)
    s = load_words(steps, 0)
    return (
        (words_of(a & b), words_of(a | b), words_of(a ^ b), words_of(a + b), words_of(a - b)),
        (words_of(a << s), words_of(a >> s), words_of(~a), union(a), common(a | b)),
        (words_of(nonzero(a)), words_of(highest(a)), words_of(broadcast(first[0]))),
        shorts_of(a),
    )


def results(a, b, s):
    a, b, s = Words(*a), Words(*b), Words(*s)
    return (
        (words_of(a & b), words_of(a | b), words_of(a ^ b), words_of(a + b), words_of(a - b)),
        (words_of(a << s), words_of(a >> s), words_of(~a), union(a), common(a | b)),
        (words_of(nonzero(a)), words_of(highest(a)), words_of(broadcast(a[0]))),
        shorts_of(a),
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
    assert operation(Words(*a), Words(*b)) == expected


@given(words)
def test_highest(a):
    assert highest(Words(*a)) == tuple(1 << w.bit_length() - 1 if w else 0 for w in a)
    assert nonzero(Words(*a)) == tuple(int(w > 0) for w in a)


@given(words)
def test_shorts(a):
    assert list(shorts_of(Words(*a))) == np.array(a, "<u8").view("<u2").tolist()
