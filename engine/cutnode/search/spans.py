"""A queue of positions, from which threads take spans, and the workers that prove their values.

Each span is one call of a compiled loop.  Spans are large at first and small at the end, so that
the threads finish together.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from cutnode.contract.dispatch import defines
from cutnode.contract.positions import class_of_all
from cutnode.kernels.solver import SHARED_TABLE, SINGLE_THREADED
from cutnode.runtime.running import KernelLoop, Limits, ThreadTask, is_stopped, run
from cutnode.search.searcher import Searcher
from cutnode.search.solving import Presearch, ProofSettings, ProofTask, presearch, solver_memory
from cutnode.storage.tables import Table
from cutnode.tablebases.tablebase import Tablebase

LARGEST_SPAN = 4096
"""The most positions of a span."""

SPANS_EACH = 8
"""With several threads, the parts per thread into which the remaining positions are divided; a span
is at most one of them.  Starting a span takes 0.1 ms."""


class Spans:
    """A queue of positions, from which threads take spans."""

    def __init__(self, todo: Iterable[tuple[int, int]], threads: int):
        self._todo = list(todo)[::-1]
        self._left = sum(last - first for first, last in self._todo)
        self._parts = threads * SPANS_EACH if threads > 1 else 1
        self._lock = threading.Lock()

    def take(self) -> tuple[int, int] | None:
        """Return the first position of the next span and the one after its last, or None."""
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
    """A thread of a batch: it takes spans of positions, and hands over the finished rows.

    It calls *keep* with the number of a position, and the rows of this one and the next ones.
    """

    def __init__(self, keep: Callable[[int, Any], None]):
        self.ended = threading.Event()
        super().__init__(end=self.ended.set)
        self.keep = keep
        self.lock = threading.Lock()
        """The lock that guards the rows and counts of the current span."""
        self.spans = Spans((), 1)
        self.before = 0
        """The number of positions done in earlier spans."""

    @property
    def done(self) -> int:
        """The number of positions done in all spans."""
        return self.before

    def work(self) -> None:
        while (span := self.spans.take()) is not None:
            self.do(*span)

    def do(self, first: int, last: int) -> None:
        """Work on a span of positions, or do as little as possible if the batch has ended."""
        raise NotImplementedError

    def keep_so_far(self) -> None:
        """Hand over the rows of the current span that are done."""


class LoopWorker(SpanWorker):
    """A thread of a batch in which each span is one call of a compiled loop."""

    def __init__(self, keep: Callable[[int, Any], None]):
        super().__init__(keep)
        self.task: KernelLoop
        """The task of the current span."""
        self.first = self.seen = self.kept = 0

    @property
    def done(self) -> int:
        with self.lock:
            return self.before + int(self.task.control["current"])

    def rows(self, part: slice) -> Any:
        """Return the rows of some positions of the span."""
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
        """Run the task on the next *count* positions, and hand over their rows."""
        if self.ended.is_set():
            self.task.stop()
        self.task.work()
        self.finish(count)

    def finish(self, count: int) -> None:
        """Hand over the rows of the first *count* positions, and end the span."""
        with self.lock:
            self._give(count)
            self.before += count
            self.task.control["current"] = 0
            self.seen = self.kept = 0

    def keep_so_far(self) -> None:
        """Hand over the rows that were done at the previous call.

        Rows done since then wait: the count may become visible to this thread before the rows do.
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
    """Let workers take spans, each in a thread, until none are left.

    *look* is called every now and then.  Return why the work ended early, or "".
    """
    for worker in workers:
        worker.spans = spans
    return run(workers, stops, look=look, reason="stopped" if is_stopped(stops) else "")


class ProofWorker(LoopWorker):
    """One thread of a batch of proofs; its rows are the kernel's, together with their seconds."""

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

        If searches precede the proofs, do them one by one, so that none depends on another.
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
        rows = self.task.rows[part]
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
    """Return workers that prove the values of positions, and share the table.

    If positions start from an empty table, or searches precede the proofs, each worker gets an
    equal part of it as its own table.  For 1128 positions after five moves of Connect Four on 6x5,
    two threads with separate tables visited 1.5 times the nodes of one thread, and with a shared
    table as many as one.
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
