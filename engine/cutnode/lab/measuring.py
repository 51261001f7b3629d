"""Experiments with searches of a game: their positions, options and common figures.

Every search starts with an empty table and no history, so its node count is reproducible.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Any, TypedDict, Unpack

from cutnode.contract.errors import CutnodeError, require_at_least, require_integer
from cutnode.contract.messages import position_text
from cutnode.contract.positions import coerce
from cutnode.contract.verbs import outcome
from cutnode.kernels.declarations import Technique
from cutnode.kernels.evaluation import AnyEvaluation, Evaluation
from cutnode.kernels.learned import Learned
from cutnode.kernels.optionality import Optionality
from cutnode.kernels.parameters import MOST_DEPTH
from cutnode.kernels.profiles import profile_of
from cutnode.kernels.techniques import checked_parameters, find_parameter, in_order, reference
from cutnode.lab.provenance import game_source
from cutnode.lab.statistics import CONFIDENCE
from cutnode.lab.study import Column, Study
from cutnode.runtime.processes import MOST_PROCESSES
from cutnode.search.results import SearchResult
from cutnode.search.searcher import Searcher
from cutnode.storage.evaluations import chosen_evaluation

ABOUT_INTERVALS = (
    "Intervals: 95 % confidence intervals, by the BCa bootstrap over positions; they hold for "
    "positions like these. With fewer than about 20 positions they are too narrow."
)
"""The note of a study with intervals."""

FIGURES = {
    "leaves": Column("leaves", "leaves visited, summed over positions", ",d"),
    "seconds": Column(
        "seconds", "CPU time, summed over positions (median of runs)", ".5f", timed=True
    ),
    "spread": Column(
        "spread", "interquartile range of the runs' times / their median", ".1%", timed=True
    ),
    "ebf": Column("ebf", "effective branching factor: nodes per position ** (1 / depth)", ".2f"),
    "first": Column("first", "share of cutoffs by the first move searched", ".1%"),
    "rate": Column("rate", "million nodes per second of CPU time", ".2f", timed=True),
    "runs": Column("runs", "number of times each position was timed (minimum)", "d", timed=True),
}
"""The columns that measured searches share."""


def search_afresh(
    searcher: Searcher, position: Any, depth: int, *, nodes: int | None = None, lines: int = 1
) -> SearchResult:
    """Search with a cleared searcher; raise KeyboardInterrupt if the search is interrupted."""
    searcher.clear()
    result = searcher.search(position, depth=depth, nodes=nodes, lines=lines)
    if result.reason == "interrupted":
        raise KeyboardInterrupt
    return result


class MeasuringOptions(TypedDict, total=False):
    """The options of measurements: repetition, limits and processes."""

    runs: int
    most_nodes: int
    """The node limit of a row; a row that takes more is left empty."""
    table_mb: int
    workers: int
    """The number of processes, which search positions at the same time."""
    positions_from: str
    """The source of the positions, for readers of the study."""


class ExperimentOptions(MeasuringOptions, total=False):
    """The options of experiments with searches of a game."""

    techniques: Iterable[str | Technique | EllipsisType] | None
    """Names of ``cutnode.kernels.techniques``, or your own; an ellipsis stands for all techniques
    that suit the game, the default."""
    parameters: Mapping[str, float] | None
    """Values of the techniques' parameters, by name."""
    exact: bool
    """Whether to leave out techniques that can change scores."""
    evaluation: AnyEvaluation


@dataclass(frozen=True, slots=True)
class Experiment:
    """The positions and options of an experiment; made by :func:`plan`."""

    positions: tuple[Any, ...]
    depth: int
    techniques: tuple[str, ...]
    parameters: Mapping[str, float]
    exact: bool
    evaluation: Evaluation | Optionality | Learned
    runs: int = 3
    most_nodes: int = 100_000_000
    table_mb: int = 64
    workers: int = 1
    positions_from: str = ""

    def value_of(self, name: str, techniques: Collection[str]) -> float:
        """Return the value that a parameter has in a search with some techniques."""
        full, parameter = find_parameter(name)
        profile = profile_of(type(self.positions[0])).suited_to(techniques)
        return {**profile.values, **self.parameters}.get(full, parameter.default)

    def settings(self) -> dict[str, Any]:
        """Return everything needed to reproduce the node counts."""
        cls: Any = type(self.positions[0])
        return {
            "game": game_source(cls),
            "positions": [position_text(position) for position in self.positions],
            "positions_from": self.positions_from,
            "depth": self.depth,
            "techniques": list(map(reference, self.techniques)),
            "parameters": dict(self.parameters),
            "exact": self.exact,
            "evaluation": self.evaluation.name,
            "runs": self.runs,
            "most_nodes": self.most_nodes,
            "table_mb": self.table_mb,
            "workers": self.workers,
        }


def plan(
    positions: Sequence[Any],
    depth: int,
    *,
    techniques: Iterable[str | Technique | EllipsisType] | None = None,
    parameters: Mapping[str, float] | None = None,
    exact: bool = False,
    evaluation: AnyEvaluation = None,
    **measuring: Unpack[MeasuringOptions],
) -> Experiment:
    """Plan an experiment; :class:`CutnodeError` for positions or options that make no sense."""
    positions = tuple(coerce(position) for position in positions)
    if not positions:
        raise CutnodeError("no positions to search")
    cls = type(positions[0])
    for position in positions:
        if type(position) is not cls:
            raise CutnodeError("positions must all be of the same game and variant")
        if outcome(position)[0]:
            raise CutnodeError(
                f"the game is over in {position_text(position)}: there is nothing to search"
            )
    if not 1 <= require_integer(depth, "a depth") <= MOST_DEPTH:
        raise CutnodeError(f"depth must be 1..{MOST_DEPTH}, got {depth}")
    chosen = in_order(cls, techniques, exact=exact)
    experiment = Experiment(
        positions,
        depth,
        chosen,
        checked_parameters(parameters or {}, chosen),
        exact,
        chosen_evaluation(cls, evaluation),
        **measuring,
    )
    require_at_least(experiment.runs, 1, "runs")
    require_at_least(experiment.most_nodes, 1, "a node limit")
    require_workers(experiment.workers)
    return experiment


def note_disagreement(study: Study, figure: str, p: str) -> None:
    """Add a note if a row is significant by its test but not by its interval, or vice versa.

    *figure* and *p* name the columns of the interval and the p-value.
    """
    unlike = []
    for row in study.rows:
        low, high = (row.get(end) for end in (f"{figure}_low", f"{figure}_high"))
        if low is None or high is None or p not in row:
            continue
        if (row[p] < 1 - CONFIDENCE) == (low <= 1 <= high):
            name = " ".join(study.text(row, column) for column in study.key_columns)
            unlike.append(f"{name} ({p} {row[p]:.2g}, {low:.3g} to {high:.3g})")
    if unlike:
        study.add_note(
            f"{p} and the interval of {figure} disagree: {'; '.join(unlike)}. They test different "
            f"things. {p} is the p-value of the signed-rank test, which asks whether the ratios "
            f"tend to one side of 1 and uses only their ranks. The interval is of the geometric "
            f"mean, which a few large ratios can move. With fewer than 6 positions that differ, "
            f"{p} is never below 0.05."
        )


def require_workers(workers: int) -> None:
    """Raise :class:`CutnodeError` unless the number of workers is in range."""
    if not 1 <= require_integer(workers, "a number of workers") <= MOST_PROCESSES:
        raise CutnodeError(f"workers must be 1..{MOST_PROCESSES}, got {workers}")


def columns_for(
    positions: int,
    columns: Iterable[Column],
    *,
    of_one: Collection[str] = (),
    of_several: Collection[str] = (),
) -> tuple[Column, ...]:
    """Return the columns that suit a number of positions.

    *of_one* and *of_several* name the columns for only one position and only several.  With one
    position there are no intervals over positions.
    """
    if positions > 1:
        return tuple(column for column in columns if column.name not in of_one)
    return tuple(
        replace(column, interval=False) for column in columns if column.name not in of_several
    )
