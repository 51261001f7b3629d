"""The outcome of an experiment: a table of figures, and how to get them again."""

from __future__ import annotations

import csv
import io
import os
import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from engine.storage.frames import Tabular

__all__ = ["Column", "Study", "machine"]


@dataclass(frozen=True, slots=True)
class Column:
    """One figure of each row."""

    name: str
    about: str = ""
    """Its meaning, with its unit."""
    form: str = ""
    """A format such as ``",d"`` or ``".3f"``; empty for texts."""


@dataclass(frozen=True, slots=True)
class Study(Tabular):
    """A table of figures, and the settings that reproduce it."""

    name: str
    about: str
    settings: dict[str, Any]
    columns: tuple[Column, ...]
    rows: list[dict[str, Any]]
    notes: tuple[str, ...] = ()
    machine: dict[str, str] = field(default_factory=lambda: machine())

    def to_dict(self) -> dict[str, Any]:
        """Return the study as plain data."""
        return {
            "name": self.name,
            "about": self.about,
            "settings": self.settings,
            "columns": {column.name: column.about for column in self.columns},
            "rows": self.rows,
            "notes": list(self.notes),
            "machine": self.machine,
        }

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the figures of all rows by the name of their column."""
        return {column.name: [row.get(column.name) for row in self.rows] for column in self.columns}

    def to_csv(self) -> str:
        """Return the rows below a line of column names; settings and machine as ``#`` comments."""
        out = io.StringIO()
        for name, value in {**self.settings, **self.machine}.items():
            out.write(f"# {name}: {value}\n")
        writer = csv.DictWriter(out, [column.name for column in self.columns])
        writer.writeheader()
        writer.writerows(self.rows)
        return out.getvalue()

    def text(self, row: dict[str, Any], column: Column) -> str:
        """Format a figure of a row."""
        value = row.get(column.name)
        if value is None:
            return ""
        return format(value, column.form) if column.form else str(value)


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
