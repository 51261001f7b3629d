"""Studies as tables in a terminal, as plots, and as a page of HTML.

Files are written aside and renamed, so that a reader finds all of one or the one before.
matplotlib is needed for plots only, and loaded only then.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable, Sequence
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from engine.contract.errors import CutnodeError
from engine.lab.study import Study
from engine.storage.files import check_file, write_whole

__all__ = [
    "PLOTS",
    "Draw",
    "can_plot",
    "check_file",
    "check_plot",
    "page",
    "plot",
    "print_study",
    "write_plot",
    "write_whole",
]

PLOTS = ("png", "svg", "pdf")
"""The kinds of plots that can be written."""

Draw = Callable[[Study, Any], None]
"""Draws a study on a figure of matplotlib."""

STYLE = {
    "axes.labelsize": 8,
    "axes.titlesize": 9,
    "figure.constrained_layout.use": True,
    "font.family": "sans-serif",
    "font.size": 8,
    "pdf.fonttype": 42,
    "svg.hashsalt": "cutnode",
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}


# In the terminal


def print_study(study: Study) -> None:
    """Print the table, what its columns mean, and notes.

    In a narrow terminal columns are left out from the right, and named.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    def table(names: Sequence[str]) -> Table:
        shown = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), header_style="bold")
        for column in study.columns:
            if column.name in names:
                shown.add_column(
                    column.name, justify="right" if column.form else "left", no_wrap=True
                )
        for row in study.rows:
            shown.add_row(
                *(Text(study.text(row, column)) for column in study.columns if column.name in names)
            )
        return shown

    wide = Console(file=io.StringIO(), width=10_000)
    width = Console().width if sys.stdout.isatty() else 10_000
    names = [column.name for column in study.columns]
    while len(names) > 2 and wide.measure(table(names)).maximum > width:
        names.pop()
    console = Console(width=width, highlight=False, emoji=False, markup=False)
    console.print(_heading(study), soft_wrap=True)
    console.print(table(names))
    left_out = [column.name for column in study.columns if column.name not in names]
    margin = max(map(len, names)) + 1
    for column in study.columns:
        if column.name in names and column.about:
            console.print(f"{column.name:{margin}}{column.about}", style="dim", soft_wrap=True)
    if left_out:
        console.print(
            f"(no room for {', '.join(left_out)}: use a wider terminal, --csv or --report)",
            soft_wrap=True,
        )
    if study.notes:
        console.print()
    for note in study.notes:
        console.print(note, soft_wrap=True)


def _heading(study: Study) -> str:
    """Return what the study is about, and what was searched."""
    subject = _subject(study)
    return f"{study.about}: {subject}" if subject else study.about


def _subject(study: Study) -> str:
    """Return what was searched, in a line."""
    settings = study.settings
    parts = [str(settings["game"])] if "game" in settings else []
    positions = settings.get("positions", [])
    if len(positions) == 1:
        parts.append(str(positions[0]))
    elif positions:
        parts.append(f"{len(positions)} positions")
    if "depth" in settings:
        parts.append(f"depth {settings['depth']}")
    if settings.get("evaluation"):
        parts.append(f"evaluation {settings['evaluation']}")
    return ", ".join(parts)


# Plots


def can_plot() -> bool:
    """Return whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def check_plot(path: str) -> None:
    """Check that a plot can be drawn and written, before anything is measured."""
    if _kind(path) not in PLOTS:
        raise CutnodeError(f"a plot is a file that ends in .{', .'.join(PLOTS)}, not {path!r}")
    if not can_plot():
        raise CutnodeError("plots need matplotlib: pip install 'cutnode[plot]'")
    check_file(path)


def _kind(path: str) -> str:
    return Path(path).suffix[1:].lower()


def plot(study: Study, draw: Draw, kind: str, text_as_text: bool = False) -> bytes:
    """Draw a study as ``png``, ``svg`` or ``pdf``; the same figures give the same bytes."""
    import matplotlib
    from matplotlib.figure import Figure

    style: Any = STYLE | {"svg.fonttype": "none" if text_as_text else "path"}
    names = {
        "png": ("Software",),
        "svg": ("Creator", "Date", "Format", "Type"),
        "pdf": ("Creator", "Producer", "CreationDate"),
    }
    with matplotlib.rc_context(style):
        figure = Figure(dpi=200)
        draw(study, figure)
        out = io.BytesIO()
        figure.savefig(out, format=kind, metadata=dict.fromkeys(names[kind]))
    return out.getvalue()


def write_plot(study: Study, draw: Draw, path: str) -> None:
    """Draw a study in a file, of the kind that its name ends in."""
    write_whole(path, plot(study, draw, _kind(path)))


# HTML

CSS = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff;
       max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; } h3 { font-size: 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.87rem; }
th, td { padding: 0.15rem 0.7rem; text-align: right; white-space: nowrap; }
thead th { border-bottom: 1.5px solid #222; } tbody tr:nth-child(even) { background: #f5f5f3; }
.text { text-align: left; }
.facts th, .facts td { text-align: left; white-space: normal; vertical-align: top; }
.facts th { font-weight: 600; }
svg { max-width: 100%; height: auto; }
.note { color: #555; }
@media print { body { margin: 0; max-width: none; font-size: 11px; } }
"""


def page(title: str, parts: Sequence[tuple[Study, Draw | None]]) -> str:
    """Return a page of HTML with studies, their plots, settings and machine; it loads nothing."""
    body = "\n".join(_section(study, draw) for study, draw in parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n{body}\n</body>\n</html>\n"
    )


def _section(study: Study, draw: Draw | None) -> str:
    about = {column.name: column.about for column in study.columns if column.about}
    parts = [
        f"<section>\n<h2>{escape(_heading(study))}</h2>",
        _table(study),
        *(f'<p class="note">{escape(note)}</p>' for note in study.notes),
        _inline_plot(study, draw),
        "<h3>Columns</h3>",
        _facts(about),
        "<h3>Settings</h3>",
        _facts({name: _shown(value) for name, value in study.settings.items()}),
        "<h3>Machine</h3>",
        _facts(study.machine),
        "</section>",
    ]
    return "\n".join(part for part in parts if part)


def _table(study: Study) -> str:
    def cell(tag: str, text: str, form: str) -> str:
        kind = "" if form else ' class="text"'
        return f"<{tag}{kind}>{escape(text)}</{tag}>"

    head = "".join(cell("th", column.name, column.form) for column in study.columns)
    rows = (
        "".join(cell("td", study.text(row, column), column.form) for column in study.columns)
        for row in study.rows
    )
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def _facts(facts: dict[str, Any]) -> str:
    rows = (
        f"<tr><th>{escape(str(name))}</th><td>{escape(str(fact))}</td></tr>"
        for name, fact in facts.items()
    )
    return '<table class="facts">\n' + "\n".join(rows) + "\n</table>"


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value)


def _inline_plot(study: Study, draw: Draw | None) -> str:
    if draw is None or not study.rows:
        return ""
    if not can_plot():
        hint = "pip install 'cutnode[plot]'"
        return f'<p class="note">Plots were left out, as matplotlib is missing: {hint}</p>'
    svg = plot(study, draw, "svg", text_as_text=True).decode()
    svg = re.sub(r"^.*?(?=<svg)", "", svg, flags=re.DOTALL)  # the XML header
    return f"<figure>{svg}</figure>"
