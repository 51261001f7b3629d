"""The results of searches and proofs: immutable, printable, picklable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from cutnode.contract.dispatch import game_name
from cutnode.contract.messages import description, move_text, position_text
from cutnode.contract.notebook import InNotebooks
from cutnode.contract.verbs import outcome, play
from cutnode.kernels.scores import win_distance
from cutnode.kernels.tablebase_scores import FAR
from cutnode.search.statistics import Statistics
from cutnode.storage.frames import Tabular


@dataclass(frozen=True, slots=True)
class TableUse:
    """The use of the transposition table by a search."""

    probes: int
    hits: int
    cutoffs: int
    """Hits that ended the search of a node."""
    stores: int
    overwrites: int
    """Stores for which another position of the same search gave way."""


class PositionResult(InNotebooks):
    """The result of a search or a proof, of whatever kind: a value, a move, a line of play.

    Moves are the numbers of the rules; :meth:`move_text` and :meth:`line_text` write them in the
    game's notation.
    """

    __slots__ = ()

    value: float | None
    best_move: int | None
    pv: tuple[int, ...]
    nodes: int
    seconds: float

    @property
    def move(self) -> int | None:
        """The best move, as :attr:`best_move`."""
        return self.best_move

    @property
    def score(self) -> float | None:
        """The value for the player to move, as :attr:`value`."""
        return self.value

    @property
    def line(self) -> tuple[int, ...]:
        """The best line of play, as :attr:`pv`."""
        return self.pv

    def move_text(self) -> str | None:
        """Return the best move in the game's own notation; None if there is none."""
        return None if self.best_move is None else move_text(self.position, self.best_move)

    @property
    def nodes_per_second(self) -> float:
        """The rate; 0 if no time was measured."""
        return self.nodes / self.seconds if self.seconds > 0 else 0.0

    def line_text(self) -> list[str]:
        """Return the best line in the game's own notation."""
        return line_text(self.position, self.pv)

    def ending(self) -> str:
        """Return in words how the game has ended at the position; "" if it has not."""
        over, value = outcome(self.position)
        if not over:
            return ""
        sign = (value > 0) - (value < 0)
        words = ("a draw", "the player to move has won", "the player to move has lost")[sign]
        return f"the game is over: {description(self.position, value) or words}"

    def _about(self) -> dict[str, Any]:
        """Return plain data of the position."""
        return {"game": game_name(type(self.position)), "position": position_text(self.position)}

    def _effort(self) -> str:
        """Return the line of text that says how many nodes were visited, in which time."""
        rate = f"{self.nodes_per_second:,.0f} per second"
        return f"nodes  {self.nodes:,} in {self.seconds:.3g} s ({rate})"


@dataclass(frozen=True, slots=True)
class Result(PositionResult):
    """The result of a proof: what is known of the value of a position.

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
    """Best play to the end of the game, if the value is proven and the line was asked for.  A limit
    of nodes leaves as many again for it, in which it may not come to its end."""
    nodes: int
    seconds: float
    table: TableUse
    reason: str
    """Why the search ended: proven, node limit, time limit, stopped, or interrupted (which it also
    is where all was proven by then)."""
    engine: str = field(default="alphabeta", kw_only=True)
    """What proved it: alphabeta, or pn."""
    at_least: int | None = field(default=None, kw_only=True)
    """The value that was asked about, if it was: is it reached?"""
    target: int | None = field(default=None, kw_only=True)
    """Of an unfinished search by proof numbers: the value whose question it left open."""
    numbers: tuple[int, int] | None = field(default=None, kw_only=True)
    """The proof and the disproof number of that question: is the value at least *target*?"""
    why: str = field(default="", kw_only=True)
    """Why this engine was chosen, if it was."""

    @property
    def proven(self) -> bool:
        """Whether the value is known."""
        return self.value is not None

    @property
    def answer(self) -> bool | None:
        """Whether the value is :attr:`at_least` what was asked; None if that is not known."""
        if self.at_least is None or self.lower < self.at_least <= self.upper:
            return None
        return self.lower >= self.at_least

    @property
    def answered(self) -> bool:
        """Whether all is known that was asked for: the value, or the answer."""
        return self.proven if self.at_least is None else self.answer is not None

    @property
    def depth(self) -> int:
        """The plies of the best line."""
        return len(self.pv)

    def meaning(self) -> str:
        """Return in words the value, or what is known of it."""
        if ending := self.ending():
            return ending
        if self.value is None:
            known = f"between {self.lower} and {self.upper}"
            return known if self.answered else f"{known}: {self.reason}"
        words = None if self.weak else description(self.position, self.value)
        sign = (self.value > 0) - (self.value < 0)
        return words or ("draw", "the player to move wins", "the player to move loses")[sign]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with positions and moves in the game's own notation."""
        best = None if self.best_move is None else move_text(self.position, self.best_move)
        scores = None
        if self.scores is not None:
            scores = {move_text(self.position, move): v for move, v in self.scores.items()}
        return self._about() | {
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
            "engine": self.engine,
            "at_least": self.at_least,
            "answer": self.answer,
            "target": self.target,
            "numbers": None if self.numbers is None else list(self.numbers),
            "why": self.why,
        }

    def __str__(self) -> str:
        data = self.to_dict()
        lines = [f"value  {'unknown' if self.value is None else self.value}  ({self.meaning()})"]
        if self.at_least is not None:
            answer = {True: "yes", False: "no", None: "open"}[self.answer]
            lines.append(f"answer {answer}: value >= {self.at_least}")
        if data["scores"]:
            scores = (f"{m}: {'?' if v is None else v}" for m, v in data["scores"].items())
            lines.append(f"scores {', '.join(scores)}")
        if data["best_move"] is not None:
            lines.append(f"best   {data['best_move']}")
        if data["pv"]:
            lines.append(f"line   {' '.join(data['pv'])}")
        if self.target is not None and self.numbers is not None:
            lines.append(f"open   {question_text(self.target, self.numbers)}")
        lines.append(self._effort())
        if self.why:
            lines.append(f"engine {self.engine}: {self.why}")
        return "\n".join(lines)


def question_text(target: int, numbers: tuple[int, int]) -> str:
    """Return an open question of a search by proof numbers in words."""
    proof, disproof = numbers
    return f"value >= {target}: proof number {proof:,}, disproof number {disproof:,}"


def line_text(position: Any, line: Sequence[int]) -> list[str]:
    """Return the moves of a line of play in the game's own notation."""
    texts = []
    for move in line:
        texts.append(move_text(position, move))
        position = play(position, move)
    return texts


def score_text(score: float) -> str:
    """Return a score as text."""
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
class SearchResult(PositionResult):
    """The result of a search of limited depth.

    *value* is a score for the mover: see ``cutnode.kernels.scores``.  Scores are integers, and
    floats in games of chance.  It is *proven* if it does not
    depend on estimates (a win found by selective techniques is one, though perhaps not the
    quickest); it is *exact* if it is that of plain minimax at this depth.  *reason* is why
    the search ended: depth limit, proven, node limit, time limit, stopped, or interrupted;
    or book or tablebase, where that knows the move.
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
    why: str = ""
    """Why this engine, where ``engine="auto"`` chose it or a proof was tried."""

    @property
    def best_move(self) -> int | None:  # type: ignore[override]
        """The first move of the best line; None if the game is over or chance decides."""
        return self.lines[0].move if self.lines else None

    @property
    def pv(self) -> tuple[int, ...]:  # type: ignore[override]
        """The best line of play, up to the first event of chance."""
        return self.lines[0].pv if self.lines else ()

    @property
    def nodes(self) -> int:  # type: ignore[override]
        """The positions visited, by an attempt at a proof and over all iterations."""
        return self.statistics.proof_nodes + self.statistics.nodes

    def meaning(self) -> str:
        """Return the score in words."""
        if ending := self.ending():
            return ending
        distance = win_distance(self.value) if self.decisive else None
        if isinstance(self.value, float) and distance != 0:
            distance = None  # a mean of several distances, or of wins and losses
        if distance is None:
            plies = "ply" if self.depth == 1 else "plies"
            return "proven" if self.proven else f"estimated {self.depth} {plies} deep"
        winner = "the player to move" if self.value > 0 else "the other player"
        if distance >= FAR:
            return f"{winner} wins"  # a tablebase says so, and not how soon
        return f"{winner} wins in {distance} {'plies' if distance > 1 else 'ply'}"

    def value_text(self) -> str:
        """Return the score in a word; of a finished game, its value."""
        over, value = outcome(self.position)
        return score_text(value if over else self.value)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with positions and moves in the game's own notation."""
        return self._about() | {
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
            "why": self.why,
        }

    def _best_move_text(self, lines: tuple[Line, ...]) -> str | None:
        return move_text(self.position, lines[0].move) if lines else None

    def _line(self, line: Line) -> dict[str, Any]:
        texts = line_text(self.position, line.pv)
        return {"move": texts[0], "value": line.value, "pv": texts}

    def __str__(self) -> str:
        lines = [f"value  {self.value_text()}  ({self.meaning()})"]
        for line in self.lines:
            texts = line_text(self.position, line.pv)
            label = "best   " if line is self.lines[0] else "then   "
            score = "" if len(self.lines) == 1 else f"{score_text(line.value):>6}  "
            lines.append(f"{label}{score}{' '.join(texts)}")
        lines.append(f"depth  {self.depth}  ({self.reason})")
        lines.append(self._effort())
        if self.why:
            lines.append(f"engine {self.why}")
        return "\n".join(lines)


class Batch(Sequence[Result], Tabular):
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

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the positions as text, and what is known of each."""
        return {
            "position": [position_text(position) for position in self._positions],
            "value": [
                v if known else None
                for v, known in zip(self.values.tolist(), self.proven.tolist(), strict=True)
            ],
            "lower": self.lower.tolist(),
            "upper": self.upper.tolist(),
            "nodes": self.nodes.tolist(),
            "seconds": self.seconds.tolist(),
        }

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
    """The result of a plain search: a value, and the positions that it visited."""

    value: float
    nodes: int
    leaves: int
    seconds: float
