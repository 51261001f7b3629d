"""Proofs of the values of positions by the means that suit the game.

These are a tablebase, the exact solver, df-pn, or the solver for games with cycles.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from cutnode.contract.derived import most_value, require_moves
from cutnode.contract.dispatch import game_name
from cutnode.contract.errors import CutnodeError, require_integer
from cutnode.kernels.clock import Clock
from cutnode.runtime.running import UNLIMITED, Limits
from cutnode.runtime.threads import SHARED_WORKERS, Workers
from cutnode.search.canonical_values import ValueTable, require_values
from cutnode.search.loops import LoopSolver, has_loops
from cutnode.search.options import ProofOptions, require_book, solving_engine
from cutnode.search.proof_numbers import ProofNumberSolver
from cutnode.search.results import Result
from cutnode.search.resuming import Outlook, ProofJournal, Resumption
from cutnode.search.solving import Goal, Resources, Solver, require_solvable
from cutnode.search.sums import SumSolver
from cutnode.search.tablebase_results import result_of
from cutnode.storage.books import Book
from cutnode.storage.tables import Table
from cutnode.tablebases.tablebase import Tablebase

TRIALS = ("alphabeta", "pn")
"""The engines that ``"auto"`` tries alternately."""

TRIAL_NODES = 20_000
"""The nodes of an engine's first turn."""

TRIAL_GROWTH = 4
"""The factor by which each turn is longer than the engine's last."""


class GameSolver:
    """The solver of one game: it looks positions up in its *tablebase* and proves all others.

    *memory* is the limit in bytes for positions solved in memory, in games with cycles.  Known
    *values* of parts are for the solver of sums.  An *interpreted* alpha-beta solver runs as plain
    Python.  Proofs are resumed from the file *journal*.
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
        values: ValueTable | None = None,
        interpreted: bool = False,
        journal: str | os.PathLike[str] | None = None,
    ):
        require_book(book, cls)
        require_values(values, cls)
        require_solvable(cls)
        if memory is not None and require_integer(memory, "memory in bytes") < 0:
            raise CutnodeError(f"memory must be 0 bytes or more, got {memory}")
        self.cls = cls
        self.resources = Resources(cls, table, threads, workers, interpreted)
        self.book = book
        self.tablebase = tablebase
        self.memory = memory
        self.values = values
        self.journal = journal
        self.told: Callable[[str], None] = lambda note: None
        """Called with a note of what the journal held."""
        self._resumption: Resumption | None = None
        self._solvers: dict[str, Solver | LoopSolver | ProofNumberSolver] = {}
        self._running: Solver | LoopSolver | ProofNumberSolver | None = None
        self._stopped = False

    def prepare(self, engine: str | None = None) -> None:
        """Compile the code of an engine now, by default of the game's usual one."""
        engine = solving_engine(self.cls, engine)
        for name in TRIALS if engine == "auto" else (engine,):
            self._solver(name)

    def stop(self) -> None:
        """End the running proof, from any thread."""
        self._stopped = True
        if self._running is not None:
            self._running.stop()

    def progress(self) -> tuple[int, int | None, int | None]:
        """Return the nodes of the running proof, and the bounds proven so far."""
        return (0, None, None) if self._running is None else self._running.progress()

    def work(self, position: Any, target: int, engine: str | None = None) -> int:
        """Return the binary logarithm of the nodes that a question took, as far as the table knows.

        The question is whether the value is at least *target*; the answer 0 may mean unknown.
        """
        solver = self._solver(solving_engine(self.cls, engine))
        return 0 if isinstance(solver, LoopSolver) else solver.work(position, target)

    def prove(
        self, kind: str, position: Any, options: ProofOptions, stop: threading.Event | None = None
    ) -> Result:
        """Carry out a proof of some kind with its *options*; the event *stop* ends it as well.

        ``"solve"`` proves the value of the position, and ``"analyse"`` the value of every legal
        move as well, within the limits in total.
        """
        engine = solving_engine(self.cls, options.engine)
        goal = Goal(position, options.weak, kind == "analyse", options.at_least)
        limits = options.limits(stop)
        self._stopped = False
        require_value(position, goal.at_least)
        require_moves(position)
        result = self._known(goal)
        if result is None and self.journal is not None:
            result = self._resume(self.journal, goal, limits, engine)
        elif result is None and engine == "auto":
            result = self._try_all(goal, limits)
        elif result is None:
            with self._solving(engine) as solver:
                result = solver.prove(goal, limits)
        return result if goal.at_least is None else replace(result, at_least=goal.at_least)

    @contextlib.contextmanager
    def _solving(self, engine: str) -> Iterator[Solver | LoopSolver | ProofNumberSolver]:
        """Yield the solver for an engine, which runs in the block."""
        self._running = solver = self._solver(engine)
        try:
            yield solver
        finally:
            self._running = None

    def _resume(
        self, path: str | os.PathLike[str], goal: Goal, limits: Limits, engine: str
    ) -> Result:
        """Continue the proof in a journal, and keep there what is proven."""
        clock = Clock(limits.seconds)
        with ProofJournal(path, goal.position, engine) as journal:
            resumption = Resumption(journal, self.resources.table, engine, goal)
            self._resumption = resumption
            self.told(journal.note())
            with resumption.keeping(self.progress, self.stop):
                if not journal.first:
                    with self._solving(engine) as solver:
                        resumption.help(solver, limits)
                left = None if limits.seconds is None else max(clock.left(), 1e-3)
                limits = replace(limits, seconds=left)
                if engine == "auto":
                    result = self._try_all(goal, limits)
                else:
                    with self._solving(engine) as solver:
                        result = solver.prove(goal, limits)
            resumption.look(result.nodes, clock.elapsed())
        if journal.first:
            return result
        return replace(result, nodes=resumption.helped + result.nodes, seconds=clock.elapsed())

    @property
    def outlook(self) -> Outlook | None:
        """How far the proof is, according to its journal; None if that is unknown."""
        return None if self._resumption is None else self._resumption.outlook

    def _solver(self, engine: str) -> Solver | LoopSolver | ProofNumberSolver:
        """Return the solver for an engine, made when it is first needed."""
        if self.values is not None and engine != "sums":
            raise CutnodeError(f"values are for engine=sums, not {engine}")
        if engine not in self._solvers:
            resources = self.resources
            if engine == "sums":
                self._solvers[engine] = SumSolver(resources, self.values)
            elif engine == "pn":
                self._solvers[engine] = ProofNumberSolver(resources, self.tablebase)
            elif has_loops(self.cls):
                self._solvers[engine] = LoopSolver(resources, self.memory)
            else:
                self._solvers[engine] = Solver(resources, self.book, self.tablebase)
        return self._solvers[engine]

    def _try_all(self, goal: Goal, limits: Limits) -> Result:
        """Alternate between the engines, with more nodes each time, until one finds a proof.

        Bounds proven in any turn count in the result.  Only df-pn starts from the known bounds:
        alpha-beta chooses its questions by the whole interval, and finds its earlier answers in the
        table.
        """
        self.prepare("auto")
        clock = Clock(limits.seconds)
        nodes, share = 0, TRIAL_NODES
        tried: dict[str, int] = {}
        found: Result | None = None
        while True:
            for engine in TRIALS:
                left = None if limits.nodes is None else max(limits.nodes - nodes, 1)
                seconds = limits.seconds and max(limits.seconds - clock.elapsed(), 1e-3)
                turn = share if left is None else min(share, left)
                most = Limits(turn, seconds, limits.stop, limits.nodes or UNLIMITED)
                known = None if found is None else (found.lower, found.upper)
                with self._solving(engine) as solver:
                    result = solver.prove(goal, most, known if engine == "pn" else None)
                nodes += result.nodes
                tried[engine] = result.nodes
                ended = limits.nodes is not None and nodes >= limits.nodes
                why = _why(engine, tried, result)
                found = result if found is None else _joined(found, result)
                if result.reason != "node limit" or ended or self._stopped:
                    return replace(found, nodes=nodes, seconds=clock.elapsed(), why=why)
            share *= TRIAL_GROWTH

    def _known(self, goal: Goal) -> Result | None:
        if self.tablebase is None:
            return None
        clock = Clock(None)
        found = result_of(self.tablebase, goal.position, weak=goal.weak, scores=goal.scores)
        return None if found is None else replace(found, seconds=clock.elapsed())


def require_value(position: Any, at_least: int | None) -> None:
    """Raise :class:`CutnodeError` if no position of the game can have this value."""
    most = most_value(position)
    if at_least is not None and abs(at_least) > most:
        raise CutnodeError(
            f"values of {game_name(type(position))} are {-most} to {most}, got {at_least}"
        )


def _joined(before: Result, result: Result) -> Result:
    """Return the result of a turn, completed by what earlier turns found."""
    joined = replace(
        result,
        lower=max(before.lower, result.lower),
        upper=min(before.upper, result.upper),
        best_move=before.best_move if result.best_move is None else result.best_move,
    )
    if before.scores is not None and result.scores is not None:
        scores = dict(before.scores)
        scores.update((move, score) for move, score in result.scores.items() if score is not None)
        joined = replace(joined, scores=scores)
    if joined.lower == joined.upper:
        joined = replace(joined, value=joined.lower)
    still_open = before.target is not None and joined.lower < before.target <= joined.upper
    if result.target is None and not result.answered and still_open:
        joined = replace(joined, target=before.target, numbers=before.numbers)
    return joined


def _why(engine: str, tried: dict[str, int], result: Result) -> str:
    """Return in words why this engine's result was taken."""
    others = " and ".join(f"{name} {nodes:,}" for name, nodes in tried.items() if name != engine)
    if result.reason != "proven":
        return f"no engine found a proof in the {sum(tried.values()):,} nodes of the last turns"
    proven = f"proved it with {result.nodes:,} nodes in its last turn"
    return f"{proven}; no proof: {others}" if others else proven
