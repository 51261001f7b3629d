"""Properties of the rules: positions, moves, play, keys, and verbs about moves."""

from __future__ import annotations

import copy
import itertools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cutnode.conformance.minimax import children
from cutnode.conformance.sample import Properties, Sample, has_chance
from cutnode.contract.bits import WORD
from cutnode.contract.derived import is_move, legal_moves
from cutnode.contract.dispatch import defines, game_constant, is_plain, value_limit
from cutnode.contract.errors import ContractError, PositionError
from cutnode.contract.guarding import attributes_of, is_scalar
from cutnode.contract.messages import no_number
from cutnode.contract.notation import board_of, contents_of, fields_text
from cutnode.contract.positions import coerce, fitted
from cutnode.contract.repetition import repetition_rule
from cutnode.contract.verbs import (
    NO_MOVE,
    drawn,
    exchange,
    gain,
    hint,
    key,
    moves,
    noisy,
    outcome,
    pattern,
    play,
    progress,
    recurrence,
)
from cutnode.contract.verbs import check as in_check
from cutnode.kernels.parameters import PATTERNS
from cutnode.search.record import is_over

RULES = Properties()

ORDER_LIMIT = 1_000_000
"""The limit of an order score, on either side of 0."""


@RULES.about("position")
def fields_have_their_types(position: Any, sample: Sample) -> Iterator[str]:
    if type(position) is not type(sample.game.start()):
        yield f"is a {type(position).__qualname__}, not the class of the start"
    if is_plain(type(position)):
        yield from _equality_complaints(position, sample)
        return
    try:
        fitting = fitted(position)
    except PositionError as error:
        yield str(error)
        return
    for name, value, kept in zip(position._fields, position, fitting, strict=True):
        if isinstance(kept, float) and not isinstance(value, float):
            yield f"{name} is {value!r}, which is not a float"


def _equality_complaints(position: Any, sample: Sample) -> Iterator[str]:
    """Yield complaints about the equality of positions in plain Python."""
    cls: Any = type(position)
    if is_scalar(cls):
        return
    twin = copy.deepcopy(position)
    if twin != position:
        yield "a copy of it is not equal (==): compare all fields in __eq__, and nothing else"
    elif hash(twin) != hash(position):
        yield (
            "an equal position has another hash: make __hash__ from the fields that __eq__ compares"
        )
    following = children(position)
    if any(met == position and hash(met) != hash(position) for met in following):
        yield "a move leads to an equal position (==): compare all fields in __eq__"
    for met in following:
        other = sample.equals.setdefault(met, met)
        if other is not met and _future(other) != _future(met):
            yield (
                f"{sample.text(met)!r} and {sample.text(other)!r} are equal (==), but play differs "
                f"from there on: compare all fields in __eq__"
            )


def _future(position: Any) -> Any:
    return outcome(position), legal_moves(position), children(position)


@RULES.about("__str__")
def boards_are_drawn(position: Any, sample: Sample) -> Iterator[str]:
    if str(position) in ("", repr(position)):
        yield "the position class does not draw the board"


@RULES.about("outcome")
def outcomes_come_at_the_end(position: Any, sample: Sample) -> Iterator[str]:
    over, value = outcome(position)
    if not over and value != 0:
        yield f"the game is not over, but its value is {value}"
    yield from too_large(value, position, value_limit(type(position)), "the value ")


def too_large(value: Any, position: Any, limit: float, what: str = "") -> Iterator[str]:
    """Yield complaints about a value or an estimate, which must be whole without chance."""
    whole = not has_chance(position)
    if not hasattr(value, "__index__" if whole else "__float__"):
        yield f"{what}{no_number(value, whole)}"
    elif not abs(value) <= limit:
        yield f"{what}{value} is further from 0 than {limit:g}"


@RULES.about("moves", Sample.choices)
def moves_are_distinct_numbers(position: Any, sample: Sample) -> Iterator[str]:
    yield from listing_complaints(moves, position)
    if not legal_moves(position):
        yield "there are none, but the game is not over"


def listing_complaints(verb: Callable[..., int], position: Any) -> Iterator[str]:
    """Yield complaints about the moves that a verb writes, and about where it writes them."""
    most = game_constant(type(position), "MAX_MOVES", 256)
    at, spare = 3, 256
    buffer: list[Any] = [None] * (at + most + spare)
    end = verb(position, buffer, at)
    listed = buffer[at:end]
    if any(move is not None for move in buffer[:at] + buffer[at + most :]):
        yield f"writes outside of its part of the buffer, MAX_MOVES = {most} from buffer[at] on"
    if not at <= end <= at + most:
        yield f"returns {end} for at = {at}: not the end of 0 to MAX_MOVES = {most} moves"
    if not all(map(is_move, listed)):
        yield f"moves must be numbers in range({NO_MOVE}), got {listed}"
    if len(set(listed)) != len(listed):
        yield f"lists a move twice: {listed}"


@RULES.about("play", Sample.choices)
def play_changes_nothing(position: Any, sample: Sample) -> Iterator[str]:
    before = copy.deepcopy(position)
    for move in legal_moves(position):
        child = play(position, move)
        if type(child) is not type(position):
            yield f"move {move} leads to a {type(child).__qualname__}"
        if position != before or play(position, move) != child:
            yield f"move {move}, played twice, has different effects"


@RULES.about("play", Sample.choices)
def parts_of_positions_change_alone(position: Any, sample: Sample) -> Iterator[str]:
    """No list is shared by two places, as in ``[[0] * 3] * 3``, where both change together."""
    for move in legal_moves(position):
        child = play(position, move)
        for name, parts in attributes_of(child).items():
            before = getattr(position, name, None)
            if not isinstance(parts, list) or not isinstance(before, list):
                continue
            places = [n for n, part in enumerate(parts) if isinstance(part, list | dict | set)]
            for one, two in itertools.combinations(places, 2):
                if parts[one] is parts[two] and before[one : one + 1] != [parts[one]]:
                    yield (
                        f"move {move} changes {name}[{one}] and {name}[{two}], which are one "
                        f"{type(parts[one]).__name__}: instead of [row] * n write "
                        f"[row for _ in range(n)], with a new row each time"
                    )


@RULES.about("cell")
def cells_have_contents(position: Any, sample: Sample) -> Iterator[str]:
    try:
        contents_of(position)
    except ContractError as error:
        yield str(error).removeprefix("cell ")


def word_complaints(word: Any) -> Iterator[str]:
    """Yield complaints about a word that is not a number of 64 bits."""
    if not hasattr(word, "__index__"):
        yield no_number(word)
    elif not 0 <= operator.index(word) <= WORD:
        yield f"{word} is not a word of 64 bits: keep the lowest 64, & (1 << 64) - 1"


@RULES.about("mover")
def movers_are_players(position: Any, sample: Sample) -> Iterator[str]:
    board = board_of(type(position))
    mover = sample.game.notation.mover(position)
    if board and board.players and mover not in board.players:
        names = " or ".join(map(repr, board.players))
        said = f"is {mover!r}" if mover else "is not defined"
        yield f"{said}, but CELLS names players: let mover(position) return {names}"


@RULES.about("key")
def keys_tell_positions_apart(position: Any, sample: Sample) -> Iterator[str]:
    for met in (position, *children(position)):
        word = key(met)
        yield from word_complaints(word)
        if key(coerce(met)) != word:
            yield "an equal position has another key"
        other = sample.keys.setdefault(int(word), met)
        sample.compared["key"] += 1
        if other != met and not _recurs(met, other):
            yield f"{fields_text(met)} and {fields_text(other)} have the same key {word}"


def _recurs(position: Any, other: Any) -> bool:
    """Return whether two positions with the same key differ only in fields like a move counter."""
    if not defines(type(position), "recurrence"):
        return False
    seen, known = ((outcome(met), is_over(met), recurrence(met)) for met in (position, other))
    return bool(seen == known and legal_moves(position) == legal_moves(other))


@RULES.about("recurrence")
def positions_recur_with_their_moves(position: Any, sample: Sample) -> Iterator[str]:
    cls = type(position)
    if not defines(cls, "reversible"):
        return
    draws = repetition_rule(cls) == "draw"
    for met in (position, *children(position)):
        word = recurrence(met)
        yield from word_complaints(word)
        if recurrence(coerce(met)) != word:
            yield "an equal position has another word"
        other = sample.recurrences.setdefault(int(word), met)
        if draws and (outcome(other), legal_moves(other)) != (outcome(met), legal_moves(met)):
            yield f"{other!r} has the same word {word}, but other moves or another outcome"


@RULES.about("progress")
def progress_recurs(position: Any, sample: Sample) -> Iterator[str]:
    for met in (position, *children(position)):
        numbers = progress(met)
        if not all(0 <= number <= 254 for number in numbers):
            yield f"{numbers} are not two numbers from 0 to 254"
        other = sample.recurrences.setdefault(int(recurrence(met)), met)
        if sorted(progress(other)) != sorted(numbers):
            yield f"{other!r} has the same recurrence, but {progress(other)}, not {numbers}"


@RULES.about("drawn", Sample.unfinished)
def rules_draw_or_do_not(position: Any, sample: Sample) -> Iterator[str]:
    yield from _no_truth(drawn(position))


@RULES.about("check", Sample.choices)
def threats_are_there_or_not(position: Any, sample: Sample) -> Iterator[str]:
    yield from _no_truth(in_check(position))


def _no_truth(answer: Any) -> Iterator[str]:
    """Yield a complaint about an answer that is not True or False."""
    if not isinstance(answer, bool | np.bool_):
        yield f"is {answer!r}, not True or False"


@RULES.about("noisy", Sample.choices)
def noisy_moves_are_moves(position: Any, sample: Sample) -> Iterator[str]:
    yield from choice_complaints(noisy, position)


def choice_complaints(verb: Callable[..., int], position: Any) -> Iterator[str]:
    """Yield complaints about the moves that a verb writes, which must be legal."""
    yield from listing_complaints(verb, position)
    extra = set(written(verb, position)) - set(legal_moves(position))
    if extra:
        yield f"{sorted(extra)} are not legal"


def written(verb: Callable[..., int], position: Any) -> list[int]:
    """Return the moves that a verb writes."""
    buffer = [0] * game_constant(type(position), "MAX_MOVES", 256)
    return buffer[: verb(position, buffer, 0)]


def beyond_limit(verb: Any, position: Any) -> Iterator[tuple[int, int]]:
    """Yield each move for which a verb returns a number beyond the limit, and the number."""
    for move in legal_moves(position):
        number = operator.index(verb(position, move))
        if abs(number) > ORDER_LIMIT:
            yield move, number


@RULES.about("gain", Sample.choices)
def gains_are_limited(position: Any, sample: Sample) -> Iterator[str]:
    for move, won in beyond_limit(gain, position):
        yield f"move {move} gains {won}, further from 0 than {ORDER_LIMIT}"


@RULES.about("hint", Sample.choices)
def hints_are_limited(position: Any, sample: Sample) -> Iterator[str]:
    for move, score in beyond_limit(hint, position):
        yield f"of move {move} is {score}, further from 0 than {ORDER_LIMIT}"


@RULES.about("pattern", Sample.choices)
def patterns_are_few(position: Any, sample: Sample) -> Iterator[str]:
    for move in legal_moves(position):
        example = operator.index(pattern(position, move))
        if not 0 <= example < PATTERNS:
            yield f"of move {move} is {example}; patterns are 0 to {PATTERNS - 1}"


@RULES.about("exchange", Sample.choices)
def exchanges_win_no_more_than_gains(position: Any, sample: Sample) -> Iterator[str]:
    """Exchanges win no more than the gain, and their answers for all thresholds are consistent."""
    for move in written(noisy, position) if defines(type(position), "exchange") else ():
        won = gain(position, move)
        answers = [exchange(position, move, least) for least in (won - 200, won - 100, won)]
        if exchange(position, move, won + 1):
            yield f"move {move} wins more than it gains, {won}"
        if sorted(answers, reverse=True) != answers:
            yield f"move {move} wins {won}, but not less: {answers}"
