"""Rows of small numbers: compiled and in plain Python alike."""

import numpy as np
import pytest
from numba import njit

from engine import GameError
from engine.contract.vectors import Rows, clipped, dot

NUMBERS = np.random.default_rng(1).integers(-300, 300, (5, 32))
ROWS = Rows("test.rows", NUMBERS)


def reckoned(first, second):
    row = clipped(ROWS[first] + ROWS[second] - ROWS[4], 255)
    return dot(row * ROWS[3], row)


def test_compiled_rows_are_what_they_are_in_plain_python():
    compiled = njit(reckoned)
    for first in range(5):
        for second in range(5):
            row = np.clip(NUMBERS[first] + NUMBERS[second] - NUMBERS[4], 0, 255)
            product = (row * NUMBERS[3]).astype(np.int16).astype(int)
            expected = int((product * row).sum())
            assert reckoned(first, second) == expected
            assert compiled(first, second) == expected
    assert len(ROWS) == 5


def test_what_is_no_table_of_small_numbers_is_an_error():
    for array in (
        np.zeros(4, int),
        np.zeros((2, 2)),
        np.full((2, 2), 40000),
        np.zeros((0, 4), int),
    ):
        with pytest.raises(GameError, match="the rows bad"):
            Rows("bad", array)
