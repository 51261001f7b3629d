"""The entry point of the command ``cutnode``, whose own imports take no time.

It imports the command line inside a ``try``, so that Ctrl-C ends the import without a traceback
too.
"""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130
"""The exit code of :mod:`cutnode.cli.exit_codes`, which is not imported yet."""


def main() -> None:
    """Run the command line, and end with 130 at Ctrl-C."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed, as by 2>&-
            null = open(os.devnull, "r" if name == "stdin" else "w")  # noqa: SIM115
            setattr(sys, name, null)
    try:
        from cutnode.cli.main import main as command

        command()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
