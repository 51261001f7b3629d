"""Progress bars."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

__all__ = ["progress_bar"]


@contextlib.contextmanager
def progress_bar(
    total: int | None = None, *, wanted: bool = True, labelled: bool = False
) -> Iterator[Callable[..., None]]:
    """Show a bar on standard error, if that is a terminal, and yield the function that moves it.

    It is called with how much is done, with the total if that has become another, and with a
    *label* if the bar is *labelled*.
    """
    if not (wanted and sys.stderr.isatty()):
        yield lambda done, total=total, label="": None
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
