"""Progress of an experiment: the rows so far in a terminal, or lines in a log.

It is written after measurements, not by a thread of its own, because times are CPU times of the
process.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from cutnode.lab.study import Follower, Study

EVERY = 10.0
"""The seconds between lines in a log."""

REFRESH = 0.1
"""The least seconds between two updates of a terminal."""

AROUND = 6
"""The lines of a terminal that are not for rows: table header, progress, margin."""


class Followers(Follower):
    """Several followers as one; a sample is recalled from the first that has it."""

    def __init__(self, followers: Sequence[Follower]):
        self.followers = followers

    def __call__(self, now: str, done: int, of: int) -> None:
        for follower in self.followers:
            follower(now, done, of)

    def begin(self, study: Study) -> None:
        for follower in self.followers:
            follower.begin(study)

    def row(self, row: dict[str, Any]) -> None:
        for follower in self.followers:
            follower.row(row)

    def sample(self, sample: dict[str, Any]) -> None:
        for follower in self.followers:
            follower.sample(sample)

    def note(self, note: str) -> None:
        for follower in self.followers:
            follower.note(note)

    def recall(self, key: dict[str, Any]) -> dict[str, Any] | None:
        found = (follower.recall(key) for follower in self.followers)
        return next((sample for sample in found if sample is not None), None)


class Check(Follower):
    """A follower that calls *look* when a study begins, so that it can raise errors early."""

    def __init__(self, look: Callable[[Study], object]):
        self.look = look

    def begin(self, study: Study) -> None:
        self.look(study)


class Signs(Follower):
    """A follower that shows progress; subclasses implement :meth:`show`."""

    def __init__(self) -> None:
        self.began, self.shown = time.monotonic(), float("-inf")
        self.study: Study | None = None
        self.state = "", 0, 0

    def __call__(self, now: str, done: int, of: int) -> None:
        self.state = now, done, of
        self.show()

    def begin(self, study: Study) -> None:
        self.study = study

    def row(self, row: dict[str, Any]) -> None:
        self.show()

    def sample(self, sample: dict[str, Any]) -> None:
        self.show()

    def show(self) -> None:
        """Show the progress, unless it was just shown."""

    def is_due(self, pause: float) -> bool:
        """Return whether an update is due, after *pause* seconds; if so, start the next pause."""
        due = time.monotonic() - self.shown >= pause
        if due:
            self.shown = time.monotonic()
        return due

    def said(self) -> str:
        """Return a line with the current measurement and the results so far."""
        now, done, of = self.state
        study = self.study
        rows = f"{len(study.rows):,} rows" if study else ""
        samples = f"{len(study.samples):,} samples" if study and study.samples else ""
        seconds = f"{time.monotonic() - self.began:.0f} s"
        return ", ".join(filter(None, (now, f"{done:,} of {of:,}", rows, samples, seconds)))


class Log(Signs):
    """A log on standard error, with a line every :data:`EVERY` seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.shown = self.began

    def show(self) -> None:
        if self.is_due(EVERY):
            with contextlib.suppress(OSError):  # nobody reads it: keep measuring
                click.echo(f"cutnode: {self.said()}", err=True)


class Screen(Signs):
    """The rows so far and a progress bar in a terminal, which disappear when it is closed."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        super().__init__()
        self.console = Console(stderr=True)
        self.live = Live(
            console=self.console, auto_refresh=False, transient=True, redirect_stdout=False
        )
        self.live.start()

    def show(self) -> None:
        if self.is_due(REFRESH):
            with contextlib.suppress(OSError):  # the terminal is gone: keep measuring
                self.live.update(self._picture(), refresh=True)

    def close(self) -> None:
        """Clear the display."""
        with contextlib.suppress(OSError):
            self.live.stop()

    def _picture(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        from cutnode.lab.terminal import fitting_columns, rich_table

        _, done, of = self.state
        bar = Table.grid(padding=(0, 1))
        bar.add_row(ProgressBar(max(1, of), done, width=24), self.said())
        if self.study is None or not self.study.rows:
            return bar
        last = self.study.rows[-max(1, self.console.height - AROUND) :]
        names = fitting_columns(self.study, self.console.width)
        return Group(rich_table(self.study, names, last), bar)


@contextlib.contextmanager
def following(others: Sequence[Follower], quiet: bool) -> Iterator[Follower]:
    """Yield a follower that combines *others* with progress on standard error, unless *quiet*.

    A terminal shows rows as they are added; a file or a pipe gets a line every ten seconds.
    """
    if quiet:
        yield Followers(others)
    elif not sys.stderr.isatty():
        yield Followers([*others, Log()])
    else:
        with contextlib.closing(Screen()) as screen:
            yield Followers([*others, screen])
