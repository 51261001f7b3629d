"""The cost of one ply more: a search of each depth, every one from nothing."""

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
    Column("depth", "plies", "d"),
    Column("nodes", "positions visited, those of lesser depths in the same search included", ",d"),
    FIGURES["seconds"],
    Column("move", "the best move found, the first of equals"),
    Column("score", "its score for the player to move", ".6g"),
    Column("meaning", "what the score says"),
    FIGURES["ebf"],
    Column("growth", "times the nodes of one ply less", ",.2f", interval=True),
    Column(
        "branching",
        "growth by ply, by regression of log(nodes) over the depths so far",
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
    """Search positions 1, 2, 3 ... *depth* plies deep.

    Of several positions, growth and branching factor are geometric means.  The table ends early at
    a depth that takes more than *most_nodes* nodes.
    """
    experiment = plan(positions, depth, **options)
    study = Study(
        "depths",
        "What a search of each depth takes",
        experiment.settings(),
        _columns(experiment),
        progress=progress,
    )
    with study.kept(), Laboratory(experiment, study) as laboratory:
        _search_depths(experiment, study, laboratory)
    return study


def _columns(experiment: Experiment) -> tuple[Column, ...]:
    """Return the columns; the branching factor of one position has an interval, too."""
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
                f"given up."
            )
            break
        before.append(found)
        study.add_row(_row(before))
    laboratory.note_conditions()
    if len(experiment.positions) > 1:
        study.add_note(ABOUT_INTERVALS)
    elif len(before) > 2:
        study.add_note(
            "The interval of the branching factor is that of the regression's slope (95 %, "
            "Student's t): it tells how regular the growth is, of this position alone."
        )


def _row(found: list[Measured]) -> dict[str, Any]:
    """Make the row of the last depth of those that were searched."""
    last = found[-1]
    row: dict[str, Any] = {"depth": last.depth} | figures_of(last)
    if len(found) > 1:
        row |= with_interval("growth", geometric_mean_ratio(last.each, found[-2].each))
        depths = [measured.depth for measured in found]
        nodes = zip(*(measured.each for measured in found), strict=True)
        row |= with_interval("branching", mean_growth_factor(depths, list(nodes)))
    if len(last.samples) == 1:
        sample = last.samples[0]
        if sample["move"] is not None:  # chance does not decide
            row["move"] = sample["move"]
        row["score"] = sample["value"]
        row["meaning"] = sample["meaning"]
    return row


def draw(study: Study, figure: Any) -> None:
    """Draw nodes, time and the branching factor by depth."""
    figure.set_size_inches(PAGE, 2.4)
    figure.set_label(
        "Nodes and CPU time of searches of each depth, and the branching factor by regression over "
        "the depths so far, with 95 % intervals."
    )
    panels = {
        "nodes": "Nodes",
        "seconds": "CPU time in seconds",
        "branching": "Branching factor",
    }
    for axes, (name, title) in zip(figure.subplots(1, 3), panels.items(), strict=True):
        draw_lines(axes, [Line.of(name, study.rows, "depth", name)], log=name != "branching")
        set_axes(axes, title=title, x="depth in plies")
