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
                f"{value:g}: not a symmetry of the game (turn all fields of a position alike)"
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
                f"{sample.text(other)!r} has the same key of what is left to play, but {others} "
                f"points are left to win there, not {rest}"
            )


@SYMMETRY.about("canonical_move", Sample.choices)
def canonical_moves_are_moves_turned(position: Any, sample: Sample) -> Iterator[str]:
    """Turning a move into the canonical frame and back returns it, or its equivalent elsewhere."""
    word, symmetry = canonical(position)
    other = sample.classes.setdefault(int(word), position)
    turned = [canonical_move(position, move, symmetry) for move in legal_moves(position)]
    if not all(0 <= operator.index(move) < NO_MOVE for move in turned):
        yield f"moves must be numbers in range({NO_MOVE}), got {turned}"
    for move, seen in zip(legal_moves(position), turned, strict=True):
        back = original_move(position, seen, symmetry)
        if back != move:
            yield f"turns move {move} into {seen}, which original_move turns back into {back}"
        if not defines(type(position), "canonical_move"):
            continue
        there = original_move(other, seen, canonical(other)[1])
        if there not in legal_moves(other):
            yield f"turns move {move} into {seen}, which is not a move of {other!r}"
            continue
        (one, turned_one), (two, turned_two) = map(
            canonical, (play(position, move), play(other, there))
        )
        # A game may stop turning positions there, and so tell equivalent ones apart.
        if one != two and (turned_one or turned_two):
            yield f"turns move {move} into {seen}, which leads elsewhere from {other!r}"
