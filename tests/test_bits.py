"""Each operation on words gives the same result in Python and in compiled code."""

from itertools import combinations

import numba
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cutnode.contract import bits
from cutnode.contract.bits import (
    WORD,
    Bits,
    high_product,
    highest_index,
    lowest,
    lowest_index,
    mix,
    nth_index,
    popcount,
    prefetch,
    product,
    without_lowest,
)

TOP = 1 << 63

words = st.integers(0, WORD) | st.builds(lambda bit: 1 << bit, st.integers(0, 63))

UNARY = (Bits, popcount, lowest, without_lowest, lowest_index, highest_index, mix)
BINARY = (product, high_product)


@pytest.fixture(scope="module")
def kernels():
    def kernel(function):
        return numba.njit(lambda *words: function(*words))

    return {function: kernel(function) for function in UNARY + BINARY}


@pytest.mark.parametrize("function", UNARY, ids=lambda function: function.__name__)
@given(word=words)
@example(word=0)
@example(word=1)
@example(word=TOP)
@example(word=TOP - 1)
@example(word=WORD)
def test_unary(kernels, function, word):
    answer = function(Bits(word))
    least = -1 if function is highest_index else 0
    assert least <= answer <= WORD
    assert kernels[function](Bits(word)) == answer


@pytest.mark.parametrize("function", BINARY, ids=lambda function: function.__name__)
@given(a=words, b=words)
@example(a=0, b=WORD)
@example(a=TOP, b=2)
@example(a=TOP, b=TOP)
@example(a=WORD, b=WORD)
def test_binary(kernels, function, a, b):
    answer = function(Bits(a), Bits(b))
    assert 0 <= answer <= WORD
    assert kernels[function](Bits(a), Bits(b)) == answer


@given(word=words)
@example(word=0)
def test_lowest_bit_in_other_words(word):
    digits = f"{word:b}"[::-1]
    index = digits.find("1") if word else 64
    assert lowest_index(word) == index
    assert highest_index(word) == digits.rfind("1")
    assert lowest(word) == (1 << index) % (WORD + 1)
    assert lowest(word) | without_lowest(word) == word
    assert lowest(word) & without_lowest(word) == 0
    assert popcount(word) == digits.count("1")


@pytest.mark.parametrize("deposits", [True, False])
def test_nth_index_with_and_without_the_instruction_for_it(monkeypatch, deposits):
    can = bits._deposits
    monkeypatch.setattr(bits, "_deposits", lambda context: deposits and can(context))
    compiled = numba.njit(lambda word, number: nth_index(word, number))
    for word in (1, TOP, WORD, TOP | 6, mix(7), mix(8) & mix(9)):
        places = [index for index in range(64) if word >> index & 1]
        assert [nth_index(Bits(word), n) for n in range(len(places))] == places
        assert [compiled(Bits(word), n) for n in range(len(places))] == places


@given(a=words, b=words)
def test_products_are_the_halves_of_one_product(a, b):
    assert (high_product(a, b) << 64) + product(a, b) == a * b


@given(word=words, size=st.integers(1, 1 << 40))
def test_high_product_maps_onto_a_range(word, size):
    assert 0 <= high_product(word, size) < size
    assert high_product(0, size) == 0
    assert high_product(WORD, size) == size - 1


def test_mix_is_the_finisher_of_splitmix64():
    assert mix(0x9E3779B97F4A7C15) == 0xE220A8397B1DCDAF


def test_mix_keeps_distinct_words_distinct():
    sparse = {1 << a | 1 << b for a, b in combinations(range(64), 2)}
    sample = {*range(1 << 14), *sparse, *(word ^ WORD for word in sparse)}
    assert len({mix(word) for word in sample}) == len(sample)


def test_bits_is_an_int_to_python():
    assert isinstance(Bits(TOP), int)
    assert Bits(TOP) == TOP
    assert hash(Bits(5)) == hash(5)


def test_bits_are_unsigned_in_compiled_code():
    @numba.njit
    def halved(word):
        return word >> Bits(1)

    @numba.njit
    def from_number(number):
        return Bits(number) >> Bits(1)

    assert halved(Bits(WORD)) == WORD >> 1
    assert halved(Bits(TOP)) == 1 << 62
    assert from_number(6) == 3
    assert from_number(True) == 0


def test_prefetch_changes_nothing_and_never_fails():
    @numba.njit
    def fetch(array, index):
        prefetch(array, index)

    array = np.arange(16, dtype=np.uint64)
    for index in (0, 15, 1 << 40):
        prefetch(array, index)
        fetch(array, index)
    assert array.tolist() == list(range(16))


@pytest.mark.parametrize("function", [popcount, lowest_index, highest_index, mix])
@pytest.mark.parametrize("wrong", [1.5, float("inf"), "12", None])
def test_words_are_whole_numbers(function, wrong):
    with pytest.raises(TypeError):
        function(wrong)


def test_a_negative_number_has_the_bits_of_its_word():
    assert popcount(-1) == 64
    assert mix(-1) == mix(WORD)
    assert popcount(1 << 80) == 1
