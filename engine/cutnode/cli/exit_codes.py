"""The exit codes of commands, the page of help that lists them, and how commands are ended."""

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
"""Ctrl-C; what was found until then is printed.  Other signals: 128 and their number."""
PIPE_CLOSED = 141
"""Whoever read the output has left, as ``head`` does: 128 and the number of SIGPIPE."""

ENDING = ("SIGTERM", "SIGHUP")
"""The signals that end a command as Ctrl-C does."""

EPILOG = """\
\b
GAME      the name of a game (`cutnode games` lists them), a module such as
          my_package.my_game, or a path such as my_game.py; a variant may
          follow after a colon: connect4:8x7.
POSITION  in the game's own notation, for instance the columns played; the
          default is the start. Before one that begins with '-', write --.

\b
Exit codes: 0 all done and proven, 1 an unexpected failure, 2 bad input,
3 a limit ended a search before the proof, 4 a game breaks the contract, 130
interrupted (what was found until then is printed).
"""


def interrupted(found: bool = False) -> NoReturn:
    """End after Ctrl-C; *found*: what was found until then is printed already."""
    click.echo(f"cutnode: interrupted{'; these are the results so far' * found}", err=True)
    sys.exit(INTERRUPTED)


def pipe_closed() -> NoReturn:
    """End without a word, after a write to a pipe that nobody reads any more."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # what is left to flush has nowhere to go
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(PIPE_CLOSED)


@contextlib.contextmanager
def ended_from_outside() -> Iterator[None]:
    """Take SIGTERM and SIGHUP as Ctrl-C in a block; the exit code is 128 and their number.

    Where Ctrl-C raises :class:`KeyboardInterrupt`, theirs holds their number.  Signals that are
    ignored, as ``nohup`` does, or handled otherwise stay so.
    """
    received: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        received.append(number)
        pressed = signal.getsignal(signal.SIGINT)
        if callable(pressed) and pressed is not signal.default_int_handler:
            pressed(signal.SIGINT, None)
        else:  # as usual, or a job in the background, which ignores Ctrl-C
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
