"""Properties of a game's claims about values: estimates, bounds, candidates."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

from cutnode.conformance.minimax import same_value
from cutnode.conformance.rules import ORDER_LIMIT, choice_complaints, too_large, written
from cutnode.conformance.sample import Properties, Sample
from cutnode.contract.bits import WORD, mix
from cutnode.contract.derived import legal_moves
from cutnode.contract.dispatch import MAX_VALUE, defines, value_limit
from cutnode.contract.messages import no_number
from cutnode.contract.verbs import (
    INFINITE,
    NO_MOVE,
    adjust,
    bounds,
    candidates,
    chance,
    deviation,
    endgame,
    evaluate,
    features,
    forced,
    moves_again,
    opponent_planes,
    order,
    outcome,
    planes,
    play,
    policy,
    random_move,
    random_result,
    scout,
)
from cutnode.kernels.learned import MOST_STONES
from cutnode.kernels.optionality import FEATURES
from cutnode.kernels.scores import is_decisive
from cutnode.runtime.running import UNLIMITED

VALUES = Properties()

DRAWN_EACH = 24
"""Random moves drawn per legal move: the odds to miss one are about 1 to ten thousand million."""

RESULTS, RESULT_PLIES = 256, 3
"""The number of random results drawn, and the most plies left in a game for that test."""


def _limit(position: Any) -> float:
    """Return the limit of estimates, on either side of 0."""
    cls = type(position)
    return MAX_VALUE if is_decisive(cls) else value_limit(cls)


@VALUES.about("evaluate", Sample.unfinished)
def estimates_are_values(position: Any, sample: Sample) -> Iterator[str]:
    estimate, again = evaluate(position), evaluate(position)
    yield from too_large(estimate, position, _limit(position))
    if estimate != again:
        yield f"is {estimate}, and {again} when asked again: let it depend on the position alone"


@VALUES.about("adjust", Sample.unfinished)
def adjusted_scores_are_values(position: Any, sample: Sample) -> Iterator[str]:
    limit = _limit(position)
    some = int(limit) // 2
    for score in (-some, 0, some):
        yield from too_large(adjust(position, score), position, limit)


@VALUES.about("deviation", Sample.unfinished)
def deviations_are_amounts(position: Any, sample: Sample) -> Iterator[str]:
    for deep, shallow in ((2, 0), (3, 1), (8, 4), (20, 4)):
        apart = deviation(position, deep, shallow)
        if not 0 <= apart < math.inf:
            yield f"of depths {deep} and {shallow} is {apart}, not a finite number of 0 or more"


@VALUES.about("scout", Sample.unfinished)
def scouting_has_a_depth(position: Any, sample: Sample) -> Iterator[str]:
    depth = scout(position)
    if depth != int(depth) or depth < 0:
        yield f"is {depth!r}; a depth must be a whole number, 0 or more"


@VALUES.about("features", Sample.choices)
def features_are_amounts(position: Any, sample: Sample) -> Iterator[str]:
    numbers = features(position)
    if len(numbers) != 2 * len(FEATURES):
        yield f"gives {len(numbers)} numbers, not {2 * len(FEATURES)}"
    if not all(math.isfinite(number) and number >= 0 for number in numbers):
        yield f"gives {numbers}; these must be amounts of 0 or more"


@VALUES.about("planes", Sample.choices)
def planes_are_words(position: Any, sample: Sample) -> Iterator[str]:
    words, first = planes(position), planes(next(iter(sample.plies_seen)))
    if len(words) != len(first):
        yield f"gives {len(words)} words, but {len(first)} at another position"
    if 64 * len(words) > MOST_STONES:
        yield f"gives {len(words)} words; a network reads at most {MOST_STONES // 64}"
    yield from _no_words(words)


@VALUES.about("opponent_planes", Sample.choices)
def opponent_planes_are_alike(position: Any, sample: Sample) -> Iterator[str]:
    words, own = opponent_planes(position), planes(position)
    if len(words) != len(own):
        yield f"gives {len(words)} words, but planes gives {len(own)}"
    yield from _no_words(words)


def _no_words(words: tuple[int, ...]) -> Iterator[str]:
    for word in words:
        if not 0 <= word <= WORD:
            yield f"gives {word}, not a word of 64 bits"


@VALUES.about("order", Sample.choices)
def orders_are_limited(position: Any, sample: Sample) -> Iterator[str]:
    for move in legal_moves(position):
        score = order(position, move, play(position, move))
        if not hasattr(score, "__index__"):
            yield f"of move {move} {no_number(score)}"
        elif abs(score) > ORDER_LIMIT:
            yield f"move {move} has score {score}, further from 0 than {ORDER_LIMIT}"


@VALUES.about("bounds", Sample.solved, most=200)
def bounds_hold(position: Any, sample: Sample) -> Iterator[str]:
    value = sample.exact.get(position, sample.values.get(position, 0))
    sample.compared["bounds"] += not sample.path_dependent
    for alpha, beta in _windows(value):
        lower, upper = bounds(position, alpha, beta)
        if not sample.path_dependent and not lower <= value <= upper:
            yield f"for window {alpha}..{beta} are {lower}..{upper}, but the value is {value}"
        if outcome(position)[0] and _open(position, alpha, beta):
            yield f"for window {alpha}..{beta} are {lower}..{upper}, but the game is over"


def _windows(value: float) -> list[tuple[int, int]]:
    """Return windows that a search might use for a position of some value."""
    near = math.floor(value)
    null = {0, 1, near - 1, near, near + 1, near + 2, near // 2}
    inside = sorted(beta for beta in null if -MAX_VALUE < beta <= MAX_VALUE)
    return [(-INFINITE, INFINITE), (-1, 1), *((beta - 1, beta) for beta in inside)]


def _undecided(position: Any, alpha: int, beta: int) -> bool:
    """Return whether bounds leave a window open."""
    lower, upper = bounds(position, alpha, beta)
    return bool(lower < beta and upper > alpha and lower != upper)


def _open(position: Any, alpha: int, beta: int) -> bool:
    """Return whether neither bounds nor ``endgame`` decide a window, so that a search must."""
    return _undecided(position, alpha, beta) and not endgame(position, alpha, beta, UNLIMITED)[0]


@VALUES.about("endgame", Sample.endings)
def endgame_values_hold(position: Any, sample: Sample) -> Iterator[str]:
    value = sample.values[position]
    for alpha, beta in _windows(value):
        if sample.path_dependent or not _undecided(position, alpha, beta):
            continue
        solved, found, _ = endgame(position, alpha, beta, UNLIMITED)
        fits = value <= found if found <= alpha else value >= found if found >= beta else False
        if solved and not fits and found != value:
            yield f"for window {alpha}..{beta} is {found}, but the value is {value}"


@VALUES.about("candidates", Sample.choices)
def candidates_are_moves(position: Any, sample: Sample) -> Iterator[str]:
    if not _open(position, -INFINITE, INFINITE):
        return
    yield from choice_complaints(candidates, position)


@VALUES.about("candidates", Sample.endings)
def a_candidate_is_best(position: Any, sample: Sample) -> Iterator[str]:
    if outcome(position)[0] or chance(position) or sample.path_dependent:
        return
    value = sample.values[position]
    if any(_open(position, alpha, beta) for alpha, beta in _windows(value)):
        search, chosen = sample.minimax(), written(candidates, position)
        if not any(same_value(search.of_move(position, move), value) for move in chosen):
            yield f"{chosen} has no move of the best value, {value}"


@VALUES.about("forced", Sample.choices)
def forced_moves_are_only_candidates(position: Any, sample: Sample) -> Iterator[str]:
    if _open(position, -INFINITE, INFINITE):
        chosen = written(candidates, position)
        if forced(position) != NO_MOVE and chosen != [forced(position)]:
            yield f"{forced(position)} is not the only one of {chosen}"


@VALUES.about("random_move", Sample.choices)
def random_moves_are_legal(position: Any, sample: Sample) -> Iterator[str]:
    """Only legal moves are drawn, and all of them are."""
    legal = set(legal_moves(position))
    drawn = {random_move(position, mix(word)) for word in range(DRAWN_EACH * len(legal))}
    if drawn == {NO_MOVE}:
        return
    if drawn - legal:
        yield f"{min(drawn - legal)} is drawn, but not legal"
    elif legal - drawn:
        yield f"{min(legal - drawn)} is never drawn"


@VALUES.about("policy", Sample.choices)
def moves_of_the_policy_are_legal(position: Any, sample: Sample) -> Iterator[str]:
    if not defines(type(position), "policy"):
        return
    legal = set(legal_moves(position))
    drawn = {policy(position, mix(word)) for word in range(DRAWN_EACH * len(legal))}
    if drawn - legal:
        yield f"{min(drawn - legal)} is drawn, but not legal"


@VALUES.about("random_result", Sample.choices)
def random_results_are_results(position: Any, sample: Sample) -> Iterator[str]:
    """Near the end of the game, values are drawn as often as random moves lead to them."""
    if not defines(type(position), "random_result"):
        return
    limit = _limit(position)
    drawn = Counter(random_result(position, mix(word)) for word in range(RESULTS))
    for value in drawn:
        yield from too_large(value, position, limit)
    expected = _random_results(position, RESULT_PLIES)
    for value in sorted({*expected, *drawn} if expected else ()):
        share = expected.get(value, 0.0)
        most = RESULTS * share + 5 * math.sqrt(RESULTS * share * (1 - share))
        least = 2 * RESULTS * share - most
        if not least <= drawn[value] <= most:
            yield f"is {value} {drawn[value]} of {RESULTS} times, not about {RESULTS * share:.0f}"


def _random_results(position: Any, plies: int) -> dict[float, float]:
    """Return the odds of values for the mover; empty if the game may last more than *plies*."""
    if outcome(position)[0]:
        return {outcome(position)[1]: 1.0}
    if plies == 0 or chance(position):
        return {}
    found: dict[float, float] = {}
    legal = legal_moves(position)
    for child in (play(position, move) for move in legal):
        below = _random_results(child, plies - 1)
        if not below:
            return {}
        for value, share in below.items():
            own = value if moves_again(position, child) else -value
            found[own] = found.get(own, 0.0) + share / len(legal)
    return found
