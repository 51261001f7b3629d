"""Checks of a game's indices and retreats, position by position."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numba import types

from cutnode import legal_moves
from cutnode.compiler.jit import Position, compiled, kernel
from cutnode.contract.dispatch import declared
from cutnode.contract.positions import coerce
from cutnode.contract.verbs import (
    index,
    layer,
    moves,
    outcome,
    play,
    position_at,
    retreat,
    retreats,
)

ROOM = 1000


def entry_of(position: Any) -> tuple[int, int]:
    """Return the layer and the index of a position; without an index it must be in no layer."""
    number = index(position)
    return (layer(position), number) if number >= 0 else (-1, -1)


def entry_at(example: Any, wanted: tuple[int, int]) -> Any:
    """Return the position with a layer and an index, or None if there is a hole."""
    found = position_at(example, *wanted)
    return found if entry_of(found) == wanted else None


def sizes(cls: type) -> tuple[int, ...]:
    return tuple(declared(cls, "LAYER_SIZES"))


def assert_numbered(position: Any) -> Any:
    """Assert that a position's index leads to an equivalent position, and return that."""
    entry = entry_of(position)
    number, size = entry[1], sizes(type(position))[entry[0]]
    assert 0 <= number < size
    found = entry_at(position, entry)
    assert found is not None and type(found) is type(position)
    assert outcome(found) == outcome(position)
    assert sorted(map(entry_of, following(found))) == sorted(map(entry_of, following(position)))
    return found


def following(position: Any) -> list[Any]:
    """Return the positions after all moves that do not end the game."""
    if outcome(position)[0]:
        return []
    children = [play(position, move) for move in legal_moves(position)]
    return [child for child in children if not outcome(child)[0]]


def preceding(position: Any) -> list[Any]:
    """Return the predecessors by ``retreats`` that have an index and are not finished."""
    buffer = [0] * ROOM
    end = retreats(position, buffer, 0)
    assert end <= declared(type(position), "MAX_MOVES")
    assert len(set(buffer[:end])) == end
    found = [retreat(position, number) for number in buffer[:end]]
    return [before for before in found if index(before) >= 0 and not outcome(before)[0]]


def assert_taken_back(position: Any) -> None:
    """Assert that moves to positions of the same layer can be taken back."""
    entry = entry_of(position)
    for child in following(position):
        assert layer(child) <= entry[0] or index(child) < 0
        if index(child) >= 0 and layer(child) == entry[0]:
            assert entry in map(entry_of, preceding(child))


def assert_legally_reached(position: Any) -> None:
    """Assert that a legal move leads here from each predecessor, which has its own index."""
    entry = entry_of(position)
    for before in preceding(position):
        assert layer(before) == entry[0]
        assert entry_at(before, entry_of(before)) is not None
        assert entry in map(entry_of, following(before))


Numbers = Annotated[Any, types.int64[::1]]


@kernel
def count_faults(
    example: Position, number: int, indices: Numbers, faults: Numbers, buffer: Numbers, room: int
) -> int:
    """Check some indices of a layer; return how many of them have an unfinished position.

    Faults are: moves to a higher layer; moves that no retreat takes back; retreats to positions
    that their own indices do not lead to; and retreats that no move takes back.
    """
    found = 0
    for wanted in indices:
        position = position_at(example, number, wanted)
        if index(position) != wanted or layer(position) != number or outcome(position)[0]:
            continue
        found += 1
        for at in range(moves(position, buffer, 0)):
            child = play(position, buffer[at])
            if index(child) >= 0 and not outcome(child)[0]:
                faults[0] += layer(child) > number
                if layer(child) == number:
                    faults[1] += not comes_from(child, wanted, buffer, room)
        for at in range(retreats(position, buffer, 0)):
            before = retreat(position, buffer[at])
            if index(before) >= 0 and not outcome(before)[0]:
                faults[2] += index(position_at(example, number, index(before))) != index(before)
                faults[3] += not leads_to(before, number, wanted, buffer, room)
    return found


@compiled
def comes_from(position, wanted, buffer, start):
    for at in range(start, retreats(position, buffer, start)):
        if index(retreat(position, buffer[at])) == wanted:
            return True
    return False


@compiled
def leads_to(position, number, wanted, buffer, start):
    for at in range(start, moves(position, buffer, start)):
        child = play(position, buffer[at])
        if index(child) == wanted and layer(child) == number:
            return True
    return False


def assert_no_faults_in_layers(example: Any, most: int) -> None:
    """Assert the same of some *most* evenly spaced indices of each layer."""
    for number, size in enumerate(map(int, sizes(type(example)))):
        assert_no_faults(example, number, range(0, size, 1 + size // most))


def assert_no_faults(example: Any, number: int, indices: Any) -> int:
    """Assert that compiled moves and retreats are inverse; return the number of positions seen."""
    count_faults.specialise(type(example))
    faults, buffer = np.zeros(4, np.int64), np.zeros(2 * ROOM, np.int64)
    indices = np.asarray(indices, np.int64)
    found = count_faults(coerce(example), number, indices, faults, buffer, ROOM)
    assert faults.tolist() == [0, 0, 0, 0]
    return int(found)
