"""Whether a game follows the contract: random play, and one function for each property.

:func:`check` plays random games with the rules as plain Python, and asks each property of
the positions met.  Near the end of games, where minimax over the verbs alone is affordable,
it knows the true values, and so checks what a game claims about values.  When all that is
well it compares the compiled kernels with the same rules in plain Python.

A property is a generator of complaints about one position.  Of each only the first is
reported: what breaks once mostly breaks everywhere.  An exception is reported for the verb
that raises it, unless there are complaints about that verb, of which it is a consequence; one
that no verb raises, only if nothing else was found.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import math
import operator
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from engine.contract.bits import WORD, Bits
from engine.contract.derived import is_free_move, same_after_chance
from engine.contract.dispatch import (
    MAX_VALUE,
    REQUIRED,
    VERBS,
    defines,
    game_constant,
    is_plain,
    module_of,
    runs_plainly,
    value_limit,
)
from engine.contract.errors import PositionError
from engine.contract.legal import legal_moves
from engine.contract.loading import Game
from engine.contract.notation import FOR_PEOPLE
from engine.contract.positions import coerce
from engine.contract.verbs import (
    INFINITE,
    NO_MOVE,
    bounds,
    candidates,
    canonical,
    canonical_move,
    chance,
    chance_outcome,
    deviation,
    drawn,
    endgame,
    evaluate,
    exchange,
    features,
    forced,
    free_move,
    gain,
    key,
    moves,
    moves_again,
    noisy,
    order,
    original_move,
    outcome,
    pattern,
    play,
    plies_left,
    recurrence,
    reversible,
    scout,
    settled,
    turn,
)
from engine.contract.verbs import check as in_check
from engine.kernels.observation import observe
from engine.kernels.optionality import FEATURES, Optionality
from engine.kernels.parameters import PATTERNS
from engine.kernels.scores import WIN, final_score, is_decisive, limited
from engine.playing.record import is_over
from engine.search.api import alphabeta, analyse, minimax, perft
from engine.search.searcher import Searcher
from engine.storage.tables import Table

__all__ = ["Finding", "check"]

TO_THE_END = 1 << 30
"""A depth that no game reaches."""

AFFORDABLE = 1000
"""The nodes that plain Python may visit for one value."""

ORDER_LIMIT = 1_000_000
"""No order score is further from zero."""

NONSENSE = ("?", "nonsense", "-1", "0", "99999999999999999999", "²", "é", "\0", " ", "()")
"""Texts that are hardly positions or moves: reading them must not fail in a new way."""

OF_LINES = ("reversible", "drawn")
"""Verbs that make the value of a position depend on how play came there."""

TOGETHER = (
    *(("chance", "chance_outcome"), ("chance_outcome", "chance")),
    ("original_move", "canonical_move"),
)
"""Verbs that mean nothing without another."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a game does against the contract."""

    verb: str
    position: str
    """Where it was seen, in the game's notation; empty if it is about the game as a whole."""
    message: str

    def __str__(self) -> str:
        where = f" at {self.position!r}" if self.position else ""
        return f"{self.verb}{where}: {self.message}"


def check(game: Game, *, games: int = 20, seed: int = 0, compile: bool = True) -> list[Finding]:
    """What *game* does against the contract, seen in random *games*; empty if it conforms.

    Without *compile* only the rules are looked at, as plain Python, which takes a second or
    two instead of ten.
    """
    findings = list(_declarations(game)) or list(_beginnings(game))
    if findings:
        return findings
    study = Study(game, Random(seed))
    for number in range(games):
        study.play_game(reluctant=number % 2 == 1)
    study.ask(PLAIN)
    if compile and not study.found():
        study.ask(SEARCHES if runs_plainly(game.module) else COMPILED + SEARCHES)
    return study.found()


def _declarations(game: Game) -> Iterator[Finding]:
    """What is missing, or takes other parameters than the contract says."""
    module = game.module
    for name in sorted(REQUIRED):
        if not callable(getattr(module, name, None)):
            yield Finding(name, "", "is not defined")
    for name, other in TOGETHER:
        if callable(getattr(module, name, None)) and not callable(getattr(module, other, None)):
            yield Finding(other, "", f"is not defined, but {name} is")
    for name, verb in VERBS.items():
        rule = getattr(module, name, None)
        parameters = list(inspect.signature(verb).parameters)
        if callable(rule) and len(inspect.signature(rule).parameters) != len(parameters):
            yield Finding(name, "", f"the contract is {name}({', '.join(parameters)})")
    for name, given in FOR_PEOPLE.items():
        rule = getattr(module, name, None)
        if callable(rule):
            try:
                inspect.signature(rule).bind(*given)
            except TypeError:
                yield Finding(name, "", f"the contract is {name}({', '.join(given)})")


def _beginnings(game: Game) -> Iterator[Finding]:
    """What is wrong with the first position as a value."""
    try:
        position = game.start()
        coerce(position)
    except Exception as error:
        yield Finding("start", "", _raises(error))
        return
    if module_of(type(position)) is not game.module:
        yield Finding("start", "", f"{type(position)!r} is not defined in {game.module.__name__}")


def _raising_verb(error: Exception, game: Game) -> str:
    """The function of the contract in which an exception was raised; empty if in none."""
    verbs = {getattr(game.module, name, None): name for name in (*VERBS, *FOR_PEOPLE)}
    codes = {getattr(rule, "__code__", None): name for rule, name in verbs.items()}
    frames = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    return next((codes[code] for code in reversed(frames) if code in codes), "")


def _raises(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"raises {type(error).__name__}: {lines[0] if lines else ''}"


# Plain Python's own minimax -----------------------------------------------------------


class UnaffordableError(Exception):
    """A value takes more nodes than are allowed."""


@dataclass
class Minimax:
    """Minimax over the verbs: what everything else is compared with.

    *known* keeps exact values of positions; it must be None in games where a value depends
    on the line of play.
    """

    nodes_left: int = AFFORDABLE
    known: dict[Any, float] | None = None
    win: int = 0
    """See ``engine.kernels.scores``: 0 for values as they are."""

    def value(
        self,
        position: Any,
        depth: int = TO_THE_END,
        line: tuple[int, ...] = (),
        ply: int = 0,
        actions: int = 0,
    ) -> float:
        """The value for the mover; *line* is what play could still come back to: recurrences."""
        if self.known is not None and position in self.known:
            return self.known[position]
        self.nodes_left -= 1
        if self.nodes_left < 0:
            raise UnaffordableError
        over, value = outcome(position)
        if over:
            best = float(final_score(value, ply, self.win, 1))
        elif ply > 0 and (drawn(position) or (line and recurrence(position) in line)):
            best = 0.0
        elif depth == 0:
            best = float(limited(evaluate(position), self.win))
        elif chance(position):
            best = sum(
                probability * self._of_event(position, child, depth, ply, actions)
                for probability, child in _events(position)
            )
        else:
            moves = legal_moves(position)
            best = max(self.of_move(position, move, depth, line, ply, actions) for move in moves)
        if self.known is not None:
            self.known[position] = best
        return best

    def of_move(
        self,
        position: Any,
        move: int,
        depth: int = TO_THE_END,
        line: tuple[int, ...] = (),
        ply: int = 0,
        actions: int = 0,
    ) -> float:
        """The value of a move for the player who makes it."""
        child = play(position, move)
        line = (*line, recurrence(position)) if reversible(position, child) else ()
        gratis = is_free_move(position, move, child, actions, True)
        deeper, taken = (depth, actions + 1) if gratis else (depth - 1, 0)
        value = self.value(child, deeper, line, ply + 1, taken)
        return value if moves_again(position, child) else -value

    def _of_event(self, position: Any, child: Any, depth: int, ply: int, actions: int) -> float:
        value = self.value(child, depth, (), ply + 1, actions)
        return value if same_after_chance(position, child) else -value


def _events(position: Any) -> list[tuple[float, Any]]:
    return [chance_outcome(position, index) for index in range(chance(position))]


def _children(position: Any) -> list[Any]:
    if outcome(position)[0]:
        return []
    if chance(position):
        return [child for _, child in _events(position)]
    return [play(position, move) for move in legal_moves(position)]


def _same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


# Random play --------------------------------------------------------------------------


@dataclass
class Study:
    """The positions met in random games, what is known of them, and what was found."""

    game: Game
    random: Random
    complaints: list[Finding] = field(default_factory=list)
    failures: dict[str, Finding] = field(default_factory=dict)
    """The first exception that each verb raised."""
    unexplained: list[Finding] = field(default_factory=list)
    """Exceptions that no verb raised."""
    plies_seen: dict[Any, int] = field(default_factory=dict)
    """The positions met, with the most plies that were played from there."""
    values: dict[Any, float] = field(default_factory=dict)
    """The values of those near the end."""
    exact: dict[Any, float] = field(default_factory=dict)
    keys: dict[int, Any] = field(default_factory=dict)
    recurrences: dict[int, Any] = field(default_factory=dict)
    classes: dict[int, Any] = field(default_factory=dict)
    rests: dict[int, Any] = field(default_factory=dict)
    move_texts: set[str] = field(default_factory=set)
    table: Table = field(default_factory=lambda: Table(1))

    @property
    def path_dependent(self) -> bool:
        """Whether values depend on the line of play, if only on where it begins."""
        return any(callable(getattr(self.game.module, name, None)) for name in OF_LINES)

    def positions(self) -> list[Any]:
        return list(self.plies_seen)

    def choices(self) -> list[Any]:
        """The positions with legal moves."""
        return [p for p in self.plies_seen if not outcome(p)[0] and not chance(p)]

    def unfinished(self) -> list[Any]:
        """Those, and the positions where chance decides."""
        return [p for p in self.plies_seen if not outcome(p)[0]]

    def endings(self) -> list[Any]:
        """The positions whose value is known."""
        return list(self.values)

    def find(self, verb: str, position: Any, message: str) -> None:
        """Note a complaint, unless it was made before."""
        if message not in {finding.message for finding in self.complaints}:
            self.complaints.append(Finding(verb, self._text(position), message))

    def fail(self, verb: str, position: Any, error: Exception) -> None:
        """Note an exception that was met when *verb* was asked about."""
        raising = _raising_verb(error, self.game)
        finding = Finding(raising or verb, self._text(position), _raises(error))
        if raising:
            self.failures.setdefault(raising, finding)
        else:
            self.unexplained.append(finding)

    def _text(self, position: Any) -> str:
        try:
            return str(self.game.notation.position_text(position))
        except Exception:
            return repr(position)

    def found(self) -> list[Finding]:
        """The complaints, and the exceptions that they do not explain."""
        explained = {finding.verb for finding in self.complaints}
        failures = [found for verb, found in self.failures.items() if verb not in explained]
        return self.complaints + failures or self.unexplained[:1]

    def ask(self, properties: list[Property]) -> None:
        """Ask properties of their positions, until the first complaint of each."""
        for asked in properties:
            position: Any = None
            try:
                subjects = asked.subjects(self)
                if len(subjects) > asked.most:
                    subjects = self.random.sample(subjects, asked.most)
                for position in subjects:
                    complaint = next(asked.complaints(position, self), None)
                    if complaint is not None:
                        self.find(asked.verb, position, complaint)
                        break
            except Exception as error:
                self.fail(asked.verb, position, error)

    def play_game(self, *, reluctant: bool) -> None:
        """Play a game, and one through equivalent positions, and remember their positions.

        A *reluctant* game goes on for as long as it can, so its end has small game trees.
        """
        start = self.game.start()
        lines = [[start]]
        try:
            self._extend(lines[0], reluctant)
            if defines(type(start), "canonical"):
                lines.append(self._twin(lines[0]))
            for line in lines:
                self._find_values(line)
        except Exception as error:
            self.fail("play", lines[0][-1], error)
        for line in lines:
            for plies, position in enumerate(reversed(line)):
                self.plies_seen[position] = max(plies, self.plies_seen.get(position, 0))

    def _extend(self, line: list[Any], reluctant: bool) -> None:
        """Play on at random until the game is over or a position repeats."""
        most = game_constant(type(line[0]), "MAX_PLIES", 512)
        recurring: list[int] = []
        while not is_over(line[-1]) and not (recurring and recurrence(line[-1]) in recurring):
            if len(line) > most:
                if not self.path_dependent:
                    self.find("MAX_PLIES", line[0], f"a line of play is longer than {most}")
                return
            position = line[-1]
            child = self._step(position, reluctant)
            if type(child) is not type(position):
                return
            again = reversible(position, child)
            recurring = [*recurring, recurrence(position)] if again else []
            line.append(child)

    def _step(self, position: Any, reluctant: bool) -> Any:
        if chance(position):
            events = _events(position)
            odds = [probability for probability, _ in events]
            return self.random.choices(events, odds)[0][1]
        child = None
        allowed = legal_moves(position)
        for move in self.random.sample(allowed, len(allowed)):
            child = play(position, move)
            if not reluctant or not is_over(child):
                break
        return child

    def _twin(self, line: list[Any]) -> list[Any]:
        """A line through positions with the same canonical keys, and different where it can."""
        twin = line[:1]
        for position in line[1:]:
            wanted = canonical(position)[0]
            equivalent = [c for c in _children(twin[-1]) if canonical(c)[0] == wanted]
            if not equivalent:
                break
            others = [child for child in equivalent if child != position]
            twin.append(self.random.choice(others or equivalent))
        return twin

    def _find_values(self, line: list[Any]) -> None:
        """Know the values of positions at the end of a line, as many as are affordable."""
        with contextlib.suppress(UnaffordableError, RecursionError):
            for position in reversed(line):
                self.values[position] = self.minimax().value(position)

    @functools.cached_property
    def engine(self) -> Searcher:
        """A search that scores as minimax does."""
        return Searcher(self.game.start(), table=self.table, exact=True, debug=True)

    def minimax(self) -> Minimax:
        return Minimax(AFFORDABLE, None if self.path_dependent else self.exact)


# Properties ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Property:
    """What must hold of some of the positions of a study."""

    verb: str
    subjects: Callable[[Study], list[Any]]
    most: int
    """Of more positions than this, a random choice is asked."""
    complaints: Callable[[Any, Study], Iterator[str]]


PLAIN: list[Property] = []
COMPILED: list[Property] = []
SEARCHES: list[Property] = []


def about(
    verb: str,
    subjects: Callable[[Study], list[Any]] = Study.positions,
    most: int = 300,
    properties: list[Property] = PLAIN,
) -> Callable[[Callable[[Any, Study], Iterator[str]]], Callable[[Any, Study], Iterator[str]]]:
    """Make a generator of complaints a property."""

    def register(
        complaints: Callable[[Any, Study], Iterator[str]],
    ) -> Callable[[Any, Study], Iterator[str]]:
        properties.append(Property(verb, subjects, most, complaints))
        return complaints

    return register


@about("position")
def fields_have_their_types(position: Any, study: Study) -> Iterator[str]:
    if type(position) is not type(study.game.start()):
        yield f"is a {type(position).__qualname__}, not the class of the start"
    if is_plain(type(position)):
        hash(position)
        return
    for name, value, coerced in zip(position._fields, position, coerce(position), strict=True):
        kind = type(coerced)
        fits = isinstance(value, float) if kind is float else value == coerced
        if kind is Bits:
            fits = fits and 0 <= operator.index(value) <= WORD
        elif kind is int:
            fits = fits and -(1 << 63) <= operator.index(value) < 1 << 63
        if not fits:
            yield f"{name} is {value!r}, which is no {kind.__name__}"


@about("__str__")
def boards_are_drawn(position: Any, study: Study) -> Iterator[str]:
    if str(position) in ("", repr(position)):
        yield "the position class does not draw the board"


@about("outcome")
def outcomes_come_at_the_end(position: Any, study: Study) -> Iterator[str]:
    over, value = outcome(position)
    if not over and value != 0:
        yield f"the game is not over, but its value is {value}"
    yield from _too_large(value, position, value_limit(type(position)), "the value ")


def _too_large(value: Any, position: Any, limit: float, what: str = "") -> Iterator[str]:
    """Complaints about a value or an estimate: only in games of chance it may be any number."""
    if not abs(value if _has_chance(position) else operator.index(value)) <= limit:
        yield f"{what}{value} is further from 0 than {limit:g}"


@about("moves", Study.choices)
def moves_are_distinct_numbers(position: Any, study: Study) -> Iterator[str]:
    yield from _listing(moves, position)
    if not legal_moves(position):
        yield "there are none, but the game is not over"


def _listing(verb: Callable[..., int], position: Any) -> Iterator[str]:
    """Complaints about the moves that a verb writes, and where it writes them."""
    most = game_constant(type(position), "MAX_MOVES", 256)
    at, spare = 3, 256
    buffer: list[Any] = [None] * (at + most + spare)
    end = verb(position, buffer, at)
    listed = buffer[at:end]
    if any(move is not None for move in buffer[:at] + buffer[at + most :]):
        yield f"writes outside of its part of the buffer, MAX_MOVES = {most} from buffer[at] on"
    if not at <= end <= at + most:
        yield f"returns {end} for at = {at}: not the end of 0 to MAX_MOVES = {most} moves"
    if not all(move is not None and 0 <= operator.index(move) < NO_MOVE for move in listed):
        yield f"moves are numbers in range({NO_MOVE}), not {listed}"
    if len(set(listed)) != len(listed):
        yield f"a move is there twice: {listed}"


@about("play", Study.choices)
def play_changes_nothing(position: Any, study: Study) -> Iterator[str]:
    before = copy.deepcopy(position)
    for move in legal_moves(position):
        child = play(position, move)
        if type(child) is not type(position):
            yield f"move {move} leads to a {type(child).__qualname__}"
        if position != before or play(position, move) != child:
            yield f"move {move}, played twice, has different effects"


@about("key")
def keys_tell_positions_apart(position: Any, study: Study) -> Iterator[str]:
    for met in (position, *_children(position)):
        word = key(met)
        if not 0 <= operator.index(word) <= WORD:
            yield f"{word} is not a word of 64 bits"
        if key(coerce(met)) != word:
            yield "an equal position has another key"
        other = study.keys.setdefault(int(word), met)
        if other != met and not _recurs(met, other):
            yield f"{met!r} and {other!r} have the same key {word}"


def _recurs(position: Any, other: Any) -> bool:
    """Whether two positions with one key are the same but for what changes while they recur."""
    if not defines(type(position), "recurrence"):
        return False
    seen, known = ((outcome(met), is_over(met), recurrence(met)) for met in (position, other))
    return bool(seen == known and legal_moves(position) == legal_moves(other))


@about("recurrence")
def positions_recur_with_their_moves(position: Any, study: Study) -> Iterator[str]:
    if not defines(type(position), "reversible"):
        return
    for met in (position, *_children(position)):
        word = recurrence(met)
        if not 0 <= operator.index(word) <= WORD:
            yield f"{word} is not a word of 64 bits"
        if recurrence(coerce(met)) != word:
            yield "an equal position has another word"
        other = study.recurrences.setdefault(int(word), met)
        if outcome(other) != outcome(met) or legal_moves(other) != legal_moves(met):
            yield f"{other!r} has the same word {word}, but other moves or another outcome"


@about("drawn", Study.unfinished)
def rules_draw_or_do_not(position: Any, study: Study) -> Iterator[str]:
    yield from _no_truth(drawn(position))


@about("check", Study.choices)
def threats_are_there_or_not(position: Any, study: Study) -> Iterator[str]:
    yield from _no_truth(in_check(position))


def _no_truth(answer: Any) -> Iterator[str]:
    """Complaints about an answer that has to be yes or no."""
    if not isinstance(answer, bool | np.bool_):
        yield f"is {answer!r}, not True or False"


@about("noisy", Study.choices)
def noisy_moves_are_moves(position: Any, study: Study) -> Iterator[str]:
    yield from _listing(noisy, position)
    extra = set(_noisy(position)) - set(legal_moves(position))
    if extra:
        yield f"{sorted(extra)} are not legal"


def _noisy(position: Any) -> list[int]:
    buffer = [0] * game_constant(type(position), "MAX_MOVES", 256)
    return buffer[: noisy(position, buffer, 0)]


@about("gain", Study.choices)
def gains_are_limited(position: Any, study: Study) -> Iterator[str]:
    for move in legal_moves(position):
        won = operator.index(gain(position, move))
        if abs(won) > ORDER_LIMIT:
            yield f"move {move} gains {won}, further from 0 than {ORDER_LIMIT}"


@about("pattern", Study.choices)
def patterns_are_few(position: Any, study: Study) -> Iterator[str]:
    for move in legal_moves(position):
        example = operator.index(pattern(position, move))
        if not 0 <= example < PATTERNS:
            yield f"of move {move} is {example}; patterns are 0 to {PATTERNS - 1}"


@about("exchange", Study.choices)
def exchanges_win_no_more_than_gains(position: Any, study: Study) -> Iterator[str]:
    """What answers leave of a gain is no more than it, and one number for all questions."""
    for move in _noisy(position) if defines(type(position), "exchange") else ():
        won = gain(position, move)
        answers = [exchange(position, move, least) for least in (won - 200, won - 100, won)]
        if exchange(position, move, won + 1):
            yield f"move {move} wins more than it gains, {won}"
        if sorted(answers, reverse=True) != answers:
            yield f"move {move} wins {won}, but not less: {answers}"


@about("position_text")
def position_texts_are_read_back(position: Any, study: Study) -> Iterator[str]:
    text = study.game.notation.position_text(position)
    if len(text.splitlines()) != 1:
        yield f"{text!r} is not one line"
    again = study.game.parse(text)
    if again != position or type(again) is not type(position):
        yield f"parse_position({text!r}) is {again!r}, not {position!r}"
    elif key(again) != key(position):
        yield f"parse_position({text!r}) has another key"


@about("parse_position")
def other_texts_are_positions_or_errors(position: Any, study: Study) -> Iterator[str]:
    text = study.game.notation.position_text(position)
    at = study.random.randrange(len(text) + 1)
    typo = study.random.choice([*text, "?", "9", "x", "-", " ", ""])
    for wrong in (text[:at] + typo + text[at + 1 :], study.random.choice(NONSENSE)):
        try:
            read = study.game.parse(wrong)
        except PositionError:
            continue
        if study.game.parse(study.game.notation.position_text(read)) != read:
            yield f"reads {wrong!r} as {read!r}, whose own text is read otherwise"


@about("move_text", Study.choices)
def move_texts_are_read_back(position: Any, study: Study) -> Iterator[str]:
    module = study.game.notation
    for move in legal_moves(position):
        text = module.move_text(position, move)
        study.move_texts.add(text)
        if module.parse_move(position, text) != move:
            yield f"{text!r}, move {move}, is read as {module.parse_move(position, text)}"


@about("parse_move")
def other_texts_are_legal_moves_or_errors(position: Any, study: Study) -> Iterator[str]:
    known = sorted(study.move_texts)
    texts = study.random.sample(known, min(20, len(known)))
    allowed = [] if chance(position) else legal_moves(position)
    for text in (*texts, *NONSENSE):
        with contextlib.suppress(PositionError):
            move = study.game.notation.parse_move(position, text)
            if move not in allowed:
                yield f"reads {text!r} as {move}, which is not legal"


@about("describe", Study.endings)
def values_are_put_in_words(position: Any, study: Study) -> Iterator[str]:
    describe = getattr(study.game.module, "describe", None)
    if describe is not None:
        words = describe(position, int(study.values[position]))
        if not isinstance(words, str) or not words:
            yield f"gives {words!r}"


@about("turn")
def turns_are_of_two_players(position: Any, study: Study) -> Iterator[str]:
    if defines(type(position), "turn") and turn(position) not in (0, 1):
        yield f"is {turn(position)}, not 0 or 1"


@about("free_move", Study.choices)
def turns_end(position: Any, study: Study) -> Iterator[str]:
    """Free moves, one after the other, never come back to where the turn was."""
    if study.path_dependent:
        return
    turn = [position]
    while not outcome(turn[-1])[0] and not chance(turn[-1]):
        children = [(move, play(turn[-1], move)) for move in legal_moves(turn[-1])]
        free = [child for move, child in children if free_move(turn[-1], move, child)]
        if not free:
            return
        turn.append(study.random.choice(free))
        if turn[-1] in turn[:-1]:
            yield f"a turn does not end: after {len(turn) - 1} free moves it is where it was"
            return


@about("chance_outcome")
def chance_ends(position: Any, study: Study) -> Iterator[str]:
    """Events that follow each other never come back to where they began."""
    events = [position]
    while not outcome(events[-1])[0] and chance(events[-1]):
        possible = [child for probability, child in _events(events[-1]) if probability > 0]
        if not possible:
            return
        events.append(study.random.choice(possible))
        if events[-1] in events[:-1]:
            yield f"chance goes on without end: after {len(events) - 1} events it is where it was"
            return


@about("chance")
def chances_sum_to_one(position: Any, study: Study) -> Iterator[str]:
    if outcome(position)[0] or not chance(position):
        return
    events = _events(position)
    if not all(0 <= probability <= 1 for probability, _ in events) or not _same(
        sum(probability for probability, _ in events), 1
    ):
        yield f"the probabilities are {[probability for probability, _ in events]}"
    for _, child in events:
        if type(child) is not type(position):
            yield f"an outcome is a {type(child).__qualname__}"


@about("plies_left")
def games_end_in_time(position: Any, study: Study) -> Iterator[str]:
    if not outcome(position)[0] and plies_left(position) < study.plies_seen[position]:
        yield f"is {plies_left(position)}, but {study.plies_seen[position]} plies were played"


@about("evaluate", Study.unfinished)
def estimates_are_values(position: Any, study: Study) -> Iterator[str]:
    cls = type(position)
    limit = MAX_VALUE if is_decisive(cls) else value_limit(cls)
    yield from _too_large(evaluate(position), position, limit)


@about("deviation", Study.unfinished)
def deviations_are_amounts(position: Any, study: Study) -> Iterator[str]:
    for deep, shallow in ((2, 0), (3, 1), (8, 4), (20, 4)):
        apart = deviation(position, deep, shallow)
        if not 0 <= apart < math.inf:
            yield f"of depths {deep} and {shallow} is {apart}, no amount of 0 or more"


@about("scout", Study.unfinished)
def scouting_has_a_depth(position: Any, study: Study) -> Iterator[str]:
    depth = scout(position)
    if depth != int(depth) or depth < 0:
        yield f"is {depth!r}; a depth is a whole number, 0 or more"


@about("features", Study.choices)
def features_are_amounts(position: Any, study: Study) -> Iterator[str]:
    numbers = features(position)
    if len(numbers) != 2 * len(FEATURES):
        yield f"gives {len(numbers)} numbers, not {2 * len(FEATURES)}"
    if not all(math.isfinite(number) and number >= 0 for number in numbers):
        yield f"gives {numbers}; these are amounts, 0 or more"


@about("order", Study.choices)
def orders_are_limited(position: Any, study: Study) -> Iterator[str]:
    for move in legal_moves(position):
        score = operator.index(order(position, move, play(position, move)))
        if abs(score) > ORDER_LIMIT:
            yield f"move {move} has score {score}, further from 0 than {ORDER_LIMIT}"


@about("bounds", Study.endings)
def bounds_hold(position: Any, study: Study) -> Iterator[str]:
    value = study.values[position]
    for alpha, beta in _windows(value):
        lower, upper = bounds(position, alpha, beta)
        if not study.path_dependent and not lower <= value <= upper:
            yield f"for window {alpha}..{beta} are {lower}..{upper}, but the value is {value}"
        if outcome(position)[0] and _open(position, alpha, beta):
            yield f"for window {alpha}..{beta} are {lower}..{upper}, but the game is over"


def _windows(value: float) -> list[tuple[int, int]]:
    """The windows in which a search might ask about a position of some value."""
    near = math.floor(value)
    null = {0, 1, near - 1, near, near + 1, near + 2, near // 2}
    inside = sorted(beta for beta in null if -MAX_VALUE < beta <= MAX_VALUE)
    return [(-INFINITE, INFINITE), (-1, 1), *((beta - 1, beta) for beta in inside)]


def _undecided(position: Any, alpha: int, beta: int) -> bool:
    """Whether bounds leave a window open."""
    lower, upper = bounds(position, alpha, beta)
    return bool(lower < beta and upper > alpha and lower != upper)


def _open(position: Any, alpha: int, beta: int) -> bool:
    """Whether a window is left to a search."""
    return _undecided(position, alpha, beta) and not endgame(position, alpha, beta)[0]


@about("endgame", Study.endings)
def endgame_values_hold(position: Any, study: Study) -> Iterator[str]:
    value = study.values[position]
    for alpha, beta in _windows(value):
        if study.path_dependent or not _undecided(position, alpha, beta):
            continue
        solved, found, _ = endgame(position, alpha, beta)
        fits = value <= found if found <= alpha else value >= found if found >= beta else False
        if solved and not fits and found != value:
            yield f"for window {alpha}..{beta} it says {found}, but the value is {value}"


@about("candidates", Study.choices)
def candidates_are_moves(position: Any, study: Study) -> Iterator[str]:
    if not _open(position, -INFINITE, INFINITE):
        return
    yield from _listing(candidates, position)
    extra = set(_candidates(position)) - set(legal_moves(position))
    if extra:
        yield f"{sorted(extra)} are not legal"


def _candidates(position: Any) -> list[int]:
    buffer = [0] * game_constant(type(position), "MAX_MOVES", 256)
    return buffer[: candidates(position, buffer, 0)]


@about("candidates", Study.endings)
def a_candidate_is_best(position: Any, study: Study) -> Iterator[str]:
    if outcome(position)[0] or chance(position) or study.path_dependent:
        return
    value = study.values[position]
    if any(_open(position, alpha, beta) for alpha, beta in _windows(value)):
        search = study.minimax()
        if not any(_same(search.of_move(position, m), value) for m in _candidates(position)):
            yield f"{_candidates(position)} has no move of the best value, {value}"


@about("forced", Study.choices)
def forced_moves_are_only_candidates(position: Any, study: Study) -> Iterator[str]:
    if _open(position, -INFINITE, INFINITE):
        if forced(position) != NO_MOVE and _candidates(position) != [forced(position)]:
            yield f"{forced(position)} is not the only one of {_candidates(position)}"


@about("canonical")
def equivalent_positions_have_equal_values(position: Any, study: Study) -> Iterator[str]:
    word, _ = canonical(position)
    if not 0 <= operator.index(word) <= WORD:
        yield f"{word} is not a word of 64 bits"
    other = study.classes.setdefault(int(word), position)
    if {position, other} <= study.values.keys() and not study.path_dependent:
        if not _same(study.values[position], study.values[other]):
            yield (
                f"{other!r} is in the same class, but has value {study.values[other]}, "
                f"not {study.values[position]}"
            )


@about("settled")
def values_differ_by_what_is_settled(position: Any, study: Study) -> Iterator[str]:
    points, word = settled(position)
    if not 0 <= operator.index(word) <= WORD:
        yield f"{word} is not a word of 64 bits"
    other = study.rests.setdefault(int(word), position)
    if {position, other} <= study.values.keys() and not study.path_dependent:
        rest = study.values[position] - points
        others = study.values[other] - settled(other)[0]
        if not _same(rest, others):
            yield (
                f"{other!r} has the same key of what is left, but there {others} are left to "
                f"win, not {rest}"
            )


@about("canonical_move", Study.choices)
def canonical_moves_are_moves_turned(position: Any, study: Study) -> Iterator[str]:
    """Turned into the frame of the class and back again, here or at an equivalent position."""
    word, symmetry = canonical(position)
    other = study.classes.setdefault(int(word), position)
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


# Compiled code against plain Python ---------------------------------------------------


@about("compiled", most=200, properties=COMPILED)
def compiled_verbs_say_the_same(position: Any, study: Study) -> Iterator[str]:
    position = coerce(position)
    observe.specialise(type(position))
    room = game_constant(type(position), "MAX_MOVES", 256)
    size = 20 + (room + chance(position)) * (len(position) + 11)
    for alpha, beta in ((-INFINITE, INFINITE), (-1, 0), (0, 1)):
        plain, words = [0] * size, np.zeros(size, np.uint64)
        count = observe.function(position, alpha, beta, [0] * room, plain)
        found = observe(position, alpha, beta, np.zeros(room, np.int64), words)
        wanted = [int(word) & WORD for word in plain[:count]]
        if words[:found].tolist() != wanted:
            pairs = zip(words[:found].tolist(), wanted, strict=False)
            at = next((n for n, (a, b) in enumerate(pairs) if a != b), min(found, count))
            names = ("key", *["outcome"] * 2, *["bounds"] * 2, *["canonical"] * 2, *["settled"] * 2)
            verb = names[at] if at < len(names) else "a verb of moves or chance"
            yield f"{verb} differs from plain Python"


@about("minimax", most=12, properties=SEARCHES)
def kernels_see_the_same_tree(position: Any, study: Study) -> Iterator[str]:
    with contextlib.suppress(UnaffordableError):
        for depth in range(4):
            plain = Minimax(win=WIN if is_decisive(type(position)) else 0)
            wanted = plain.value(position, depth)
            result = minimax(position, depth)
            if not _same(result.value, wanted):
                yield f"at depth {depth} is {result.value}; plain Python finds {wanted}"
            if result.nodes != AFFORDABLE - plain.nodes_left:
                yield f"at depth {depth} visits {result.nodes} nodes, not as plain Python"
            if not _has_chance(position) and alphabeta(position, depth).value != wanted:
                yield f"at depth {depth} is {wanted}, but alpha-beta differs"
            if perft(position, depth) != _lines(position, depth):
                yield f"perft {depth} is not {_lines(position, depth)}"


@about("search", most=40, properties=COMPILED)
def the_search_finds_scores(position: Any, study: Study) -> Iterator[str]:
    """With a table that all positions share."""
    if not _has_chance(position):
        return
    engine = study.engine
    with contextlib.suppress(UnaffordableError):
        for depth in range(5):
            wanted = Minimax(win=engine.win).value(position, depth)
            found = engine.search(position, depth=depth)
            if not _same(found.value, wanted):
                yield f"at depth {depth} is {found.value}; plain Python finds {wanted}"


def _has_chance(position: Any) -> bool:
    return defines(type(position), "chance")


def _lines(position: Any, depth: int) -> int:
    """The number of lines of exactly so many moves."""
    if depth == 0 or outcome(position)[0]:
        return int(depth == 0)
    left = depth if chance(position) else depth - 1
    return sum(_lines(child, left) for child in _children(position))


@about("features", Study.choices, most=40, properties=COMPILED)
def compiled_features_are_the_same(position: Any, study: Study) -> Iterator[str]:
    """Seen through weights of which no two sums are alike."""
    if defines(type(position), "features"):
        weights = Optionality(*(1000 * math.sqrt(2 * number + 3) for number in range(6)))
        found, wanted = minimax(position, 0, evaluation=weights).value, weights(position)
        if found != limited(wanted, WIN if is_decisive(type(position)) else 0):
            yield "differ from plain Python"


@about("minimax", Study.endings, most=8, properties=SEARCHES)
def kernels_find_values(position: Any, study: Study) -> Iterator[str]:
    wanted = study.values[position]
    if not _same(minimax(position).value, wanted):
        yield f"is {minimax(position).value}; plain Python finds {wanted}"
    if not _has_chance(position) and alphabeta(position).value != wanted:
        yield f"is {wanted}, but alpha-beta finds {alphabeta(position).value}"


@about("solve", Study.endings, most=40, properties=SEARCHES)
def the_solver_finds_values(position: Any, study: Study) -> Iterator[str]:
    """With a table that all positions share: those of one class find each other's entries."""
    if not _has_chance(position) and not study.path_dependent:
        yield from _solved(position, study, weak=False, table=study.table)


@about("solve(weak)", Study.endings, most=20, properties=SEARCHES)
def the_solver_finds_winners(position: Any, study: Study) -> Iterator[str]:
    if not _has_chance(position) and not study.path_dependent:
        yield from _solved(position, study, weak=True, table=Table(1))


def _solved(position: Any, study: Study, weak: bool, table: Table) -> Iterator[str]:
    search = study.minimax()
    wanted = study.values[position]
    scores = {move: search.of_move(position, move) for move in legal_moves(position)}
    if weak:
        wanted = _sign(wanted)
        scores = {move: _sign(score) for move, score in scores.items()}
    result = analyse(position, table=table, weak=weak)
    if result.value != wanted:
        yield f"is {result.value}; plain Python finds {wanted}"
    if result.scores != scores:
        yield f"the values of moves are {result.scores}; plain Python finds {scores}"
    if scores and (result.best_move is None or scores[result.best_move] != wanted):
        yield f"the best move is {result.best_move}; plain Python finds {scores}"
    reached = _value_of_line(position, result.pv)
    if reached is None or (_sign(reached) if weak else reached) != wanted:
        yield f"the line {result.pv} leads to {reached}, not {wanted}"


def _value_of_line(position: Any, line: tuple[int, ...]) -> int | None:
    """The value of the end of a line for the mover of its start; None if the game goes on."""
    same = True
    for move in line:
        if move not in legal_moves(position):
            return None
        child = play(position, move)
        same = same == moves_again(position, child)
        position = child
    over, value = outcome(position)
    return (value if same else -value) if over else None


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
