"""Measured searches: exact counts, and the median CPU time of several runs.

Every search begins with nothing stored and nothing learned, so its node count can be had
again.  Code is compiled before the clock runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeVar

from engine.contract.dispatch import game_name
from engine.contract.errors import CutnodeError
from engine.contract.notation import notation_of
from engine.contract.positions import coerce
from engine.contract.verbs import outcome
from engine.kernels.evaluation import Evaluation, evaluation_of
from engine.kernels.optionality import Optionality
from engine.kernels.parameters import MOST_DEPTH
from engine.kernels.techniques import TECHNIQUES, choose
from engine.search.api import alphabeta, minimax
from engine.search.results import PlainResult, SearchResult
from engine.search.searcher import Searcher

__all__ = [
    "INTERRUPTED",
    "Measured",
    "MeasuredPlain",
    "Progress",
    "Task",
    "measure",
    "measure_alphabeta",
    "measure_minimax",
    "no_progress",
    "task_of",
]

ENOUGH = 0.05
MOST_RUNS = 25
"""What is over in a moment is timed again, until that took so many seconds, or so often."""

PATIENCE = 5.0
"""What took so many CPU seconds in all is not timed again, even if more runs were asked for."""

SHORT_NODES = 10_000
"""Times of searches of fewer nodes tell more about a call than about the search."""

INTERRUPTED = "Interrupted: what follows was not measured."
"""The note of a study that Ctrl-C ended."""

T = TypeVar("T")

Progress = Callable[[str, int, int], None]
"""What is measured now, how many measurements are done, and how many there are."""


def no_progress(now: str, done: int, of: int) -> None:
    pass


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
    engine: Searcher, positions: Sequence[Any], depth: int, runs: int, most_nodes: int
) -> Measured | None:
    """Search positions, each from nothing; None if that takes more than so many nodes in all."""

    def once() -> tuple[SearchResult, ...] | None:
        results: list[SearchResult] = []
        left = most_nodes
        for position in positions:
            engine.clear()
            result = engine.search(position, depth=depth, nodes=max(1, left))
            if result.reason == "interrupted":
                raise KeyboardInterrupt
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
    evaluation: str | Evaluation | Optionality | None,
) -> MeasuredPlain:
    """Textbook alpha-beta, without any limit."""
    alphabeta(positions[0], 0, evaluation=evaluation)  # compiles
    return _measure_plain(alphabeta, positions, depth, runs, evaluation)


def measure_minimax(
    positions: Sequence[Any],
    depth: int,
    runs: int,
    most_nodes: int,
    evaluation: str | Evaluation | Optionality | None,
) -> MeasuredPlain:
    """Minimax, as deep as it takes no more than so many nodes in all, as far as can be told.

    What the next depth takes is estimated from what the last ones took.
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
    evaluation: str | Evaluation | Optionality | None,
) -> MeasuredPlain:
    def once() -> tuple[PlainResult, ...]:
        return tuple(plain(position, depth, evaluation=evaluation) for position in positions)

    results, seconds, count = _timed(once, runs)
    nodes = sum(result.nodes for result in results)
    return MeasuredPlain(results, seconds, count, depth, nodes)


def _timed(task: Callable[[], T], runs: int) -> tuple[T, float, int]:
    """What a task returns, the median of its CPU times, and how often it ran.

    None from a task ends it; one run is one run.
    """
    most = max(runs, MOST_RUNS) if runs > 1 else 1
    spent: list[float] = []
    while True:
        started = time.process_time()
        answer = task()
        spent.append(time.process_time() - started)
        total, count = sum(spent), len(spent)
        is_enough = count >= runs and (total > ENOUGH or count == most)
        if answer is None or is_enough or total > PATIENCE:
            return answer, median(spent), count


@dataclass(frozen=True, slots=True)
class Task:
    """What an experiment searches, and how; made by :func:`task_of`."""

    positions: tuple[Any, ...]
    depth: int
    techniques: tuple[str, ...]
    exact: bool
    evaluation: Evaluation | Optionality
    runs: int
    most_nodes: int
    table_mb: int

    def settings(self) -> dict[str, Any]:
        """All that is needed to get the same node counts again."""
        cls: Any = type(self.positions[0])
        text = notation_of(cls).position_text
        return {
            "game": game_name(cls),
            "positions": [text(position) for position in self.positions],
            "depth": self.depth,
            "techniques": list(self.techniques),
            "exact": self.exact,
            "evaluation": self.evaluation.name,
            "runs": self.runs,
            "most_nodes": self.most_nodes,
            "table_mb": self.table_mb,
        }


def task_of(
    positions: Sequence[Any],
    depth: int,
    *,
    techniques: Iterable[str] | None,
    exact: bool,
    evaluation: str | Evaluation | Optionality | None,
    runs: int,
    most_nodes: int,
    table_mb: int,
) -> Task:
    """A task, if it makes sense; else :class:`CutnodeError` says why it does not."""
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
    return Task(
        positions,
        depth,
        tuple(name for name in TECHNIQUES if name in chosen),
        exact,
        evaluation_of(cls, evaluation),
        runs,
        most_nodes,
        table_mb,
    )
