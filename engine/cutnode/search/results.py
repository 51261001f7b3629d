"""The results of searches and proofs: immutable, printable, picklable."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self, overload

import numpy as np

from cutnode.contract.dispatch import game_constant, game_name, value_limit
from cutnode.contract.messages import description, move_text, position_text
from cutnode.contract.notebook import InNotebooks
from cutnode.contract.verbs import outcome, play
from cutnode.kernels.playouts import ESTIMATE_UNIT
from cutnode.kernels.scores import MOST_ESTIMATE, WIN, final_score, is_decisive, win_distance
from cutnode.kernels.tablebase_scores import FAR
from cutnode.storage.frames import Tabular


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts of a search, over all iterations.  A node is a position visited.

    Interior nodes are of three types, by how they turned out: *pv* with a score inside
    the window, *cut* at or above it, *all* at or below.
    """

    nodes: int
    """Positions visited, those of quiescence included."""
    quiet_nodes: int
    """Those of quiescence."""
    leaves: int
    """Positions where a line ended: finished, repeated, or estimated."""
    pv_nodes: int
    """Nodes whose score was inside the window."""
    cut_nodes: int
    """Nodes whose score was at or above beta: they failed high."""
    all_nodes: int
    """Nodes whose score was at or below alpha: they failed low."""
    deepest: int
    """Plies of the longest line (selective depth)."""
    cutoffs: int
    """Cutoffs by a move that was searched."""
    first_cutoffs: int
    """By the first move searched."""
    table_move_cutoffs: int
    """By the move that the table knew."""
    killer_cutoffs: int
    """By a killer."""
    branches_cut: int
    """Moves that no longer had to be searched after a cutoff."""
    probes: int
    """Positions looked up in the table."""
    hits: int
    """Those found there."""
    table_cutoffs: int
    """Nodes that an entry decided."""
    enhanced_cutoffs: int
    """By an entry of a child, before one was searched."""
    stores: int
    """Entries written to the table."""
    overwrites: int
    """Stores for which another position of the same search gave way."""
    pvs_researches: int
    """Moves searched again with an open window, as their null window failed high."""
    reductions: int
    """Moves searched less deep (late move reductions)."""
    reduction_researches: int
    """Those searched again to the full depth."""
    null_tries: int
    """Null moves made."""
    null_cutoffs: int
    """Null moves that were good enough."""
    probcut_tries: int
    """Shallow searches of ProbCut."""
    probcut_cutoffs: int
    """Those that decided a node."""
    reverse_cutoffs: int
    """Nodes that ended far above beta (reverse futility pruning)."""
    razored: int
    """Nodes left to quiescence, far below alpha."""
    futile: int
    """Moves skipped because they could not raise alpha."""
    late: int
    """Moves skipped because they came last."""
    losing: int
    """Moves skipped because they lose by exchanges."""
    extended: int
    """Moves searched deeper (extensions)."""
    singular_cutoffs: int
    """When two moves were good enough, in a test whether one is."""
    distance_cutoffs: int
    """Nodes where a win would come too late to matter (mate-distance pruning)."""
    chance_nodes: int
    """Positions where chance decides."""
    star1_cutoffs: int
    """Chance events that were decided before all their outcomes were searched."""
    star2_probes: int
    """Outcomes of which one move was tried first."""
    star2_cutoffs: int
    """Chance events that such moves decided."""
    aspiration_researches: int
    """Iterations searched again, as the score fell outside their window."""
    depth: int
    """Plies of the last iteration that was completed."""
    seconds: float
    """Seconds spent."""
    fill: float
    """The part of the table's entries that this table has in use."""
    counters: Mapping[str, int] = field(default_factory=dict)
    """What techniques from outside the engine count, as ``TECHNIQUE.COUNTER``."""
    proof_nodes: int = 0
    """Positions that an attempt to prove the value visited.  They are not among *nodes*, and those
    of the line and of the other moves are in neither."""

    @classmethod
    def nothing(cls) -> Self:
        """Return the counts of a search that had nothing to do."""
        counts: dict[str, Any] = {each.name: 0 for each in fields(cls)}
        return cls(**counts | {"counters": {}})

    @property
    def interior(self) -> int:
        """The nodes whose moves were searched."""
        return self.pv_nodes + self.cut_nodes + self.all_nodes

    @property
    def pruned(self) -> int:
        """Branches not searched: after cutoffs, and skipped."""
        return self.branches_cut + self.futile + self.late + self.losing

    @property
    def first_cutoff_rate(self) -> float:
        """The share of cutoffs that the first move gave: how good the order is."""
        return self.first_cutoffs / self.cutoffs if self.cutoffs else 0.0

    @property
    def effective_branching(self) -> float:
        """The width of the uniform tree of this depth with as many nodes: nodes ** (1 / depth)."""
        return float(self.nodes ** (1 / self.depth)) if self.depth > 0 else 0.0

    @property
    def mean_branching(self) -> float:
        """Children visited by an interior node, on average."""
        return (self.nodes - 1) / self.interior if self.interior else 0.0

    @property
    def nodes_per_second(self) -> float:
        """The rate; 0 if no time was measured."""
        nodes = self.nodes + self.proof_nodes
        return nodes / self.seconds if self.seconds > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: all counts, and what follows from them."""
        derived = ("interior", "pruned", "first_cutoff_rate", "effective_branching")
        more = ("mean_branching", "nodes_per_second")
        counts = asdict(self)
        counters = counts.pop("counters")
        counts |= {name: getattr(self, name) for name in (*derived, *more)}
        return counts | ({"counters": counters} if counters else {})


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
        return self._about() | {
            "value": self.value,
            "proven": self.proven,
            "lower": self.lower,
            "upper": self.upper,
            "weak": self.weak,
            "best_move": self.move_text(),
            "scores": self.named_scores(),
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

    def named_scores(self) -> dict[str, int | None] | None:
        """Return the values of moves, by their texts; None if they were not asked for."""
        if self.scores is None:
            return None
        return {move_text(self.position, move): v for move, v in self.scores.items()}

    def __str__(self) -> str:
        lines = [f"value  {'unknown' if self.value is None else self.value}  ({self.meaning()})"]
        if self.at_least is not None:
            answer = {True: "yes", False: "no", None: "open"}[self.answer]
            lines.append(f"answer {answer}: value >= {self.at_least}")
        if scores := self.named_scores():
            texts = (f"{m}: {'?' if v is None else v}" for m, v in scores.items())
            lines.append(f"scores {', '.join(texts)}")
        if best := self.move_text():
            lines.append(f"best   {best}")
        if line := self.line_text():
            lines.append(f"line   {' '.join(line)}")
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


SHOWN_MOVES = 8
"""So many root moves are printed."""


def score_of(cls: Any, worth: float, lower: int, upper: int) -> float:
    """Return what a worth is as a score, on the scale of other searches of the game.

    In a ``DECISIVE`` game the estimate whose logistic it is, or a win at an unknown distance if
    bounds prove one; otherwise a value.
    """
    if not is_decisive(cls):
        return float(lower) if lower == upper else worth * value_limit(cls)
    if lower > 0 or upper < 0:
        return float(WIN - FAR if lower > 0 else FAR - WIN)
    if lower == upper:
        return 0.0
    odds = (1 + worth) / (1 - worth) if abs(worth) < 1 else math.copysign(math.inf, worth)
    unit = game_constant(cls, "UNIT", ESTIMATE_UNIT)
    score = unit * (math.log(odds) if 0 < odds < math.inf else math.copysign(math.inf, worth))
    return max(-float(MOST_ESTIMATE), min(score, float(MOST_ESTIMATE)))


def final_value(cls: Any, value: float) -> float:
    """Return the value of a finished game as a score."""
    return float(final_score(value, 0, WIN if is_decisive(cls) else 0, 1))


@dataclass(frozen=True, slots=True)
class RootMove:
    """A move of the root: what playouts that began with it have shown, for the mover."""

    move: int
    visits: int
    worth: float | None
    """The mean of its playouts, from -1 to 1 (see ``cutnode.kernels.playouts``); None without."""
    value: float | None
    """The same as a score."""
    lower: int
    upper: int
    """What is proven of its value."""
    prior: float

    @property
    def proven(self) -> bool:
        """Whether its value is known."""
        return self.lower == self.upper


@dataclass(frozen=True, slots=True)
class TreeStatistics:
    """Counts of a Monte Carlo tree search."""

    playouts: int
    nodes: int
    """Positions visited, in the tree and beyond."""
    tree_size: int
    """Nodes of the tree, those of earlier searches included."""
    settled: int
    """Those of them whose value, or who wins, is proven."""
    kept: int
    """Nodes that the search has taken over from the one before."""
    expansions: int
    rollouts: int
    rollout_plies: int
    cut_off: int
    """Rollouts that an estimate has ended."""
    deepest: int
    """Plies of the longest line in the tree."""
    copies: int
    """Times that the tree was full, and its least visited parts were given up."""
    seconds: float
    fill: float
    """The part of the memory that is in use."""

    @property
    def playouts_per_second(self) -> float:
        """The rate; 0 if no time was measured."""
        return self.playouts / self.seconds if self.seconds > 0 else 0.0

    @property
    def settled_share(self) -> float:
        """The share of the nodes of the tree that are proven."""
        return self.settled / self.tree_size if self.tree_size else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        derived = ("playouts_per_second", "settled_share")
        return asdict(self) | {name: getattr(self, name) for name in derived}


@dataclass(frozen=True, slots=True)
class MonteCarloResult(PositionResult):
    """The result of a Monte Carlo tree search.

    *value* is a score for the mover on the scale of other searches of the game: a value, or in a
    ``DECISIVE`` game an estimate of which the *win_rate* is the logistic function.  *lower* and
    *upper* are what is proven of the value; it is *proven* if they are equal, or if a ``DECISIVE``
    game is won or lost.  *reason* is why the search ended: proven, playout limit, node
    limit, time limit, stopped, or interrupted.
    """

    position: Any
    value: float
    worth: float
    """The mean of playouts, from -1 to 1 (see ``cutnode.kernels.playouts``), of the best move."""
    lower: int
    upper: int
    proven: bool
    decisive: bool
    lines: tuple[Line, ...]
    """The best moves, as many as were asked for; none if the game is over or chance decides."""
    moves: tuple[RootMove, ...]
    """The moves of the root, the best first."""
    iterations: tuple[Iteration, ...]
    statistics: TreeStatistics
    seconds: float
    reason: str
    why: str = ""
    """Why this engine, where ``engine="auto"`` chose it."""

    exact = False

    @property
    def best_move(self) -> int | None:  # type: ignore[override]
        """The first move of the best line; None if there is none."""
        return self.lines[0].move if self.lines else None

    @property
    def pv(self) -> tuple[int, ...]:  # type: ignore[override]
        """The line that was played most, up to the first event of chance."""
        return self.lines[0].pv if self.lines else ()

    @property
    def depth(self) -> int:
        """The plies of that line."""
        return len(self.pv)

    @property
    def playouts(self) -> int:
        """The random games that were played."""
        return self.statistics.playouts

    @property
    def playouts_per_second(self) -> float:
        """The rate of playouts; 0 if no time was measured."""
        return self.statistics.playouts_per_second

    @property
    def nodes(self) -> int:  # type: ignore[override]
        """The positions visited, in the tree and in playouts."""
        return self.statistics.nodes

    @property
    def win_rate(self) -> float | None:
        """The expected points of the mover, a draw half a point; None if values are no wins."""
        return (1 + self.worth) / 2 if self.decisive else None

    def rate_of(self, move: RootMove) -> float | None:
        """Return the expected points of a root move; None without any, or if values are no wins."""
        return (1 + move.worth) / 2 if self.decisive and move.worth is not None else None

    def meaning(self) -> str:
        """Return the score in words."""
        if ending := self.ending():
            return ending
        if not self.proven:
            what = "mean value" if self.win_rate is None else f"{self.win_rate:.1%} of the points,"
            return f"{what} estimated by {self.playouts:,} playouts"
        distance = win_distance(self.value)
        if not self.decisive:
            return "proven"
        if distance is None:
            return "a draw"
        winner = "the player to move" if self.value > 0 else "the other player"
        return f"{winner} wins"

    def value_text(self) -> str:
        """Return the value in a word: the expected points, win, draw or loss, or mean points."""
        if not self.decisive:
            return score_text(self.value)
        if not self.proven:
            return f"{self.win_rate:.1%}"
        return "win" if self.value > 0 else "loss" if self.value < 0 else "draw"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with positions and moves in the game's own notation."""
        best = None if self.best_move is None else move_text(self.position, self.best_move)
        return self._about() | {
            "value": self.value,
            "win_rate": self.win_rate,
            "lower": self.lower,
            "upper": self.upper,
            "proven": self.proven,
            "exact": self.exact,
            "best_move": best,
            "lines": [
                {"move": texts[0], "value": line.value, "pv": texts}
                for line in self.lines
                for texts in [line_text(self.position, line.pv)]
            ],
            "moves": [
                asdict(each)
                | {"move": move_text(self.position, each.move), "win_rate": self.rate_of(each)}
                for each in self.moves
            ],
            "depth": self.depth,
            "statistics": self.statistics.to_dict(),
            "playouts": self.playouts,
            "nodes": self.nodes,
            "seconds": self.seconds,
            "reason": self.reason,
            "why": self.why,
        }

    def __str__(self) -> str:
        first = f"{self.value_text()}  ({self.meaning()})"
        if self.decisive:
            known = "proven" if self.proven else f"score {score_text(self.value)}"
            first = f"{self.meaning()}  ({known})"
        lines = [f"value  {first}"]
        for line in self.lines:
            label = "best   " if line is self.lines[0] else "then   "
            lines.append(f"{label}{' '.join(line_text(self.position, line.pv))}")
        if self.moves:
            shown = [
                f"{move_text(self.position, each.move)}: {each.visits:,}"
                for each in self.moves[:SHOWN_MOVES]
            ]
            more = [f"and {len(self.moves) - SHOWN_MOVES} more"] * (len(self.moves) > SHOWN_MOVES)
            lines.append(f"visits {', '.join([*shown, *more])}")
        counts = self.statistics
        lines.append(
            f"tree   {counts.tree_size:,} nodes, {counts.settled_share:.1%} proven  ({self.reason})"
        )
        rate = f"{self.playouts_per_second:,.0f} per second"
        lines.append(f"played {self.playouts:,} playouts in {self.seconds:.3g} s ({rate})")
        if self.why:
            lines.append(f"engine {self.why}")
        return "\n".join(lines)
