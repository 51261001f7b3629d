"""Proofs of the values of positions, by whatever the game allows: tablebase, solver, or loops."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.kernels.clock import Clock
from engine.runtime.running import Limits
from engine.runtime.threads import SHARED_WORKERS, Workers
from engine.search.loops import LoopSolver, has_loops
from engine.search.options import require_book
from engine.search.results import Result
from engine.search.solving import Solver, require_solvable
from engine.search.tablebase_results import result_of
from engine.storage.books import Book
from engine.storage.tables import Table
from engine.tablebases.tablebase import Tablebase

__all__ = ["GameSolver"]


class GameSolver:
    """The solver of one game: positions in its *tablebase* have an answer, others are proven.

    *memory* bounds the positions that are solved in memory where play can go round, in bytes.
    """

    def __init__(
        self,
        cls: Any,
        table: Table,
        threads: int = 1,
        workers: Workers = SHARED_WORKERS,
        *,
        book: Book | None = None,
        tablebase: Tablebase | None = None,
        memory: int | None = None,
    ):
        require_book(book, cls)
        require_solvable(cls)
        self.tablebase = tablebase
        self._solver: Solver | LoopSolver
        if has_loops(cls):
            self._solver = LoopSolver(cls, table, threads, workers, memory=memory)
        else:
            self._solver = Solver(cls, table, threads, workers, book=book, tablebase=tablebase)

    def stop(self) -> None:
        """End what runs now, from any thread."""
        self._solver.stop()

    def progress(self) -> tuple[int, int | None, int | None]:
        """Return the nodes of the proof that runs, and the bounds proven so far."""
        return self._solver.progress()

    def solve(self, position: Any, *, weak: bool, limits: Limits) -> Result:
        """Prove the value of a position."""
        return self._known(position, weak, False) or self._solver.solve(
            position, weak=weak, limits=limits
        )

    def analyse(self, position: Any, *, weak: bool, limits: Limits) -> Result:
        """:meth:`solve`, and prove the value of every legal move; the limits are for all of it."""
        return self._known(position, weak, True) or self._solver.analyse(
            position, weak=weak, limits=limits
        )

    def _known(self, position: Any, weak: bool, scores: bool) -> Result | None:
        if self.tablebase is None:
            return None
        clock = Clock(None)
        found = result_of(self.tablebase, position, weak=weak, scores=scores)
        return None if found is None else replace(found, seconds=clock.elapsed())
