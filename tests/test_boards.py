"""Boards of several words: the same compiled and in plain Python."""

from __future__ import annotations

import functools
from random import Random

import numba
import pytest

from cutnode.contract.bits import WORD, Bits, lowest, lowest_index, popcount, without_lowest
from cutnode.contract.boards import (
    LongBits,
    board,
    constant,
    fields,
    narrow,
    random_cells,
    remade,
    reversed_bits,
    scratch,
    single,
    wide,
    word,
)
from cutnode.contract.positions import position_type

pytestmark = pytest.mark.once


@functools.cache
def stones(words):
    """A position with two boards that leave four bits of the last word unused."""
    base = fields("Stones", ("mine", "theirs"), words, second=bool)
    area = 64 * words - 4
    space = {"AREA": area, "SCRATCH": 3, "FULL": constant((1 << area) - 1, words)}
    return type(f"Stones{words}", (base,), {"__slots__": (), "__module__": __name__, **space})


def everything(position, index, count):
    """Return the results of everything that can be done with boards."""
    mine, theirs, full = board(position, 0), board(position, 1), position.FULL
    free = full & ~(mine | theirs)
    shifted = ((mine << Bits(count)) | (theirs >> Bits(count))) & full
    memory = scratch(position)
    memory[2] = mine ^ shifted
    memory[index % 2] = free
    memory[1 - index % 2] = lowest(theirs)
    total = narrow(wide(position, popcount(free))) + 1000 * lowest_index(mine)
    if mine:
        total += 10**6
    if mine == theirs or mine < theirs:
        total += 10**7
    if shifted != without_lowest(shifted):
        total += 10**8
    memory[2] |= single(position, index)
    found = remade(position, memory[2], reversed_bits(position, memory[0]), index % 2 == 0)
    return found, total, word(memory[1], index // 64)


@pytest.mark.parametrize("words", [1, 2, 3, 6])
def test_compiled_boards_are_what_they_are_in_plain_python(words):
    dice, cls = Random(words), stones(words)
    position_type(cls)
    compiled = numba.njit(everything)
    full = int(cls.FULL)
    for _ in range(200):
        mine = dice.getrandbits(cls.AREA) & dice.getrandbits(cls.AREA)
        theirs = dice.choice([dice.getrandbits(cls.AREA), 0, mine]) & full
        position = remade(cls(*[Bits(0)] * 2 * words, False), mine, theirs, dice.random() < 0.5)
        assert board(position, 0) == mine and board(position, 1) == theirs
        index, count = dice.randrange(cls.AREA), dice.randrange(64)
        found, total, part = everything(position, index, count)
        assert compiled(position, index, count) == (found, total, part)


def drawn_cells(position, count, random):
    """Return random cells of the first board."""
    mine, theirs = board(position, 0), board(position, 1)
    return remade(position, random_cells(position, mine, count, random), theirs, True)


@pytest.mark.parametrize("words", [1, 2, 3])
def test_random_cells(words):
    """Compiled code draws the same number of the same cells, and every cell about as often."""
    dice, cls = Random(words), stones(words)
    position_type(cls)
    compiled = numba.njit(drawn_cells)
    cells = dice.sample(range(cls.AREA), 24)
    position = remade(cls(*[Bits(0)] * 2 * words, False), sum(1 << c for c in cells), 0, False)
    for count in (0, 1, 12, 20, 24):
        times = dict.fromkeys(cells, 0)
        for _ in range(200):
            random = Bits(dice.getrandbits(64))
            found = drawn_cells(position, count, random)
            assert compiled(position, count, random) == found
            chosen = [cell for cell in range(cls.AREA) if board(found, 0) >> cell & 1]
            assert len(chosen) == count
            for cell in chosen:
                times[cell] += 1  # KeyError: not one of the cells
        deviation = (200 * count / 24 * (1 - count / 24)) ** 0.5
        assert all(abs(n - 200 * count / 24) <= 4.5 * deviation for n in times.values())


def test_names_of_fields():
    assert stones(1)._fields == ("mine", "theirs", "second")
    assert stones(2)._fields == ("mine0", "mine1", "theirs0", "theirs1", "second")


def test_constants():
    assert isinstance(constant(5, 1), Bits) and isinstance(constant(5, 2), LongBits)
    assert constant(WORD + 1, 2) == WORD + 1
