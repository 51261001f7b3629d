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
import os
import struct
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from importlib import metadata
from typing import Any, Protocol

import numpy as np

from engine.api import _require_solvable, _threads, lines_too_long
from engine.batch_results import FOUND, ROWS, SOLVED, BatchResult
from engine.batch_search import BatchSearcher, BatchWorker, check_depth
from engine.contract import (
    NO_MOVE,
    canonical_move,
    is_plain,
    most_value,
    original_move,
)
from engine.errors import CutnodeError
from engine.journal import Journal
from engine.limits import CALLED, PLIES
from engine.memory import Memory
from engine.people import position_text
from engine.positions import Packed, class_of_all, coerce
from engine.runner import Limits, Scouting, Solver, in_threads
from engine.saving import identity
from engine.scouting import scouting
from engine.solver import ALONE, search_dtype
from engine.table import Table
from engine.unfolding import canonical_keys

__all__ = [
    "BatchProgress",
    "Prover",
    "Spans",
    "keys_of",
    "run_batch",
    "shares",
    "work_through",
]

LARGEST_SPAN = 1024
SPANS_EACH = 8
"""A span is at most so many positions, and at most one of so many equal parts, for each thread,
of those that are left."""

KEEP_SECONDS = 1.0
"""What is done of spans that are not, goes into the journal so often."""

SPAN = struct.Struct("<QQ")
"""Before the rows of a record of the journal: the number of the first position, and how many."""

OPTIONS = {
    "solve": {"weak", "nodes", "seconds", "moves"},
    "search": {"depth", "nodes", "seconds", "evaluation", "techniques", "exact", "depth_in"},
}


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


class Elsewhere(Protocol):
    """Who does the work of a batch on other machines."""

    def __call__(
        self,
        positions: Packed,
        todo: list[tuple[int, int]],
        options: dict[str, Any],
        put: Callable[[int, Any], None],
        look: Callable[[], None],
        stop: threading.Event | None,
    ) -> str:
        """Do the spans *todo*; return why the work was ended early, or "".

        Each by :func:`run_batch` with these *options*, and its rows are *put* at the number of
        the first position.  *look* is to be called now and then.
        """


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
    return in_threads(tasks, look_after, end, patience, reason)


class _Part:
    """A thread's span of positions, of which those that are done are given away.

    *keep* is called with the number of a position, and the rows of it and those that follow.
    """

    def __init__(self, keep: Callable[[int, Any], None]):
        self.keep = keep
        self.lock = threading.Lock()
        self.memory: Memory
        self.first = self.seen = self.kept = 0

    def rows(self, part: slice) -> Any:
        """What was found of some positions of the span."""
        raise NotImplementedError

    def begin(self, first: int) -> None:
        """A span begins; with the lock."""
        self.first, self.seen, self.kept = first, 0, 0
        self.memory["current"] = 0

    def finish(self, count: int) -> None:
        """Give away what is known of the first so many positions of the span."""
        with self.lock:
            self._give(count)

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


class Prover(_Part):
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
    ):
        super().__init__(keep)
        self.positions = positions
        self.table = table
        self.limits = limits
        self.options: dict[str, Any] = {"weak": weak, "line": line, "cold": cold}
        cls = class_of_all(positions)
        self.memory = Memory(cls, search_dtype(cls))
        self._assign(positions[:1], None)
        self.solver.seconds_per_tick()

    def _assign(self, part: Sequence[Any], said: Scouting | None) -> None:
        self.said = said
        self.solver = Solver(
            part,
            self.table,
            self.limits if said is None else said.left,
            **self.options,
            sharing=ALONE,
            scouting=said,
            memory=self.memory,
        )

    def work(self, first: int, last: int, ended: threading.Event) -> None:
        """Prove the values of a span of positions."""
        part = self.positions[first:last]
        said = None
        if not ended.is_set():
            limits = replace(self.limits, stop=ended)
            said = scouting(part, self.table, limits, cold=self.options["cold"])
        with self.lock:
            self._assign(part, said)
            self.begin(first)
        if ended.is_set():
            self.solver.end()
        self.solver()
        self.finish(last - first)

    def rows(self, part: slice) -> tuple[Any, Any]:
        rows = self.solver.rows[part].copy()
        seconds = rows["ticks"] * self.solver.seconds_per_tick()
        if self.said is not None:
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


def shares(megabytes: int, threads: int) -> list[Table]:
    """A table for each thread, of so many MiB together."""
    return [Table(max(1, megabytes // threads) if megabytes > 0 else 0) for _ in range(threads)]


class Finder(_Part):
    """One thread of a batch of searches of limited depth."""

    def __init__(
        self,
        positions: Packed,
        worker: BatchWorker,
        depth: int | None,
        limits: Limits,
        keep: Callable[[int, Any], None],
        *,
        cold: bool,
    ):
        super().__init__(keep)
        self.positions = positions
        self.like = coerce(positions.like)
        self.worker = worker
        self.memory = worker.control
        self.depth = depth
        self.limits = limits
        self.cold = cold
        worker.give(positions.words[:0], 0, depth, limits, cold=cold)

    def work(self, first: int, last: int, ended: threading.Event) -> None:
        """Search a span of positions."""
        words = self.positions[first:last].words
        with self.lock:
            self.worker.give(words, last - first, self.depth, self.limits, cold=self.cold)
            self.begin(first)
        if ended.is_set():
            self.worker.end()
        self.worker(self.like)
        self.finish(last - first)

    def rows(self, part: slice) -> Any:
        return self.worker.rows[part]

    def look(self) -> None:
        with self.lock:
            self.worker.check_time()

    def end(self) -> None:
        self.worker.end()

    def patience(self) -> float:
        return self.worker.clock.patience()


class _Kept:
    """The rows of a batch, in memory and in the journal."""

    def __init__(self, count: int, dtype: np.dtype[Any]):
        self.rows = np.zeros(count, dtype)
        self.rows["reason"] = CALLED
        self.rows["move"] = NO_MOVE
        self.done = 0
        self.journal: Journal | None = None
        self._lock = threading.Lock()

    def open(self, path: str | os.PathLike[str], about: dict[str, Any]) -> None:
        """Take what the journal of this batch holds, and go on with it."""
        self.journal = Journal(path, about, self._restore)
        self.done = int(np.count_nonzero(self.rows["reason"] != CALLED))

    def _restore(self, record: bytes) -> None:
        first, count = SPAN.unpack_from(record)
        self.rows[first : first + count] = np.frombuffer(record, self.rows.dtype, offset=SPAN.size)

    def todo(self) -> list[tuple[int, int]]:
        """The spans that are not done."""
        missing = np.diff(self.rows["reason"] == CALLED, prepend=False, append=False)
        edges = np.flatnonzero(missing).tolist()
        return list(zip(edges[::2], edges[1::2], strict=True))

    def put(self, first: int, rows: Any) -> None:
        """Rows of positions from a number on: of some that are done, and then of others."""
        count = int(np.count_nonzero(rows["reason"] != CALLED))
        self.rows[first : first + len(rows)] = rows
        with self._lock:
            self.done += count
        if self.journal is not None and count:
            self.journal.append(SPAN.pack(first, count) + rows[:count].tobytes())


def run_batch(
    positions: Sequence[Any],
    task: str = "solve",
    *,
    journal: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    table: int = 256,
    cold: bool = True,
    unique: bool = False,
    stop: threading.Event | None = None,
    progress: Callable[[BatchProgress], None] | None = None,
    elsewhere: Elsewhere | None = None,
    **options: Any,
) -> BatchResult:
    """Solve or search positions of one class on all cores, with limits for each.

    *positions* are a sequence; a :class:`~engine.positions.Packed` one takes little memory.
    *task* is ``"solve"``, with the options ``weak``, ``nodes``, ``seconds`` and ``moves`` (whether
    to find best moves, too; it does by default), or ``"search"``, with ``depth``, ``nodes``,
    ``seconds``, ``evaluation``, ``techniques``, ``exact`` and ``depth_in``, as ``solve`` and
    ``search`` take them.

    *journal* is a file: if it exists and is of the same batch, what was done is taken from it.
    *threads* are as many as there are processors unless told otherwise, and share *table* MiB.
    *cold*: each position starts from nothing (see the module's text).  *unique*: of positions with
    the same canonical key one is done, and the others have its row (where keys are hashed, two
    positions in a batch of n share one by accident with odds of n * n / 2 ** 65).  *stop* is an
    event that ends the batch, as Ctrl-C does; what is done by then is returned.  *progress* is
    called now and then.  *elsewhere* does the work in place of threads here: a cluster does so.

    :class:`CutnodeError` says what is wrong with options, positions, or the journal.
    """
    started = time.perf_counter()
    given = _packed(positions, task, options)
    cls = class_of_all(given)
    if threads is None:
        threads = 1 if is_plain(cls) else os.cpu_count() or 1
    threads = min(_threads(threads, cls), len(given))
    alike = _Alike(given) if unique else None
    packed = given if alike is None else given.chosen(alike.firsts)
    kept = _Kept(len(packed), ROWS[task])
    limits = Limits(options.get("nodes"), options.get("seconds"), stop)
    given_options = dict(options)
    make = _provers if task == "solve" else _finders
    workers, settings = make(packed, threads, table, limits, cold, kept, options)
    if journal is not None:
        kept.open(journal, _about(packed, task, settings | {"cold": cold}))
    restored = kept.done
    looked = started

    def look() -> None:
        nonlocal looked
        if time.perf_counter() - looked > KEEP_SECONDS:
            looked = time.perf_counter()
            for worker in workers:
                worker.keep_so_far()
        if kept.journal is not None:
            kept.journal.sync()
        tell()

    def tell() -> None:
        if progress is not None:
            spent = time.perf_counter() - started
            progress(BatchProgress(kept.done, len(packed), restored, spent))

    try:
        if elsewhere is None:
            reason = work_through(Spans(kept.todo(), threads), workers, stop, look)
        else:
            options_there = {"task": task, "table": table, "cold": cold, **given_options}
            reason = elsewhere(packed, kept.todo(), options_there, kept.put, look, stop)
    finally:
        if kept.journal is not None:
            kept.journal.close()
    tell()
    rows = kept.rows if alike is None else alike.spread(kept.rows)
    seconds = time.perf_counter() - started
    return BatchResult(given, task, rows, bool(options.get("weak")), seconds, reason or "done")


def _packed(positions: Sequence[Any], task: str, options: dict[str, Any]) -> Packed:
    """The positions of a batch; :class:`CutnodeError` if they, the task or options are none."""
    if task not in ROWS:
        raise CutnodeError(f"a batch is to {' or '.join(ROWS)}, not to {task!r}")
    unknown = sorted(options.keys() - OPTIONS[task])
    if unknown:
        allowed = ", ".join(sorted(OPTIONS[task]))
        raise CutnodeError(f"{unknown[0]!r} says nothing to {task} positions; these do: {allowed}")
    if not len(positions):
        raise CutnodeError(f"there are no positions to {task}")
    return Packed.of(positions)


def _version() -> str:
    try:
        return metadata.version("cutnode")
    except metadata.PackageNotFoundError:
        return ""


def _about(positions: Packed, task: str, settings: dict[str, Any]) -> dict[str, Any]:
    """What the journal of a batch says of it."""
    words = positions.words
    if isinstance(words, list):
        data = "\0".join(map(position_text, words)).encode()
    else:
        data = words.astype("<u8", copy=False).tobytes()
    return {
        **identity(type(positions.like)),
        "cutnode": _version(),
        "task": task,
        "count": len(positions),
        "positions": blake2b(data, digest_size=16).hexdigest(),
        "rows": repr(ROWS[task].descr),
        **settings,
    }


def _provers(
    positions: Packed,
    threads: int,
    megabytes: int,
    limits: Limits,
    cold: bool,
    kept: _Kept,
    options: dict[str, Any],
) -> tuple[list[Prover], dict[str, Any]]:
    """What solves positions, and what their rows depend on."""
    _require_solvable(type(positions.like))
    weak, line = bool(options.get("weak")), int(bool(options.get("moves", True)))

    def keep(first: int, found: tuple[Any, Any]) -> None:
        rows, seconds = found
        if ((rows["reason"] == PLIES) & (rows["lower"] < rows["upper"])).any():
            raise lines_too_long(type(positions.like))
        compact = np.zeros(len(rows), SOLVED)
        for name in ("lower", "upper", "reason", "nodes"):
            compact[name] = rows[name]
        compact["move"] = np.where(rows["length"] > 0, rows["line"][:, 0], NO_MOVE)
        compact["seconds"] = seconds
        kept.put(first, compact)

    limit = most_value(positions.like)
    kept.rows["lower"], kept.rows["upper"] = -limit, limit
    provers = [
        Prover(positions, table, limits, keep, weak=weak, line=line, cold=cold)
        for table in shares(megabytes, threads)
    ]
    return provers, {"weak": weak, "moves": line, "nodes": limits.nodes, "seconds": limits.seconds}


def _finders(
    positions: Packed,
    threads: int,
    megabytes: int,
    limits: Limits,
    cold: bool,
    kept: _Kept,
    options: dict[str, Any],
) -> tuple[list[Finder], dict[str, Any]]:
    """What searches positions, and what their rows depend on."""
    depth = options.pop("depth", None)
    chosen = {name: options[name] for name in options.keys() - {"nodes", "seconds"}}
    check_depth(depth, limits)
    searcher = BatchSearcher(type(positions.like), table=megabytes, threads=threads, **chosen)

    def keep(first: int, rows: Any) -> None:
        compact = np.zeros(len(rows), FOUND)
        for name in FOUND.names or ():
            compact[name] = rows[name]
        kept.put(first, compact)

    engine = searcher.workers[0].engine
    settings = {
        "depth": depth,
        "nodes": limits.nodes,
        "seconds": limits.seconds,
        "evaluation": engine.evaluation.meaning,
        "techniques": sorted(engine.techniques),
        "depth in turns": engine.turns,
    }
    finders = [
        Finder(positions, worker, depth, limits, keep, cold=cold) for worker in searcher.workers
    ]
    return finders, settings


class _Alike:
    """Classes of positions with the same canonical key."""

    def __init__(self, positions: Packed):
        self.positions = positions
        keys, self.symmetries = keys_of(positions)
        _, firsts, classes = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(firsts)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        self.firsts = firsts[order]
        """The number of the first position of each class."""
        self.classes = rank[classes]
        """The class of each position."""

    def spread(self, rows: Any) -> Any:
        """The rows of all positions, from those of each class."""
        spread = rows[self.classes]
        first = self.firsts[self.classes]
        turned = (self.symmetries != self.symmetries[first]) & (spread["move"] != NO_MOVE)
        for number in np.flatnonzero(turned).tolist():
            model = int(first[number])
            move = int(spread["move"][number])
            move = canonical_move(self.positions[model], move, int(self.symmetries[model]))
            symmetry = int(self.symmetries[number])
            spread["move"][number] = original_move(self.positions[number], move, symmetry)
        return spread


def keys_of(positions: Packed) -> tuple[Any, Any]:
    """The canonical key of each position, and how it is turned in its class."""
    keys = np.zeros(len(positions), np.uint64)
    symmetries = np.zeros(len(positions), np.int64)
    run = canonical_keys.specialise(type(positions.like))
    run(coerce(positions.like), positions.words, keys, symmetries)
    return keys, symmetries
