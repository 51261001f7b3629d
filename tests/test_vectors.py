"""Vectors of small numbers: the same compiled and in plain Python."""

import numpy as np
import pytest
from numba import njit

from cutnode import GameError
from cutnode.contract.vectors import Vectors, clip, dot

NUMBERS = np.random.default_rng(1).integers(-300, 300, (5, 32))
VECTORS = Vectors("test.vectors", NUMBERS)


def reckoned(first, second):
    vector = clip(VECTORS[first] + VECTORS[second] - VECTORS[4], 255)
    return dot(vector * VECTORS[3], vector)


def test_compiled_rows_are_what_they_are_in_plain_python():
    compiled = njit(reckoned)
    for first in range(5):
        for second in range(5):
            vector = np.clip(NUMBERS[first] + NUMBERS[second] - NUMBERS[4], 0, 255)
            product = (vector * NUMBERS[3]).astype(np.int16).astype(int)
            expected = int((product * vector).sum())
            assert reckoned(first, second) == expected
            assert compiled(first, second) == expected
    assert len(VECTORS) == 5


def test_invalid_tables_of_small_numbers():
    for array in (
        np.zeros(4, int),
        np.zeros((2, 2)),
        np.full((2, 2), 40000),
        np.zeros((0, 4), int),
    ):
        with pytest.raises(GameError, match="the vectors bad"):
            Vectors("bad", array)
