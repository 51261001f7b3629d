"""Progress of running commands: bars, and a status line on a terminal or lines in a log."""

from __future__ import annotations

import contextlib
import contextvars
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from cutnode.search.handles import Progress
import time

LOOK_SECONDS = 0.15
"""The interval between updates on a terminal."""

SAY_SECONDS = 1.0
"""The longest time without a line in a log, which also has one for each new depth or bound."""


@contextlib.contextmanager
def live(position: Any, look: Callable[[], Progress], *, told: bool) -> Iterator[None]:
    """Show the progress of a search on standard error while the block runs.

    A terminal has one line, which disappears at the end; elsewhere lines are written only if
    *told*.  A separate thread writes them, so *look* must be safe to call from it.
    """
    terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    if not (terminal or told):
        yield
        return
    done = threading.Event()
    show = _show_line if terminal else _say_lines
    context = contextvars.copy_context()  # so failures of a game's texts are collected here too
    thread = threading.Thread(target=context.run, args=(show, position, look, done), daemon=True)
    from cutnode.compiler.progress import shown_elsewhere

    thread.start()
    try:
        with shown_elsewhere() if terminal else contextlib.nullcontext():
            yield
    finally:
        done.set()
        thread.join()


def _show_line(position: Any, look: Callable[[], Progress], done: threading.Event) -> None:
    if done.wait(LOOK_SECONDS):
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(stderr=True)
    # Leave standard output alone: it may be a file.
    with Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False) as shown:
        while True:
            line = _at_a_glance(position, look())
            shown.update(Text(line, no_wrap=True, overflow="ellipsis"), refresh=True)
            if done.wait(LOOK_SECONDS):
                return


def _say_lines(position: Any, look: Callable[[], Progress], done: threading.Event) -> None:
    said, last = -SAY_SECONDS, None
    while not done.wait(LOOK_SECONDS):
        now = look()
        news = now.depth, now.lower, now.upper
        if news != last or now.seconds - said >= SAY_SECONDS:
            click.echo(_info(position, now), err=True)
            said, last = now.seconds, news


def _at_a_glance(position: Any, now: Progress) -> str:
    """Return the state of a search for people to read, the most important first."""
    if not now.nodes:
        from cutnode.compiler.progress import running

        compiling = running()
        return f"{compiling or 'getting ready'}, {now.seconds:.0f} s"
    effort = f"{now.nodes:,} nodes", f"{_rate(now):,}/s", f"table {now.fill:.0%}"
    line = " ".join(_line(position, now))
    outlook = [] if now.outlook is None else [str(now.outlook)]
    return "  ".join([*_found(now), *effort, f"{now.seconds:.1f} s", *outlook, line])


def _info(position: Any, now: Progress) -> str:
    """Return the state of a search as names and values, like the ``info`` lines of UCI."""
    effort = f"nodes {now.nodes}", f"nps {_rate(now)}", f"hashfull {round(1000 * now.fill)}"
    line = _line(position, now)
    pv = ["pv", *line] if line else []
    return " ".join(
        ["info", *_found(now), *effort, f"time {round(1000 * now.seconds)}", *_outlook(now), *pv]
    )


def _outlook(now: Progress) -> list[str]:
    """Return the estimates of a proof with a journal, if there are any: times in milliseconds."""
    if now.outlook is None:
        return []
    share, left = now.outlook.share, now.outlook.left
    times = [] if left is None else ["left", *(str(round(1000 * seconds)) for seconds in left)]
    return ["share", f"{share:.3f}", *times]


def _found(now: Progress) -> list[str]:
    """Return the depth and the value found so far, if any."""
    value = _value(now)
    return [f"depth {now.depth}"] * (now.depth > 0) + [f"value {value}"] * bool(value)


def _value(now: Progress) -> str:
    """Return the score, or the bounds of a proof; "" if there is neither yet."""
    from cutnode.search.results import score_text

    if now.value is not None:
        return score_text(now.value)
    if now.lower is None or now.upper is None:
        return ""
    return str(now.lower) if now.lower == now.upper else f"{now.lower}..{now.upper}"


def _rate(now: Progress) -> int:
    return round(now.nodes / now.seconds) if now.seconds > 0 else 0


def _line(position: Any, now: Progress) -> list[str]:
    from cutnode.search.results import line_text

    return line_text(position, now.line)


@contextlib.contextmanager
def progress_bar(
    total: int | None = None, *, wanted: bool = True, labelled: bool = False, told: bool = False
) -> Iterator[Callable[..., None]]:
    """Show a bar on standard error, if that is a terminal, and yield a function that updates it.

    The function takes the amount done, the total if that has changed, and a *label* if the bar is
    *labelled*.  If standard error is not a terminal, it gets lines if *told*.
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
    # Leave standard output alone: it may be a file.
    with Progress(
        *columns, console=Console(stderr=True), transient=True, redirect_stdout=False
    ) as progress:
        task = progress.add_task("", total=total)
        yield lambda done, total=total, label="": progress.update(
            task, completed=done, total=total, description=label
        )


def _lines(total: int | None) -> Callable[..., None]:
    """Return a function that writes a line at intervals, and one at the end."""
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
