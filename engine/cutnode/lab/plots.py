"""Plots of studies for papers, drawn by matplotlib, which is imported only when needed.

This module has what the plots share: column widths, colours that colour-blind readers can tell
apart, plain numbers on ticks, error bars, and direct labels of lines in place of a legend.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cutnode.contract.errors import CutnodeError
from cutnode.contract.extras import extra
from cutnode.lab.study import Draw, Study, one_line
from cutnode.lab.tables import heading
from cutnode.storage.files import check_file, write_whole

PLOTS = ("png", "svg", "pdf")
"""The file formats of plots."""

COLUMN, PAGE = 3.5, 7.0
"""The widths of a column and of a two-column page, in inches."""

PALETTE = {
    **{"blue": "#0072B2", "orange": "#E69F00", "green": "#009E73", "vermillion": "#D55E00"},
    **{"purple": "#CC79A7", "sky": "#56B4E9", "black": "#000000", "yellow": "#F0E442"},
}
"""Colours that colour-blind readers can tell apart (M. Okabe and K. Ito, 2008); yellow is for
areas."""

COLOURS = tuple(colour for name, colour in PALETTE.items() if name != "yellow")
"""The colours of lines and markers."""

GREY = "#767676"
"""The colour of references."""

DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (6, 1.5, 1.5, 1.5)), (0, (3, 1, 1, 1, 1, 1)))
MARKERS = "os^Dv<>PX"
"""Line and marker styles, which tell lines apart without colour."""

APART, SPREAD = 0.08, 0.3
"""The sideways distance of the markers of different lines at one x, and the most that all of them
together are spread, as parts of the step between two x values."""

MOST_TICKS = 12
"""The most x values that all get a tick."""

SHORT = 6
"""The ratio of its ends below which a logarithmic axis has evenly spaced ticks."""

SIGMAS = 1.96
"""The half-width of a 95 % confidence interval, in standard errors."""

LINE_OF_TEXT = 8.5
"""The least distance between labels, in points."""

WIDTH = 1.1
"""The width of a line, in points."""

STYLE = {
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 8.5,
    "axes.titleweight": "bold",
    "figure.constrained_layout.use": True,
    "font.family": "sans-serif",
    "font.size": 8,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.5,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": WIDTH,
    "lines.markersize": 3.5,
    "pdf.fonttype": 42,
    "svg.hashsalt": "cutnode",
    "xtick.labelsize": 7.5,
    "xtick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.labelsize": 7.5,
    "ytick.major.width": 0.6,
    "ytick.minor.width": 0.4,
}


# Files


def can_plot() -> bool:
    """Return whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def check_plot(path: str) -> None:
    """Check that a plot can be drawn and written, before anything is measured."""
    if _kind(path) not in PLOTS:
        raise CutnodeError(f"a plot's file name must end in .{', .'.join(PLOTS)}, got {path!r}")
    extra("matplotlib", "plot", "plots need")
    check_file(path)


def _kind(path: str) -> str:
    return Path(path).suffix[1:].lower()


def caption(study: Study, figure: Any) -> str:
    """Return the caption of a figure: the study's heading and the figure's label."""
    return f"{heading(study)}. {figure.get_label()}".strip()


def plot(study: Study, draw: Draw, kind: str) -> bytes:
    """Draw a study as ``png``, ``svg`` or ``pdf``; equal studies give equal bytes.

    The file's description has the caption and the command.
    """
    data, _ = _drawn(study, draw, kind, {})
    return data


def inline_plot(study: Study, draw: Draw) -> tuple[str, str]:
    """Return a study's plot as SVG for an HTML page, with text as text, and its caption."""
    data, said = _drawn(study, draw, "svg", {"svg.fonttype": "none"})
    svg = re.sub(r"^.*?(?=<svg)", "", data.decode(), flags=re.DOTALL)  # the XML header
    return re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL), said


def _drawn(study: Study, draw: Draw, kind: str, more: dict[str, Any]) -> tuple[bytes, str]:
    """Return the bytes of a plot, and its caption."""
    import matplotlib
    from matplotlib.figure import Figure

    style: Any = STYLE | more
    with matplotlib.rc_context(style):
        figure = Figure(dpi=300)
        try:
            draw(study, figure)
        except (KeyError, TypeError, ZeroDivisionError):  # a damaged study file
            raise CutnodeError("the study cannot be plotted: figures are missing") from None
        said = caption(study, figure)
        title, description = heading(study), one_line(f"{said} {study.run.get('command', '')}")
        metadata: dict[str, dict[str, str | None]] = {
            "png": {"Software": None, "Title": title, "Description": description},
            "svg": {"Creator": None, "Date": None, "Format": None, "Type": None}
            | {"Title": title, "Description": description},
            "pdf": {"Creator": None, "Producer": None, "CreationDate": None}
            | {"Title": title, "Subject": description},
        }
        out = io.BytesIO()
        figure.savefig(out, format=kind, metadata=metadata[kind])
    return out.getvalue(), said


def write_plot(study: Study, draw: Draw, path: str) -> None:
    """Write the plot of a study to a file, in the format of its ending."""
    write_whole(path, plot(study, draw, _kind(path)))


# Drawing


@dataclass(frozen=True, slots=True)
class Line:
    """The points of a line, with the ends of their intervals where known."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    ends: Sequence[tuple[float, float] | None] = ()
    colour: str = ""
    """A colour; by default the next of :data:`PALETTE`."""

    @classmethod
    def of(
        cls, name: str, rows: Sequence[dict[str, Any]], x: str, y: str, colour: str = ""
    ) -> Line:
        """Return the line of two columns, without rows that lack a figure of either."""
        points = [row for row in rows if row.get(x) is not None and row.get(y) is not None]
        ends = [ends_of(row, y) for row in points]
        return cls(name, [row[x] for row in points], [row[y] for row in points], ends, colour)

    def positive(self) -> Line:
        """Return the line without points that a logarithmic scale cannot show."""
        ends = self.ends or [None] * len(self.x)
        points = [point for point in zip(self.x, self.y, ends, strict=True) if point[1] > 0]
        x, y, kept = zip(*points, strict=True) if points else ((), (), ())
        return replace(self, x=x, y=y, ends=kept)


def draw_lines(axes: Any, lines: Sequence[Line], *, log: bool = True, direct: bool = True) -> None:
    """Draw lines so that none hides another, each with its own style and markers.

    Markers at one x are spread sideways, and a line under another is wider.  *direct* labels the
    lines at their ends; without it, the caller can add a legend.
    """
    lines = [line for each in lines if (line := each.positive() if log else each).x]
    places = sorted({x for line in lines for x in line.x})
    step = min((b - a for a, b in itertools.pairwise(places)), default=1)
    apart = min(APART, SPREAD / len(lines)) * step if lines and _meet(lines) else 0
    drawn = []
    for number, line in enumerate(lines):
        colour = line.colour or COLOURS[number % len(COLOURS)]
        xs = [x + (number - (len(lines) - 1) / 2) * apart for x in line.x]
        over = sum(_coincide(line, other) for other in lines[number + 1 :])
        drawn += axes.plot(
            xs,
            line.y,
            linestyle=DASHES[number % len(DASHES)],
            linewidth=WIDTH * (1 + over),
            marker=MARKERS[number % len(MARKERS)],
            color=colour,
            markerfacecolor="white" if number % 2 else colour,
            markeredgewidth=0.9,
            label=line.name,
        )
        ends = line.ends or [None] * len(xs)
        known = [
            (x, y, both) for x, y, both in zip(xs, line.y, ends, strict=True) if both is not None
        ]
        if known:
            draw_error_bars(axes, known, colour)
    if log and lines:
        set_log(axes, "y")
    else:
        plain_numbers(axes.yaxis)
    if 0 < len(places) <= MOST_TICKS:
        axes.set_xticks(places)
    else:
        axes.xaxis.get_major_locator().set_params(integer=True)
    if direct and len(lines) > 1:
        _name_lines(axes, drawn)


def draw_error_bars(
    axes: Any,
    points: Sequence[tuple[float, float, tuple[float, float]]],
    colour: str,
    along: str = "y",
) -> None:
    """Draw the intervals of points *along* an axis; a point is a place, a figure and its ends."""
    places, figures, ends = zip(*points, strict=True)
    below = [max(0.0, y - low) for y, (low, _) in zip(figures, ends, strict=True)]
    above = [max(0.0, high - y) for y, (_, high) in zip(figures, ends, strict=True)]
    x, y, bars = (
        (places, figures, {"yerr": (below, above)})
        if along == "y"
        else (figures, places, {"xerr": (below, above)})
    )
    axes.errorbar(x, y, **bars, fmt="none", ecolor=colour, elinewidth=0.9, capsize=2, capthick=0.9)


@dataclass(frozen=True, slots=True)
class Dot:
    """A figure to draw as a dot in its own row, with the ends of its interval, if any."""

    name: str
    figure: float | None
    colour: str
    ends: tuple[float, float] | None = None


def draw_dots(
    axes: Any,
    dots: Sequence[Dot],
    *,
    log: bool = True,
    names: bool = True,
    numbers: bool = True,
    absent: str = "abandoned",
) -> None:
    """Draw a dot plot, one figure per row, the first at the top.

    *numbers* also writes each figure next to its dot, and *absent* where there is no figure.
    """
    dots = [replace(dot, figure=None) if log and not dot.figure else dot for dot in dots]
    known = [dot.figure for dot in dots if dot.figure is not None]
    for place, dot in enumerate(dots):
        if dot.figure is not None:
            axes.plot([dot.figure], [place], "o", color=dot.colour, markersize=4, clip_on=False)
            if dot.ends is not None:
                draw_error_bars(axes, [(place, dot.figure, dot.ends)], dot.colour, along="x")
        if numbers:
            axes.annotate(
                absent if dot.figure is None else number_text(dot.figure),
                (min(known, default=1) if dot.figure is None else dot.figure, place),
                xytext=(5, 4 if dot.ends else 0),
                textcoords="offset points",
                va="center",
                fontsize=7,
                color=GREY if dot.figure is None else "black",
            )
    if log and known:
        set_log(axes, "x")
    else:
        plain_numbers(axes.xaxis)
    axes.set_yticks(range(len(dots)), [dot.name if names else "" for dot in dots])
    axes.set_ylim(len(dots) - 0.4, -0.6)  # from the top
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y")


def mark_reference(axes: Any, figure: float) -> None:
    """Draw a vertical line at a reference figure."""
    axes.axvline(figure, color=GREY, linewidth=0.8, zorder=0)


def ends_of(row: dict[str, Any], name: str) -> tuple[float, float] | None:
    """Return the ends of the interval of a row's figure; None if it has no interval."""
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    return None if low is None or high is None else (low, high)


def add_legend(figure: Any, colours: Mapping[str, str]) -> None:
    """Add a legend of the dots' colours below a figure."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=colour, marker="o", linestyle="", label=name)
        for name, colour in colours.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))


def add_line_legend(figure: Any, axes: Any, columns: int = 0) -> None:
    """Add a legend of the lines on one of a figure's *axes* below the figure.

    It has *columns* columns, by default one for each line.
    """
    handles, names = axes.get_legend_handles_labels()
    count = columns or len(names)
    legend = figure.legend(handles, names, loc="outside lower center", ncols=count)
    for line in legend.get_lines():
        line.set_linewidth(WIDTH)


def _meet(lines: Sequence[Line]) -> bool:
    """Return whether markers or intervals of two lines overlap."""
    return any(
        set(line.x) & set(other.x) and (any(line.ends) or _near(line, other, 0.05))
        for line, other in itertools.combinations(lines, 2)
    )


def _coincide(line: Line, other: Line) -> bool:
    """Return whether two lines coincide between two points."""
    near = _near(line, other, 0.02)
    return any(a in near and b in near for a, b in itertools.pairwise(line.x))


def _near(line: Line, other: Line, apart: float) -> set[float]:
    """Return the x values at which two lines differ by at most *apart*, relatively."""
    figures = dict(zip(other.x, other.y, strict=True))
    return {
        x
        for x, y in zip(line.x, line.y, strict=True)
        if x in figures and abs(figures[x] - y) <= apart * max(abs(figures[x]), abs(y))
    }


def _name_lines(axes: Any, drawn: Sequence[Any]) -> None:
    """Label lines to the right of their last points, moving labels up so that none overlap."""
    figure = axes.figure
    figure.draw_without_rendering()  # so that coordinates are known
    ends = [(line.get_xdata()[-1], line.get_ydata()[-1]) for line in drawn]
    heights = [axes.transData.transform(end)[1] for end in ends]
    right = max(x for x, _ in ends)
    least = LINE_OF_TEXT * figure.dpi / 72
    place = float("-inf")
    for height, (_, y), line in sorted(
        zip(heights, ends, drawn, strict=True), key=lambda end: end[0]
    ):
        place = max(height, place + least)
        axes.annotate(
            line.get_label(),
            (right, y),
            xytext=(7, (place - height) * 72 / figure.dpi),
            textcoords="offset points",
            color=line.get_color(),
            fontsize=7,
            va="center",
            annotation_clip=False,
        )


def plain_numbers(axis: Any) -> None:
    """Write an axis's numbers in full, like ``10,000`` and ``0.05``; huge ones as powers of 10."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: number_text(value)))
    axis.set_minor_formatter(NullFormatter())


def number_text(value: float) -> str:
    """Return a number in full, or with a power of 10 if it is very large or small."""
    size = abs(value)
    if size >= 1e9 or 0 < size < 1e-5:
        exponent = f"{value:.0e}".partition("e")
        factor = "" if exponent[0] == "1" else f"{exponent[0]}·"
        return f"{factor}$10^{{{int(exponent[2])}}}$"
    return f"{value:,.0f}" if size >= 10 or value == int(value) else f"{value:.6g}"


def set_log(axes: Any, axis: str) -> None:
    """Make an axis logarithmic, with plain numbers at powers of 10; a short axis has more ticks."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    getattr(axes, f"set_{axis}scale")("log")
    axes.autoscale_view()
    its = getattr(axes, f"{axis}axis")
    low, high = sorted(its.get_view_interval())
    if high <= SHORT * low:
        its.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
        its.minorticks_off()
    else:
        is_wide = axis == "x" and high > 1_000  # numbers need room side by side
        few, many = ((1.0, 3.0), SHORT**2) if is_wide else ((1.0, 2.0, 5.0), SHORT**3)
        subs = few if high <= many * low else (1.0,)
        its.set_major_locator(LogLocator(subs=subs, numticks=6 if axis == "y" else 4))
    plain_numbers(its)


def set_axes(axes: Any, *, title: str = "", x: str = "", y: str = "") -> None:
    """Set the title and the axis labels, and draw horizontal grid lines."""
    axes.set_title(title)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(axis="y")
