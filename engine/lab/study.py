"""The outcome of an experiment: a table of figures, and how to get them again."""

from __future__ import annotations

import csv
import io
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from engine.storage.frames import Tabular

__all__ = ["Column", "Follower", "Progress", "Study", "machine", "no_progress"]

Progress = Callable[[str, int, int], None]
"""Called with what is measured now, how many measurements are done, and how many there are."""


def no_progress(now: str, done: int, of: int) -> None:
    """Report nothing."""


class Follower:
    """A :data:`Progress` that is also told of rows and samples as they are measured.

    This one does nothing; subclasses keep what they are told, or show it.
    """

    def __call__(self, now: str, done: int, of: int) -> None:
        """Hear what is measured now, how many measurements are done, and how many there are."""

    def begin(self, study: Study) -> None:
        """Hear that a study begins; it has no rows and no samples yet."""

    def row(self, row: dict[str, Any]) -> None:
        """Hear of a row that is complete."""

    def sample(self, sample: dict[str, Any]) -> None:
        """Hear of a sample that was measured."""

    def note(self, note: str) -> None:
        """Hear of a note."""

    def recall(self, key: dict[str, Any]) -> dict[str, Any] | None:
        """Return the sample with all items of *key* that an earlier run left; None if none did."""
        return None


@dataclass(frozen=True, slots=True)
class Column:
    """One figure of each row."""

    name: str
    about: str = ""
    """Its meaning, with its unit."""
    form: str = ""
    """A format such as ``",d"`` or ``".3f"``; empty for texts."""
    interval: bool = False
    """Whether rows have the ends of a 95 % interval as well, under the names of :attr:`ends`."""

    @property
    def ends(self) -> tuple[str, ...]:
        """The names of the interval's ends, ``NAME_low`` and ``NAME_high``; none without one."""
        return (f"{self.name}_low", f"{self.name}_high") if self.interval else ()


@dataclass(frozen=True, slots=True)
class Study(Tabular):
    """A table of figures, the samples that it sums up, and the settings that reproduce it.

    An experiment makes one before it measures anything, and adds to it: rows, samples and notes
    reach a *progress* that is a :class:`Follower` at once.
    """

    name: str
    about: str
    settings: dict[str, Any]
    """The arguments of the experiment as plain data: the game by its name, positions as texts."""
    columns: tuple[Column, ...]
    rows: list[dict[str, Any]] = field(default_factory=list)
    """The summary: a figure for each column by its name, and for the ends of intervals."""
    notes: list[str] = field(default_factory=list)
    samples: list[dict[str, Any]] = field(default_factory=list)
    """The measurements that rows sum up, one for each position and row: what the row is called
    in its first columns, ``position``, and figures such as ``nodes``, ``seconds``, ``value``."""
    machine: dict[str, str] = field(default_factory=lambda: machine())
    progress: Progress = field(default=no_progress, repr=False, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.progress, Follower):
            self.progress.begin(self)

    def add_row(self, row: dict[str, Any]) -> None:
        """Add a row that is complete."""
        self.rows.append(row)
        if isinstance(self.progress, Follower):
            self.progress.row(row)

    def add_sample(self, sample: dict[str, Any]) -> None:
        """Add what was measured of one position."""
        self.samples.append(sample)
        if isinstance(self.progress, Follower):
            self.progress.sample(sample)

    def add_note(self, note: str) -> None:
        """Add a note, once."""
        if note not in self.notes:
            self.notes.append(note)
            if isinstance(self.progress, Follower):
                self.progress.note(note)

    def recall(self, **key: Any) -> dict[str, Any] | None:
        """Add the sample that an interrupted run left for a key, and return it; None without one.

        What it returns need not be measured again.
        """
        if not isinstance(self.progress, Follower):
            return None
        sample = self.progress.recall(key)
        if sample is not None:
            self.samples.append(sample)
        return sample

    def to_dict(self) -> dict[str, Any]:
        """Return the study as plain data."""
        return {
            "name": self.name,
            "about": self.about,
            "settings": self.settings,
            "columns": {column.name: column.about for column in self.columns},
            "rows": self.rows,
            "notes": self.notes,
            "samples": self.samples,
            "machine": self.machine,
        }

    @property
    def fields(self) -> list[str]:
        """The names of all figures of a row: columns, each with the ends of its interval."""
        return [name for column in self.columns for name in (column.name, *column.ends)]

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the figures of all rows by the name of their column."""
        return {name: [row.get(name) for row in self.rows] for name in self.fields}

    def to_csv(self) -> str:
        """Return the rows below a line of column names; settings and machine as ``#`` comments."""
        out = io.StringIO()
        for name, value in {**self.settings, **self.machine}.items():
            out.write(f"# {name}: {value}\n")
        writer = csv.DictWriter(out, self.fields)
        writer.writeheader()
        writer.writerows(self.rows)
        return out.getvalue()

    def text(self, row: dict[str, Any], column: Column) -> str:
        """Format a figure of a row, with its interval: ``1.52 (1.41 to 1.66)``."""
        shown, *ends = (
            "" if row.get(name) is None else format(row[name], column.form)
            for name in (column.name, *column.ends)
        )
        return f"{shown} ({ends[0]} to {ends[1]})" if shown and all(ends) and ends else shown


def machine() -> dict[str, str]:
    """Describe the machine: what figures depend on besides the settings."""
    versions = {name: _version(name) for name in ("cutnode", "numba", "llvmlite", "numpy")}
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        **versions,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
