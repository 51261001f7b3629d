"""Measured searches: exact counts, and the median CPU time of several runs.

Every search begins with nothing stored and nothing learned, so its node count can be had
again.  Code is compiled before the clock runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, TypedDict, TypeVar

from engine.contract.errors import CutnodeError
from engine.contract.notation import notation_of
from engine.contract.positions import coerce
from engine.contract.verbs import outcome
from engine.kernels.evaluation import AnyEvaluation, Evaluation
from engine.kernels.learned import Learned
from engine.kernels.optionality import Optionality
from engine.kernels.parameters import MOST_DEPTH
from engine.kernels.techniques import TECHNIQUES, choose
from engine.lab.provenance import game_source
from engine.lab.study import INTERRUPTED, Column
from engine.search.api import alphabeta, minimax
from engine.search.results import PlainResult, SearchResult
from engine.search.searcher import Searcher
from engine.storage.evaluations import chosen_evaluation

__all__ = [
    "FIGURES",
    "INTERRUPTED",
    "Experiment",
    "ExperimentOptions",
    "Measured",
    "MeasuredPlain",
    "measure",
    "measure_alphabeta",
    "measure_minimax",
    "plan",
    "search_afresh",
]

ENOUGH = 0.05
MOST_RUNS = 25
"""Short searches are timed again until they took so many seconds in all, or ran so often."""

LONGEST = 5.0
"""After so many CPU seconds in all nothing is timed again, even if more runs were asked for."""

SHORT_NODES = 10_000
"""Times of searches of fewer nodes tell more about a call than about the search."""

FIGURES = {
    "seconds": Column("seconds", "CPU time, median of the runs", ".5f", timed=True),
    "ebf": Column("ebf", "effective branching factor: nodes of a position ** (1 / depth)", ".2f"),
    "first": Column("first", "share of cutoffs by the first move searched", ".1%"),
    "rate": Column("rate", "million nodes per second of CPU time", ".2f", timed=True),
    "runs": Column("runs", "how often it was timed", "d", timed=True),
}
"""The figures of measured searches."""

T = TypeVar("T")


def search_afresh(
    searcher: Searcher, position: Any, depth: int, *, nodes: int | None = None, lines: int = 1
) -> SearchResult:
    """Search with nothing stored and nothing learned; Ctrl-C is raised, not a result."""
    searcher.clear()
    result = searcher.search(position, depth=depth, nodes=nodes, lines=lines)
    if result.reason == "interrupted":
        raise KeyboardInterrupt
    return result


@dataclass(frozen=True, slots=True)
class Measured:
    """The same search of one or several positions."""

    results: tuple[SearchResult, ...]
    seconds: float
    """CPU time of all positions, the median of the runs."""
    runs: int

    @property
    def nodes(self) -> int:
        return sum(result.nodes for result in self.results)

    @property
    def first_cutoff_rate(self) -> float | None:
        cutoffs = sum(result.statistics.cutoffs for result in self.results)
        first = sum(result.statistics.first_cutoffs for result in self.results)
        return first / cutoffs if cutoffs else None


@dataclass(frozen=True, slots=True)
class MeasuredPlain:
    """Minimax or textbook alpha-beta of one or several positions."""

    results: tuple[PlainResult, ...]
    seconds: float
    runs: int
    depth: int
    """The deepest that was affordable, perhaps less than what was asked for."""
    expected: int
    """Nodes at the depth that was asked for: counted, or estimated from the growth."""

    @property
    def nodes(self) -> int:
        return sum(result.nodes for result in self.results)


def measure(
    searcher: Searcher, positions: Sequence[Any], depth: int, runs: int, most_nodes: int
) -> Measured | None:
    """Search positions, each from nothing; None if they take more nodes than that in all."""

    def once() -> tuple[SearchResult, ...] | None:
        results: list[SearchResult] = []
        left = most_nodes
        for position in positions:
            result = search_afresh(searcher, position, depth, nodes=max(1, left))
            if result.reason == "node limit":
                return None
            results.append(result)
            left -= result.nodes
        return tuple(results)

    results, seconds, count = _timed(once, runs)
    return None if results is None else Measured(results, seconds, count)


def measure_alphabeta(
    positions: Sequence[Any],
    depth: int,
    runs: int,
    evaluation: AnyEvaluation,
) -> MeasuredPlain:
    """Measure textbook alpha-beta, without any limit."""
    alphabeta(positions[0], 0, evaluation=evaluation)  # compiles
    return _measure_plain(alphabeta, positions, depth, runs, evaluation)


def measure_minimax(
    positions: Sequence[Any],
    depth: int,
    runs: int,
    most_nodes: int,
    evaluation: AnyEvaluation,
) -> MeasuredPlain:
    """Measure minimax, as deep as it is expected to take no more than *most_nodes* in all.

    The nodes of the next depth are estimated from those of the last ones.
    """
    minimax(positions[0], 0, evaluation=evaluation)  # compiles
    affordable, before, nodes = 0, len(positions), len(positions)
    while affordable < depth:
        if affordable and nodes * nodes / before > most_nodes:
            break
        affordable += 1
        results = [minimax(at, affordable, evaluation=evaluation) for at in positions]
        before, nodes = nodes, sum(result.nodes for result in results)
    measured = _measure_plain(minimax, positions, affordable, runs, evaluation)
    expected = round(nodes * (nodes / before) ** (depth - affordable))
    return MeasuredPlain(measured.results, measured.seconds, measured.runs, affordable, expected)


def _measure_plain(
    plain: Callable[..., PlainResult],
    positions: Sequence[Any],
    depth: int,
    runs: int,
    evaluation: AnyEvaluation,
) -> MeasuredPlain:
    def once() -> tuple[PlainResult, ...]:
        return tuple(plain(position, depth, evaluation=evaluation) for position in positions)

    results, seconds, count = _timed(once, runs)
    nodes = sum(result.nodes for result in results)
    return MeasuredPlain(results, seconds, count, depth, nodes)


def _timed(task: Callable[[], T], runs: int) -> tuple[T, float, int]:
    """Return what a task returns, the median of its CPU times, and how often it ran.

    A task that returns None is not repeated; one run is one run.
    """
    most = max(runs, MOST_RUNS) if runs > 1 else 1
    spent: list[float] = []
    while True:
        started = time.process_time()
        answer = task()
        spent.append(time.process_time() - started)
        total, count = sum(spent), len(spent)
        is_enough = count >= runs and (total > ENOUGH or count == most)
        if answer is None or is_enough or total > LONGEST:
            return answer, median(spent), count


class ExperimentOptions(TypedDict, total=False):
    """The options of experiments with searches of a game."""

    techniques: Iterable[str] | None
    """Names of ``engine.kernels.techniques``, by default all that suit the game."""
    exact: bool
    """Leave out what can change scores."""
    evaluation: AnyEvaluation
    runs: int
    most_nodes: int
    """The most nodes of a row; one that takes more is left empty."""
    table_mb: int


@dataclass(frozen=True, slots=True)
class Experiment:
    """The positions that an experiment searches, and how; made by :func:`plan`."""

    positions: tuple[Any, ...]
    depth: int
    techniques: tuple[str, ...]
    exact: bool
    evaluation: Evaluation | Optionality | Learned
    runs: int
    most_nodes: int
    table_mb: int

    def settings(self) -> dict[str, Any]:
        """Return all that is needed to get the same node counts again."""
        cls: Any = type(self.positions[0])
        text = notation_of(cls).position_text
        return {
            "game": game_source(cls),
            "positions": [text(position) for position in self.positions],
            "depth": self.depth,
            "techniques": list(self.techniques),
            "exact": self.exact,
            "evaluation": self.evaluation.name,
            "runs": self.runs,
            "most_nodes": self.most_nodes,
            "table_mb": self.table_mb,
        }


def plan(
    positions: Sequence[Any],
    depth: int,
    *,
    techniques: Iterable[str] | None = None,
    exact: bool = False,
    evaluation: AnyEvaluation = None,
    runs: int = 3,
    most_nodes: int = 100_000_000,
    table_mb: int = 64,
) -> Experiment:
    """Plan an experiment; :class:`CutnodeError` says why one makes no sense."""
    positions = tuple(coerce(position) for position in positions)
    if not positions:
        raise CutnodeError("there are no positions to search")
    cls = type(positions[0])
    text = notation_of(cls).position_text
    for position in positions:
        if type(position) is not cls:
            raise CutnodeError("the positions of an experiment are of one game and variant")
        if outcome(position)[0]:
            raise CutnodeError(f"the game is over in {text(position)}: there is nothing to search")
    if not 1 <= depth <= MOST_DEPTH:
        raise CutnodeError(f"the depth of an experiment is 1..{MOST_DEPTH} plies, not {depth}")
    if runs < 1:
        raise CutnodeError(f"an experiment has at least 1 run, not {runs}")
    if most_nodes < 1:
        raise CutnodeError(f"a node limit is at least 1, not {most_nodes}")
    chosen = choose(cls, techniques, exact=exact)
    return Experiment(
        positions,
        depth,
        tuple(name for name in TECHNIQUES if name in chosen),
        exact,
        chosen_evaluation(cls, evaluation),
        runs,
        most_nodes,
        table_mb,
    )
