"""A sweep of one or two search parameters: nodes, time, and agreement with the default values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from cutnode.contract.errors import CutnodeError
from cutnode.contract.text import quoted
from cutnode.kernels.techniques import checked_parameters, find_parameter
from cutnode.lab.laboratory import Laboratory, Measured, figures_of, same_value, with_interval
from cutnode.lab.measuring import (
    ABOUT_INTERVALS,
    FIGURES,
    Experiment,
    ExperimentOptions,
    columns_for,
    note_disagreement,
    plan,
)
from cutnode.lab.plots import PAGE, Line, draw_lines, mark_reference, set_axes
from cutnode.lab.statistics import geometric_mean_ratio, share, wilcoxon
from cutnode.lab.study import Column, Progress, Study, no_progress

MOST_POINTS = 1_000

COMPARED_FIGURES = (
    Column("nodes", "nodes visited, summed over positions", ",d"),
    FIGURES["leaves"],
    Column("fewer", "first row's nodes / nodes: geometric mean over positions", ",.3f", True),
    FIGURES["seconds"],
    Column("faster", "first row's CPU time / CPU time: geometric mean", ",.3f", True, timed=True),
    Column("value", "share of positions with the first row's value", ".0%", True),
    Column("move", "share of positions with the first row's move", ".0%", True),
    Column("p", "p-value of the node ratio (Wilcoxon signed-rank test)", ".2g"),
    FIGURES["first"],
    FIGURES["rate"],
    FIGURES["runs"],
    FIGURES["spread"],
)

Point = dict[str, float]


def range_of(text: str) -> tuple[str, list[float]]:
    """Return the parameter's name and the values of a range such as ``lmr.base=0:1:5``.

    The example has 5 values from 0 to 1.  For an integer parameter, ``null_move.reduction=1:4``
    has all integers of the range.  :class:`CutnodeError` if the text is not a range, or if a value
    is out of the parameter's range.
    """
    name, _, values = text.partition("=")
    _, parameter = find_parameter(name)
    low, high = parameter.least, parameter.most
    steps, meaning = (":5", ", which has 5 values") if not parameter.is_integer else ("", "")
    try:
        low, high, count = _ends(values, parameter.is_integer)
    except (ValueError, OverflowError):
        raise CutnodeError(
            f"{quoted(text)} is not a range such as {name}={low:g}:{high:g}{steps}{meaning}"
        ) from None
    if not (low < high and 2 <= count <= MOST_POINTS):
        raise CutnodeError(
            f"{quoted(text)} is not a range: it must ascend, with 2 to {MOST_POINTS:,} values"
        )
    found = [low + (high - low) * step / (count - 1) for step in range(count)]
    found = [float(f"{value:.12g}") for value in found]
    if parameter.is_integer:
        found = list(dict.fromkeys(float(round(value)) for value in found))
    return name, [parameter.checked(value, name) for value in found]


def _ends(text: str, of_integers: bool) -> tuple[float, float, int]:
    """Return the ends of a range and its number of values; :class:`ValueError` if it is not one."""
    low, high, *steps = text.split(":")
    ends = float(low), float(high)
    if len(steps) > 1 or not (steps or of_integers) or not math.isfinite(sum(ends)):
        raise ValueError(text)
    return *ends, int(steps[0]) if steps else int(ends[1] - ends[0]) + 1


def sweep(
    positions: Sequence[Any],
    depth: int,
    ranges: Mapping[str, Sequence[float]],
    *,
    progress: Progress = no_progress,
    **options: Unpack[ExperimentOptions],
) -> Study:
    """Search positions with each value of a parameter, or each pair of values of two parameters.

    *ranges* has the values, by the names of parameters.  The first row has the default values of
    the game, or those in *parameters*, and the other rows are compared with it.  A row that would
    take more nodes than *most_nodes* has no figures.
    """
    experiment = plan(positions, depth, **options)
    usual, points = _points(experiment, ranges)
    columns = [Column(name, find_parameter(name)[1].about, ".6g") for name in ranges]
    study = Study(
        "sweep",
        f"A sweep of {' and '.join(ranges)}",
        experiment.settings() | {"ranges": {name: list(each) for name, each in ranges.items()}},
        (*columns, *columns_for(len(experiment.positions), COMPARED_FIGURES, of_several=("p",))),
        progress=progress,
    )
    with study.kept(), Laboratory(experiment, study) as laboratory:
        _run(experiment, study, laboratory, usual, points)
        laboratory.note_conditions()
    if len(experiment.positions) > 1:
        study.add_note(ABOUT_INTERVALS)
        note_disagreement(study, "fewer", "p")
    return study


def _points(
    experiment: Experiment, ranges: Mapping[str, Sequence[float]]
) -> tuple[Point, list[Point]]:
    """Return the default point, and the other points of the sweep."""
    if not 1 <= len(ranges) <= 2:
        raise CutnodeError(f"a sweep needs 1 or 2 parameters, got {len(ranges)}")
    if len({find_parameter(name)[0] for name in ranges}) < len(ranges):
        raise CutnodeError("a sweep needs two different parameters")
    points = [
        dict(zip(ranges, values, strict=True)) for values in itertools.product(*ranges.values())
    ]
    if not 1 <= len(points) <= MOST_POINTS:
        raise CutnodeError(f"a sweep needs 1..{MOST_POINTS} points, got {len(points)}")
    for point in points:
        checked_parameters(point, experiment.techniques)
    usual = {name: experiment.value_of(name, experiment.techniques) for name in ranges}
    return usual, [point for point in points if point != usual]


def _run(
    experiment: Experiment,
    study: Study,
    laboratory: Laboratory,
    usual: Point,
    points: Sequence[Point],
) -> None:
    options: dict[str, Any] = {"techniques": experiment.techniques, "exact": experiment.exact}
    study.progress("compiling", 0, len(points) + 1)
    laboratory.compile(**options)
    first: Measured | None = None
    for done, point in enumerate([usual, *points]):
        study.progress(_named(point), done, len(points) + 1)
        given = {find_parameter(name)[0]: value for name, value in point.items()}
        parameters = {**experiment.parameters, **given}
        found = laboratory.search(point, experiment.depth, parameters=parameters, **options)
        row: dict[str, Any] = dict(point)
        if found is None:
            study.add_note(
                f"{_named(point)} takes more than --most-nodes {experiment.most_nodes:,}: it was "
                f"abandoned."
            )
        else:
            row |= figures_of(found)
            first = found if done == 0 else first
            row |= {} if first is None else _compared(first, found)
        study.add_row({name: row[name] for name in study.fields if name in row})
    study.add_note(f"The first row has the default values: {_named(usual)}.")


def _named(point: Point) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in point.items())


def _compared(usual: Measured, found: Measured) -> dict[str, Any]:
    """Return the figures that compare a row with the first one."""
    row: dict[str, Any] = with_interval("fewer", geometric_mean_ratio(usual.each, found.each))
    if min(*usual.times, *found.times) > 0:
        row |= with_interval("faster", geometric_mean_ratio(usual.times, found.times))
    pairs = list(zip(usual.samples, found.samples, strict=True))
    row |= with_interval("value", share([same_value(a["value"], b["value"]) for a, b in pairs]))
    row |= with_interval("move", share([a["move"] == b["move"] for a, b in pairs]))
    if found is not usual:
        logarithms = ([math.log(nodes) for nodes in each] for each in (usual.each, found.each))
        row["p"] = wilcoxon(*logarithms)
    return row


def draw(study: Study, figure: Any) -> None:
    """Draw nodes, time and agreement: as lines for one parameter, as heat maps for two.

    The default value is a vertical line there; the default pair is bold here.
    """
    names = list(study.settings["ranges"])
    known = [row for row in study.rows if "fewer" in row]
    if len(names) == 1:
        _draw_lines(figure, names[0], known)
    else:
        _draw_maps(figure, names, known)


def _draw_lines(figure: Any, name: str, rows: Sequence[dict[str, Any]]) -> None:
    figure.set_label(
        "Left: ratio of the default's nodes and CPU time to those with each value, geometric means "
        "over positions.  Right: share of positions with the same value and the same move. Bars: "
        "95 % confidence intervals; vertical line: the default value."
    )
    figure.set_size_inches(PAGE, 2.8)
    usual = rows[0][name] if rows else None
    rows = sorted(rows, key=lambda row: float(row[name]))
    panels = {
        "Default's nodes and time / these": ("fewer", "faster"),
        "Positions with the default's value and move": ("value", "move"),
    }
    for axes, (title, figures) in zip(figure.subplots(1, 2), panels.items(), strict=True):
        lines = [Line.of(each, rows, name, each) for each in figures]
        draw_lines(axes, lines, log=False)
        if usual is not None:
            mark_reference(axes, usual)
        set_axes(axes, title=title, x=name)


def _draw_maps(figure: Any, names: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
    figure.set_label(
        "Left: the default's nodes / nodes, geometric means over positions.  Right: share of "
        "positions with the same value. Bold: the default values."
    )
    figure.set_size_inches(PAGE, 3.0)
    panels = {"fewer": "Default's nodes / nodes", "value": "Positions with the default's value"}
    usual = tuple(rows[0][name] for name in names) if rows else ()
    across, up = ([*dict.fromkeys(sorted(row[name] for row in rows))] for name in names)
    for axes, (figure_name, title) in zip(figure.subplots(1, 2), panels.items(), strict=True):
        found = {(row[names[0]], row[names[1]]): row[figure_name] for row in rows}
        cells = [[found.get((x, y), math.nan) for x in across] for y in up]
        axes.pcolormesh(cells, cmap="cividis", edgecolors="white", linewidth=0.5)
        middle = (min(found.values()) + max(found.values())) / 2
        for (x, y), value in found.items():
            axes.annotate(
                f"{value:.0%}" if figure_name == "value" else f"{value:.2f}",
                (across.index(x) + 0.5, up.index(y) + 0.5),
                ha="center",
                va="center",
                fontsize=6,
                fontweight="bold" if (x, y) == usual else "normal",
                color="white" if value < middle else "black",
            )
        axes.set_xticks([at + 0.5 for at in range(len(across))], [f"{x:g}" for x in across])
        axes.set_yticks([at + 0.5 for at in range(len(up))], [f"{y:g}" for y in up])
        set_axes(axes, title=title, x=names[0], y=names[1])
        axes.grid(visible=False)
