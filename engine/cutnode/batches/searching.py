"""Depth-limited searches of many positions, in one call of compiled code.

Between the iterations and windows of a search, a :class:`Searcher` runs Python code, which takes
as long as some hundred nodes.  That is too slow for many short searches: to label positions, or to
play many games at once, one ply of each at a time.  :func:`search_batch` searches packed
positions one after the other, with the same depths and windows and therefore the same nodes.
:class:`BatchSearcher` is its Python interface, with threads; :func:`search_many` is a shortcut for
a single call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Unpack

import numpy as np

from cutnode.compiler.memory import Memory
from cutnode.contract.dispatch import game_name, is_plain
from cutnode.contract.errors import CutnodeError, GameError, require_integer
from cutnode.contract.messages import contract_violation
from cutnode.contract.native import records
from cutnode.contract.positions import as_words, class_of_all, coerce, words_each
from cutnode.contract.stop import CALLED, MOVES, RUNNING, VALUE
from cutnode.contract.verbs import NO_MOVE
from cutnode.kernels.aspiration import iteration_depths
from cutnode.kernels.batch_search import CONTROL, result_dtype, search_batch
from cutnode.kernels.clock import Clock
from cutnode.kernels.evaluation import AnyEvaluation
from cutnode.runtime.options import check
from cutnode.runtime.running import UNLIMITED, KernelLoop, Limits, is_stopped, run
from cutnode.search.board import class_of
from cutnode.search.options import (
    LimitKeywords,
    SearcherKeywords,
    require_limit,
    thread_count,
)
from cutnode.search.searcher import Searcher
from cutnode.storage.tables import Table


class BatchSearchTask(KernelLoop):
    """One thread's searches of positions, with its own searcher."""

    def __init__(self, searcher: Searcher, run: Callable[..., None]):
        super().__init__(searcher.memory, Memory(searcher.cls, CONTROL), Clock(None))
        self.searcher = searcher
        self.run = run
        searcher.claim_table()

    def give(
        self,
        words: Any,
        count: int,
        example: Any,
        depth: int | None,
        limits: Limits,
        *,
        cold: bool,
    ) -> None:
        """Set the next positions, packed in *words*, and their limits."""
        searcher, control = self.searcher, self.control
        deepening = "deepening" in searcher.techniques
        depths = iteration_depths(depth, deepening, int(searcher.memory["deepening_parity"]))
        control["cold"] = int(cold)
        control["depth"], control["first"] = depths.stop - 1, depths.start
        control["step"] = depths.step
        control["aspiration"] = int("aspiration" in searcher.techniques)
        control["current"], control["stop_at"] = 0, -1
        searcher.memory["stop"], searcher.memory["before"] = RUNNING, 0
        searcher.memory["node_limit"] = min(limits.nodes or UNLIMITED, UNLIMITED) - 1
        self.words, self.example = words, example
        self.rows = records(count, result_dtype(searcher.cls))
        self.rows["reason"] = CALLED
        self.rows["move"] = NO_MOVE
        self.clock = Clock(limits.seconds)

    def work(self) -> None:
        searcher, example = self.searcher, self.example
        self.clock = Clock(self.clock.seconds)
        self.run(
            example,
            searcher.evaluation,
            self.words,
            self.rows,
            self.control.argument,
            searcher.memory.argument,
            searcher.table.words,
        )
        code = int(searcher.memory["stop"])
        if code in (VALUE, MOVES):
            violation = searcher.memory.position("violation", example)
            raise contract_violation(violation, code, searcher.evaluation)


def require_depth(depth: int | None, limits: Limits) -> None:
    """Raise :class:`CutnodeError` for an invalid depth, or if a search has no limit."""
    check("depth", depth)
    require_limit(depth, limits.nodes, limits.seconds, limits.stop)


class BatchKeywords(LimitKeywords, total=False):
    """The keywords of a search of many positions."""

    depth: int | None
    cold: bool
    progress: Callable[[int], None] | None


class BatchSearcher:
    """A searcher of many positions, with *threads* that share the work.

    *game* and *options* are arguments of :class:`~cutnode.search.searcher.Searcher`; each thread
    has its part of *table* MiB.  Only one caller at a time may use it.
    """

    def __init__(
        self,
        game: Any,
        *,
        table: int = 64,
        threads: int = 1,
        **options: Unpack[SearcherKeywords],
    ):
        self.cls: Any = class_of(game)
        if options.get("driver", "alphabeta") != "alphabeta":
            raise CutnodeError(f"a batch's driver must be 'alphabeta', got {options['driver']!r}")
        thread_count(threads, self.cls)
        part = (
            max(1, require_integer(table, "the size of a table in MiB") // threads)
            if table > 0
            else table
        )
        searchers = [Searcher(self.cls, table=Table(part), **options) for _ in range(threads)]
        self.row = result_dtype(self.cls)
        run = search_batch.specialise(self.cls, searchers[0].evaluation, searchers[0].outside)
        self.tasks = [BatchSearchTask(searcher, run) for searcher in searchers]
        self._busy = threading.Lock()

    def clear(self) -> None:
        """Clear the tables and everything that the searches learned."""
        for task in self.tasks:
            task.searcher.clear()

    def search(
        self,
        positions: Any,
        *,
        depth: int | None = None,
        progress: Callable[[int], None] | None = None,
        cold: bool = False,
        **limits: Unpack[LimitKeywords],
    ) -> Any:
        """Return each position's best move and score: an array of ``kernels.batch_search.FOUND``.

        In games of chance scores are floats (``EXPECTED``), and chance nodes have no move.

        *positions* are positions of the game, or an array in which they are packed one after the
        other (``cutnode.contract.positions.as_words``).  *depth*, *nodes* and *seconds* limit the
        search of each position; *stop* is an event that ends all of them: positions not searched
        by then have the ``reason`` ``CALLED`` and no move.  Ctrl-C also ends all searches, and is
        raised.  Searches reuse stored entries unless *cold*, which gives the results of a new
        searcher for each position.  With n threads, each thread searches every n-th position.
        *progress* is called regularly with the number of finished positions.
        """
        checked = Limits(**limits)
        require_depth(depth, checked)
        packed, example = self._packed(positions)
        if not len(packed):
            return np.zeros(0, self.row)
        if not self._busy.acquire(blocking=False):
            raise CutnodeError("this searcher is already searching: use one for each thread")
        try:
            return self._search(packed, example, depth, checked, progress, cold)
        finally:
            self._busy.release()

    def _packed(self, positions: Any) -> tuple[Any, Any]:
        """Return the positions, packed unless they are plain Python, and an example of them."""
        if isinstance(positions, np.ndarray) and not is_plain(self.cls):
            each = words_each(self.cls)
            if positions.dtype != np.uint64 or positions.size % each:
                raise CutnodeError(
                    f"packed positions of {game_name(self.cls)} must be an array of uint64 with "
                    f"{each} per position, got {positions.size} of {positions.dtype}"
                )
            example = coerce(self.cls._make([0] * each))
            return np.ascontiguousarray(positions).reshape(-1, each), example
        positions = list(positions)
        if not positions:
            return positions, None
        cls = class_of_all(positions)
        if cls is not self.cls:
            raise GameError(
                f"positions must be of {game_name(self.cls)} ({self.cls.__name__}), got "
                f"{cls.__name__}"
            )
        words = as_words(positions)
        if not is_plain(cls):
            words = words.reshape(len(positions), -1)
        return words, coerce(positions[0])

    def _search(
        self,
        packed: Any,
        example: Any,
        depth: int | None,
        limits: Limits,
        progress: Callable[[int], None] | None,
        cold: bool,
    ) -> Any:
        count = len(self.tasks)
        for start, task in enumerate(self.tasks):
            part = packed[start::count]
            words = part if is_plain(self.cls) else np.ascontiguousarray(part).reshape(-1)
            task.give(words, len(part), example, depth, limits, cold=cold)

        def look() -> None:
            if progress is not None:
                progress(sum(int(task.control["current"]) for task in self.tasks))

        reason = "stopped" if is_stopped(limits.stops) else ""
        if run(self.tasks, limits.stops, look=look, reason=reason) == "interrupted":
            raise KeyboardInterrupt
        found = np.zeros(len(packed), self.row)
        for start, task in enumerate(self.tasks):
            found[start::count] = task.rows.view(self.row, np.ndarray)
        return found


def search_many(
    positions: Sequence[Any],
    *,
    table: int = 64,
    threads: int = 1,
    evaluation: AnyEvaluation = None,
    techniques: Iterable[str] | None = None,
    exact: bool = False,
    **options: Unpack[BatchKeywords],
) -> Any:
    """Search positions of one class, one after the other, with limits for each.

    This makes a :class:`BatchSearcher` and calls its ``search`` once; see there for the options.
    """
    positions = list(positions)
    if not positions:
        raise CutnodeError("no positions to search")
    searcher = BatchSearcher(
        class_of_all(positions),
        table=table,
        threads=threads,
        evaluation=evaluation,
        techniques=techniques,
        exact=exact,
    )
    return searcher.search(positions, **options)
