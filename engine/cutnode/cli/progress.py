"""Progress bars."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

import click

SAY_SECONDS = 1.0
"""Seconds between two lines of a log; the last line comes at once."""


@contextlib.contextmanager
def progress_bar(
    total: int | None = None, *, wanted: bool = True, labelled: bool = False, told: bool = False
) -> Iterator[Callable[..., None]]:
    """Show a bar on standard error, if that is a terminal, and yield the function that moves it.

    It is called with how much is done, with the total if that has become another, and with a
    *label* if the bar is *labelled*.  What is no terminal gets lines if that is *told*.
    """
    if not (wanted and sys.stderr.isatty()):
        yield _lines(total) if told else lambda done, total=total, label="": None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns: list[ProgressColumn] = [BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    if labelled:
        columns.insert(0, TextColumn("{task.description:16}", markup=False))
    else:
        columns.append(TimeRemainingColumn())
    # Standard output stays as it is: it may lead to a file.
    with Progress(
        *columns, console=Console(stderr=True), transient=True, redirect_stdout=False
    ) as progress:
        task = progress.add_task("", total=total)
        yield lambda done, total=total, label="": progress.update(
            task, completed=done, total=total, description=label
        )


def _lines(total: int | None) -> Callable[..., None]:
    """Return the function that writes a line now and then, and when all is done."""
    began = time.monotonic()
    said = began

    def say(done: int, total: int | None = total, label: str = "") -> None:
        nonlocal said
        now = time.monotonic()
        if done == total or now - said >= SAY_SECONDS:
            of = "" if total is None else f" of {total:,}"
            parts = filter(None, (label, f"{done:,}{of}", f"{now - began:.0f} s"))
            click.echo(f"cutnode: {', '.join(parts)}", err=True)
            said = now

    return say
