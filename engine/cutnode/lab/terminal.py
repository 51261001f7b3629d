"""Studies in a terminal."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cutnode.lab.study import Column, Study
from cutnode.lab.tables import heading, legend

WIDE = 10_000
"""The width of output that is not a terminal."""


class _Output(Console):
    """Standard output; a broken pipe raises an ordinary error."""

    def on_broken_pipe(self) -> None:
        raise


def rich_table(study: Study, names: Sequence[str], rows: Sequence[dict[str, Any]]) -> Table:
    """Return a table for Rich with the columns of these names."""
    shown = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), header_style="bold")
    columns = [column for column in study.table_columns if column.name in names]
    for column in columns:
        is_number = column.form and not column.interval
        shown.add_column(column.name, justify="right" if is_number else "left", no_wrap=True)
    cells = [_cells(study, column, rows) for column in columns]
    for texts in zip(*cells, strict=True):
        shown.add_row(*map(Text, texts))
    return shown


def _cells(study: Study, column: Column, rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the texts of a column, with figures and intervals aligned."""
    texts = [study.text(row, column) for row in rows]
    if not column.interval:
        return texts
    parts = [text.partition(" (") for text in texts]
    room = max((len(figure) for figure, _, _ in parts), default=0)
    return [f"{figure:>{room}}{bracket}{interval}" for figure, bracket, interval in parts]


def fitting_columns(study: Study, width: int) -> list[str]:
    """Return the names of the columns that fit a width, dropping columns from the right."""
    wide = Console(file=io.StringIO(), width=WIDE)
    names = [column.name for column in study.table_columns]
    while len(names) > 2 and wide.measure(rich_table(study, names, study.rows)).maximum > width:
        names.pop()
    return names


def print_study(study: Study) -> None:
    """Print the summary, the table, the meanings of its columns, and the notes.

    If the terminal is too narrow, drop columns from the right and print their names.
    """
    width = Console().width if sys.stdout.isatty() else WIDE
    names = fitting_columns(study, width)
    console = _Output(width=width, highlight=False, emoji=False, markup=False)
    console.print(heading(study), soft_wrap=True)
    for sentence in study.summary():
        console.print(sentence, soft_wrap=True)
    console.print(rich_table(study, names, study.rows))
    margin = max(map(len, names)) + 1
    for name, about in legend(study.table_columns).items():
        if name in names:
            console.print(f"{name:{margin}}{about}", style="dim", soft_wrap=True)
    left_out = [column.name for column in study.table_columns if column.name not in names]
    if left_out:
        console.print(
            f"(no room for {', '.join(left_out)}: use a wider terminal, --columns or --out)",
            soft_wrap=True,
        )
    if study.notes:
        console.print()
    for note in study.notes:
        console.print(note, soft_wrap=True)
