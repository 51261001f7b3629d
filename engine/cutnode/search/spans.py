"""Positions in a queue, from which threads take spans, and what proves the values of each.

Spans are large at first and small at the end, so that threads end together, and each is one call
of a compiled loop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cutnode.contract.dispatch import defines
from cutnode.contract.positions import class_of_all
from cutnode.kernels.solver import SHARED_TABLE, SINGLE_THREADED
from cutnode.runtime.running import KernelLoop, Limits, ThreadTask, is_stopped, run
from cutnode.search.searcher import Searcher
from cutnode.search.solving import Presearch, ProofSettings, ProofTask, presearch, solver_memory
from cutnode.storage.tables import Table
from cutnode.tablebases.tablebase import Tablebase

LARGEST_SPAN = 4096
SPANS_EACH = 8
"""A span is at most so many positions, and, with several threads, at most one of so many equal
parts for each of them of those that are left.  To begin one takes 0.1 ms."""


class Spans:
    """A queue of positions to do, of which threads take spans."""

    def __init__(self, todo: Iterable[tuple[int, int]], threads: int):
        self._todo = list(todo)[::-1]
        self._left = sum(last - first for first, last in self._todo)
        self._parts = threads * SPANS_EACH if threads > 1 else 1
        self._lock = threading.Lock()

    def take(self) -> tuple[int, int] | None:
        """Return the first of the next positions to do, and the one after the last, or None."""
        with self._lock:
            if not self._todo:
                return None
            first, last = self._todo.pop()
            size = max(1, min(LARGEST_SPAN, self._left // self._parts, last - first))
            if first + size < last:
                self._todo.append((first + size, last))
            self._left -= size
            return first, first + size


class SpanWorker(ThreadTask):
    """A thread of a batch: it takes spans of positions, and gives away the rows of those done.

    *keep* is called with the number of a position, and the rows of it and those that follow.
    """

    def __init__(self, keep: Callable[[int, Any], None]):
        self.ended = threading.Event()
        super().__init__(end=self.ended.set)
        self.keep = keep
        self.lock = threading.Lock()
        """The batch has ended: what is left of it is not done."""
        self.spans = Spans((), 1)
        self.before = 0
        """The positions that are done, of earlier spans."""

    @property
    def done(self) -> int:
        """The positions that are done, of all spans."""
        return self.before

    def work(self) -> None:
        while (span := self.spans.take()) is not None:
            self.do(*span)

    def do(self, first: int, last: int) -> None:
        """Do a span of positions; if the batch has ended, as little as possible."""
        raise NotImplementedError

    def keep_so_far(self) -> None:
        """Give away what was done of the span that is under way."""


class LoopWorker(SpanWorker):
    """A thread of a batch in which each span is one call of a compiled loop."""

    def __init__(self, keep: Callable[[int, Any], None]):
        super().__init__(keep)
        self.task: KernelLoop
        """What does the span of now."""
        self.first = self.seen = self.kept = 0

    @property
    def done(self) -> int:
        with self.lock:
            return self.before + int(self.task.control["current"])

    def rows(self, part: slice) -> Any:
        """Return what was found of some positions of the span."""
        raise NotImplementedError

    def look(self) -> str:
        with self.lock:
            return self.task.look()

    def stop(self) -> None:
        super().stop()
        self.task.stop()

    def patience(self) -> float:
        return self.task.patience()

    def carry_out(self, count: int) -> None:
        """Do the task, which has the next *count* positions, and give away their rows."""
        if self.ended.is_set():
            self.task.stop()
        self.task.work()
        self.finish(count)

    def finish(self, count: int) -> None:
        """Give away what is known of the first *count* positions of the span."""
        with self.lock:
            self._give(count)
            self.before += count
            self.task.control["current"] = 0
            self.seen = self.kept = 0

    def keep_so_far(self) -> None:
        """Give away what was done of the span when this was called the last time.

        Not what is done now: a processor may show that first, and the last rows later.
        """
        with self.lock:
            self._give(self.seen)
            self.seen = int(self.task.control["current"])

    def _give(self, count: int) -> None:
        if count > self.kept:
            rows = self.rows(slice(self.kept, count))
            self.keep(self.first + self.kept, rows)
            self.kept = count


def work_through(
    spans: Spans,
    workers: Sequence[SpanWorker],
    stops: Sequence[threading.Event],
    look: Callable[[], None],
) -> str:
    """Let each worker, in a thread, take spans until there are no more.

    *look* is called now and then.  Returns why the work was ended early, or "".
    """
    for worker in workers:
        worker.spans = spans
    return run(workers, stops, look=look, reason="stopped" if is_stopped(stops) else "")


class ProofWorker(LoopWorker):
    """One thread of a batch of proofs; rows are those of the kernel, and have ``seconds`` too."""

    def __init__(
        self,
        positions: Sequence[Any],
        table: Table,
        limits: Limits,
        keep: Callable[[int, Any], None],
        settings: ProofSettings,
        tablebase: Tablebase | None = None,
    ):
        super().__init__(keep)
        self.positions = positions
        self.table = table
        self.limits = limits
        self.settings = settings
        cls = class_of_all(positions)
        self.memory = solver_memory(cls, tablebase)
        self.presearcher = Searcher(cls, table=table) if defines(cls, "scout") else None
        self._assign(positions[:1], None)
        self.task.seconds_per_tick()

    def _assign(self, part: Sequence[Any], presearched: Presearch | None) -> None:
        self.presearched = presearched
        self.task: ProofTask = ProofTask(
            part,
            self.table,
            self.limits if presearched is None else presearched.left,
            self.settings,
            presearched=presearched,
            memory=self.memory,
        )

    def do(self, first: int, last: int) -> None:
        """Prove the values of a span of positions.

        One by one if searches go before the proofs, so that none depends on another.
        """
        step = last - first if self.presearcher is None else 1
        for at in range(first, last, step):
            self._prove(at, at + step)

    def _prove(self, first: int, last: int) -> None:
        part = self.positions[first:last]
        presearched = None
        if self.presearcher is not None and not self.ended.is_set():
            limits = replace(self.limits, stop=self.ended)
            cold = self.settings.cold
            presearched = presearch(part, self.table, limits, cold=cold, searcher=self.presearcher)
        with self.lock:
            self._assign(part, presearched)
            self.first = first
        self.carry_out(last - first)

    def rows(self, part: slice) -> tuple[Any, Any]:
        rows = self.task.rows.view(np.ndarray)[part]
        seconds = rows["ticks"] * self.task.seconds_per_tick()
        if self.presearched is not None:
            rows = rows.copy()
            rows["nodes"] += self.presearched.nodes[part]
            seconds += self.presearched.seconds[part]
        return rows, seconds


def proof_workers(
    positions: Sequence[Any],
    threads: int,
    table: Table,
    limits: Limits,
    keep: Callable[[int, Any], None],
    settings: ProofSettings,
    tablebase: Tablebase | None = None,
) -> list[ProofWorker]:
    """Return workers that prove the values of positions, with a table that they share.

    Each has a part as large of its own if positions start from nothing, or if searches go before
    the proofs.  Of 1128 positions after five moves of Connect Four on 6x5, two threads with a
    table each visited 1.5 times the nodes of one, and with one for both as many as one.
    """
    cls = class_of_all(positions)
    apart = threads > 1 and (settings.cold or defines(cls, "scout"))
    tables = [table] * threads
    if apart:
        tables = [Table(max(1, table.megabytes // threads)) for _ in tables]
    sharing = SINGLE_THREADED if apart or threads == 1 else SHARED_TABLE
    settings = settings._replace(sharing=sharing)
    made = [ProofWorker(positions, own, limits, keep, settings, tablebase) for own in tables]
    if sharing == SHARED_TABLE:
        made[0].task.open_table()
    return made
