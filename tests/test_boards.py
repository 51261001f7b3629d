"""Boards of several words: compiled and in plain Python alike."""

from __future__ import annotations

import functools
from random import Random

import numba
import pytest

from engine.contract.bits import WORD, Bits, lowest, lowest_index, popcount, without_lowest
from engine.contract.boards import (
    LongBits,
    board,
    constant,
    fields,
    remade,
    reversed_bits,
    scratch,
    single,
    word,
)
from engine.contract.positions import position_type


@functools.cache
def stones(words):
    """A position of two boards that leave four bits of the last word unused."""
    base = fields("Stones", ("mine", "theirs"), words, second=bool)
    area = 64 * words - 4
    space = {"AREA": area, "SCRATCH": 3, "FULL": constant((1 << area) - 1, words)}
    return type(f"Stones{words}", (base,), {"__slots__": (), "__module__": __name__, **space})


def everything(position, index, count):
    """All that can be done with boards."""
    mine, theirs, full = board(position, 0), board(position, 1), position.FULL
    free = full & ~(mine | theirs)
    shifted = ((mine << Bits(count)) | (theirs >> Bits(count))) & full
    memory = scratch(position)
    memory[2] = mine ^ shifted
    memory[index % 2] = free
    memory[1 - index % 2] = lowest(theirs)
    total = popcount(free) + 1000 * lowest_index(mine)
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


def test_names_of_fields():
    assert stones(1)._fields == ("mine", "theirs", "second")
    assert stones(2)._fields == ("mine0", "mine1", "theirs0", "theirs1", "second")


def test_constants():
    assert isinstance(constant(5, 1), Bits) and isinstance(constant(5, 2), LongBits)
    assert constant(WORD + 1, 2) == WORD + 1
