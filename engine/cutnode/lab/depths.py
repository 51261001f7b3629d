"""The cost of one more ply: a search to each depth, each from an empty table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from cutnode.lab.laboratory import Laboratory, Measured, figures_of, with_interval
from cutnode.lab.measuring import (
    ABOUT_INTERVALS,
    FIGURES,
    Experiment,
    ExperimentOptions,
    columns_for,
    plan,
)
from cutnode.lab.plots import PAGE, Line, draw_lines, set_axes
from cutnode.lab.statistics import geometric_mean_ratio, mean_growth_factor
from cutnode.lab.study import Column, Progress, Study, no_progress

COLUMNS = (
    Column("depth", "depth in plies", "d"),
    Column("nodes", "nodes visited, including the search's shallower iterations", ",d"),
    FIGURES["leaves"],
    FIGURES["seconds"],
    Column("move", "best move (the first of equals)"),
    Column("score", "its score for the player to move", ".6g"),
    Column("meaning", "the score in words"),
    FIGURES["ebf"],
    Column("growth", "nodes / nodes of the depth above", ",.2f", interval=True),
    Column(
        "branching",
        "growth per ply: regression of log(nodes) on depth, over the depths so far",
        ",.2f",
        interval=True,
    ),
    FIGURES["first"],
    FIGURES["rate"],
    FIGURES["runs"],
    FIGURES["spread"],
)

OF_ONE_POSITION = ("move", "score", "meaning")


def depths(
    positions: Sequence[Any],
    depth: int,
    *,
    progress: Progress = no_progress,
    **options: Unpack[ExperimentOptions],
) -> Study:
    """Search positions to depths 1, 2, 3 ... *depth*.

    With several positions, growth and branching factor are geometric means over them.  The table
    ends before the first depth that takes more than *most_nodes* nodes.
    """
    experiment = plan(positions, depth, **options)
    study = Study(
        "depths",
        "The cost of a search to each depth",
        experiment.settings(),
        _columns(experiment),
        progress=progress,
    )
    with study.kept(), Laboratory(experiment, study) as laboratory:
        _search_depths(experiment, study, laboratory)
    return study


def _columns(experiment: Experiment) -> tuple[Column, ...]:
    """Return the columns; the branching factor has an interval even with one position."""
    chosen = columns_for(len(experiment.positions), COLUMNS, of_one=OF_ONE_POSITION)
    branching = next(column for column in COLUMNS if column.name == "branching")
    return tuple(branching if column.name == branching.name else column for column in chosen)


def _search_depths(experiment: Experiment, study: Study, laboratory: Laboratory) -> None:
    options: dict[str, Any] = {"techniques": experiment.techniques, "exact": experiment.exact}
    study.progress("compiling", 0, experiment.depth)
    laboratory.compile(**options)
    before: list[Measured] = []
    for depth in range(1, experiment.depth + 1):
        study.progress(f"depth {depth}", depth - 1, experiment.depth)
        found = laboratory.search({"depth": depth}, depth, **options)
        if found is None:
            study.add_note(
                f"Depth {depth} takes more than --most-nodes {experiment.most_nodes:,}: it was "
                f"abandoned."
            )
            break
        before.append(found)
        study.add_row(_row(before))
    laboratory.note_conditions()
    if len(experiment.positions) > 1:
        study.add_note(ABOUT_INTERVALS)
    elif len(before) > 2:
        study.add_note(
            "The interval of the branching factor is the 95 % confidence interval of the "
            "regression's slope (Student's t): it shows how regular the growth is, for this "
            "position alone."
        )


def _row(found: list[Measured]) -> dict[str, Any]:
    """Return the row of the last depth searched."""
    last = found[-1]
    row: dict[str, Any] = {"depth": last.depth} | figures_of(last)
    if len(found) > 1:
        row |= with_interval("growth", geometric_mean_ratio(last.each, found[-2].each))
        depths = [measured.depth for measured in found]
        nodes = zip(*(measured.each for measured in found), strict=True)
        row |= with_interval("branching", mean_growth_factor(depths, list(nodes)))
    if len(last.samples) == 1:
        sample = last.samples[0]
        if sample["move"] is not None:  # None at a chance node
            row["move"] = sample["move"]
        row["score"] = sample["value"]
        row["meaning"] = sample["meaning"]
    return row


def draw(study: Study, figure: Any) -> None:
    """Draw nodes, time and branching factor by depth."""
    figure.set_size_inches(PAGE, 2.4)
    figure.set_label(
        "Nodes and CPU time of a search to each depth, and the branching factor by regression over "
        "the depths so far, with 95 % confidence intervals."
    )
    panels = {
        "nodes": "Nodes",
        "seconds": "CPU time in seconds",
        "branching": "Branching factor",
    }
    for axes, (name, title) in zip(figure.subplots(1, 3), panels.items(), strict=True):
        draw_lines(axes, [Line.of(name, study.rows, "depth", name)], log=name != "branching")
        set_axes(axes, title=title, x="depth in plies")
