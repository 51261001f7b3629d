"""What a search found out: immutable, printable, picklable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from engine.contract.derived import same_after_chance
from engine.contract.dispatch import game_name
from engine.contract.errors import PositionError
from engine.contract.messages import description, move_text, position_text
from engine.contract.notebook import InNotebooks
from engine.contract.positions import coerce
from engine.contract.text import quoted
from engine.contract.verbs import (
    canonical,
    chance,
    chance_outcome,
    moves_again,
    play,
)
from engine.kernels.scores import win_distance
from engine.kernels.value_iteration import (
    slot_of,
)
from engine.search.statistics import Statistics

__all__ = [
    "Batch",
    "Iterated",
    "Iteration",
    "Line",
    "PlainResult",
    "Result",
    "SearchResult",
    "TableUse",
    "line_text",
]


@dataclass(frozen=True, slots=True)
class TableUse:
    """How a search used the transposition table."""

    probes: int
    hits: int
    cutoffs: int
    """Hits that ended the search of a node."""
    stores: int
    overwrites: int
    """Stores for which another position of the same search gave way."""


@dataclass(frozen=True, slots=True)
class Result(InNotebooks):
    """What is known of a position.

    *value* is the value for the mover, or None if it was not proven; the truth is always
    within *lower* and *upper*.  Solved weakly, the three are signs: 1 the mover wins, 0
    a draw, -1 he loses.  *nodes*, *seconds* and *table* are those of the proof of the
    value; the line and the scores are found afterwards, with what is in the table.
    """

    position: Any
    value: int | None
    lower: int
    upper: int
    weak: bool
    best_move: int | None
    """A move that keeps the value; if that is not proven, the most promising move."""
    scores: dict[int, int | None] | None
    """The value for the mover of each legal move, if they were asked for."""
    pv: tuple[int, ...]
    """Best play to the end of the game, if the value is proven and the line was asked for."""
    nodes: int
    seconds: float
    table: TableUse
    reason: str
    """Why the search ended: proven, node limit, time limit, stopped, or interrupted (which it also
    is where all was proven by then)."""

    @property
    def proven(self) -> bool:
        return self.value is not None

    @property
    def depth(self) -> int:
        """The plies of the best line."""
        return len(self.pv)

    @property
    def nodes_per_second(self) -> float:
        return self.nodes / self.seconds if self.seconds > 0 else 0.0

    def meaning(self) -> str:
        """The value in words."""
        if self.value is None:
            return f"between {self.lower} and {self.upper} ({self.reason})"
        words = None if self.weak else description(self.position, self.value)
        sign = (self.value > 0) - (self.value < 0)
        return words or ("draw", "the player to move wins", "the player to move loses")[sign]

    def line_text(self) -> list[str]:
        """The best line in the game's own notation."""
        return line_text(self.position, self.pv)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with positions and moves in the game's own notation."""
        best = None if self.best_move is None else move_text(self.position, self.best_move)
        scores = None
        if self.scores is not None:
            scores = {move_text(self.position, move): v for move, v in self.scores.items()}
        return {
            "game": game_name(type(self.position)),
            "position": position_text(self.position),
            "value": self.value,
            "proven": self.proven,
            "lower": self.lower,
            "upper": self.upper,
            "weak": self.weak,
            "best_move": best,
            "scores": scores,
            "pv": self.line_text(),
            "depth": self.depth,
            "nodes": self.nodes,
            "seconds": self.seconds,
            "table": {name: getattr(self.table, name) for name in TableUse.__slots__},
            "reason": self.reason,
        }

    def __str__(self) -> str:
        data = self.to_dict()
        lines = [f"value  {'unknown' if self.value is None else self.value}  ({self.meaning()})"]
        if data["scores"]:
            scores = (f"{m}: {'?' if v is None else v}" for m, v in data["scores"].items())
            lines.append(f"scores {', '.join(scores)}")
        if data["best_move"] is not None:
            lines.append(f"best   {data['best_move']}")
        if data["pv"]:
            lines.append(f"line   {' '.join(data['pv'])}")
        rate = f"{self.nodes_per_second:,.0f} per second"
        lines.append(f"nodes  {self.nodes:,} in {self.seconds:.3g} s ({rate})")
        return "\n".join(lines)


def line_text(position: Any, line: Sequence[int]) -> list[str]:
    """The moves of a line of play in the game's own notation."""
    texts = []
    for move in line:
        texts.append(move_text(position, move))
        position = play(position, move)
    return texts


def score_text(score: float) -> str:
    """A score as people read it."""
    return f"{score:.6g}" if isinstance(score, float) else str(score)


@dataclass(frozen=True, slots=True)
class Line:
    """A move, its score for the mover, and the best play that begins with it."""

    move: int
    value: float
    pv: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Iteration:
    """A depth that was completed; *nodes* and *seconds* are all until then.

    No *lines* if chance decides at the position.
    """

    depth: int
    value: float
    proven: bool
    lines: tuple[Line, ...]
    nodes: int
    seconds: float
    deepest: int = 0
    """Plies of the longest line that was looked at."""
    bound: int = 0
    """1 if the depth is not done and *value* is a lower bound, -1 if it is an upper one."""


@dataclass(frozen=True, slots=True)
class SearchResult(InNotebooks):
    """What a search of limited depth found.

    *value* is a score for the mover: see ``engine.kernels.scores``.  Scores are whole numbers, and
    floats in games of chance.  It is *proven* if it does not
    depend on estimates (a win found by selective techniques is one, though perhaps not the
    quickest); it is *exact* if it is that of plain minimax at this depth.  *reason* is why
    the search ended: depth limit, proven, node limit, time limit, stopped, or interrupted;
    or book, where that knows the move.
    """

    position: Any
    value: float
    proven: bool
    exact: bool
    decisive: bool
    lines: tuple[Line, ...]
    """The best moves, as many as were asked for; none if the game is over or chance decides.
    First comes what the depth that was not completed found to be better, if it did.  If not
    even a depth of one ply was completed (depth 0), just a legal move."""
    depth: int
    """Plies, of the last depth that was completed."""
    iterations: tuple[Iteration, ...]
    statistics: Statistics
    seconds: float
    reason: str

    @property
    def best_move(self) -> int | None:
        return self.lines[0].move if self.lines else None

    @property
    def pv(self) -> tuple[int, ...]:
        """The best line of play, up to the first event of chance."""
        return self.lines[0].pv if self.lines else ()

    @property
    def nodes(self) -> int:
        return self.statistics.nodes

    def meaning(self) -> str:
        """The score in words."""
        distance = win_distance(self.value) if self.decisive else None
        if isinstance(self.value, float) and distance != 0:
            distance = None  # a mean of several distances, or of wins and losses
        if distance is None:
            plies = "ply" if self.depth == 1 else "plies"
            return "proven" if self.proven else f"estimated {self.depth} {plies} deep"
        winner = "the player to move" if self.value > 0 else "the other player"
        if distance == 0:
            return f"{winner} has won"
        return f"{winner} wins in {distance} {'plies' if distance > 1 else 'ply'}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with positions and moves in the game's own notation."""
        return {
            "game": game_name(type(self.position)),
            "position": position_text(self.position),
            "value": self.value,
            "proven": self.proven,
            "exact": self.exact,
            "best_move": self._best_move_text(self.lines),
            "lines": [self._line(line) for line in self.lines],
            "depth": self.depth,
            "iterations": [
                {
                    "depth": iteration.depth,
                    "value": iteration.value,
                    "best_move": self._best_move_text(iteration.lines),
                    "nodes": iteration.nodes,
                    "seconds": iteration.seconds,
                }
                for iteration in self.iterations
            ],
            "statistics": self.statistics.to_dict(),
            "nodes": self.nodes,
            "seconds": self.seconds,
            "reason": self.reason,
        }

    def _best_move_text(self, lines: tuple[Line, ...]) -> str | None:
        return move_text(self.position, lines[0].move) if lines else None

    def _line(self, line: Line) -> dict[str, Any]:
        texts = line_text(self.position, line.pv)
        return {"move": texts[0], "value": line.value, "pv": texts}

    def __str__(self) -> str:
        lines = [f"value  {score_text(self.value)}  ({self.meaning()})"]
        for line in self.lines:
            texts = line_text(self.position, line.pv)
            label = "best   " if line is self.lines[0] else "then   "
            score = "" if len(self.lines) == 1 else f"{score_text(line.value):>6}  "
            lines.append(f"{label}{score}{' '.join(texts)}")
        rate = f"{self.statistics.nodes_per_second:,.0f} per second"
        lines.append(f"depth  {self.depth}  ({self.reason})")
        lines.append(f"nodes  {self.nodes:,} in {self.seconds:.3g} s ({rate})")
        return "\n".join(lines)


class Batch(Sequence[Result]):
    """The results of many positions: a sequence, and an array for each figure.

    ``values`` (0 where not ``proven``), ``proven``, ``lower``, ``upper``, ``nodes`` and
    ``seconds`` are arrays with one element for each position.  ``reason`` says why all of it was
    ended early, if it was: stopped, or interrupted (by then all may be proven).
    """

    def __init__(
        self,
        positions: Sequence[Any],
        rows: np.ndarray,
        seconds: np.ndarray,
        build: Callable[[Any, Any, float], Result],
        reason: str = "",
    ):
        self._positions = positions
        self._rows = rows
        self._build = build
        self.reason = reason
        self.proven = rows["lower"] == rows["upper"]
        self.values = np.where(self.proven, rows["lower"], 0)
        self.lower = rows["lower"]
        self.upper = rows["upper"]
        self.nodes = rows["nodes"]
        self.seconds = seconds

    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> list[Result]: ...
    def __getitem__(self, index: int | slice) -> Result | list[Result]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        return self._build(self._positions[index], self._rows[index], float(self.seconds[index]))

    def __iter__(self) -> Iterator[Result]:
        return map(self.__getitem__, range(len(self)))


@dataclass(frozen=True, slots=True)
class PlainResult:
    """What a plain search found: a value, and the positions that it visited."""

    value: float
    nodes: int
    leaves: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Iterated(InNotebooks):
    """What value iteration found of a position, and of all that can be reached from it.

    *value* is the value for the mover, or None if its bounds are not within *tolerance* of each
    other; the truth is always within *lower* and *upper*.
    """

    position: Any
    value: float | None
    lower: float
    upper: float
    tolerance: float
    best_move: int | None
    """None if chance decides, or the game is over."""
    scores: dict[int, float | None]
    """The value for the mover of each legal move, or of each outcome of chance by its number."""
    decisions: int
    """States (classes of equivalent positions) in which a player moves,"""
    chances: int
    """in which chance decides,"""
    finished: int
    """and in which the game is over."""
    sweeps: int
    """The most times that the bounds of any state were computed."""
    updates: int
    """How many times that was done, all states together."""
    seconds: float
    reason: str
    """Why it ended: proven, bounds stay apart, time limit, stopped, or interrupted."""
    states: States = field(repr=False, compare=False)
    """The bounds of all states."""

    @property
    def proven(self) -> bool:
        return self.value is not None

    @property
    def positions(self) -> int:
        """All states."""
        return self.decisions + self.chances + self.finished

    def bounds_of(self, position: Any) -> tuple[float, float]:
        """The bounds of another position; :class:`PositionError` if play does not reach it."""
        return self.states.bounds_of(position)

    def value_of(self, position: Any) -> float:
        """The value of another position for its mover: the middle of its bounds."""
        return sum(self.bounds_of(position)) / 2

    def meaning(self) -> str:
        """The value in words."""
        if self.value is None:
            return f"between {self.lower:.12g} and {self.upper:.12g} ({self.reason})"
        return description(self.position, self.value) or f"within {self.tolerance:g}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with positions and moves in the game's own notation.

        The scores of outcomes of chance are named by the positions that they lead to.
        """
        best = None if self.best_move is None else move_text(self.position, self.best_move)
        return {
            "game": game_name(type(self.position)),
            "position": position_text(self.position),
            "value": self.value,
            "proven": self.proven,
            "lower": self.lower,
            "upper": self.upper,
            "tolerance": self.tolerance,
            "best_move": best,
            "scores": self._named_scores(),
            "positions": self.positions,
            "decisions": self.decisions,
            "chances": self.chances,
            "finished": self.finished,
            "sweeps": self.sweeps,
            "updates": self.updates,
            "seconds": self.seconds,
            "reason": self.reason,
        }

    def _named_scores(self) -> dict[str, float | None]:
        if self.best_move is not None:
            return {move_text(self.position, move): v for move, v in self.scores.items()}
        outcomes = ((chance_outcome(self.position, n)[1], v) for n, v in self.scores.items())
        return {position_text(position): v for position, v in outcomes}

    def __str__(self) -> str:
        data = self.to_dict()
        value = "unknown" if self.value is None else f"{self.value:.12g}"
        lines = [f"value  {value}  ({self.meaning()})"]
        scores = {name: "?" if v is None else f"{v:.12g}" for name, v in data["scores"].items()}
        if self.best_move is None:
            lines += [f"then   {value:15}  {name}" for name, value in scores.items()]
        else:
            lines.append(f"scores {', '.join(f'{name}: {v}' for name, v in scores.items())}")
            lines.append(f"best   {data['best_move']}")
        lines.append(
            f"states {self.positions:,}: {self.decisions:,} of a player, {self.chances:,} of "
            f"chance, {self.finished:,} finished"
        )
        updates = self.updates / max(self.positions, 1)
        lines.append(
            f"sweeps {self.sweeps:,} at most, {updates:.1f} of a state, in {self.seconds:.3g} s"
        )
        return "\n".join(lines)


class States:
    """The bounds of the values of all states that can be reached from *root*."""

    def __init__(self, root: Any, keys: Any, slots: Any, bounds: Any):
        self.root = root
        self._keys, self._slots, self._bounds = keys, slots, bounds

    def __len__(self) -> int:
        return len(self._bounds)

    def bounds_of(self, position: Any) -> tuple[float, float]:
        """Those of a position for its mover; :class:`PositionError` if it is not among them."""
        if type(position) is not type(self.root):
            raise PositionError(
                f"the states are of {game_name(type(self.root))}, not {game_name(type(position))}"
            )
        word = canonical(coerce(position))[0]
        state = int(self._slots[slot_of(word, self._keys, self._slots)]) - 1
        if state < 0:
            text, origin = position_text(position), position_text(self.root)
            raise PositionError(f"{quoted(text)} cannot be reached from {quoted(origin)}")
        lower, upper = self._bounds[state].tolist()
        return lower, upper

    def bounds_behind(self, position: Any, child: Any) -> tuple[float, float]:
        """Those of a move, or of an outcome of chance, for the mover of *position*."""
        again = same_after_chance if chance(position) else moves_again
        lower, upper = self.bounds_of(child)
        return (lower, upper) if again(position, child) else (-upper, -lower)
