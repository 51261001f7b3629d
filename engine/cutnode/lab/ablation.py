"""An ablation study: the nodes that each search technique saves.

The first rows are the references, plain minimax and textbook alpha-beta.  ``search`` is the
compiled search with every technique off: also alpha-beta, but with the machinery of the
techniques and its own order among equal moves.  Each ``+`` row adds one technique to the row
above it, and the last ``+`` row has all of them.  Each ``-`` row has all techniques but one (and
the techniques that need that one).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from cutnode.contract.dispatch import defines
from cutnode.contract.errors import CutnodeError
from cutnode.kernels.techniques import leave_out, technique_of
from cutnode.lab.laboratory import (
    SHORT_NODES,
    Laboratory,
    Measured,
    figures_of,
    same_value,
    with_interval,
)
from cutnode.lab.measuring import (
    ABOUT_INTERVALS,
    FIGURES,
    Experiment,
    ExperimentOptions,
    columns_for,
    note_disagreement,
    plan,
)
from cutnode.lab.plots import (
    GREY,
    PAGE,
    PALETTE,
    Dot,
    add_legend,
    draw_dots,
    ends_of,
    mark_reference,
    set_log,
)
from cutnode.lab.statistics import geometric_mean_ratio, share, wilcoxon
from cutnode.lab.study import Column, Progress, Study, no_progress

IDLE = "did not act"
"""The word for a technique that changed nothing."""

TREE = ("nodes", "leaves", "cutoffs", "first_cutoffs", "value", "move")
"""The figures of a sample that show whether two search trees differ."""

COLUMNS = (
    Column("step", "techniques: + adds one to the row above, - removes one from the full set"),
    Column("nodes", "nodes visited, summed over positions", ",d"),
    FIGURES["leaves"],
    Column("effect", f"{IDLE}: same counts, value and move without the technique, everywhere"),
    FIGURES["seconds"],
    Column("gain", "nodes without this technique / nodes with it", ",.2f", interval=True),
    Column("p", "p-value of the gain (Wilcoxon signed-rank test; H0: no effect)", ".2g"),
    Column("fewer", "alpha-beta's nodes / nodes", ",.2f", interval=True),
    Column("faster", "alpha-beta's CPU time / CPU time", ",.2f", interval=True, timed=True),
    Column("value", "share of positions with the exact value at this depth", ".0%", interval=True),
    Column("move", "share of positions with a best move at this depth", ".0%", interval=True),
    FIGURES["ebf"],
    FIGURES["first"],
    FIGURES["rate"],
    FIGURES["runs"],
    FIGURES["spread"],
    Column("kind", "exact (never changes a value) or selective (may change it)"),
)

COLOURS = {
    "reference": GREY,
    IDLE: PALETTE["sky"],
    "exact technique": PALETTE["blue"],
    "selective technique": PALETTE["vermillion"],
}

MINIMAX_PART = 4
"""The divisor of the node limit for minimax, which is only a reference."""

Row = dict[str, Any]


def ablation(
    positions: Sequence[Any],
    depth: int,
    *,
    progress: Progress = no_progress,
    **options: Unpack[ExperimentOptions],
) -> Study:
    """Search positions while adding techniques one by one, then with all but one.

    With several positions, a gain is the geometric mean over them.  A row that would take more
    nodes than *most_nodes* is left empty; minimax is searched as deep as its part of that limit
    allows.
    """
    experiment = plan(positions, depth, **options)
    if not experiment.techniques:
        raise CutnodeError("an ablation needs at least one technique")
    study = Study(
        "ablation",
        "What each technique of the search saves",
        experiment.settings(),
        columns_for(len(experiment.positions), COLUMNS, of_several=("p",)),
        progress=progress,
    )
    with study.kept(), Laboratory(experiment, study) as laboratory:
        _Ablation(experiment, study, laboratory).run()
    return study


@dataclass(frozen=True, slots=True)
class _Step:
    """A row of the table: its name and the techniques of its searches."""

    name: str
    techniques: frozenset[str]

    @property
    def technique(self) -> str:
        """The technique that this step adds or removes."""
        return self.name[2:]


def _steps(experiment: Experiment) -> Iterator[_Step]:
    """Yield the steps from no technique to all of them, and then all but one."""
    chosen: frozenset[str] = frozenset()
    yield _Step("search", chosen)
    for name in experiment.techniques:
        chosen |= {name}
        yield _Step(f"+ {name}", chosen)
    if len(chosen) > 1:
        for name in experiment.techniques:
            yield _Step(f"- {name}", leave_out(chosen, [name]))


class _Ablation:
    """A running ablation, which fills a study."""

    def __init__(self, experiment: Experiment, study: Study, laboratory: Laboratory):
        self.experiment = experiment
        self.study = study
        self.laboratory = laboratory
        self.steps = list(_steps(experiment))
        self.exact: Measured | None = None
        self.best_moves: dict[int, frozenset[str] | None] = {}
        self.baseline: Measured | None = None

    def run(self) -> None:
        self._report("compiling", 0)
        first, *steps = self.steps
        self.laboratory.compile(techniques=first.techniques, exact=self.experiment.exact)
        minimax = self._add_minimax()
        if minimax is None:
            self._find_exact_results()
        self._report("search", 2)
        search = self._measure(first)
        self._report("alpha-beta", 3)
        if not defines(type(self.experiment.positions[0]), "chance"):
            self._add_alphabeta(search, minimax)
        elif search is not None:
            self.baseline = search
            self.study.add_note(
                "A game of chance: comparisons with alpha-beta are comparisons with 'search' "
                "(expectiminimax, with alpha-beta at the players' nodes)."
            )
        self.study.add_row(self._row("search", search))
        last = search
        everything: Measured | None = None
        for number, step in enumerate(steps, 4):
            self._report(step.name, number)
            measured = self._measure(step)
            row = self._row(step.name, measured)
            if step.name.startswith("+"):
                row |= _gain(last, measured) | self._effect(step, last, measured)
                last = everything = measured
            else:
                row |= _gain(measured, everything) | self._effect(step, measured, everything)
                self._note_what_went_along(step)
            exact = technique_of(step.technique).exact
            self.study.add_row(row | {"kind": "exact" if exact else "selective"})
            if measured is None:
                self._note_too_many(step.name)
        self._note_short_searches()
        self.laboratory.note_conditions()
        if len(self.experiment.positions) > 1:
            self.study.add_note(ABOUT_INTERVALS)
            self.study.add_note(
                "p: two-sided Wilcoxon signed-rank test of log(nodes), not corrected for multiple "
                "comparisons; with many rows some p-values are small by chance."
            )
            note_disagreement(self.study, "gain", "p")

    def _report(self, now: str, done: int) -> None:
        self.study.progress(now, done, len(self.steps) + 3)

    def _measure(self, step: _Step) -> Measured | None:
        experiment = self.experiment
        return self.laboratory.search(
            {"step": step.name},
            experiment.depth,
            techniques=step.techniques,
            exact=experiment.exact,
        )

    def _find_exact_results(self) -> None:
        self._report("exact values", 1)
        experiment = self.experiment
        self.exact = self.laboratory.search({"step": "exact"}, experiment.depth, runs=1, exact=True)
        if self.exact is None:
            self.study.add_note(
                f"The exact search at depth {experiment.depth} takes more than --most-nodes "
                f"{experiment.most_nodes:,}: no row is compared with exact values."
            )

    def _add_minimax(self) -> Measured | None:
        """Add minimax; return it if it reached the depth of the other rows.

        In that case find the exact values too, and compare it with them.
        """
        depth = self.experiment.depth
        self._report("minimax", 0)
        most = self.experiment.most_nodes // MINIMAX_PART
        found, expected = self.laboratory.minimax(most)
        row = {"step": found.samples[0]["step"]} | figures_of(found)
        if found.depth == depth:
            self._find_exact_results()
            if self.exact is not None:
                row |= _agreement(found, self.exact)
        else:
            self.study.add_note(
                f"Minimax was searched to depth {found.depth}: one ply more takes over {most:,} "
                f"nodes, 1/{MINIMAX_PART} of --most-nodes.  Extrapolated to depth {depth}, it "
                f"would visit about {expected:.1g} nodes."
            )
        self.study.add_row(row)
        return found if found.depth == depth else None

    def _add_alphabeta(self, search: Measured | None, minimax: Measured | None) -> None:
        """Add textbook alpha-beta, which takes about as long as the search without techniques."""
        if search is None:
            self.study.add_row({"step": "alpha-beta"})
            self._note_too_many("search", ", and alpha-beta was not tried")
            return
        found = self.laboratory.alphabeta({"step": "alpha-beta"}, self.experiment.depth)
        self.baseline = found
        row = {"step": "alpha-beta"} | figures_of(found) | {"fewer": 1.0, "faster": 1.0}
        if self.exact is not None:
            row |= _agreement(found, self.exact)
        self.study.add_row(row | _gain(minimax, found))

    def _row(self, name: str, found: Measured | None) -> Row:
        """Return the row of a measurement, without its gain."""
        if found is None:
            return {"step": name}
        row = {"step": name} | figures_of(found)
        if self.baseline is not None:
            row |= with_interval("fewer", geometric_mean_ratio(self.baseline.each, found.each))
            if min(*self.baseline.times, *found.times) > 0:  # no search was too short for the clock
                faster = geometric_mean_ratio(self.baseline.times, found.times)
                row |= with_interval("faster", faster)
        if self.exact is not None:
            row |= _agreement(found, self.exact)
            row |= self._share_of_best_moves(found, self.exact)
        return row

    def _share_of_best_moves(self, found: Measured, exact: Measured) -> Row:
        """Return the share of positions where a search found one of the best moves.

        Return nothing if finding all best moves takes too many nodes.
        """
        moves: list[str | None] = [sample["move"] for sample in found.samples]
        pairs = zip(found.samples, exact.samples, strict=True)
        right: list[bool] = [mine["move"] == best["move"] for mine, best in pairs]
        others = [number for number, is_right in enumerate(right) if not is_right]
        unknown = [number for number in others if number not in self.best_moves]
        scores = self.laboratory.best_moves(unknown, exact=True)
        for number, of_moves in zip(unknown, scores, strict=True):
            self.best_moves[number] = None if of_moves is None else _best(of_moves)
        best = [self.best_moves.get(number) for number in others]
        if None in best:
            self.study.add_note(
                f"Finding all best moves of a position takes more than --most-nodes "
                f"{self.experiment.most_nodes:,}: the share of best moves is left empty in rows "
                f"that chose another move there than the exact search."
            )
            return {}
        for number, its in zip(others, best, strict=True):
            right[number] = its is not None and moves[number] in its
        return with_interval("move", share(right))

    def _effect(self, step: _Step, without: Measured | None, found: Measured | None) -> Row:
        """Return the effect of a technique that changed nothing; note it if the depth is why."""
        if without is None or found is None or _trees(without) != _trees(found):
            return {}
        technique, depth = technique_of(step.technique), self.experiment.depth
        for parameter in technique.parameters:
            full = f"{technique.name}.{parameter.name}"
            least = self.experiment.value_of(full, step.techniques)
            if parameter.least_depth and least >= depth:
                only = ", so that only the root qualifies" if least == depth else ""
                self.study.add_note(
                    f"{technique.name} {IDLE}: it needs a remaining depth of at least {least:g} "
                    f"({full}), and the search is {depth} plies deep{only}."
                )
        return {"effect": IDLE}

    def _note_what_went_along(self, step: _Step) -> None:
        name = step.technique
        along = [
            other
            for other in self.experiment.techniques
            if other != name and other not in step.techniques
        ]
        if along:
            need = "needs" if len(along) == 1 else "need"
            self.study.add_note(f"{step.name} also removes {' and '.join(along)}, which {need} it.")

    def _note_too_many(self, name: str, so: str = "") -> None:
        most = self.experiment.most_nodes
        self.study.add_note(f"{name} takes more than --most-nodes {most:,}: it was abandoned{so}.")

    def _note_short_searches(self) -> None:
        nodes = min((row["nodes"] for row in self.study.rows if "nodes" in row), default=0)
        if nodes < SHORT_NODES * len(self.experiment.positions):
            self.study.add_note(
                f"Searches of fewer than {SHORT_NODES:,} nodes take about as long as the call that "
                f"starts them: compare nodes, not times."
            )


def _trees(found: Measured) -> list[tuple[Any, ...]]:
    return [tuple(sample.get(name) for name in TREE) for sample in found.samples]


def _gain(more: Measured | None, fewer: Measured | None) -> Row:
    """Return the ratio of the nodes of two searches, and its p-value."""
    if more is None or fewer is None:
        return {}
    row = with_interval("gain", geometric_mean_ratio(more.each, fewer.each))
    if len(more.each) > 1:
        row["p"] = wilcoxon(np.log(more.each), np.log(fewer.each))
    return row


def _best(scores: dict[str, float]) -> frozenset[str]:
    most = max(scores.values())
    return frozenset(move for move, score in scores.items() if same_value(score, most))


def _agreement(found: Measured, exact: Measured) -> Row:
    """Return the share of positions with the exact value."""
    pairs = zip(found.samples, exact.samples, strict=True)
    return with_interval("value", share([same_value(a["value"], b["value"]) for a, b in pairs]))


def draw(study: Study, figure: Any) -> None:
    """Draw nodes and gains of techniques added one by one, and below, of techniques removed."""
    panels = {
        "Added one by one": [row for row in study.rows if not row["step"].startswith("- ")],
        "All but one": [row for row in study.rows if row["step"].startswith("- ")],
    }
    panels = {title: rows for title, rows in panels.items() if rows}
    heights = [len(rows) for rows in panels.values()]
    figure.set_size_inches(PAGE, 1.0 + 0.18 * sum(heights) + 0.35 * len(panels))
    figure.set_label(
        "Left: nodes of each row.  Right: gain of its technique (nodes without it / nodes with "
        "it), with 95 % confidence intervals of the geometric mean over positions."
    )
    grid = figure.subplots(
        len(panels),
        2,
        squeeze=False,
        gridspec_kw={"height_ratios": heights, "width_ratios": (3, 2)},
    )
    for nodes in grid[1:, 0]:
        nodes.sharex(grid[0, 0])
    for (title, rows), (nodes, gains) in zip(panels.items(), grid, strict=True):
        named = [(row, row["step"], COLOURS[_kind(row)]) for row in rows]
        draw_dots(nodes, [Dot(name, row.get("nodes"), colour) for row, name, colour in named])
        draw_dots(
            gains,
            [
                Dot(name, row.get("gain"), colour, ends_of(row, "gain"))
                for row, name, colour in named
            ],
            names=False,
            numbers=False,
        )
        mark_reference(gains, 1)
        nodes.set_title(title)
    most = max((row.get("nodes") or 1 for row in study.rows), default=1)
    grid[0, 0].set_xlim(right=most * 12)  # for its number
    set_log(grid[0, 0], "x")
    grid[-1, 0].set_xlabel("nodes")
    grid[-1, 1].set_xlabel("nodes without the technique / nodes with it")
    used = {_kind(row) for row in study.rows}
    add_legend(figure, {kind: colour for kind, colour in COLOURS.items() if kind in used})


def _kind(row: Row) -> str:
    return row.get("effect") or (f"{row['kind']} technique" if "kind" in row else "reference")
