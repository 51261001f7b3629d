"""What one ply more costs: a search of each depth, every one from nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from engine.contract.messages import move_text
from engine.kernels.evaluation import Evaluation
from engine.kernels.optionality import Optionality
from engine.lab.measuring import (
    INTERRUPTED,
    Measured,
    Progress,
    Task,
    measure,
    no_progress,
    task_of,
)
from engine.lab.study import Column, Study
from engine.search.searcher import Searcher

__all__ = ["depths", "draw"]

COLUMNS = (
    Column("depth", "plies", "d"),
    Column("nodes", "positions visited, those of lesser depths in the same search included", ",d"),
    Column("seconds", "CPU time, median of the runs", ".5f"),
    Column("move", "the best move found, the first of equals"),
    Column("score", "its score for the player to move", ".6g"),
    Column("meaning", "what the score says"),
    Column("ebf", "effective branching factor: nodes of a position ** (1 / depth)", ".2f"),
    Column("growth", "nodes beside those of one ply less", ".2f"),
    Column("first", "share of cutoffs by the first move searched", ".1%"),
    Column("rate", "million nodes per second of CPU time", ".2f"),
    Column("runs", "how often it was timed", "d"),
)

OF_ONE_POSITION = ("move", "score", "meaning")


def depths(
    positions: Sequence[Any],
    depth: int,
    *,
    techniques: Iterable[str] | None = None,
    exact: bool = False,
    evaluation: str | Evaluation | Optionality | None = None,
    runs: int = 3,
    most_nodes: int = 100_000_000,
    table_mb: int = 64,
    progress: Progress = no_progress,
) -> Study:
    """Search positions 1, 2, 3 ... *depth* plies deep.

    The table ends early at a depth that takes more than *most_nodes* nodes.  The other
    options are those of :func:`engine.lab.ablation.ablation`.
    """
    task = task_of(
        positions,
        depth,
        techniques=techniques,
        exact=exact,
        evaluation=evaluation,
        runs=runs,
        most_nodes=most_nodes,
        table_mb=table_mb,
    )
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    try:
        _search_depths(task, rows, notes, progress)
    except KeyboardInterrupt:
        notes.append(INTERRUPTED)
    single = len(task.positions) == 1
    return Study(
        "depths",
        "What a search of each depth takes",
        task.settings(),
        tuple(column for column in COLUMNS if single or column.name not in OF_ONE_POSITION),
        rows,
        tuple(notes),
    )


def _search_depths(
    task: Task, rows: list[dict[str, Any]], notes: list[str], progress: Progress
) -> None:
    progress("compiling", 0, task.depth)
    engine = Searcher(
        type(task.positions[0]),
        table=task.table_mb,
        evaluation=task.evaluation,
        techniques=task.techniques,
        exact=task.exact,
    )
    for depth in range(1, task.depth + 1):
        progress(f"depth {depth}", depth - 1, task.depth)
        found = measure(engine, task.positions, depth, task.runs, task.most_nodes)
        if found is None:
            notes.append(
                f"Depth {depth} takes more than --most-nodes {task.most_nodes:,}: it was given up."
            )
            return
        rows.append(_row(depth, found, rows))


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
    """Nodes and time by depth, both logarithmic."""
    figure.set_size_inches(7, 3)
    depth = [row["depth"] for row in study.rows]
    panels = {"nodes": "Nodes", "seconds": "CPU time in seconds"}
    for axes, (name, title) in zip(figure.subplots(1, 2), panels.items(), strict=True):
        axes.plot(depth, [row[name] for row in study.rows], "o-", color="#3b6ea5", lw=1.2, ms=3.5)
        axes.set_yscale("log")
        axes.set_title(title, loc="left")
        axes.set_xlabel("depth in plies")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(axis="y", alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
