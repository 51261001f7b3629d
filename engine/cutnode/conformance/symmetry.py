"""Properties of equivalent positions, and of their moves."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from cutnode.conformance.minimax import same_value
from cutnode.conformance.rules import word_complaints
from cutnode.conformance.sample import Properties, Sample
from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import defines
from cutnode.contract.verbs import NO_MOVE, canonical, canonical_move, original_move, play, settled

SYMMETRY = Properties()


@SYMMETRY.about("canonical", Sample.solved, most=20_000)
def equivalent_positions_have_equal_values(position: Any, sample: Sample) -> Iterator[str]:
    word, _ = canonical(position)
    yield from word_complaints(word)
    for other in sample.met("canonical", sample.classes, word, position):
        value, its = sample.exact[position], sample.exact[other]
        if not same_value(value, its):
            yield (
                f"{sample.text(other)!r} has the same key {word}, but its value is {its:g}, not "
                f"{value:g}: this is no symmetry of the game (turn all fields of a position alike)"
            )


@SYMMETRY.about("settled", Sample.solved, most=20_000)
def values_differ_by_what_is_settled(position: Any, sample: Sample) -> Iterator[str]:
    if not defines(type(position), "settled"):
        return
    points, word = settled(position)
    yield from word_complaints(word)
    for other in sample.met("settled", sample.rests, word, position):
        rest = sample.exact[position] - points
        others = sample.exact[other] - settled(other)[0]
        if not same_value(rest, others):
            yield (
                f"{sample.text(other)!r} has the same key of what is left, but there {others} are "
                f"left to win, not {rest}"
            )


@SYMMETRY.about("canonical_move", Sample.choices)
def canonical_moves_are_moves_turned(position: Any, sample: Sample) -> Iterator[str]:
    """Turned into the frame of the class and back again, here or at an equivalent position."""
    word, symmetry = canonical(position)
    other = sample.classes.setdefault(int(word), position)
    turned = [canonical_move(position, move, symmetry) for move in legal_moves(position)]
    if not all(0 <= operator.index(move) < NO_MOVE for move in turned):
        yield f"moves are numbers in range({NO_MOVE}), not {turned}"
    for move, seen in zip(legal_moves(position), turned, strict=True):
        back = original_move(position, seen, symmetry)
        if back != move:
            yield f"move {move} is seen as {seen}, and that is {back} back again"
        if not defines(type(position), "canonical_move"):
            continue
        there = original_move(other, seen, canonical(other)[1])
        if there not in legal_moves(other):
            yield f"move {move} is seen as {seen}, and that is no move of {other!r}"
            continue
        (one, turned_one), (two, turned_two) = map(
            canonical, (play(position, move), play(other, there))
        )
        # A game may no longer turn positions there, and tell apart what is equivalent.
        if one != two and (turned_one or turned_two):
            yield f"move {move} is seen as {seen}, and that leads elsewhere from {other!r}"
