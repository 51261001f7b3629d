"""Batches: thousands or millions of positions, solved or searched on all cores.

Threads take spans of positions from a common queue, large ones at first and small ones at the
end, and each runs one compiled loop over a span.  What is done goes into a journal, so that a
batch whose process was killed goes on where it was, and into arrays, of which files are
written: Parquet, or JSON lines.

*Cold*, each position starts from nothing.  Then all that is found, node counts included, is the
same whatever the number of threads, and whatever was done before a batch was resumed; only
times differ.  Else a thread builds on what it has stored of other positions: values are exact
all the same, nodes are fewer, and depend on which thread got which positions.
"""

from __future__ import annotations

import functools
import itertools
import os
import struct
import sys
import threading
import time
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np

from engine.api import _require_solvable, _threads
from engine.contract import NO_MOVE, canonical_move, game_name, is_plain, most_value, original_move
from engine.errors import CutnodeError, PositionError, whole
from engine.finding import Game
from engine.journal import Journal
from engine.limits import CALLED, NODES, PLIES, RUNNING, TIME
from engine.memory import Memory
from engine.people import position_text
from engine.positions import Packed, as_words, class_of_all, coerce
from engine.runner import Limits, Solver, _in_threads
from engine.saving import identity
from engine.scouting import scouting
from engine.solver import ALONE, search_dtype
from engine.table import Table
from engine.unfolding import canonical_keys

__all__ = ["BatchProgress", "BatchResult", "Prover", "Spans", "read_positions", "run_batch", "work_through"]

TASKS = ("solve", "search")

LARGEST_SPAN = 1024
SPANS_EACH = 8
"""A span is at most so many positions, and at most one of so many equal parts, for each thread,
of those that are left."""

KEEP_SECONDS = 1.0
"""What is done of spans that are not, goes into the journal so often."""

SOLVED = np.dtype(
    [
        ("lower", "<i4"),
        ("upper", "<i4"),
        ("move", "<i4"),  # NO_MOVE where none was asked for, or the game is over
        ("reason", "<i4"),
        ("nodes", "<i8"),
        ("seconds", "<f8"),
    ]
)
"""What is kept of a position that was solved."""

SPAN = struct.Struct("<QQ")
"""Before the rows of a record of the journal: the number of the first position, and how many."""

REASONS = {CALLED: "not done", NODES: "node limit", TIME: "time limit", PLIES: "too many plies"}


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """How far a batch is."""

    done: int
    total: int
    restored: int
    """Those of *done* that came from the journal."""
    seconds: float
    """Since the batch began, or was resumed."""

    @property
    def rate(self) -> float:
        """Positions per second."""
        return (self.done - self.restored) / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Seconds until the end, if it goes on like this; None as long as nobody knows."""
        return (self.total - self.done) / self.rate if self.rate else None


class Spans:
    """What is to do, as spans of positions that threads take."""

    def __init__(self, todo: Iterable[tuple[int, int]], threads: int):
        self._todo = list(todo)[::-1]
        self._left = sum(last - first for first, last in self._todo)
        self._parts = threads * SPANS_EACH
        self._lock = threading.Lock()

    def take(self) -> tuple[int, int] | None:
        """The first of the next positions to do, and the one after the last; None at the end."""
        with self._lock:
            if not self._todo:
                return None
            first, last = self._todo.pop()
            size = max(1, min(LARGEST_SPAN, self._left // self._parts, last - first))
            if first + size < last:
                self._todo.append((first + size, last))
            self._left -= size
            return first, first + size


class Worker(Protocol):
    """One thread of a batch."""

    def work(self, first: int, last: int, ended: threading.Event) -> None:
        """Do a span of positions; if the batch has *ended*, as little as possible."""

    def look(self) -> None:
        """Look after the limits of time."""

    def end(self) -> None:
        """End the search for good."""

    def patience(self) -> float:
        """How long, in seconds, until it has to be looked after."""


def work_through(
    spans: Spans,
    workers: Sequence[Worker],
    stop: threading.Event | None,
    look: Callable[[], None] = lambda: None,
) -> str:
    """Let each worker, in a thread, take spans until there are no more.

    *look* is called now and then.  Returns why the work was ended early, or "".
    """
    ended = threading.Event()

    def work(worker: Worker) -> None:
        while (span := spans.take()) is not None:
            worker.work(*span, ended)

    def look_after() -> str:
        for worker in workers:
            worker.look()
        look()
        return "stopped" if stop is not None and stop.is_set() else ""

    def end() -> None:
        ended.set()
        for worker in workers:
            worker.end()

    def patience() -> float:
        return min(worker.patience() for worker in workers)

    reason = "stopped" if stop is not None and stop.is_set() else ""
    if reason:
        end()
    tasks = [functools.partial(work, worker) for worker in workers]
    return _in_threads(tasks, look_after, end, patience, reason)


class Prover:
    """One thread of a batch of proofs.

    *keep* is called with the number of a position, and the kernel's rows and the seconds of it
    and those that follow: once for each position, or more often while it is being solved.
    """

    def __init__(
        self,
        positions: Sequence[Any],
        table: Table,
        limits: Limits,
        keep: Callable[[int, Any, Any], None],
        *,
        weak: bool,
        line: int,
        cold: bool,
    ):
        self.positions = positions
        self.table = table
        self.limits = limits
        self.keep = keep
        self.options: dict[str, Any] = {"weak": weak, "line": line, "cold": cold}
        self.cold = cold
        cls = class_of_all(positions)
        self.memory = Memory(cls, search_dtype(cls))
        self._lock = threading.Lock()
        self._assign(positions[:1], None)
        self.solver.seconds_per_tick()

    def _assign(self, part: Sequence[Any], said: Any) -> None:
        limits = self.limits if said is None else said.left
        self.said = said
        self.solver = Solver(
            part,
            self.table,
            limits,
            **self.options,
            sharing=ALONE,
            scouting=said,
            memory=self.memory,
        )
        self.memory["current"] = 0
        self.seen = self.kept = 0

    def work(self, first: int, last: int, ended: threading.Event) -> None:
        """Prove the values of a span of positions."""
        part = self.positions[first:last]
        said = None
        if not ended.is_set():
            said = scouting(part, self.table, self.limits, cold=self.cold)
        with self._lock:
            self._assign(part, said)
            self.first = first
        if ended.is_set():
            self.solver.end()
        self.solver()
        with self._lock:
            self._keep(last - first)

    def _keep(self, count: int) -> None:
        """Give away what is known of the first so many positions of the span."""
        if count <= self.kept:
            return
        part = slice(self.kept, count)
        rows = self.solver.rows[part].copy()
        seconds = rows["ticks"] * self.solver.seconds_per_tick()
        if self.said is not None:
            rows["nodes"] += self.said.nodes[part]
            seconds += self.said.seconds[part]
        self.kept = count
        self.keep(self.first + part.start, rows, seconds)

    def keep_so_far(self) -> None:
        """Give away what was done of the span when this was called the last time.

        Not what is done now: a processor may show that first, and the last rows later.
        """
        with self._lock:
            self._keep(self.seen)
            self.seen = int(self.memory["current"])

    def look(self) -> None:
        with self._lock:
            self.solver.check_time()

    def end(self) -> None:
        self.solver.end()

    def patience(self) -> float:
        return self.solver.clock.patience()


def tables_for(megabytes: int, threads: int) -> list[Table]:
    """A table for each thread, of so many MiB together."""
    part = max(1, whole(megabytes, "the size of a table in MiB") // threads)
    return [Table(part if megabytes > 0 else megabytes) for _ in range(threads)]
