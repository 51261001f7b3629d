"""Numbers at addresses: the same in plain Python and in compiled code."""

from __future__ import annotations

import numba
import numpy as np

from cutnode.contract.addresses import integer_at, short_at, sum_of_shorts, word_at

NUMBERS = np.arange(-500, 500, dtype=np.int16) * np.int16(61)
BEGINS = (0, 100, 100, 400)


@numba.njit
def compiled_sum(address, numbers):
    return sum_of_shorts(address, BEGINS, numbers)


def test_one_of_each_row_counts():
    numbers = (3, 0, 99, 599)
    expected = sum(
        int(NUMBERS[begin + number]) for begin, number in zip(BEGINS, numbers, strict=True)
    )
    assert sum_of_shorts(NUMBERS.ctypes.data, BEGINS, numbers) == expected
    assert compiled_sum(NUMBERS.ctypes.data, numbers) == expected


@numba.njit
def compiled_numbers(address):
    return word_at(address), integer_at(address), short_at(address)


def test_numbers_have_their_signs():
    memory = np.array([-2], np.int64)
    address = memory.ctypes.data
    expected = (2**64 - 2, -2, -2)
    assert (word_at(address), integer_at(address), short_at(address)) == expected
    assert compiled_numbers(address) == expected
