"""The cost of one ply more: a search of each depth, every one from nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from engine.contract.messages import move_text
from engine.lab.measuring import (
    FIGURES,
    INTERRUPTED,
    Experiment,
    ExperimentOptions,
    Measured,
    measure,
    plan,
)
from engine.lab.plots import PAGE, Line, draw_lines, set_axes
from engine.lab.study import Column, Progress, Study, no_progress
from engine.search.searcher import Searcher

__all__ = ["depths", "draw"]

COLUMNS = (
    Column("depth", "plies", "d"),
    Column("nodes", "positions visited, those of lesser depths in the same search included", ",d"),
    FIGURES["seconds"],
    Column("move", "the best move found, the first of equals"),
    Column("score", "its score for the player to move", ".6g"),
    Column("meaning", "what the score says"),
    FIGURES["ebf"],
    Column("growth", "nodes beside those of one ply less", ".2f"),
    FIGURES["first"],
    FIGURES["rate"],
    FIGURES["runs"],
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

    The table ends early at a depth that takes more than *most_nodes* nodes.
    """
    experiment = plan(positions, depth, **options)
    single = len(experiment.positions) == 1
    study = Study(
        "depths",
        "What a search of each depth takes",
        experiment.settings(),
        tuple(column for column in COLUMNS if single or column.name not in OF_ONE_POSITION),
        progress=progress,
    )
    try:
        _search_depths(experiment, study, progress)
    except KeyboardInterrupt:
        study.add_note(INTERRUPTED)
    return study


def _search_depths(experiment: Experiment, study: Study, progress: Progress) -> None:
    progress("compiling", 0, experiment.depth)
    searcher = Searcher(
        type(experiment.positions[0]),
        table=experiment.table_mb,
        evaluation=experiment.evaluation,
        techniques=experiment.techniques,
        exact=experiment.exact,
    )
    for depth in range(1, experiment.depth + 1):
        progress(f"depth {depth}", depth - 1, experiment.depth)
        most = experiment.most_nodes
        found = measure(searcher, experiment.positions, depth, experiment.runs, most)
        if found is None:
            study.add_note(f"Depth {depth} takes more than --most-nodes {most:,}: it was given up.")
            return
        study.add_row(_row(depth, found, study.rows))


def _row(depth: int, found: Measured, before: list[dict[str, Any]]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "depth": depth,
        "nodes": found.nodes,
        "seconds": found.seconds,
        "ebf": (found.nodes / len(found.results)) ** (1 / depth),
        "first": found.first_cutoff_rate,
        "rate": found.nodes / found.seconds / 1e6,
        "runs": found.runs,
    }
    if before:
        row["growth"] = found.nodes / before[-1]["nodes"]
    if len(found.results) == 1:
        result = found.results[0]
        if result.best_move is not None:  # chance does not decide
            row["move"] = move_text(result.position, result.best_move)
        row["score"] = result.value
        row["meaning"] = result.meaning()
    return row


def draw(study: Study, figure: Any) -> None:
    """Draw nodes and time by depth, both logarithmic."""
    figure.set_size_inches(PAGE, 2.6)
    panels = {"nodes": "Nodes", "seconds": "CPU time in seconds"}
    for axes, (name, title) in zip(figure.subplots(1, 2), panels.items(), strict=True):
        draw_lines(axes, [Line.of(name, study.rows, "depth", name)])
        set_axes(axes, title=title, x="depth in plies")
