"""Running a batch: threads or other machines work through positions, with a journal."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

import cutnode
from cutnode.batches.engines import engine_workers
from cutnode.batches.results import (
    FOUND,
    ROWS,
    SOLVED,
    BatchResult,
    require_whole_scores,
    row_dtype,
)
from cutnode.batches.rows import KeptRows
from cutnode.batches.searching import BatchSearcher, BatchSearchTask, require_depth
from cutnode.batches.symmetry import SymmetryClasses
from cutnode.contract.derived import most_value
from cutnode.contract.dispatch import is_plain
from cutnode.contract.errors import CutnodeError, GameError, require_iterable
from cutnode.contract.messages import position_text
from cutnode.contract.positions import Packed, class_of_all, coerce
from cutnode.contract.stop import PLIES, RUNNING
from cutnode.contract.text import quoted
from cutnode.contract.verbs import NO_MOVE
from cutnode.kernels.techniques import reference
from cutnode.runtime.options import PROOF_OPTIONS, check
from cutnode.runtime.running import Limits, is_stopped
from cutnode.search.board import given_position
from cutnode.search.loops import has_loops
from cutnode.search.options import (
    AutoKeywords,
    LimitKeywords,
    TreeKeywords,
    thread_count,
)
from cutnode.search.solving import ProofSettings, lines_too_long, require_batches
from cutnode.search.spans import LoopWorker, Spans, SpanWorker, proof_workers, work_through
from cutnode.search.tablebase_results import result_of
from cutnode.storage.arrays import identity
from cutnode.storage.tables import Table
from cutnode.tablebases.tablebase import Tablebase

KEEP_SECONDS = 1.0
"""The interval at which finished rows of unfinished spans go into the journal, in seconds."""

PROOFS = {"engine", "weak", "nodes", "seconds", "tablebase"}
LIMITS = {"engine", "nodes", "seconds"}
OPTIONS = {
    "solve": {"alphabeta": {*PROOFS, "moves"}, "pn": PROOFS, "sums": PROOFS, "auto": PROOFS},
    "search": {
        "alphabeta": {
            *LIMITS,
            *("depth", "evaluation", "techniques", "exact", "depth_in", "tablebase"),
        },
        "mcts": {*LIMITS, "playouts", *TreeKeywords.__optional_keys__} - {"memory", "reuse"},
        "auto": {*LIMITS, *AutoKeywords.__optional_keys__} - {"memory"},
    },
}
"""The options of each task, by engine."""


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """The progress of a batch."""

    done: int
    total: int
    restored: int
    """The positions among *done* that came from the journal."""
    seconds: float
    """The time since the batch began or was resumed."""

    @property
    def rate(self) -> float:
        """Positions per second."""
        return (self.done - self.restored) / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float | None:
        """The estimated seconds until the end, at the rate so far; None while it is unknown."""
        return (self.total - self.done) / self.rate if self.rate else None


class JobKeywords(LimitKeywords, total=False):
    """The keywords of :func:`run_batch` that do not depend on the task."""

    journal: str | os.PathLike[str] | None
    threads: int | None
    table: int
    progress: Callable[[BatchProgress], None] | None


@dataclass(frozen=True, slots=True)
class Job:
    """The work of a batch, for other machines."""

    positions: Packed
    todo: list[tuple[int, int]]
    """The spans of positions that are not done."""
    options: dict[str, Any]
    """The options with which :func:`run_batch` does a part of the job."""
    put: Callable[[int, Any], None]
    """The function that stores rows, given the number of the first position."""
    look: Callable[[], None]
    """The function to call regularly: it flushes the journal and reports progress."""
    stops: Sequence[threading.Event]


Remote = Callable[[Job], str]
"""A function that does a job on other machines, and returns why it ended early, or ""."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """The settings of a batch."""

    positions: Packed
    threads: int
    table: int
    cold: bool
    limits: Limits
    kept: KeptRows
    options: dict[str, Any]


class SearchWorker(LoopWorker):
    """One thread of a batch of depth-limited searches."""

    def __init__(
        self,
        positions: Packed,
        task: BatchSearchTask,
        depth: int | None,
        limits: Limits,
        keep: Callable[[int, Any], None],
        *,
        cold: bool,
    ):
        super().__init__(keep)
        self.positions = positions
        self.example = coerce(positions.example)
        self.task: BatchSearchTask = task
        self.depth = depth
        self.limits = limits
        self.cold = cold
        self._assign(0, 0)

    def _assign(self, first: int, last: int) -> None:
        words = self.positions[first:last].words
        self.first = first
        self.task.give(words, last - first, self.example, self.depth, self.limits, cold=self.cold)

    def do(self, first: int, last: int) -> None:
        """Search a span of positions."""
        with self.lock:
            self._assign(first, last)
        self.carry_out(last - first)

    def rows(self, part: slice) -> Any:
        return self.task.rows[part]


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
    elsewhere: Remote | None = None,
    **options: Any,
) -> BatchResult:
    """Solve or search positions of one class on all cores, with limits for each position.

    Pass *positions* as a :class:`~cutnode.contract.positions.Packed` sequence to save memory.
    *task* is ``"solve"``, with the options ``weak``, ``nodes``, ``seconds``, ``tablebase`` and
    ``moves`` (whether to find best moves too; the default is True), or ``"search"``, with
    ``depth``, ``nodes``, ``seconds``, ``evaluation``, ``techniques``, ``exact``, ``depth_in`` and
    ``tablebase``, as in ``solve`` and ``search``.  Games with cycles can be solved only if the
    tablebase has all positions.  Both tasks accept another ``engine`` and its options instead (see
    :data:`OPTIONS`).  These engines always find the best move, keep the visits of the root moves
    of searches, and also solve games with cycles.

    *journal* is a file; if it exists and belongs to the same batch, its results are restored.
    *threads*, by default one for each processor, share *table* MiB.  *cold*: each position starts
    with empty tables (see :mod:`cutnode.batches`).  *unique*: of positions with the same canonical
    key only one is processed, and the others get its row (with hashed keys, the odds that two
    positions in a batch of n share one by accident are n * n / 2 ** 65).  *stop* is an event that
    ends the batch, as Ctrl-C does; the results so far are returned.  *progress* is called
    regularly.  *elsewhere* does the work on other machines, such as a cluster, in place of threads
    here.

    :class:`CutnodeError` for wrong options, positions or journals.
    """
    started = time.perf_counter()
    given = _packed(positions, task, options)
    cls = class_of_all(given)
    if threads is None:
        threads = 1 if is_plain(cls) else os.cpu_count() or 1
    threads = min(thread_count(threads, cls), len(given))
    classes = SymmetryClasses(given) if unique else None
    packed = given if classes is None else given.chosen(classes.firsts)
    kept = KeptRows(len(packed), row_dtype(cls, task, options.get("engine", "alphabeta")))
    limits = Limits(options.get("nodes"), options.get("seconds"), stop)
    there = {"task": task, "table": table, "cold": cold, **options}
    plan = _Plan(packed, threads, table, cold, limits, kept, options)
    workers, settings = _workers(plan, task)
    if journal is not None:
        kept.open(journal, _about(packed, task, kept.rows.dtype, settings | {"cold": cold}))
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
        report()

    def report() -> None:
        if progress is not None:
            spent = time.perf_counter() - started
            done = restored + sum(worker.done for worker in workers) + done_elsewhere
            progress(BatchProgress(done, len(packed), restored, spent))

    try:
        try:
            reason = _answer_from_tablebase(plan, put, look) if task == "solve" else ""
        except KeyboardInterrupt:
            reason = "interrupted"
        if reason:
            pass
        elif elsewhere is None:
            reason = work_through(Spans(kept.todo(), threads), workers, limits.stops, look)
        else:
            job = Job(packed, kept.todo(), there, put, look, limits.stops)
            reason = elsewhere(job)
    finally:
        if kept.journal is not None:
            kept.journal.close()
    report()
    rows = kept.rows if classes is None else classes.spread(kept.rows)
    seconds = time.perf_counter() - started
    return BatchResult(given, task, rows, bool(options.get("weak")), seconds, reason or "done")


def _packed(positions: Iterable[Any], task: str, options: dict[str, Any]) -> Packed:
    """Return the positions of a batch; :class:`CutnodeError` if they or the options are wrong."""
    if task not in list(ROWS):
        raise CutnodeError(f"task must be {' or '.join(map(repr, ROWS))}, got {task!r}")
    engine = options.get("engine", "alphabeta")
    check("engine", engine, PROOF_OPTIONS["engine"] if task == "solve" else None)
    known = OPTIONS[task][engine]
    unknown = sorted(options.keys() - known)
    if unknown:
        to = f"{task} positions" if engine == "alphabeta" else f"{task} positions by {engine}"
        allowed = ", ".join(sorted(known))
        raise CutnodeError(f"{unknown[0]!r} is not an option to {to}: options are {allowed}")
    if not isinstance(positions, Packed):
        positions = [given_position(each) for each in require_iterable(positions, "positions")]
    if not len(positions):
        raise CutnodeError(f"no positions to {task}")
    return Packed.of(positions)


def _about(
    positions: Packed, task: str, row: np.dtype[Any], settings: dict[str, Any]
) -> dict[str, Any]:
    """Return the header of the journal of a batch."""
    words = positions.words
    if isinstance(words, list):
        data = "\0".join(map(position_text, words)).encode()
    else:
        data = words.astype("<u8", copy=False).tobytes()
    return {
        **identity(type(positions.example)),
        "cutnode": cutnode.__version__,
        "task": task,
        "count": len(positions),
        "positions": blake2b(data, digest_size=16).hexdigest(),
        "rows": repr(row.descr),
        **settings,
    }


def _workers(plan: _Plan, task: str) -> tuple[Sequence[SpanWorker], dict[str, Any]]:
    """Return the workers, and the settings on which their rows depend."""
    if plan.options.get("engine", "alphabeta") != "alphabeta":
        return _engine_workers(plan, task)
    plan.options.pop("engine", None)
    return _proof_workers(plan) if task == "solve" else _search_workers(plan)


def _engine_workers(plan: _Plan, task: str) -> tuple[Sequence[SpanWorker], dict[str, Any]]:
    """Return the workers of an engine other than alpha-beta, and their settings."""
    options, kept = plan.options, plan.kept
    base = options["tablebase"] = Tablebase.of(
        options.get("tablebase"), class_of_all(plan.positions)
    )
    if task == "solve":
        limit = most_value(plan.positions.example)
        kept.rows["lower"], kept.rows["upper"] = -limit, limit
    workers = engine_workers(
        plan.positions, task, plan.threads, plan.table, options, kept.put, cold=plan.cold
    )
    settings = {name: value for name, value in sorted(options.items()) if name != "tablebase"}
    return workers, settings if base is None else {**settings, "tablebase": base.name}


def _proof_workers(plan: _Plan) -> tuple[Sequence[SpanWorker], dict[str, Any]]:
    """Return the workers that solve positions, and the settings on which their rows depend."""
    positions, options, limits, kept = plan.positions, plan.options, plan.limits, plan.kept
    cls = class_of_all(positions)
    base = options["tablebase"] = Tablebase.of(options.get("tablebase"), cls)
    if base is None:
        require_batches(cls)
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
    settings = ProofSettings(weak, line, plan.cold)
    workers: Sequence[SpanWorker] = ()
    if not has_loops(cls):  # otherwise the tablebase must have all positions
        table = Table(plan.table)
        workers = proof_workers(positions, plan.threads, table, limits, keep, settings, base)
    about = {"weak": weak, "moves": line, "nodes": limits.nodes, "seconds": limits.seconds}
    return workers, about if base is None else {**about, "tablebase": base.name}


def _answer_from_tablebase(
    plan: _Plan, put: Callable[[int, Any], None], look: Callable[[], None]
) -> str:
    """Store the rows of positions that a tablebase knows; return why this ended early, or "".

    :class:`GameError` if it lacks a position of a game with cycles, which the batch solver cannot
    solve.
    """
    base, weak = plan.options["tablebase"], bool(plan.options.get("weak"))
    if base is None:
        return ""
    for first, last in plan.kept.todo():
        for number in range(first, last):
            if is_stopped(plan.limits.stops):
                return "stopped"
            look()
            started = time.perf_counter()
            position = plan.positions[number]
            found = result_of(base, position, weak=weak, line=False)
            if found is None and "engine" not in plan.options and has_loops(base.cls):
                text = quoted(position_text(position))
                reason = f"does not have {text}"
                if base.entry(position) is not None:
                    reason = f"does not know the rule by which the best line of {text} is drawn"
                raise GameError(
                    f"{base.name} {reason}: a batch of a game with cycles needs a tablebase with "
                    f"all its positions"
                )
            if found is None:
                continue
            row = np.zeros(1, SOLVED)
            row["lower"] = row["upper"] = found.value
            row["reason"] = RUNNING
            row["move"] = NO_MOVE if found.best_move is None else found.best_move
            row["seconds"] = time.perf_counter() - started
            put(number, row)
    return ""


def _search_workers(plan: _Plan) -> tuple[Sequence[SpanWorker], dict[str, Any]]:
    """Return the workers that search positions, and the settings on which their rows depend."""
    positions, options, limits, kept = plan.positions, plan.options, plan.limits, plan.kept
    depth = options.pop("depth", None)
    chosen = {name: options[name] for name in options.keys() - {"nodes", "seconds"}}
    require_depth(depth, limits)
    require_whole_scores(type(positions.example))
    searcher = BatchSearcher(
        type(positions.example), table=plan.table, threads=plan.threads, **chosen
    )

    def keep(first: int, rows: Any) -> None:
        compact = np.zeros(len(rows), FOUND)
        for name in FOUND.names or ():
            compact[name] = rows[name]
        kept.put(first, compact)

    model = searcher.tasks[0].searcher
    settings = {
        "depth": depth,
        "nodes": limits.nodes,
        "seconds": limits.seconds,
        "evaluation": model.evaluation.meaning,
        "techniques": sorted(map(reference, model.techniques)),
        "depth in turns": model.turns,
    }
    if model.tablebase is not None:
        settings["tablebase"] = model.tablebase.name
    workers = [
        SearchWorker(positions, task, depth, limits, keep, cold=plan.cold)
        for task in searcher.tasks
    ]
    return workers, settings
