"""The command line of cutnode, run in this process, and the environment of other processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner, Result

from cutnode.cli.main import main

ROOT = Path(__file__).parents[1]

FROM_HERE = {"PYTHONPATH": os.pathsep.join(str(ROOT / name) for name in ("engine", "", "tests"))}
"""The variables of a process that imports cutnode, the benchmarks and the tests of this folder."""


def printed_by(code: str, *words: str, folder: Path | None = None, **variables: str) -> str:
    """Return what a program prints in a process of its own, with environment *variables* set."""
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=folder,
        env=os.environ | FROM_HERE | variables,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def run_cutnode(*words: object, stdin: str | bytes = "") -> Result:
    """Run a command; any exception except an exit is an error of the test."""
    result = CliRunner().invoke(main, list(map(str, words)), input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result
