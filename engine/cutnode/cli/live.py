"""Signs of life: progress bars, and a line at a terminal or lines for a log while a search runs."""

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
"""A terminal shows the search as it was so long ago, at most."""

SAY_SECONDS = 1.0
"""A log has a line for each new depth or bound, and after so many seconds without one."""


@contextlib.contextmanager
def live(position: Any, look: Callable[[], Progress], *, told: bool) -> Iterator[None]:
    """Show on standard error how far the search of a position is, while the block runs.

    A terminal has one line, which goes away at the end; elsewhere lines are written if that is
    *told*.  They are made by a thread of its own, so *look* has to be safe to call from it.
    """
    terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    if not (terminal or told):
        yield
        return
    done = threading.Event()
    show = _show_line if terminal else _say_lines
    context = contextvars.copy_context()  # texts of a game that fail are collected as elsewhere
    thread = threading.Thread(target=context.run, args=(show, position, look, done), daemon=True)
    thread.start()
    try:
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
    # Standard output stays as it is: it may lead to a file.
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
    """Return what is known of a search as people read it, the most important first."""
    if not now.nodes:
        return f"getting ready, {now.seconds:.0f} s"
    effort = f"{now.nodes:,} nodes", f"{_rate(now):,}/s", f"table {now.fill:.0%}"
    line = " ".join(_line(position, now))
    return "  ".join([*_found(now), *effort, f"{now.seconds:.1f} s", line])


def _info(position: Any, now: Progress) -> str:
    """Return the same as words and values, as the ``info`` lines of UCI have them."""
    effort = f"nodes {now.nodes}", f"nps {_rate(now)}", f"hashfull {round(1000 * now.fill)}"
    line = _line(position, now)
    pv = ["pv", *line] if line else []
    return " ".join(["info", *_found(now), *effort, f"time {round(1000 * now.seconds)}", *pv])


def _found(now: Progress) -> list[str]:
    """Return the depth and the value that are known, if any."""
    value = _value(now)
    return [f"depth {now.depth}"] * (now.depth > 0) + [f"value {value}"] * bool(value)


def _value(now: Progress) -> str:
    """Return the score, or the bounds of a proof; nothing before there is one."""
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
