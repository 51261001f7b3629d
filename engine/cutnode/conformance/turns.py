"""Properties of turns, chance and the length of games."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from cutnode.conformance.minimax import chance_outcomes, same_value
from cutnode.conformance.sample import Properties, Sample
from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import defines
from cutnode.contract.messages import some
from cutnode.contract.verbs import chance, free_move, outcome, play, plies_left, turn

TURNS = Properties()


@TURNS.about("turn")
def turns_are_of_two_players(position: Any, sample: Sample) -> Iterator[str]:
    if defines(type(position), "turn") and turn(position) not in (0, 1):
        yield f"is {turn(position)}, not 0 or 1"


@TURNS.about("free_move", Sample.choices)
def turns_end(position: Any, sample: Sample) -> Iterator[str]:
    """Consecutive free moves never return to an earlier position of the turn."""
    if sample.path_dependent:
        return

    def after_free_moves(position: Any) -> list[Any]:
        if outcome(position)[0] or chance(position):
            return []
        children = ((move, play(position, move)) for move in legal_moves(position))
        return [child for move, child in children if free_move(position, move, child)]

    if count := _steps_around(position, after_free_moves, sample):
        yield f"a turn does not end: {count} free moves lead back to an earlier position"


def _steps_around(
    position: Any, following: Callable[[Any], list[Any]], sample: Sample
) -> int | None:
    """Return the number of random steps until a position comes back; None if they end before."""
    line = [position]
    while choices := following(line[-1]):
        line.append(sample.random.choice(choices))
        if line[-1] in line[:-1]:
            return len(line) - 1
    return None


@TURNS.about("chance_outcome")
def chance_ends(position: Any, sample: Sample) -> Iterator[str]:
    """Consecutive chance events never return to an earlier position."""

    def after_chance(position: Any) -> list[Any]:
        if outcome(position)[0] or not chance(position):
            return []
        return [child for probability, child in chance_outcomes(position) if probability > 0]

    if count := _steps_around(position, after_chance, sample):
        yield f"chance never ends: {count} events lead back to an earlier position"


@TURNS.about("chance")
def chances_sum_to_one(position: Any, sample: Sample) -> Iterator[str]:
    yield from odds_complaints(position)


def odds_complaints(position: Any) -> Iterator[str]:
    """Yield complaints about the outcomes of chance at a position."""
    if outcome(position)[0] or not chance(position):
        return
    events = chance_outcomes(position)
    if not all(0 <= probability <= 1 for probability, _ in events) or not same_value(
        sum(probability for probability, _ in events), 1
    ):
        odds = [probability for probability, _ in events]
        yield f"the probabilities are {some(odds)}, not numbers from 0 that sum to 1"
    for _, child in events:
        if type(child) is not type(position):
            yield f"an outcome is a {type(child).__qualname__}"


@TURNS.about("plies_left")
def games_end_in_time(position: Any, sample: Sample) -> Iterator[str]:
    if not defines(type(position), "plies_left") or outcome(position)[0]:
        return
    if plies_left(position) < sample.plies_seen[position]:
        yield f"is {plies_left(position)}, but {sample.plies_seen[position]} plies were played"
