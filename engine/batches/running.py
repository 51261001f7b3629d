"""A batch as threads work through it: spans from a queue, a journal, arrays."""

from __future__ import annotations

import os
import struct
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from importlib import metadata
from typing import Any, Protocol

import numpy as np

from engine.batches.journal import Journal
from engine.batches.results import FOUND, ROWS, SOLVED, BatchResult
from engine.batches.searching import BatchSearcher, BatchWorker, check_depth
from engine.contract.derived import most_value
from engine.contract.dispatch import is_plain
from engine.contract.errors import CutnodeError
from engine.contract.messages import position_text
from engine.contract.positions import Packed, class_of_all, coerce
from engine.contract.stop import CALLED, PLIES
from engine.contract.verbs import NO_MOVE, canonical_move, original_move
from engine.kernels.expansion import canonical_keys
from engine.search.running import Limits
from engine.search.solving import lines_too_long, require_solvable, thread_count
from engine.search.spans import Part, Prover, Spans, provers, work_through
from engine.storage.arrays import identity
from engine.storage.tables import Table

__all__ = [
    "BatchProgress",
    "Elsewhere",
    "keys_of",
    "run_batch",
]

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


class Finder(Part):
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
        self.example = coerce(positions.example)
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
            self.first = first
        if ended.is_set():
            self.worker.end()
        self.worker(self.example)
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
    positions: Iterable[Any],
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

    Of *positions*, a :class:`~engine.contract.positions.Packed` sequence takes little memory.
    *task* is ``"solve"``, with the options ``weak``, ``nodes``, ``seconds`` and ``moves`` (whether
    to find best moves, too; it does by default), or ``"search"``, with ``depth``, ``nodes``,
    ``seconds``, ``evaluation``, ``techniques``, ``exact`` and ``depth_in``, as ``solve`` and
    ``search`` take them.

    *journal* is a file: if it exists and is of the same batch, what was done is taken from it.
    *threads* are as many as there are processors unless told otherwise, and share *table* MiB.
    *cold*: each position starts from nothing (see :mod:`engine.batches`).  *unique*: of positions
    with the same canonical key one is done, and the others have its row (where keys are hashed,
    two positions in a batch of n share one by accident with odds of n * n / 2 ** 65).  *stop* is
    an event that ends the batch, as Ctrl-C does; what is done by then is returned.  *progress* is
    called now and then.  *elsewhere* does the work in place of threads here: a cluster does so.

    :class:`CutnodeError` says what is wrong with options, positions, or the journal.
    """
    started = time.perf_counter()
    given = _packed(positions, task, options)
    cls = class_of_all(given)
    if threads is None:
        threads = 1 if is_plain(cls) else os.cpu_count() or 1
    threads = min(thread_count(threads, cls), len(given))
    alike = _Alike(given) if unique else None
    packed = given if alike is None else given.chosen(alike.firsts)
    kept = _Kept(len(packed), ROWS[task])
    limits = Limits(options.get("nodes"), options.get("seconds"), stop)
    there = {"task": task, "table": table, "cold": cold, **options}
    make = _provers if task == "solve" else _finders
    workers, settings = make(packed, threads, table, limits, cold, kept, options)
    if journal is not None:
        kept.open(journal, _about(packed, task, settings | {"cold": cold}))
    restored = kept.done
    done_elsewhere = 0
    looked = started

    def put(first: int, rows: Any) -> None:
        nonlocal done_elsewhere
        kept.put(first, rows)
        done_elsewhere += len(rows)

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
            done = restored + sum(worker.done for worker in workers) + done_elsewhere
            progress(BatchProgress(done, len(packed), restored, spent))

    try:
        if elsewhere is None:
            reason = work_through(Spans(kept.todo(), threads), workers, stop, look)
        else:
            reason = elsewhere(packed, kept.todo(), there, put, look, stop)
    finally:
        if kept.journal is not None:
            kept.journal.close()
    tell()
    rows = kept.rows if alike is None else alike.spread(kept.rows)
    seconds = time.perf_counter() - started
    return BatchResult(given, task, rows, bool(options.get("weak")), seconds, reason or "done")


def _packed(positions: Iterable[Any], task: str, options: dict[str, Any]) -> Packed:
    """The positions of a batch; :class:`CutnodeError` if they, the task or options are none."""
    if task not in ROWS:
        raise CutnodeError(f"a batch is to {' or '.join(ROWS)}, not to {task!r}")
    unknown = sorted(options.keys() - OPTIONS[task])
    if unknown:
        allowed = ", ".join(sorted(OPTIONS[task]))
        raise CutnodeError(f"{unknown[0]!r} says nothing to {task} positions; these do: {allowed}")
    if not isinstance(positions, Iterable):
        raise CutnodeError(f"a batch is of positions, not {positions!r}")
    if not isinstance(positions, Packed):
        positions = list(positions)
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
        **identity(type(positions.example)),
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
    require_solvable(type(positions.example))
    weak, line = bool(options.get("weak")), int(bool(options.get("moves", True)))

    def keep(first: int, found: tuple[Any, Any]) -> None:
        rows, seconds = found
        if ((rows["reason"] == PLIES) & (rows["lower"] < rows["upper"])).any():
            raise lines_too_long(type(positions.example))
        compact = np.zeros(len(rows), SOLVED)
        for name in ("lower", "upper", "reason", "nodes"):
            compact[name] = rows[name]
        compact["move"] = np.where(rows["length"] > 0, rows["line"][:, 0], NO_MOVE)
        compact["seconds"] = seconds
        kept.put(first, compact)

    limit = most_value(positions.example)
    kept.rows["lower"], kept.rows["upper"] = -limit, limit
    workers = provers(
        positions, threads, Table(megabytes), limits, keep, weak=weak, line=line, cold=cold
    )
    return workers, {"weak": weak, "moves": line, "nodes": limits.nodes, "seconds": limits.seconds}


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
    searcher = BatchSearcher(type(positions.example), table=megabytes, threads=threads, **chosen)

    def keep(first: int, rows: Any) -> None:
        compact = np.zeros(len(rows), FOUND)
        for name in FOUND.names or ():
            compact[name] = rows[name]
        kept.put(first, compact)

    model = searcher.workers[0].searcher
    settings = {
        "depth": depth,
        "nodes": limits.nodes,
        "seconds": limits.seconds,
        "evaluation": model.evaluation.meaning,
        "techniques": sorted(model.techniques),
        "depth in turns": model.turns,
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
    run = canonical_keys.specialise(type(positions.example))
    run(coerce(positions.example), positions.words, keys, symmetries)
    return keys, symmetries
