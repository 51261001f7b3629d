"""The circumstances of figures other than settings: versions, machine, load, the user's files."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import cutnode
from cutnode.contract.dispatch import PLAIN_COPY
from cutnode.contract.loading import Game

PACKAGES = ("numba", "llvmlite", "numpy")
"""The packages whose versions can change machine code and rounding."""

OWN_FILE = re.compile(r"(?=(\A.+?|[^\s,=:]+?)\.(py|weights)(?=\Z|[\s,:]))")
"""The paths, in a setting, of the user's own files: games, techniques or evaluations."""


def machine() -> dict[str, str]:
    """Describe the machine and the versions."""
    commit = commit_of(Path(cutnode.__file__).parents[1])
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "cutnode": cutnode.__version__,
        **({"commit": commit} if commit else {}),
        **{name: _version(name) for name in PACKAGES},
    }


def now() -> str:
    """Return the date and time in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def load_average() -> float | None:
    """Return the load average of the last minute; None where the system has none."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def command_line() -> str:
    """Return the command line of this process, as a person would type it."""
    program, *arguments = sys.argv
    name = Path(program).name
    if name in ("cutnode", "cutnode.exe", "__main__.py"):
        return shlex.join(["cutnode", *arguments])
    return shlex.join(["python", *filter(None, [name]), *arguments])


def game_source(cls: Any) -> str:
    """Return the text that loads the game of a position class again, here or elsewhere.

    The path of a file below the current folder is made relative to it.
    """
    source = Game.of(cls).source.replace(PLAIN_COPY, "")
    here = os.path.join(os.getcwd(), "")
    return source.removeprefix(here)


def own_files(settings: Any) -> dict[str, dict[str, str]]:
    """Return the files that settings name, by path: their ``sha256``, and the ``text`` of code."""
    return {
        path: _described(Path(path))
        for path in dict.fromkeys(_paths_in(settings))
        if Path(path).is_file()
    }


def _paths_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from (f"{path}.{suffix}" for path, suffix in OWN_FILE.findall(value))
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _paths_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _paths_in(inner)


def _described(path: Path) -> dict[str, str]:
    data = path.read_bytes()
    found = {"sha256": hashlib.sha256(data).hexdigest()}
    if path.suffix == ".py":
        found["text"] = data.decode("utf-8", "replace")
    return found


@functools.cache
def commit_of(root: Path) -> str:
    """Return the commit of a checkout, with ``+`` if files were changed; "" if it is not one."""
    if not (root / ".git").exists():
        return ""
    try:
        commit, changes = (
            subprocess.run(
                ["git", "-C", str(root), *command],
                capture_output=True,
                text=True,
                check=True,
                timeout=10,
            ).stdout.strip()
            for command in (
                ("rev-parse", "--short=12", "HEAD"),
                ("status", "--porcelain", "--untracked-files=no"),
            )
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return f"{commit}+" if changes else commit


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
