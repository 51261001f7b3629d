"""The positions of random games, what is known of them, and the properties asked of them.

A property is a generator of complaints about one position.  Of each only the first is
reported: what breaks once mostly breaks everywhere."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from engine.conformance.findings import Finding, raised, raising_verb
from engine.conformance.minimax import (
    AFFORDABLE,
    Minimax,
    UnaffordableError,
    chance_outcomes,
    children,
)
from engine.contract.dispatch import defines, game_constant
from engine.contract.legal import legal_moves
from engine.contract.loading import Game
from engine.contract.verbs import canonical, chance, outcome, play, recurrence, reversible
from engine.kernels.evaluation import OWN
from engine.search.record import is_over
from engine.search.searcher import Searcher
from engine.storage.tables import Table

__all__ = ["Properties", "Property", "Sample", "has_chance"]

OF_LINES = ("reversible", "drawn")
"""Verbs that make the value of a position depend on how play came there."""


@dataclass
class Sample:
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
        """Return whether values depend on the line of play, if only on where it begins."""
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

    def met(self, known: dict[int, Any], word: int, position: Any) -> list[Any]:
        """Return the first position with a word, if its value and this one's can be compared."""
        other = known.setdefault(int(word), position)
        both = {position, other} <= self.values.keys() and not self.path_dependent
        return [other] if both else []

    def find(self, verb: str, position: Any, message: str) -> None:
        """Note a complaint, unless it was made before."""
        if message not in {finding.message for finding in self.complaints}:
            self.complaints.append(Finding(verb, self._text(position), message))

    def fail(self, verb: str, position: Any, error: Exception) -> None:
        """Note an exception that was met when *verb* was asked about."""
        raising = raising_verb(error, self.game)
        finding = Finding(raising or verb, self._text(position), raised(error))
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
                lines.append(self._equivalent_line(lines[0]))
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
            events = chance_outcomes(position)
            odds = [probability for probability, _ in events]
            return self.random.choices(events, odds)[0][1]
        child = None
        allowed = legal_moves(position)
        for move in self.random.sample(allowed, len(allowed)):
            child = play(position, move)
            if not reluctant or not is_over(child):
                break
        return child

    def _equivalent_line(self, line: list[Any]) -> list[Any]:
        """A line through positions with the same canonical keys, and different where it can."""
        equivalent = line[:1]
        for position in line[1:]:
            wanted = canonical(position)[0]
            equivalent = [c for c in children(equivalent[-1]) if canonical(c)[0] == wanted]
            if not equivalent:
                break
            others = [child for child in equivalent if child != position]
            equivalent.append(self.random.choice(others or equivalent))
        return equivalent

    def _find_values(self, line: list[Any]) -> None:
        """Know the values of positions at the end of a line, as many as are affordable."""
        with contextlib.suppress(UnaffordableError, RecursionError):
            for position in reversed(line):
                self.values[position] = self.minimax().value(position)

    @functools.cached_property
    def engine(self) -> Searcher:
        """A search that scores as minimax does."""
        position, table = self.game.start(), self.table
        return Searcher(position, table=table, evaluation=OWN, exact=True, debug=True)

    def minimax(self) -> Minimax:
        return Minimax(AFFORDABLE, None if self.path_dependent else self.exact)


Complaints = Callable[[Any, Sample], Iterator[str]]


@dataclass(frozen=True)
class Property:
    """A property that must hold of some of the positions of a sample."""

    verb: str
    subjects: Callable[[Sample], list[Any]]
    most: int
    """Of more positions than this, a random choice is asked."""
    complaints: Complaints


class Properties(list[Property]):
    """Properties in the order in which they are asked."""

    def about(
        self,
        verb: str,
        subjects: Callable[[Sample], list[Any]] = Sample.positions,
        most: int = 300,
    ) -> Callable[[Complaints], Complaints]:
        """Make a generator of complaints a property."""

        def register(complaints: Complaints) -> Complaints:
            self.append(Property(verb, subjects, most, complaints))
            return complaints

        return register


def has_chance(position: Any) -> bool:
    """Return whether chance has a part in the game."""
    return defines(type(position), "chance")
