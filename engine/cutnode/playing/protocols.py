"""Parts of programs that speak a protocol of a game on standard input and output."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from importlib import metadata

import click

from cutnode.contract.errors import CutnodeError


def installed_version() -> str:
    """Return the version of cutnode, for a program that introduces itself."""
    try:
        return metadata.version("cutnode")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def lines_of_input() -> Iterator[str]:
    """Yield lines, unbuffered: a thread that waits for one does not keep Python from ending."""
    with os.fdopen(0, "rb", buffering=0, closefd=False) as stream:
        for line in stream:
            yield line.decode("utf-8", "replace")


@contextlib.contextmanager
def speaking() -> Iterator[None]:
    """Report errors as commands do, and end quietly at Ctrl-C, or if nobody listens any more."""
    try:
        yield
    except CutnodeError as error:
        raise click.ClickException(str(error)) from None
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing is left to fail when Python ends
