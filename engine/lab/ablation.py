"""The nodes that each technique of the search saves: added in turn, and taken from all of them.

The first rows are the plain references, minimax and textbook alpha-beta.  ``search`` is the
compiled search with no technique on: alpha-beta as well, with the machinery for the others
and an order of its own among equal moves.  Each ``+`` row has one technique more than the
row above it; the last of them has all.  Each ``-`` row has all but one (and those that
need it).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from engine.contract.dispatch import defines
from engine.contract.errors import CutnodeError
from engine.contract.legal import legal_moves
from engine.kernels.techniques import EXACT, leave_out
from engine.lab.measuring import (
    FIGURES,
    INTERRUPTED,
    SHORT_NODES,
    Experiment,
    ExperimentOptions,
    Measured,
    measure,
    measure_alphabeta,
    measure_minimax,
    plan,
    search_afresh,
)
from engine.lab.plots import (
    GREY,
    PAGE,
    PALETTE,
    Dot,
    add_legend,
    draw_dots,
    ends_of,
    mark_reference,
)
from engine.lab.study import Column, Progress, Study, no_progress
from engine.search.results import SearchResult
from engine.search.searcher import Searcher
from engine.storage.tables import Table

__all__ = ["ablation", "draw"]

COLUMNS = (
    Column("step", "what is on: + adds a technique to the row above, - takes one from all"),
    Column("nodes", "positions visited, all positions together", ",d"),
    FIGURES["seconds"],
    Column("gain", "times fewer nodes than without this technique", ",.2f"),
    Column("fewer", "times fewer nodes than alpha-beta", ",.2f"),
    Column("faster", "times less CPU time than alpha-beta", ",.2f", timed=True),
    Column("value", "share of positions with the exact value at this depth", ".0%"),
    Column("move", "share of positions with a move that is best at this depth", ".0%"),
    FIGURES["ebf"],
    FIGURES["first"],
    FIGURES["rate"],
    FIGURES["runs"],
)

COLOURS = {
    "reference": GREY,
    "exact technique": PALETTE["blue"],
    "selective technique": PALETTE["vermillion"],
}

Row = dict[str, Any]


def ablation(
    positions: Sequence[Any],
    depth: int,
    *,
    progress: Progress = no_progress,
    **options: Unpack[ExperimentOptions],
) -> Study:
    """Search positions with more and more techniques, and with all but one.

    A row that would take more nodes than *most_nodes* is left empty, except that minimax goes as
    deep as that allows.
    """
    experiment = plan(positions, depth, **options)
    if not experiment.techniques:
        raise CutnodeError("an ablation needs at least one technique")
    study = Study(
        "ablation",
        "What each technique of the search saves",
        experiment.settings(),
        COLUMNS,
        progress=progress,
    )
    try:
        _Ablation(experiment, study).run()
    except KeyboardInterrupt:
        study.add_note(INTERRUPTED)
    return study


@dataclass(frozen=True, slots=True)
class _Step:
    """A row of the table, and the techniques of its searches."""

    name: str
    techniques: frozenset[str]


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
    """An ablation that runs, and fills a study."""

    def __init__(self, experiment: Experiment, study: Study):
        self.experiment = experiment
        self.study = study
        self.table = Table(experiment.table_mb)
        self.steps = list(_steps(experiment))
        self.exact: tuple[SearchResult, ...] | None = None
        self.best_moves: dict[int, frozenset[int] | None] = {}
        self.baseline: Row = {}

    def run(self) -> None:
        self._report("compiling", 0)
        first, *steps = self.steps
        searcher = self._searcher(first.techniques)
        self._report("exact values", 0)
        self._find_exact_results()
        self._add_minimax()
        self._report("search", 2)
        search = self._measure(searcher)
        self._report("alpha-beta", 3)
        if not defines(searcher.cls, "chance"):
            self._add_alphabeta(search)
        elif search is not None:
            self.baseline = {"nodes": search.nodes, "seconds": search.seconds}
            self.study.add_note(
                "A game of chance: what stands here beside alpha-beta is beside search, "
                "expectiminimax with alpha-beta where a player decides."
            )
        self.study.add_row(self._row("search", search))
        last = search
        everything: Measured | None = None
        for number, step in enumerate(steps, 4):
            self._report(step.name, number)
            measured = self._measure(self._searcher(step.techniques))
            if step.name.startswith("+"):
                row = self._row(step.name, measured, beside=last)
                last = everything = measured
            else:
                row = self._row(step.name, measured)
                if measured is not None and everything is not None:
                    row["gain"] = measured.nodes / everything.nodes
                self._note_what_went_along(step)
            self.study.add_row(row)
            if measured is None:
                self._note_too_many(step.name)
        self._note_short_searches()

    def _report(self, now: str, done: int) -> None:
        self.study.progress(now, done, len(self.steps) + 3)

    def _searcher(self, techniques: Iterable[str] | None, exact: bool = False) -> Searcher:
        return Searcher(
            type(self.experiment.positions[0]),
            table=self.table,
            evaluation=self.experiment.evaluation,
            techniques=techniques,
            exact=exact or self.experiment.exact,
        )

    def _measure(self, searcher: Searcher) -> Measured | None:
        experiment = self.experiment
        return measure(
            searcher, experiment.positions, experiment.depth, experiment.runs, experiment.most_nodes
        )

    def _find_exact_results(self) -> None:
        experiment = self.experiment
        searcher = self._searcher(None, exact=True)
        found = measure(searcher, experiment.positions, experiment.depth, 1, experiment.most_nodes)
        if found is not None:
            self.exact = found.results
        else:
            self.study.add_note(
                f"The exact values at depth {experiment.depth} take more than --most-nodes "
                f"{experiment.most_nodes:,}: nothing is compared with them."
            )

    def _add_minimax(self) -> None:
        experiment = self.experiment
        self._report("minimax", 1)
        found = measure_minimax(
            experiment.positions,
            experiment.depth,
            experiment.runs,
            experiment.most_nodes,
            experiment.evaluation,
        )
        name = "minimax"
        row = self._figures(found.nodes, found.seconds, found.runs, found.depth)
        if found.depth < experiment.depth:
            name = f"minimax {found.depth} deep"
            self.study.add_note(
                f"Minimax was counted {found.depth} plies deep; growing on like that it would "
                f"visit some {found.expected:.1g} nodes at depth {experiment.depth}, more than "
                f"--most-nodes {experiment.most_nodes:,}."
            )
        elif self.exact is not None:
            pairs = zip(found.results, self.exact, strict=True)
            row["value"] = _share([_same(plain, exact) for plain, exact in pairs])
        self.study.add_row({"step": name} | row)

    def _add_alphabeta(self, search: Measured | None) -> None:
        """Add textbook alpha-beta, which takes about as long as the search without techniques."""
        experiment = self.experiment
        if search is None:
            self.study.add_row({"step": "alpha-beta"})
            self._note_too_many("search", " and alpha-beta was not tried")
            return
        found = measure_alphabeta(
            experiment.positions, experiment.depth, experiment.runs, experiment.evaluation
        )
        row = self._figures(found.nodes, found.seconds, found.runs, experiment.depth)
        self.baseline = row
        row |= {"step": "alpha-beta", "fewer": 1.0, "faster": 1.0}
        if self.exact is not None:
            pairs = zip(found.results, self.exact, strict=True)
            row["value"] = _share([_same(plain, exact) for plain, exact in pairs])
        if self.study.rows[0]["step"] == "minimax":
            row["gain"] = self.study.rows[0]["nodes"] / row["nodes"]
        self.study.add_row(row)

    def _row(self, name: str, found: Measured | None, beside: Measured | None = None) -> Row:
        """Make a row of what was found, *beside* the search that lacks a technique."""
        if found is None:
            return {"step": name}
        row = self._figures(found.nodes, found.seconds, found.runs, self.experiment.depth)
        row |= {"step": name, "first": found.first_cutoff_rate}
        if beside is not None:
            row["gain"] = beside.nodes / found.nodes
        if self.baseline:
            row["fewer"] = self.baseline["nodes"] / found.nodes
            row["faster"] = self.baseline["seconds"] / found.seconds
        if self.exact is not None:
            pairs = list(enumerate(zip(found.results, self.exact, strict=True)))
            row["value"] = _share([_same(mine, exact) for _, (mine, exact) in pairs])
            row["move"] = _share([self._is_best(number, mine) for number, (mine, _) in pairs])
        return row

    def _figures(self, nodes: int, seconds: float, runs: int, depth: int) -> Row:
        return {
            "nodes": nodes,
            "seconds": seconds,
            "ebf": (nodes / len(self.experiment.positions)) ** (1 / depth),
            "rate": nodes / seconds / 1e6,
            "runs": runs,
        }

    def _is_best(self, number: int, result: SearchResult) -> bool | None:
        """Return whether a search found one of the moves with the best exact value.

        None if that takes too many nodes to know.
        """
        assert self.exact is not None
        exact = self.exact[number]
        if result.best_move == exact.best_move:
            return True
        if number not in self.best_moves:
            self.best_moves[number] = self._find_best_moves(exact)
        best = self.best_moves[number]
        return None if best is None else result.best_move in best

    def _find_best_moves(self, exact: SearchResult) -> frozenset[int] | None:
        experiment = self.experiment
        every = search_afresh(
            self._searcher(None, exact=True),
            exact.position,
            experiment.depth,
            nodes=experiment.most_nodes,
            lines=len(legal_moves(exact.position)),
        )
        if every.reason == "node limit":
            self.study.add_note(
                f"To know all moves that are best takes more than --most-nodes "
                f"{experiment.most_nodes:,}: where a row found another move than the exact "
                f"search, its share of best moves is left empty."
            )
            return None
        return frozenset(line.move for line in every.lines if _same(line, exact))

    def _note_what_went_along(self, step: _Step) -> None:
        name = step.name.removeprefix("- ")
        along = [
            other
            for other in self.experiment.techniques
            if other != name and other not in step.techniques
        ]
        if along:
            need = "needs" if len(along) == 1 else "need"
            self.study.add_note(
                f"{step.name} is also without {' and '.join(along)}, which {need} it."
            )

    def _note_too_many(self, name: str, so: str = "") -> None:
        most = self.experiment.most_nodes
        self.study.add_note(f"{name} takes more than --most-nodes {most:,}: it was given up{so}.")

    def _note_short_searches(self) -> None:
        nodes = min((row["nodes"] for row in self.study.rows if "nodes" in row), default=0)
        if nodes < SHORT_NODES * len(self.experiment.positions):
            self.study.add_note(
                f"Searches of less than {SHORT_NODES:,} nodes are as short as the call that "
                f"starts them: compare their nodes, not their times."
            )


def _same(a: Any, b: Any) -> bool:
    """Return whether two values are the same but for the rounding of expectations."""
    return math.isclose(a.value, b.value, rel_tol=1e-9, abs_tol=1e-9)


def _share(agree: Sequence[bool | None]) -> float | None:
    """Return the share of those that agree; None if it is not known of all."""
    known = [one for one in agree if one is not None]
    return sum(known) / len(known) if len(known) == len(agree) else None


def draw(study: Study, figure: Any) -> None:
    """Draw nodes and gains: of techniques added in turn, and below of those taken away."""
    panels = {
        "Added in turn": [row for row in study.rows if not row["step"].startswith("- ")],
        "All but one": [row for row in study.rows if row["step"].startswith("- ")],
    }
    panels = {title: rows for title, rows in panels.items() if rows}
    heights = [len(rows) for rows in panels.values()]
    figure.set_size_inches(PAGE, 1.0 + 0.18 * sum(heights) + 0.35 * len(panels))
    grid = figure.subplots(
        len(panels),
        2,
        sharex="col",
        squeeze=False,
        gridspec_kw={"height_ratios": heights, "width_ratios": (3, 2)},
    )
    for (title, rows), (nodes, gains) in zip(panels.items(), grid, strict=True):
        named = [(row, row["step"], COLOURS[_kind(row["step"])]) for row in rows]
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
    grid[-1, 0].set_xlabel("nodes")
    grid[-1, 1].set_xlabel("times fewer nodes by the technique")
    used = {_kind(row["step"]) for row in study.rows}
    add_legend(figure, {kind: colour for kind, colour in COLOURS.items() if kind in used})


def _kind(step: str) -> str:
    if step[:2] not in ("+ ", "- "):
        return "reference"
    return "exact technique" if step[2:] in EXACT else "selective technique"
