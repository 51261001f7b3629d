"""The results of searches and proofs, which are immutable, printable and picklable."""

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
    """The counts of a search, over all iterations.  A node is a visited position.

    Interior nodes are of three types, by their score: PV nodes inside the window, cut-nodes at or
    above it, and all-nodes at or below it.
    """

    nodes: int
    """Nodes visited, including quiescence search."""
    quiet_nodes: int
    """Nodes of the quiescence search."""
    leaves: int
    """Nodes where a line ended: the game was over, or the position repeated or evaluated."""
    pv_nodes: int
    """Nodes with a score inside the window."""
    cut_nodes: int
    """Nodes with a score at or above beta, which failed high."""
    all_nodes: int
    """Nodes with a score at or below alpha, which failed low."""
    deepest: int
    """Length of the longest line in plies (selective depth)."""
    cutoffs: int
    """Beta cutoffs by a searched move."""
    first_cutoffs: int
    """Cutoffs by the first move searched."""
    table_move_cutoffs: int
    """Cutoffs by the hash move."""
    killer_cutoffs: int
    """Cutoffs by a killer."""
    branches_cut: int
    """Moves not searched because of a cutoff before them."""
    probes: int
    """Positions looked up in the table."""
    hits: int
    """Probes that found an entry."""
    table_cutoffs: int
    """Nodes decided by their own table entry."""
    enhanced_cutoffs: int
    """Nodes decided by a child's table entry (enhanced transposition cutoffs)."""
    stores: int
    """Entries written to the table."""
    overwrites: int
    """Stores that replaced the entry of another position of the same search."""
    pvs_researches: int
    """Moves searched again with an open window, after a null window failed high."""
    reductions: int
    """Moves searched at reduced depth (late move reductions)."""
    reduction_researches: int
    """Reduced moves searched again at full depth."""
    null_tries: int
    """Null moves tried."""
    null_cutoffs: int
    """Null moves that failed high."""
    probcut_tries: int
    """Shallow searches of ProbCut."""
    probcut_cutoffs: int
    """Nodes decided by ProbCut."""
    reverse_cutoffs: int
    """Nodes cut because their evaluation was far above beta (reverse futility pruning)."""
    razored: int
    """Nodes far below alpha that were left to quiescence search (razoring)."""
    futile: int
    """Moves skipped because they could not raise alpha (futility pruning)."""
    late: int
    """Moves skipped because of their late place in the order (late move pruning)."""
    losing: int
    """Moves skipped because they lose material in exchanges."""
    extended: int
    """Moves searched at extended depth."""
    singular_cutoffs: int
    """Nodes where a test for a singular move found a second move above beta (multi-cut)."""
    distance_cutoffs: int
    """Nodes where any win would come too late to matter (mate-distance pruning)."""
    chance_nodes: int
    """Nodes where chance decides."""
    star1_cutoffs: int
    """Chance nodes decided before all their outcomes were searched (Star1)."""
    star2_probes: int
    """Outcomes probed with a single move first (Star2)."""
    star2_cutoffs: int
    """Chance nodes decided by such probes."""
    aspiration_researches: int
    """Searches repeated because the score fell outside the aspiration window."""
    depth: int
    """The last completed depth in plies."""
    seconds: float
    """Seconds spent."""
    fill: float
    """The share of the table's entries in use."""
    counters: Mapping[str, int] = field(default_factory=dict)
    """Counters of techniques from outside the engine, named ``TECHNIQUE.COUNTER``."""
    proof_nodes: int = 0
    """Nodes of an attempt to prove the value, not included in *nodes*.  Nodes spent on the proof's
    line and on the values of other moves are in neither."""

    @classmethod
    def nothing(cls) -> Self:
        """Return statistics with all counts zero, for an answer found without a search."""
        counts: dict[str, Any] = {each.name: 0 for each in fields(cls)}
        return cls(**counts | {"counters": {}})

    @property
    def interior(self) -> int:
        """Nodes whose moves were searched."""
        return self.pv_nodes + self.cut_nodes + self.all_nodes

    @property
    def pruned(self) -> int:
        """Moves not searched: after cutoffs, and skipped by pruning."""
        return self.branches_cut + self.futile + self.late + self.losing

    @property
    def first_cutoff_rate(self) -> float:
        """The share of cutoffs by the first move, a measure of the move ordering."""
        return self.first_cutoffs / self.cutoffs if self.cutoffs else 0.0

    @property
    def effective_branching(self) -> float:
        """The effective branching factor, nodes ** (1 / depth); 0 at depth 0."""
        return float(self.nodes ** (1 / self.depth)) if self.depth > 0 else 0.0

    @property
    def mean_branching(self) -> float:
        """The mean number of visited children of an interior node."""
        return (self.nodes - 1) / self.interior if self.interior else 0.0

    @property
    def nodes_per_second(self) -> float:
        """Nodes per second, including the attempt at a proof; 0 if no time was measured."""
        nodes = self.nodes + self.proof_nodes
        return nodes / self.seconds if self.seconds > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: all counts, and the figures derived from them."""
        derived = ("interior", "pruned", "first_cutoff_rate", "effective_branching")
        more = ("mean_branching", "nodes_per_second")
        counts = asdict(self)
        counters = counts.pop("counters")
        counts |= {name: getattr(self, name) for name in (*derived, *more)}
        return counts | ({"counters": counters} if counters else {})


@dataclass(frozen=True, slots=True)
class TableUse:
    """A proof's use of the transposition table."""

    probes: int
    """Positions looked up in the table."""
    hits: int
    """Probes that found an entry."""
    cutoffs: int
    """Hits that decided a node."""
    stores: int
    """Entries written to the table."""
    overwrites: int
    """Stores that replaced the entry of another position of the same search."""


CLASSES = {
    "N": "whoever begins wins",
    "P": "whoever begins loses",
    "L": "the player to move wins, even if the opponent begins",
    "R": "the opponent wins, whoever begins",
}
"""The outcome classes of normal play in words."""


class PositionResult(InNotebooks):
    """The result of any search or proof: a value, a move, and a line of play.

    Moves are numbers, as the game's rules define them; :meth:`move_text` and :meth:`line_text`
    write them in the game's notation.
    """

    __slots__ = ()

    value: float | None
    best_move: int | None
    pv: tuple[int, ...]
    nodes: int
    seconds: float
    compiled = True

    @property
    def move(self) -> int | None:
        """The best move: an alias of :attr:`best_move`."""
        return self.best_move

    @property
    def score(self) -> float | None:
        """The value for the player to move: an alias of :attr:`value`."""
        return self.value

    @property
    def line(self) -> tuple[int, ...]:
        """The best line of play: an alias of :attr:`pv`."""
        return self.pv

    def move_text(self) -> str | None:
        """Return the best move in the game's notation; None if there is none."""
        return None if self.best_move is None else move_text(self.position, self.best_move)

    @property
    def nodes_per_second(self) -> float:
        """Nodes per second; 0 if no time was measured."""
        return self.nodes / self.seconds if self.seconds > 0 else 0.0

    def line_text(self) -> list[str]:
        """Return the best line in the game's notation."""
        return line_text(self.position, self.pv)

    def ending(self) -> str:
        """Return in words how the game has ended; "" if it is not over at the position."""
        words = ending_words(self.position)
        return words and f"the game is over: {words}"

    def _about(self) -> dict[str, Any]:
        """Return the game and the position as plain data."""
        return {"game": game_name(type(self.position)), "position": position_text(self.position)}

    def _effort(self) -> str:
        """Return the line of text with the nodes, the time and the rate."""
        rate = f"{self.nodes_per_second:,.0f} per second"
        how = "" if self.compiled else ", as plain Python"
        return f"nodes  {self.nodes:,} in {self.seconds:.3g} s ({rate}{how})"


@dataclass(frozen=True, slots=True)
class Result(PositionResult):
    """The result of a proof: the value of a position, or bounds of it.

    Values are for the player to move.  With a *weak* proof, *value*, *lower* and *upper* are signs:
    1 for a win, 0 for a draw, -1 for a loss.  *nodes*, *seconds* and *table* count the proof of the
    value; the line and the scores are found afterwards, mostly from the table.
    """

    position: Any
    """The position."""
    value: int | None
    """The proven value; None if it is not proven."""
    lower: int
    """The proven lower bound of the value."""
    upper: int
    """The proven upper bound of the value."""
    weak: bool
    """Whether only the winner was to be proven."""
    best_move: int | None
    """A move that keeps the value; if the value is not proven, the most promising move."""
    scores: dict[int, int | None] | None
    """The value of each legal move, for the player to move here; None unless analysed."""
    pv: tuple[int, ...]
    """Best play to the end of the game, if the value is proven and a line was requested.  A node
    limit allows as many nodes again for the line, which can still end early."""
    nodes: int
    """Nodes visited by the proof."""
    seconds: float
    """Seconds spent on the proof."""
    table: TableUse
    """The use of the transposition table."""
    reason: str
    """Why the search ended: proven, node limit, time limit, stopped, or interrupted (even if all
    was proven by then)."""
    engine: str = field(default="alphabeta", kw_only=True)
    """The engine of the proof: alphabeta, pn or sums."""
    outcome_class: str | None = field(default=None, kw_only=True)
    """The winner in normal play, from a proof on sums: N the player who begins, P the other,
    L the player to move here even if the opponent begins, R the opponent whoever begins."""
    nimber: int | None = field(default=None, kw_only=True)
    """The nimber of an impartial position, from a proof on sums."""
    at_least: int | None = field(default=None, kw_only=True)
    """The number that the value was to reach, if the proof asked only that."""
    target: int | None = field(default=None, kw_only=True)
    """The question that an unfinished df-pn search left open: is the value at least *target*?"""
    numbers: tuple[int, int] | None = field(default=None, kw_only=True)
    """The proof and disproof numbers of that question."""
    why: str = field(default="", kw_only=True)
    """Why ``engine="auto"`` chose this engine."""
    compiled: bool = field(default=True, kw_only=True)
    """Whether the search was compiled, and not run as plain Python (``cutnode.search.tiers``)."""

    @property
    def proven(self) -> bool:
        """Whether the value is known."""
        return self.value is not None

    @property
    def answer(self) -> bool | None:
        """Whether the value reaches :attr:`at_least`; None if that is unknown or was not asked."""
        if self.at_least is None or self.lower < self.at_least <= self.upper:
            return None
        return self.lower >= self.at_least

    @property
    def answered(self) -> bool:
        """Whether the proof found what it was to find: the value, or the answer."""
        return self.proven if self.at_least is None else self.answer is not None

    @property
    def depth(self) -> int:
        """The length of the best line in plies."""
        return len(self.pv)

    def meaning(self) -> str:
        """Return the value, or its bounds, in words."""
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
            "outcome_class": self.outcome_class,
            "nimber": self.nimber,
            "at_least": self.at_least,
            "answer": self.answer,
            "target": self.target,
            "numbers": None if self.numbers is None else list(self.numbers),
            "why": self.why,
            "compiled": self.compiled,
        }

    def named_scores(self) -> dict[str, int | None] | None:
        """Return :attr:`scores` with moves in the game's notation; None unless analysed."""
        if self.scores is None:
            return None
        return {move_text(self.position, move): v for move, v in self.scores.items()}

    def __str__(self) -> str:
        lines = [f"value  {'unknown' if self.value is None else self.value}  ({self.meaning()})"]
        if self.at_least is not None:
            answer = {True: "yes", False: "no", None: "open"}[self.answer]
            lines.append(f"answer {answer}: value >= {self.at_least}")
        if self.outcome_class is not None:
            lines.append(f"class  {self.outcome_class}  ({CLASSES[self.outcome_class]})")
        if self.nimber is not None:
            lines.append(f"nimber {self.nimber}")
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
    """Return in words a question that a df-pn search left open."""
    proof, disproof = numbers
    return f"value >= {target}: proof number {proof:,}, disproof number {disproof:,}"


def ending_words(position: Any) -> str:
    """Return the result of a position that is over by its rules in words; "" if it is not over."""
    over, value = outcome(position)
    if not over:
        return ""
    sign = (value > 0) - (value < 0)
    words = ("a draw", "the player to move has won", "the player to move has lost")[sign]
    return description(position, value) or words


def line_text(position: Any, line: Sequence[int]) -> list[str]:
    """Return the moves of a line of play in the game's notation."""
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
    """A move, its score for the player to move, and the best play that begins with it."""

    move: int
    """The move."""
    value: float
    """Its score for the player to move."""
    pv: tuple[int, ...]
    """The best line of play, which begins with *move*."""


@dataclass(frozen=True, slots=True)
class Iteration:
    """One completed depth of a search, or a bound of an unfinished one."""

    depth: int
    """The depth in plies."""
    value: float
    """The score for the player to move."""
    proven: bool
    """Whether the score does not depend on estimates."""
    lines: tuple[Line, ...]
    """The best moves, best first; empty if chance decides at the position."""
    nodes: int
    """Nodes visited since the search began."""
    seconds: float
    """Seconds since the search began."""
    deepest: int = 0
    """Length of the longest line in plies."""
    bound: int = 0
    """1 if the depth is unfinished and *value* a lower bound, -1 if it is an upper bound."""


class LinesResult(PositionResult):
    """The result of a search with its best lines of play."""

    __slots__ = ()

    lines: tuple[Line, ...]

    @property
    def best_move(self) -> int | None:  # type: ignore[override]
        """The first move of the best line; None if the game is over or chance decides."""
        return self.lines[0].move if self.lines else None

    @property
    def pv(self) -> tuple[int, ...]:  # type: ignore[override]
        """The best line of play, up to the first event of chance."""
        return self.lines[0].pv if self.lines else ()

    def _lines_about(self) -> list[dict[str, Any]]:
        """Return the lines as plain data."""
        return [
            {"move": texts[0], "value": line.value, "pv": texts}
            for line in self.lines
            for texts in [line_text(self.position, line.pv)]
        ]


@dataclass(frozen=True, slots=True)
class SearchResult(LinesResult):
    """The result of an alpha-beta search."""

    position: Any
    """The position."""
    value: float
    """The score for the player to move: see ``cutnode.kernels.scores``.  An integer, or a float in
    games of chance."""
    proven: bool
    """Whether the score does not depend on estimates.  A win found by selective techniques is
    proven, though it may not be the quickest."""
    exact: bool
    """Whether the score equals plain minimax at this depth."""
    decisive: bool
    """Whether scores say who wins and how soon, as in ``DECISIVE`` games."""
    lines: tuple[Line, ...]
    """The best moves, at most *lines* of them, best first; empty if the game is over or chance
    decides.  A better move that an unfinished depth found comes first.  If no depth was completed
    (depth 0), just a legal move."""
    depth: int
    """The last completed depth in plies."""
    iterations: tuple[Iteration, ...]
    """The completed depths."""
    statistics: Statistics
    """The counts of the search."""
    seconds: float
    """Seconds spent."""
    reason: str
    """Why the search ended: depth limit, proven, node limit, time limit, stopped, or interrupted;
    book or tablebase if that gave the move."""
    why: str = ""
    """Why ``engine="auto"`` chose this engine, or the outcome of an attempt at a proof."""
    compiled: bool = True
    """Whether the search was compiled, and not run as plain Python (``cutnode.search.tiers``)."""

    @property
    def nodes(self) -> int:  # type: ignore[override]
        """Nodes visited over all iterations and by an attempt at a proof."""
        return self.statistics.proof_nodes + self.statistics.nodes

    def meaning(self) -> str:
        """Return the score in words."""
        if ending := self.ending():
            return ending
        distance = win_distance(self.value) if self.decisive else None
        if isinstance(self.value, float) and distance != 0:
            distance = None  # a mean over several distances, or over wins and losses
        if distance is None:
            plies = "ply" if self.depth == 1 else "plies"
            return "proven" if self.proven else f"estimated {self.depth} {plies} deep"
        winner = "the player to move" if self.value > 0 else "the other player"
        if distance >= FAR:
            return f"{winner} wins"  # from a tablebase, which does not say how soon
        return f"{winner} wins in {distance} {'plies' if distance > 1 else 'ply'}"

    def value_text(self) -> str:
        """Return the score as text; for a finished game, its value."""
        over, value = outcome(self.position)
        return score_text(value if over else self.value)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with positions and moves in the game's own notation."""
        return self._about() | {
            "value": self.value,
            "proven": self.proven,
            "exact": self.exact,
            "best_move": self.move_text(),
            "lines": self._lines_about(),
            "depth": self.depth,
            "iterations": [
                {
                    "depth": iteration.depth,
                    "value": iteration.value,
                    "best_move": next(
                        (move_text(self.position, line.move) for line in iteration.lines), None
                    ),
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
            "compiled": self.compiled,
        }

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
    ``seconds`` are arrays with one element per position.  ``reason`` says why the batch ended
    early: stopped, or interrupted (even if all was proven by then); "" if it did not.
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
        """Return columns: the positions as text, their values and bounds, nodes and seconds."""
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
    """The result of a plain search."""

    value: float
    """The value or score for the player to move."""
    nodes: int
    """Positions visited."""
    leaves: int
    """Positions where a line ended."""
    seconds: float
    """Seconds spent."""


SHOWN_MOVES = 8
"""The number of root moves that are printed."""


def score_of(cls: Any, worth: float, lower: int, upper: int) -> float:
    """Convert a *worth* (-1 to 1) to a score on the scale of the game's other searches.

    In a ``DECISIVE`` game, return the estimate whose logistic it is, or a win at an unknown
    distance if the bounds prove one; in other games, return a value.
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
    """A root move and the results of its playouts, for the player to move."""

    move: int
    """The move."""
    visits: int
    """Playouts that began with it."""
    worth: float | None
    """The mean of its playouts, from -1 to 1 (see ``cutnode.kernels.playouts``); None if it has
    none."""
    value: float | None
    """Its worth as a score."""
    lower: int
    """The proven lower bound of its value."""
    upper: int
    """The proven upper bound of its value."""
    prior: float
    """Its prior probability for PUCT."""

    @property
    def proven(self) -> bool:
        """Whether its value is known."""
        return self.lower == self.upper


@dataclass(frozen=True, slots=True)
class TreeStatistics:
    """The counts of a Monte Carlo tree search."""

    playouts: int
    """Playouts: descents through the tree."""
    nodes: int
    """Positions visited, in the tree and in rollouts."""
    tree_size: int
    """Nodes of the tree, including nodes kept from earlier searches."""
    settled: int
    """Nodes of the tree whose value or winner is proven."""
    kept: int
    """Nodes kept from the search before."""
    expansions: int
    """Nodes expanded."""
    rollouts: int
    """Random games from a leaf of the tree."""
    rollout_plies: int
    """Plies of all rollouts."""
    cut_off: int
    """Rollouts ended by an estimate."""
    deepest: int
    """Length of the longest line in the tree in plies."""
    copies: int
    """Times that the tree was full and its least visited parts were dropped."""
    seconds: float
    """Seconds spent."""
    fill: float
    """The share of the tree's memory in use."""

    @property
    def playouts_per_second(self) -> float:
        """Playouts per second; 0 if no time was measured."""
        return self.playouts / self.seconds if self.seconds > 0 else 0.0

    @property
    def settled_share(self) -> float:
        """The share of the tree's nodes that are proven."""
        return self.settled / self.tree_size if self.tree_size else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        derived = ("playouts_per_second", "settled_share")
        return asdict(self) | {name: getattr(self, name) for name in derived}


@dataclass(frozen=True, slots=True)
class MonteCarloResult(LinesResult):
    """The result of a Monte Carlo tree search."""

    position: Any
    """The position."""
    value: float
    """The score for the player to move, on the scale of the game's other searches: a value, or in a
    ``DECISIVE`` game an estimate whose logistic function is the *win_rate*."""
    worth: float
    """The mean of the best move's playouts, from -1 to 1 (see ``cutnode.kernels.playouts``)."""
    lower: int
    """The proven lower bound of the value."""
    upper: int
    """The proven upper bound of the value."""
    proven: bool
    """Whether the bounds are equal or, in a ``DECISIVE`` game, the winner is proven."""
    decisive: bool
    """Whether the game is ``DECISIVE``: only who wins counts."""
    lines: tuple[Line, ...]
    """The best moves, at most *lines* of them, best first; empty if the game is over or chance
    decides."""
    moves: tuple[RootMove, ...]
    """The root moves, best first."""
    iterations: tuple[Iteration, ...]
    """The progress reports of the search."""
    statistics: TreeStatistics
    """The counts of the search."""
    seconds: float
    """Seconds spent."""
    reason: str
    """Why the search ended: proven, playout limit, node limit, time limit, stopped, or
    interrupted."""
    why: str = ""
    """Why ``engine="auto"`` chose this engine."""

    exact = False

    @property
    def depth(self) -> int:
        """The length of the best line in plies."""
        return len(self.pv)

    @property
    def playouts(self) -> int:
        """The number of playouts."""
        return self.statistics.playouts

    @property
    def playouts_per_second(self) -> float:
        """Playouts per second; 0 if no time was measured."""
        return self.statistics.playouts_per_second

    @property
    def nodes(self) -> int:  # type: ignore[override]
        """Positions visited, in the tree and in rollouts."""
        return self.statistics.nodes

    @property
    def win_rate(self) -> float | None:
        """The expected points of the player to move, a draw being half a point.

        None unless the game is ``DECISIVE``.
        """
        return (1 + self.worth) / 2 if self.decisive else None

    def rate_of(self, move: RootMove) -> float | None:
        """Return the expected points of a root move.

        None if it has no playouts, or the game is not ``DECISIVE``.
        """
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
        """Return the value as text: win, draw, loss or expected points, or the mean value."""
        if not self.decisive:
            return score_text(self.value)
        if not self.proven:
            return f"{self.win_rate:.1%}"
        return "win" if self.value > 0 else "loss" if self.value < 0 else "draw"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with positions and moves in the game's own notation."""
        return self._about() | {
            "value": self.value,
            "win_rate": self.win_rate,
            "lower": self.lower,
            "upper": self.upper,
            "proven": self.proven,
            "exact": self.exact,
            "best_move": self.move_text(),
            "lines": self._lines_about(),
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
