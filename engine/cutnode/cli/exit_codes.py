"""The exit codes of commands, the help that lists them, and how signals end commands."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import NoReturn

import click

FAILED = 1
"""An unexpected failure."""

BAD_INPUT = 2
NOT_PROVEN = 3
"""A limit ended a search before the proof."""
BREAKS_CONTRACT = 4
"""A game does not keep to the contract."""
INTERRUPTED = 130
"""Ctrl-C; results until then are printed.  Other signals: 128 plus the number of the signal."""
PIPE_CLOSED = 141
"""The reader of the output has closed it, as ``head`` does: 128 plus the number of SIGPIPE."""

ENDING = ("SIGTERM", "SIGHUP")
"""The signals that end a command as Ctrl-C does."""

EPILOG = """\
\b
GAME      the name of a game (`cutnode games` lists them), a module such as
          my_package.my_game, or a path such as my_game.py; a colon and a
          variant may follow: connect4:8x7.
POSITION  a position in the game's own notation, such as the columns played;
          by default the start. Write -- before one that begins with '-'.

\b
Exit codes: 0 all done and proven, 1 an unexpected failure, 2 bad input,
3 a limit ended a search before the proof, 4 a game breaks the contract,
130 interrupted (results until then are printed).
"""


def interrupted(found: bool = False) -> NoReturn:
    """End after Ctrl-C; *found* says that results until then are already printed."""
    click.echo(f"cutnode: interrupted{'; these are the results so far' * found}", err=True)
    sys.exit(INTERRUPTED)


def pipe_closed() -> NoReturn:
    """End silently, after a write to a pipe that nobody reads any more."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # unflushed output has nowhere to go
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(PIPE_CLOSED)


@contextlib.contextmanager
def ended_from_outside() -> Iterator[None]:
    """Treat SIGTERM and SIGHUP in a block like Ctrl-C; the exit code is 128 plus their number.

    If they raise :class:`KeyboardInterrupt`, it holds the number of the signal.  Signals that are
    already ignored, as by ``nohup``, or handled stay as they are.
    """
    received: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        received.append(number)
        pressed = signal.getsignal(signal.SIGINT)
        if callable(pressed) and pressed is not signal.default_int_handler:
            pressed(signal.SIGINT, None)
        else:  # the default, or a background job, which ignores Ctrl-C
            raise KeyboardInterrupt(number)

    before = {}
    if threading.current_thread() is threading.main_thread():
        numbers = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
        for number in numbers:
            if signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, interrupt)
    try:
        yield
    except SystemExit as end:
        if received and end.code == INTERRUPTED:
            raise SystemExit(128 + received[0]) from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
