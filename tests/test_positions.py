"""Each class of positions has one compiled type, and survives the way through flat buffers."""

import math
from collections import namedtuple
from typing import NamedTuple

import numba
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numba import types

from cutnode.contract.bits import WORD, Bits
from cutnode.contract.errors import GameError, PositionError
from cutnode.contract.positions import (
    as_words,
    coerce,
    fitted,
    pack,
    position_type,
    rebuild,
    unpack,
    width,
)

TOP = Bits(1 << 63)


class Mixed(NamedTuple):
    """A position with a field of each kind."""

    stones: Bits
    score: int
    over: bool
    odds: float


class Words(NamedTuple):
    mine: Bits
    theirs: Bits


class Board:
    SIZE = 3
    EDGE = TOP
    LINES = (Bits(7), TOP)
    WEIGHTS = np.array([4, 5, 6])
    ROUND = False
    KOMI = 6.5


class Small(Board, Words):
    __slots__ = ()


class Large(Board, Words):
    __slots__ = ()
    SIZE = 5
    ROUND = True


class Named(NamedTuple):
    """A position with a field named like another class's constant."""

    SIZE: int


mixed = st.builds(
    Mixed,
    st.integers(0, WORD).map(Bits),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.booleans(),
    st.floats(allow_nan=False),
)


@pytest.fixture(scope="module")
def through_buffer():
    """A kernel that stores a position among other words and loads it again."""
    kind = position_type(Mixed)

    @numba.njit(kind(kind, types.uint64[::1], types.int64))
    def kernel(position, words, index):
        pack(words, index, position)
        return unpack(words, index, position)

    return kernel


# Types


def test_type_follows_the_annotations():
    kind = position_type(Mixed)
    assert kind.types == (types.uint64, types.int64, types.boolean, types.float64)
    assert kind.instance_class is Mixed
    assert position_type(Mixed) is kind


def test_type_is_that_of_a_coerced_position():
    loose = Mixed(5, np.int32(-1), 1, 2)
    position = coerce(loose)
    assert position == loose
    assert [type(value) for value in position] == [Bits, int, bool, float]
    assert numba.typeof(position) == position_type(Mixed)


def test_type_of_each_class_is_its_own():
    assert position_type(Small) != position_type(Large)


class Worded(NamedTuple):
    text: str


class Optional(NamedTuple):
    stones: Bits | None


@pytest.mark.parametrize("cls", [Worded, Optional, namedtuple("Bare", "stones")])
def test_field_of_another_kind_is_an_error(cls):
    with pytest.raises(GameError, match=rf"{cls._fields[0]} .* must be Bits, int, bool or float"):
        position_type(cls)


@pytest.mark.parametrize("cls", [int, tuple, dict])
def test_class_of_no_game_is_an_error(cls):
    with pytest.raises(GameError, match="a position must come from a game, got one of type"):
        position_type(cls)


def test_class_that_is_no_namedtuple_is_an_error():
    with pytest.raises(GameError, match="must be a NamedTuple"):
        position_type("Position")


# Buffers


def test_width_is_the_number_of_fields():
    count = numba.njit(lambda position: width(position))
    for position in (Mixed(TOP, -1, True, 0.5), Words(TOP, Bits(0))):
        assert count(coerce(position)) == width(position) == len(position)


@given(position=mixed)
@example(position=Mixed(TOP, -(1 << 63), True, -0.0))
@example(position=Mixed(Bits(WORD), -1, False, math.inf))
@example(position=Mixed(Bits(0), 0, False, 5e-324))
def test_parked_position_loads_as_it_was(through_buffer, position):
    python, compiled = np.full((2, 6), 99, np.uint64)
    pack(python, 1, position)
    assert unpack(python, 1, position) == position
    assert [type(value) for value in unpack(python, 1, position)] == [Bits, int, bool, float]
    assert through_buffer(position, compiled, 1) == position
    assert python.tolist() == compiled.tolist()
    assert python[0] == python[5] == 99


def test_park_goes_by_the_annotation_not_by_the_value():
    words = np.zeros(4, np.uint64)
    pack(words, 0, Mixed(1, True, 2, 3))
    assert unpack(words, 0, Mixed(0, 0, 0, 0)) == Mixed(1, 1, True, 3.0)


@given(positions=st.lists(mixed, min_size=1, max_size=4))
def test_words_of_a_batch_are_parked_positions(positions):
    words = as_words(positions)
    for number, position in enumerate(positions):
        assert unpack(words, number * width(position), position) == position


def test_words_of_a_batch_go_by_the_annotation():
    words = as_words([Mixed(1, 2, 2, 3), Mixed(4, -5, 0, 6)])
    assert words[2] == 1
    assert unpack(words, 0, Mixed(0, 0, 0, 0)) == Mixed(1, 2, True, 3.0)
    assert unpack(words, 4, Mixed(0, 0, 0, 0)) == Mixed(4, -5, False, 6.0)
    assert as_words([Words(1, TOP), Words(2, 3)]).tolist() == [1, TOP, 2, 3]


def test_batch_of_two_classes_is_an_error():
    with pytest.raises(PositionError, match=r"one class, got Small and Large"):
        as_words([Small(Bits(0), Bits(0)), Large(Bits(0), Bits(0))])


# Making positions of the same class


def test_rebuild_makes_the_same_class():
    @numba.njit
    def swapped(position):
        return rebuild(position, position.theirs, position.mine)

    for cls in (Small, Large):
        position = cls(TOP, Bits(1))
        for answer in (swapped(position), rebuild(position, position.theirs, position.mine)):
            assert answer == cls(Bits(1), TOP)
            assert type(answer) is cls


def test_compiled_rebuild_casts_to_the_annotation():
    @numba.njit
    def kernel(position):
        return rebuild(position, 1, position.score - 1, 0, 2)

    position = Mixed(TOP, 0, True, 0.5)
    assert kernel(position) == Mixed(1, -1, False, 2.0)


# Constants


@pytest.mark.parametrize("cls", [Small, Large])
def test_constants_of_the_class_are_readable(cls):
    @numba.njit
    def kernel(position, index):
        return (
            position.SIZE,
            position.EDGE >> Bits(63),
            position.LINES[index],
            position.WEIGHTS[index],
            position.ROUND,
            position.KOMI,
            position.mine,
        )

    position_type(cls)
    assert kernel(cls(TOP, Bits(0)), 1) == (cls.SIZE, 1, TOP, 5, cls.ROUND, 6.5, TOP)


def test_constant_of_one_class_can_be_a_field_of_another():
    position_type(Large)
    position_type(Named)
    size = numba.njit(lambda position: position.SIZE)
    assert size(Named(9)) == 9
    assert size(Large(Bits(0), Bits(0))) == 5


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (WORD + 1, "SIZE must be from .* [(]int[)], got 18446744073709551616"),
        (2.0, "Named.SIZE is annotated int, got 2.0"),
        (None, "Named.SIZE is annotated int, got None"),
    ],
)
def test_values_that_fit_no_field_are_named(value, message):
    for convert in (fitted, lambda position: as_words([Named(1), position])):
        if isinstance(value, int) or convert is fitted:
            with pytest.raises(PositionError, match=message):
                convert(Named(value))
