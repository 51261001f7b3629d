"""The positions of random games, what is known about them, and the properties checked on them.

A property is a generator of complaints about one position.  Only the first complaint of each
is reported, since a rule that breaks once mostly breaks everywhere."""

from __future__ import annotations

import contextlib
import functools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from cutnode.conformance.findings import Finding, raised, raising_verb
from cutnode.conformance.minimax import (
    AFFORDABLE,
    Minimax,
    UnaffordableError,
    chance_outcomes,
    children,
    repeats,
)
from cutnode.contract.derived import legal_moves, same_after_chance, wrong_answers
from cutnode.contract.dispatch import defines, game_constant
from cutnode.contract.guarding import ChangedPositionError
from cutnode.contract.loading import Game
from cutnode.contract.messages import too_long
from cutnode.contract.notation import fields_text
from cutnode.contract.verbs import (
    canonical,
    chance,
    moves_again,
    outcome,
    play,
    recurrence,
    reversible,
)
from cutnode.kernels.evaluation import OWN
from cutnode.search.record import is_over
from cutnode.search.searcher import Searcher
from cutnode.storage.tables import Table

COMES_BACK = (
    "let reversible(position, child) be True for moves that can be undone; a position that comes "
    "back is then a draw"
)

OF_LINES = ("reversible", "drawn")
"""Verbs that make the value of a position depend on the line of play that led to it."""


SMALL_TREE = 20_000
"""The most nodes of a game tree that minimax, maybe in plain Python, visits without a long wait."""


@dataclass
class Line:
    """A random game: its positions, the player to move in each, 0 or 1, and the moves."""

    positions: list[Any]
    sides: list[int] = field(default_factory=lambda: [0])
    moves: list[int | None] = field(default_factory=list)
    """The moves between the positions; None for a chance event."""

    def add(self, move: int | None, child: Any) -> None:
        """Add a move, or an outcome of chance, and the position after it."""
        position = self.positions[-1]
        again = same_after_chance if move is None else moves_again
        self.sides.append(self.sides[-1] ^ (not again(position, child)))
        self.moves.append(move)
        self.positions.append(child)


@dataclass
class Sample:
    """The positions met in random games, what is known about them, and what was found."""

    game: Game
    random: Random
    complaints: list[Finding] = field(default_factory=list)
    failures: dict[str, Finding] = field(default_factory=dict)
    """The first exception that each verb raised."""
    unexplained: list[Finding] = field(default_factory=list)
    """Exceptions that no verb raised."""
    changed: list[Finding] = field(default_factory=list)
    """A rule that changes positions in place, which may cause all other findings."""
    lines: list[Line] = field(default_factory=list)
    """The random games."""
    compared: Counter[str] = field(default_factory=Counter)
    """The number of comparisons of each verb's answers with values or other positions."""
    plies_seen: dict[Any, int] = field(default_factory=dict)
    """The positions met, with the most plies played from there."""
    values: dict[Any, float] = field(default_factory=dict)
    """The values of positions met near the end of games."""
    exact: dict[Any, float] = field(default_factory=dict)
    """The values of these and of all that can follow, if none depends on the line of play."""
    equals: dict[Any, Any] = field(default_factory=dict)
    """The first position met that is equal to each."""
    keys: dict[int, Any] = field(default_factory=dict)
    recurrences: dict[int, Any] = field(default_factory=dict)
    classes: dict[int, Any] = field(default_factory=dict)
    rests: dict[int, Any] = field(default_factory=dict)
    part_keys: dict[int, Any] = field(default_factory=dict)
    move_texts: set[str] = field(default_factory=set)
    table: Table = field(default_factory=lambda: Table(1))

    @property
    def path_dependent(self) -> bool:
        """Whether values depend on the line of play, if only on where it begins."""
        return any(callable(getattr(self.game.module, name, None)) for name in OF_LINES)

    def positions(self) -> list[Any]:
        return list(self.plies_seen)

    def choices(self) -> list[Any]:
        """Return the positions with legal moves."""
        return [p for p in self.plies_seen if not outcome(p)[0] and not chance(p)]

    def unfinished(self) -> list[Any]:
        """Return the positions with legal moves, and the chance nodes."""
        return [p for p in self.plies_seen if not outcome(p)[0]]

    def endings(self) -> list[Any]:
        """Return the positions whose value is known."""
        return list(self.values)

    def ends(self) -> list[Any]:
        """Return the last positions of the random games."""
        return [line.positions[-1] for line in self.lines]

    def small_trees(self) -> list[Any]:
        """Return endings with small game trees, counting a position each time minimax meets it."""
        if self.path_dependent:
            return self.endings()
        sizes: dict[Any, int] = {}
        return [p for p in self.values if _tree_size(p, sizes) <= SMALL_TREE]

    def solved(self) -> list[Any]:
        """Return the positions whose value is known, and all positions that can follow."""
        return list(self.exact or self.values)

    def met(self, verb: str, known: dict[int, Any], word: int, position: Any) -> list[Any]:
        """Return the first position with this word, if both values are known; else nothing."""
        other = known.setdefault(int(word), position)
        if other == position or not {position, other} <= self.exact.keys():
            return []
        self.compared[verb] += 1
        return [other]

    def find(self, verb: str, position: Any, message: str) -> None:
        """Record a complaint, unless it was made before."""
        if message not in {finding.message for finding in self.complaints}:
            self.complaints.append(Finding(verb, self.text(position), message))

    def fail(self, verb: str, position: Any, error: Exception) -> None:
        """Record an exception that was raised while checking *verb*."""
        if isinstance(error, ChangedPositionError):
            self.changed = self.changed or [Finding(error.verb, "", error.change)]
            return
        raising = raising_verb(error, self.game)
        finding = Finding(raising or verb, self.text(position), raised(error))
        if raising:
            self.failures.setdefault(raising, finding)
        else:
            self.unexplained.append(finding)

    def text(self, position: Any) -> str:
        """Return a position in the game's notation, or as Python shows it."""
        try:
            return str(self.game.notation.position_text(position))
        except Exception:
            return fields_text(position)

    def found(self) -> list[Finding]:
        """Return the complaints, and the exceptions that they do not explain."""
        if self.changed:
            return self.changed
        explained = {finding.verb for finding in self.complaints}
        failures = [found for verb, found in self.failures.items() if verb not in explained]
        return self.complaints + failures or self.unexplained[:1]

    def ask(self, properties: list[Property]) -> None:
        """Check properties on their positions, until the first complaint of each."""
        for asked in properties:
            if self.changed:
                return
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
        """Play a game, and one through equivalent positions, and keep their positions.

        A *reluctant* game avoids ending as long as it can, so its end has small game trees; with
        dice, only until a position comes back.
        """
        start = self.game.start()
        line = Line([start])
        self.lines.append(line)
        lines = [line.positions]
        try:
            self._extend(line, reluctant)
            if defines(type(start), "canonical"):
                lines.append(self._equivalent_line(line.positions))
            for positions in lines:
                self._find_values(positions)
        except Exception as error:
            self.fail("play", line.positions[-1], error)
        for positions in lines:
            for plies, position in enumerate(reversed(positions)):
                self.plies_seen[position] = max(plies, self.plies_seen.get(position, 0))

    def _extend(self, line: Line, reluctant: bool) -> None:
        """Play random moves until the game is over or a position repeats."""
        position = line.positions[0]
        cls, met = type(position), {position}
        most = game_constant(cls, "MAX_PLIES", 512)
        recurring: list[int] = []
        while not is_over(position) and not repeats(position, recurring):
            if len(line.positions) > most:
                if not self.path_dependent:
                    self.find("MAX_PLIES", line.positions[0], too_long(cls))
                return
            move, child = self._step(position, reluctant)
            if type(child) is not type(position):
                return
            if wrong := next(wrong_answers(child), None):
                self.find(wrong[0], position, wrong[1])
                return
            again = reversible(position, child)
            recurring = [*recurring, recurrence(position)] if again else []
            line.add(move, child)
            position = child
            if child in met and has_chance(child):
                reluctant = False  # otherwise it might never end
            elif child in met and not recurring:
                said = "says no" if defines(cls, "reversible") else "is not defined"
                self.find("reversible", child, f"it {said}, but play comes back here: {COMES_BACK}")
                return
            met.add(child)

    def _step(self, position: Any, reluctant: bool) -> tuple[int | None, Any]:
        if chance(position):
            events = chance_outcomes(position)
            odds = [probability for probability, _ in events]
            return None, self.random.choices(events, odds)[0][1]
        move, child = None, None
        allowed = legal_moves(position)
        for move in self.random.sample(allowed, len(allowed)):
            child = play(position, move)
            if not reluctant or not is_over(child):
                break
        return move, child

    def _equivalent_line(self, line: list[Any]) -> list[Any]:
        """Return a line with the same canonical keys, through other positions where possible."""
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
        """Find the values of positions at the end of a line, as far back as is affordable."""
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
    """A property that must hold for certain positions of a sample."""

    verb: str
    subjects: Callable[[Sample], list[Any]]
    most: int
    """The most positions to check; if there are more, they are chosen at random."""
    complaints: Complaints


class Properties(list[Property]):
    """Properties in the order of their checks."""

    def about(
        self,
        verb: str,
        subjects: Callable[[Sample], list[Any]] = Sample.positions,
        most: int = 300,
    ) -> Callable[[Complaints], Complaints]:
        """Return a decorator that makes a generator of complaints a property."""

        def register(complaints: Complaints) -> Complaints:
            self.append(Property(verb, subjects, most, complaints))
            return complaints

        return register


def _tree_size(position: Any, known: dict[Any, int]) -> int:
    """Return the nodes of a game tree, counted up to ``SMALL_TREE + 1``; *known* caches sizes."""
    if position not in known:
        sizes = (_tree_size(child, known) for child in children(position))
        known[position] = min(1 + sum(sizes), SMALL_TREE + 1)
    return known[position]


def has_chance(position: Any) -> bool:
    """Return whether the game has chance."""
    return defines(type(position), "chance")
