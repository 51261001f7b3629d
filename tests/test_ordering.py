"""Ranked moves: words that sort in the order in which the moves are searched."""

from __future__ import annotations

import numpy as np
import pytest

from cutnode.kernels.ordering import (
    FIRST,
    bring_best,
    defer,
    deferred_place,
    is_deferred,
    rank,
    ranked_again,
    ranked_move,
    ranked_number,
    sort_down,
)

pytestmark = pytest.mark.once


@pytest.mark.parametrize("score", [-1_000_000, -1, 0, 1, 1_000_000, FIRST])
@pytest.mark.parametrize("move", [0, 65534])
@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("number", [0, 65535])
def test_ranked_words(score, move, again, number):
    ranked = rank(score, move, again, number)
    assert 0 <= ranked < 1 << 63
    assert (ranked_move(ranked), ranked_again(ranked), ranked_number(ranked)) == (
        move,
        again,
        number,
    )
    assert rank(score - 1, 65534, True, 0) < ranked
    assert number == 65535 or rank(score, 65534, True, number + 1) < ranked


def test_deferred_words():
    least = rank(-(1 << 28), 65534, False, 65535)
    words = [defer(rank(score, 9, True, 3), place) for score, place in ((8, 0), (9, 1), (7, 65535))]
    assert [deferred_place(word) for word in words] == [0, 1, 65535]
    assert not is_deferred(least) and all(map(is_deferred, words))
    assert least > words[0] > words[1] > words[2] >= 0
    assert {(ranked_move(word), ranked_again(word), ranked_number(word)) for word in words} == {
        (9, True, 3)
    }


@pytest.mark.parametrize("count", [0, 1, 2, 30])
def test_sorted_part(count):
    words = np.random.default_rng(count).integers(0, 1 << 62, count + 4)
    before = words.copy()
    sort_down(words, 2, 2 + count)
    assert words[2:-2].tolist() == sorted(before[2:-2].tolist(), reverse=True)
    assert words[[0, 1, -2, -1]].tolist() == before[[0, 1, -2, -1]].tolist()


@pytest.mark.parametrize("count", [1, 2, 30])
def test_best_first(count):
    words = np.random.default_rng(count).integers(0, 1 << 62, count + 4)
    before = words.copy()
    best = [bring_best(words, at, 2 + count) for at in range(2, 2 + count)]
    assert best == words[2:-2].tolist() == sorted(before[2:-2].tolist(), reverse=True)
    assert words[[0, 1, -2, -1]].tolist() == before[[0, 1, -2, -1]].tolist()
