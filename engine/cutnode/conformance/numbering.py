"""Properties of a game's numbering: indices, layers, and retreats."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from cutnode.conformance.minimax import children
from cutnode.conformance.rules import listing_complaints, written
from cutnode.conformance.sample import Properties, Sample
from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import defines
from cutnode.contract.errors import GameError
from cutnode.contract.verbs import (
    canonical,
    chance,
    index,
    layer,
    outcome,
    play,
    position_at,
    position_of,
    retreat,
    retreats,
)
from cutnode.search.record import wins_at_once
from cutnode.tablebases.spaces import indexed

NUMBERING = Properties()

SOME = 8
"""The retreats and the moves of a position that are checked, about this many at most."""


def numbered(sample: Sample) -> list[Any]:
    """Return positions of random games that have an index, and some at random indices."""
    cls = type(sample.game.start())
    if not defines(cls, "index"):
        return []
    met = [position for position in sample.unfinished() if index(position) >= 0]
    space = indexed(sample.game.start())
    for number in range(200):
        at = number % len(space.sizes)
        if space.sizes[at]:
            place = sample.random.randrange(space.sizes[at])
            position = position_at(space.example, at, place)
            if (layer(position), index(position)) == (at, place) and not outcome(position)[0]:
                met.append(position)
    return met


@NUMBERING.about("index", Sample.unfinished)
def indices_are_within_their_layers(position: Any, sample: Sample) -> Iterator[str]:
    if not defines(type(position), "index"):
        return
    try:
        space = indexed(position)
    except GameError as error:
        yield str(error)
        return
    number, at = operator.index(index(position)), operator.index(layer(position))
    if number < -1:
        yield f"is {number}; an index must be 0 or more, or NO_INDEX"
    elif number >= 0 and not 0 <= at < len(space.sizes):
        yield f"the layer is {at}, but LAYER_SIZES has {len(space.sizes)} layers"
    elif number >= 0 and number >= space.sizes[at]:
        yield f"is {number} in layer {at}, which has only {space.sizes[at]} indices"


@NUMBERING.about("position_at", numbered)
def indices_lead_back_to_positions(position: Any, sample: Sample) -> Iterator[str]:
    number, at = index(position), layer(position)
    found = position_at(position, at, number)
    if type(found) is not type(position):
        yield f"index {number} of layer {at} gives a {type(found).__qualname__}"
    elif (layer(found), index(found)) != (at, number):
        yield (
            f"index {number} of layer {at} gives {found!r}, which has index {index(found)} of "
            f"layer {layer(found)}"
        )
    elif defines(type(position), "recurrence"):
        return  # the key may contain a clock, which indices leave out
    elif canonical(found)[0] != canonical(position)[0]:
        yield f"index {number} of layer {at} gives {found!r}, which has another canonical key"


@NUMBERING.about("layer", numbered)
def layers_never_grow(position: Any, sample: Sample) -> Iterator[str]:
    for child in children(position):
        if outcome(child)[0]:
            continue
        if index(child) >= 0:
            if layer(child) > layer(position):
                yield f"is {layer(position)}, but a move leads to layer {layer(child)}"
            continue
        if wins_at_once(child):
            continue
        for grandchild in children(child):
            if outcome(grandchild)[0]:
                continue
            if index(grandchild) < 0:
                yield (
                    f"{child!r} has no index, and a move leads to {grandchild!r}, which has none "
                    f"either"
                )
                return
            if layer(grandchild) > layer(position):
                yield f"is {layer(position)}, but two moves lead to layer {layer(grandchild)}"


@NUMBERING.about("retreats", numbered)
def retreats_are_the_moves_that_led_here(position: Any, sample: Sample) -> Iterator[str]:
    cls = type(position)
    if not defines(cls, "retreats") or chance(position):
        return
    if not defines(cls, "retreat"):
        yield "retreats is defined, but retreat is not"
        return
    yield from listing_complaints(retreats, position)
    place = layer(position), index(position)
    for number in _some(written(retreats, position)):
        before = retreat(position, number)
        if outcome(before)[0] or index(before) < 0 or layer(before) != place[0]:
            continue
        if all(_place(play(before, move)) != place for move in legal_moves(before)):
            yield f"retreat {number} leads to {before!r}, but no legal move leads back from there"
    for move in _some(legal_moves(position)):
        child = play(position, move)
        if outcome(child)[0] or index(child) < 0 or layer(child) != place[0]:
            continue
        if all(_place(retreat(child, number)) != place for number in written(retreats, child)):
            yield f"after move {move}, no retreat leads back here"


def _some(numbers: list[int]) -> list[int]:
    """Return a few of many numbers, since each is compared with as many again."""
    return numbers[:: 1 + len(numbers) // SOME]


def _place(position: Any) -> tuple[int, int] | None:
    """Return the layer and the index of a position; None if it has no index."""
    number = -1 if outcome(position)[0] else index(position)
    return (layer(position), number) if number >= 0 else None


@NUMBERING.about("position_of")
def keys_lead_back_to_positions(position: Any, sample: Sample) -> Iterator[str]:
    if not defines(type(position), "position_of"):
        return
    word = canonical(position)[0]
    found = position_of(position, np.uint64(word))
    if type(found) is not type(position) or canonical(found)[0] != word:
        yield f"key {word} gives {found!r}, which has another canonical key"
