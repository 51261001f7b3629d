"""The command line of cutnode, run in this process."""

from __future__ import annotations

from click.testing import CliRunner, Result

from cutnode.cli.main import main


def run_cutnode(*words: object, stdin: str | bytes = "") -> Result:
    """Run a command; any exception except an exit is an error of the test."""
    result = CliRunner().invoke(main, list(map(str, words)), input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result
