"""A study of a search's nodes: node types, cutoffs, move ordering and the transposition table.

*   Nodes by actual type, compared with the critical tree of Knuth and Moore that has the mean
    number of moves at each ply, summed over iterations: the fewest nodes without a table.
*   Cutoffs by move number, in the order in which moves were searched.
*   The first-move cutoff rate, by remaining depth and by the node type that the search expected.
*   Probes, hits, cutoffs and overwritten entries of the table.

Cutoffs by move number and depth are counted by an observing technique (see
:mod:`cutnode.lab.observer`); for a game of chance there are only totals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Unpack

import numpy as np

from cutnode.contract.dispatch import defines
from cutnode.contract.messages import position_text
from cutnode.kernels.evaluation import AnyEvaluation
from cutnode.kernels.table import BUCKET_WORDS, ENTRY_WORDS
from cutnode.lab.formulas import critical_levels
from cutnode.lab.laboratory import Sample, Workbench, with_interval
from cutnode.lab.measuring import (
    ABOUT_INTERVALS,
    Experiment,
    ExperimentOptions,
    columns_for,
    plan,
    search_afresh,
)
from cutnode.lab.observer import KINDS, MOST_INDEX, OBSERVER, counts_of
from cutnode.lab.plots import PAGE, PALETTE, Dot, draw_dots, ends_of
from cutnode.lab.statistics import bootstrap_share
from cutnode.lab.study import Column, Progress, Study, no_progress
from cutnode.search.results import SearchResult
from cutnode.search.searcher import Searcher
from cutnode.storage.tables import Table

COLUMNS = (
    Column("part"),
    Column("of", "event or node type"),
    Column("count", "sum over positions", ",d"),
    Column("share", "share (of what: see the notes)", ".1%", interval=True),
    Column("minimal", "nodes of this type in the critical tree", ",.0f"),
    Column("above", "count / minimal", ",.2f", interval=True),
)

NODES, CUTOFFS, MOVES, DEPTHS, TABLE = "nodes", "cutoffs", "cutoff by move", "first move", "table"
"""The parts of the table."""

STEPS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 16, 21, 31, MOST_INDEX)
"""The move numbers that begin a row of the histogram."""

NOTES = (
    "nodes: by actual type; share of all nodes. PV nodes scored inside their window, cut-nodes "
    "failed high, all-nodes failed low. Nodes decided before a move was searched have no type.",
    "cutoffs: share of all cutoffs. cutoff by move: the number of the move that gave the cutoff, "
    "in search order.",
    "first move: the first-move cutoff rate, by remaining depth and by the node type that the "
    "search expected.",
    "table: hits and cutoffs are shares of probes; overwritten is the share of stores that "
    "replaced another position of the same search; entries in use, the share of all entries.",
)


def nodes(
    positions: Sequence[Any],
    depth: int,
    *,
    progress: Progress = no_progress,
    **options: Unpack[ExperimentOptions],
) -> Study:
    """Search positions to *depth*, and count node types, cutoffs and table hits.

    A position that takes more than *most_nodes* nodes is left out.  Nothing is timed.
    """
    experiment = plan(positions, depth, **options)
    settings = experiment.settings()
    del settings["runs"]
    study = Study(
        "nodes",
        "Node types, cutoffs, move ordering and table hits of a search",
        settings,
        columns_for(len(experiment.positions), COLUMNS),
        notes=[*NOTES],
        progress=progress,
    )
    with study.kept():
        _fill(study, experiment)
    return study


def _fill(study: Study, experiment: Experiment) -> None:
    count = len(experiment.positions)
    study.progress("compiling", 0, count)
    workbench: Workbench[int, list[Sample] | None] = Workbench(
        min(experiment.workers, count),
        _Bench,
        *(experiment.positions, experiment.evaluation, experiment.techniques),
        *(experiment.parameters, experiment.exact, experiment.depth, experiment.most_nodes),
        experiment.table_mb,
        techniques=experiment.techniques,
    )
    samples: list[Sample] = []
    with workbench:
        answers = workbench.answers(range(count))
        for number, answer in enumerate(answers):
            text = position_text(experiment.positions[number])
            study.progress(text, number + 1, count)
            if answer is None:
                study.add_note(
                    f"{text} takes more than --most-nodes {experiment.most_nodes:,}: it was left "
                    f"out."
                )
                continue
            for found in answer:
                samples.append(found | {"position": text})
                study.add_sample(samples[-1])
    for key in dict.fromkeys((sample["part"], sample["of"]) for sample in samples):
        part, of = key
        its = [sample for sample in samples if (sample["part"], sample["of"]) == key]
        row = {"part": part, "of": of} | _summary(its)
        if row["count"] or part != MOVES:
            study.add_row(row)
    if count > 1:
        study.add_note(ABOUT_INTERVALS)


def _summary(samples: Sequence[Sample]) -> dict[str, Any]:
    """Return the figures of a row: sums, and the ratios of sums."""
    counts = [sample["count"] for sample in samples]
    wholes = [sample["whole"] for sample in samples]
    row: dict[str, Any] = {"count": sum(counts)}
    if sum(wholes):
        row |= with_interval("share", bootstrap_share(counts, wholes))
    fewest = [sample["minimal"] for sample in samples if "minimal" in sample]
    if len(fewest) == len(samples) and sum(fewest):
        row["minimal"] = sum(fewest)
        row |= with_interval("above", bootstrap_share(counts, fewest))
    return row


class _Bench:
    """A bench that searches positions with the observing technique, in one process."""

    def __init__(
        self,
        positions: Sequence[Any],
        evaluation: AnyEvaluation,
        techniques: Sequence[str],
        parameters: Mapping[str, float],
        exact: bool,
        depth: int,
        most_nodes: int,
        table_mb: int,
    ):
        self.positions = positions
        self.depth, self.most_nodes = depth, most_nodes
        cls: Any = type(positions[0])
        self.watches = not defines(cls, "chance")
        options: Any = {"evaluation": evaluation, "exact": exact, "table": Table(table_mb)}
        options["parameters"] = parameters
        watching: Any = [*techniques, OBSERVER] if self.watches else techniques
        self.searcher = Searcher(cls, techniques=watching, **options)
        # With the table keys of the unobserved search, it visits exactly the same nodes.
        unwatched = Searcher(cls, techniques=techniques, ready=False, **options)
        self.searcher.memory["purpose"] = unwatched.memory["purpose"]

    def __call__(self, number: int) -> list[Sample] | None:
        """Return the samples of a position; None if it exceeds the node limit."""
        position = self.positions[number]
        result = search_afresh(self.searcher, position, self.depth, nodes=self.most_nodes)
        if result.reason == "node limit":
            return None
        samples = [*_totals(result)]
        if self.watches:
            watched = counts_of(self.searcher.memory)
            fewest = _fewest(result, watched["nodes"], watched["moves"])
            for sample in samples:
                if sample["part"] == NODES and sample["of"] in fewest:
                    sample["minimal"] = fewest[sample["of"]]
            samples += _of_cutoffs(watched)
        return [*samples, *_of_table(result, self.searcher.table)]


def _sample(part: str, of: str, count: int, whole: int) -> Sample:
    return {"part": part, "of": of, "count": int(count), "whole": int(whole)}


def _totals(result: SearchResult) -> Iterator[Sample]:
    counts = result.statistics
    for of, count in (
        ("PV", counts.pv_nodes),
        ("cut", counts.cut_nodes),
        ("all", counts.all_nodes),
        ("leaves", counts.leaves),
        ("quiescence", counts.quiet_nodes),
    ):
        yield _sample(NODES, of, count, counts.nodes)
    for of, count in (
        ("first move", counts.first_cutoffs),
        ("hash move", counts.table_move_cutoffs),
        ("killer", counts.killer_cutoffs),
    ):
        yield _sample(CUTOFFS, of, count, counts.cutoffs)


def _of_table(result: SearchResult, table: Table) -> Iterator[Sample]:
    counts = result.statistics
    yield _sample(TABLE, "hits", counts.hits, counts.probes)
    yield _sample(TABLE, "cutoffs", counts.table_cutoffs, counts.probes)
    yield _sample(TABLE, "cutoffs by a child", counts.enhanced_cutoffs, counts.probes)
    yield _sample(TABLE, "overwritten", counts.overwrites, counts.stores)
    entries = table.buckets * BUCKET_WORDS // ENTRY_WORDS
    yield _sample(TABLE, "entries in use", round(counts.fill * entries), entries)


def _of_cutoffs(watched: dict[str, np.ndarray[Any, Any]]) -> Iterator[Sample]:
    index, cutoffs, first = watched["index"], watched["cutoffs"], watched["first"]
    for begin, end in pairwise((*STEPS, MOST_INDEX + 1)):
        of = str(begin) if end == begin + 1 else f"{begin} to {end - 1}"
        of = f"{MOST_INDEX} and later" if begin == MOST_INDEX else of
        yield _sample(MOVES, of, index[begin - 1 : end - 1].sum(), index.sum())
    for kind, of in enumerate(KINDS):
        yield _sample(DEPTHS, of, first[kind].sum(), cutoffs[kind].sum())
    for depth in range(1, cutoffs.shape[1]):
        if cutoffs[:, depth].any():
            yield _sample(DEPTHS, f"depth {depth}", first[:, depth].sum(), cutoffs[:, depth].sum())


def _fewest(
    result: SearchResult, nodes: np.ndarray[Any, Any], moves: np.ndarray[Any, Any]
) -> dict[str, float]:
    """Return the nodes of each type in the critical trees of all iterations, summed.

    The width of each ply is the mean number of moves of the nodes searched there.
    """
    widths: list[float] = []
    for ply in range(max((iteration.depth for iteration in result.iterations), default=0)):
        known = nodes[ply] > 0
        widths.append(float(moves[ply] / nodes[ply]) if known else (widths or [1.0])[-1])
    fewest = {"PV": 0.0, "cut": 0.0, "all": 0.0, "leaves": 0.0}
    for iteration in result.iterations:
        *inner, leaves = critical_levels(widths[: iteration.depth])
        for level in inner:
            fewest["PV"] += level.type1
            fewest["cut"] += level.type2
            fewest["all"] += level.type3
        fewest["leaves"] += sum(leaves)
    return fewest


def draw(study: Study, figure: Any) -> None:
    """Draw cutoffs by move, the first-move cutoff rate by node type and depth, and the table."""
    parts = {MOVES: "Cutoffs by move", DEPTHS: "Cutoffs by the first move", TABLE: "Table"}
    panels = {
        title: [row for row in study.rows if row["part"] == part and "share" in row]
        for part, title in parts.items()
    }
    panels = {title: rows for title, rows in panels.items() if rows}
    figure.set_size_inches(
        PAGE, 0.7 + 0.2 * max((len(rows) for rows in panels.values()), default=1)
    )
    figure.set_label(
        "Cutoffs by the number of the move that gave them, first-move cutoff rates by node type "
        "and remaining depth, and table hits and cutoffs. Bars are 95 % confidence intervals."
    )
    grid = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, (title, rows) in zip(grid, panels.items(), strict=True):
        dots = [
            Dot(row["of"], row["share"], PALETTE["blue"], ends_of(row, "share")) for row in rows
        ]
        draw_dots(axes, dots, log=False, numbers=False)
        axes.set_xlim(left=0)
        axes.set_title(title)
        axes.set_xlabel("share of probes" if title == "Table" else "share of cutoffs")
