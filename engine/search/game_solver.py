"""Proofs of the values of positions, by whatever the game allows: tablebase, solver, or loops."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.kernels.clock import Clock
from engine.runtime.running import Limits
from engine.runtime.threads import SHARED_WORKERS, Workers
from engine.search.loops import LoopSolver, has_loops
from engine.search.options import require_book
from engine.search.proof_numbers import ProofNumberSolver
from engine.search.results import Result
from engine.search.solving import Solver, require_solvable
from engine.search.tablebase_results import result_of
from engine.storage.books import Book
from engine.storage.tables import Table
from engine.tablebases.tablebase import Tablebase

__all__ = ["GameSolver"]

TRIALS = ("alphabeta", "pn")
"""The engines that are tried in turn."""

TRIAL_NODES = 20_000
TRIAL_GROWTH = 4
"""The nodes of an engine's first turn, and by how much the next is longer."""


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
        self.cls = cls
        self.table = table
        self.threads = threads
        self.workers = workers
        self.book = book
        self.tablebase = tablebase
        self.memory = memory
        self._solvers: dict[str, Solver | LoopSolver | ProofNumberSolver] = {}
        self._running: Solver | LoopSolver | ProofNumberSolver | None = None
        self._stopped = False

    def prepare(self, engine: str = "alphabeta") -> None:
        """Have compiled code ready."""
        for name in TRIALS if engine == "auto" else (engine,):
            self._solver(name)

    def stop(self) -> None:
        """End what runs now, from any thread."""
        self._stopped = True
        if self._running is not None:
            self._running.stop()

    def progress(self) -> tuple[int, int | None, int | None]:
        """Return the nodes of the proof that runs, and the bounds proven so far."""
        return (0, None, None) if self._running is None else self._running.progress()

    def solve(
        self, position: Any, *, weak: bool, limits: Limits, engine: str = "alphabeta"
    ) -> Result:
        """Prove the value of a position."""
        return self._known(position, weak, False) or self._prove(
            "solve", engine, position, weak, limits
        )

    def analyse(
        self, position: Any, *, weak: bool, limits: Limits, engine: str = "alphabeta"
    ) -> Result:
        """:meth:`solve`, and prove the value of every legal move; the limits are for all of it."""
        return self._known(position, weak, True) or self._prove(
            "analyse", engine, position, weak, limits
        )

    def _prove(self, kind: str, engine: str, position: Any, weak: bool, limits: Limits) -> Result:
        self._stopped = False
        if engine == "auto":
            return self._try_all(kind, position, weak, limits)
        self._running = solver = self._solver(engine)
        prove = solver.solve if kind == "solve" else solver.analyse
        try:
            return prove(position, weak=weak, limits=limits)
        finally:
            self._running = None

    def _solver(self, engine: str) -> Solver | LoopSolver | ProofNumberSolver:
        """Return a solver of the game, which is made when it is needed first."""
        if engine not in self._solvers:
            about = self.cls, self.table, self.threads, self.workers
            if engine == "pn":
                self._solvers[engine] = ProofNumberSolver(*about, tablebase=self.tablebase)
            elif has_loops(self.cls):
                self._solvers[engine] = LoopSolver(*about, memory=self.memory)
            else:
                self._solvers[engine] = Solver(*about, book=self.book, tablebase=self.tablebase)
        return self._solvers[engine]

    def _try_all(self, kind: str, position: Any, weak: bool, limits: Limits) -> Result:
        """Give the engines nodes by turns, more each time, until one has a proof."""
        self.prepare("auto")
        clock = Clock(limits.seconds)
        nodes, share = 0, TRIAL_NODES
        tried: dict[str, int] = {}
        while True:
            for engine in TRIALS:
                left = None if limits.nodes is None else max(limits.nodes - nodes, 1)
                seconds = limits.seconds and max(limits.seconds - clock.elapsed(), 1e-3)
                most = Limits(share if left is None else min(share, left), seconds, limits.stop)
                result = self._prove(kind, engine, position, weak, most)
                nodes += result.nodes
                tried[engine] = result.nodes
                ended = limits.nodes is not None and nodes >= limits.nodes
                if result.reason != "node limit" or ended or self._stopped:
                    why = _why(engine, tried, result)
                    return replace(result, nodes=nodes, seconds=clock.elapsed(), why=why)
            share *= TRIAL_GROWTH

    def _known(self, position: Any, weak: bool, scores: bool) -> Result | None:
        if self.tablebase is None:
            return None
        clock = Clock(None)
        found = result_of(self.tablebase, position, weak=weak, scores=scores)
        return None if found is None else replace(found, seconds=clock.elapsed())


def _why(engine: str, tried: dict[str, int], result: Result) -> str:
    """Return why an engine's result is taken, in words."""
    others = " and ".join(f"{name} {nodes:,}" for name, nodes in tried.items() if name != engine)
    if result.reason != "proven":
        return f"no engine had a proof after {sum(tried.values()):,} nodes in their last turns"
    proven = f"proved it with {result.nodes:,} nodes in its last turn"
    return f"{proven}; without a proof: {others}" if others else proven
