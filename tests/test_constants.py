"""Constants: arrays that compiled code reads instead of containing them."""

import numpy as np
import pytest
from numba import njit

from cutnode import Bits, GameError
from cutnode.contract.constants import Constant
from cutnode.contract.simd import load_words, union

SMALL = Constant("test.small", np.array([-3, 5, 127], np.int8))
WORDS = Constant("test.words", np.arange(8, dtype=np.uint64) << np.uint64(61))
REAL = Constant("test.real", np.array([0.5, -2.0], np.float32))


@njit
def small(index):
    return SMALL[index]


@njit
def word(index):
    return WORDS[index]


@njit
def real(index):
    return REAL[index]


@njit
def both(index):
    return union(load_words(WORDS, index))


@pytest.mark.parametrize(
    "function, constant", [(small, SMALL), (word, WORDS), (real, REAL)], ids=["int", "word", "real"]
)
def test_compiled_code_and_python_read_alike(function, constant):
    for index in range(len(constant)):
        assert function(index) == function(np.uint64(index)) == constant[index]


def test_vectors_are_read():
    assert both(1) == union(load_words(WORDS, 1)) == Bits(7 << 61)


@pytest.mark.parametrize("array", [np.zeros((2, 2)), np.array(["a"])])
def test_constants_that_are_not_arrays_of_numbers(array):
    with pytest.raises(GameError, match="one-dimensional array"):
        Constant("test.wrong", array)
