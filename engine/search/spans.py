"""Positions in a queue, from which threads take spans, and what proves the values of each.

Spans are large at first and small at the end, so that threads end together, and each is one call
of a compiled loop.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from engine.compiler.memory import Memory
from engine.contract.dispatch import defines
from engine.contract.positions import class_of_all
from engine.kernels.solver import SHARED_TABLE, SINGLE_THREADED
from engine.search.helper_threads import Crew
from engine.search.running import Limits, Scouting, Solver, solver_memory
from engine.search.scouting import scouting
from engine.search.searcher import Searcher
from engine.search.threads import SHARED_WORKERS
from engine.storage.tables import Table

__all__ = ["Part", "Prover", "Spans", "Worker", "provers", "work_through"]

LARGEST_SPAN = 4096
SPANS_EACH = 8
"""A span is at most so many positions, and, with several threads, at most one of so many equal
parts for each of them of those that are left.  To begin one takes 0.1 ms."""


class Spans:
    """What is to do, as spans of positions that threads take."""

    def __init__(self, todo: Iterable[tuple[int, int]], threads: int):
        self._todo = list(todo)[::-1]
        self._left = sum(last - first for first, last in self._todo)
        self._parts = threads * SPANS_EACH if threads > 1 else 1
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
    return SHARED_WORKERS.run(tasks, look_after, end, patience, reason)


class Part:
    """A thread's span of positions, of which those that are done are given away.

    *keep* is called with the number of a position, and the rows of it and those that follow.
    """

    def __init__(self, keep: Callable[[int, Any], None]):
        self.keep = keep
        self.lock = threading.Lock()
        self.memory: Memory
        self.first = self.seen = self.kept = self.before = 0

    @property
    def done(self) -> int:
        """The positions that are done, of all spans."""
        with self.lock:
            return self.before + int(self.memory["current"])

    def rows(self, part: slice) -> Any:
        """What was found of some positions of the span."""
        raise NotImplementedError

    def finish(self, count: int) -> None:
        """Give away what is known of the first so many positions of the span."""
        with self.lock:
            self._give(count)
            self.before += count
            self.memory["current"] = 0
            self.seen = self.kept = 0

    def keep_so_far(self) -> None:
        """Give away what was done of the span when this was called the last time.

        Not what is done now: a processor may show that first, and the last rows later.
        """
        with self.lock:
            self._give(self.seen)
            self.seen = int(self.memory["current"])

    def _give(self, count: int) -> None:
        if count > self.kept:
            rows = self.rows(slice(self.kept, count))
            self.keep(self.first + self.kept, rows)
            self.kept = count


class Prover(Part):
    """One thread of a batch of proofs; rows are those of the kernel, and have ``seconds`` too."""

    def __init__(
        self,
        positions: Sequence[Any],
        table: Table,
        limits: Limits,
        keep: Callable[[int, Any], None],
        *,
        weak: bool,
        line: int,
        cold: bool,
        sharing: int,
    ):
        super().__init__(keep)
        self.positions = positions
        self.table = table
        self.limits = limits
        self.cold = cold
        self.options: dict[str, Any] = {
            "weak": weak,
            "line": line,
            "cold": cold,
            "sharing": sharing,
        }
        cls = class_of_all(positions)
        self.memory = solver_memory(cls)
        self.scouts: Crew | None = None
        if defines(cls, "scout"):
            self.scouts = Crew(Searcher(cls, table=table), 1)
        self._assign(positions[:1], None)
        self.solver.seconds_per_tick()

    def _assign(self, part: Sequence[Any], said: Scouting | None) -> None:
        self.said = said
        self.solver = Solver(
            part,
            self.table,
            self.limits if said is None else said.left,
            **self.options,
            scouting=said,
            memory=self.memory,
        )

    def work(self, first: int, last: int, ended: threading.Event) -> None:
        """Prove the values of a span of positions.

        One by one if searches go before the proofs, so that none depends on another.
        """
        step = last - first if self.scouts is None else 1
        for at in range(first, last, step):
            self._prove(at, at + step, ended)

    def _prove(self, first: int, last: int, ended: threading.Event) -> None:
        part = self.positions[first:last]
        said = None
        if self.scouts is not None and not ended.is_set():
            limits = replace(self.limits, stop=ended)
            said = scouting(part, self.table, limits, cold=self.cold, crew=self.scouts)
        with self.lock:
            self._assign(part, said)
            self.first = first
        if ended.is_set():
            self.solver.end()
        self.solver()
        self.finish(last - first)

    def rows(self, part: slice) -> tuple[Any, Any]:
        rows = self.solver.rows.view(np.ndarray)[part]
        seconds = rows["ticks"] * self.solver.seconds_per_tick()
        if self.said is not None:
            rows = rows.copy()
            rows["nodes"] += self.said.nodes[part]
            seconds += self.said.seconds[part]
        return rows, seconds

    def look(self) -> None:
        with self.lock:
            self.solver.check_time()

    def end(self) -> None:
        self.solver.end()

    def patience(self) -> float:
        return self.solver.clock.patience()


def provers(
    positions: Sequence[Any],
    threads: int,
    table: Table,
    limits: Limits,
    keep: Callable[[int, Any], None],
    *,
    weak: bool,
    line: int,
    cold: bool,
) -> list[Prover]:
    """Threads to prove the values of positions, with a table that they share.

    Each has a part as large of its own if positions start from nothing, or if searches go before
    the proofs.  Of 1128 positions after five moves of Connect Four on 6x5, two threads with a
    table each visited 1.5 times the nodes of one, and with one for both as many as one.
    """
    cls = class_of_all(positions)
    apart = threads > 1 and (cold or defines(cls, "scout"))
    tables = [table] * threads
    if apart:
        tables = [Table(max(1, table.megabytes // threads)) for _ in tables]
    sharing = SINGLE_THREADED if apart or threads == 1 else SHARED_TABLE
    options: dict[str, Any] = {"weak": weak, "line": line, "cold": cold, "sharing": sharing}
    made = [Prover(positions, own, limits, keep, **options) for own in tables]
    if sharing == SHARED_TABLE:
        made[0].solver.open_table()
    return made
