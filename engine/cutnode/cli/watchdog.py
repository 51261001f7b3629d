"""A warning on standard error about a rule in plain Python that does not return."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from types import FrameType

import click

PATIENCE = 5.0
"""The seconds between checks; a call that is still running at the next check is reported."""


@contextlib.contextmanager
def telling_of_loops() -> Iterator[None]:
    """Warn once about each call of a rule that runs long: its loop may not end."""
    ended = threading.Event()
    threading.Thread(target=_watch, args=(ended, PATIENCE), daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _watch(ended: threading.Event, patience: float) -> None:
    before: list[FrameType] = []
    told: list[FrameType] = []
    while not ended.wait(patience):
        messages = sys.modules.get("cutnode.contract.messages")
        if messages is None or not hasattr(messages, "running_rules"):
            continue  # no game is loaded, and importing the module takes long
        running = messages.running_rules()
        for frame in running:
            if frame in before and frame not in told:
                told.append(frame)
                where = messages.place_of(frame)
                line = f"cutnode: {where}: one call has run for {patience:g} s: does its loop end?"
                click.echo(line, err=True)
        before = running
        told = [frame for frame in told if frame in running]
