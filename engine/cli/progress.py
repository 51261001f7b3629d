"""Progress bars."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def progress_bar(total: int, wanted: bool = True) -> Iterator[Callable[..., None]]:
    """A bar on standard error, if that is a terminal; gives what moves it.

    That is called with how much is done, and with the total if that has become another.
    """
    if not (wanted and sys.stderr.isatty()):
        yield lambda done, total=total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    # Standard output stays as it is: it may lead to a file.
    with Progress(
        *columns, console=Console(stderr=True), transient=True, redirect_stdout=False
    ) as progress:
        task = progress.add_task("", total=total)
        yield lambda done, total=total: progress.update(task, completed=done, total=total)
