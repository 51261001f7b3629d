"""Running compiled searches in threads, and ending them in time.

A kernel runs without Python's lock in a thread of its own while the calling thread
watches the clock, a stop event, and Ctrl-C.  A search is told to end by a word in its
memory that it reads at every node.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.compiler.memory import Memory
from engine.contract.derived import most_value
from engine.contract.dispatch import game_constant
from engine.contract.errors import CutnodeError, require_integer
from engine.contract.messages import contract_violation
from engine.contract.native import records
from engine.contract.positions import as_words, coerce
from engine.contract.stop import CALLED, MOVES, RUNNING, TIME, VALUE
from engine.contract.verbs import INFINITE
from engine.kernels.clock import Clock, seconds_per_tick
from engine.kernels.profiles import profile_of
from engine.kernels.solver import (
    PREPARE_TABLE,
    SINGLE_THREADED,
    result_dtype,
    search_dtype,
    solve_batch,
)
from engine.search.threads import SHARED_WORKERS, Workers
from engine.storage.tables import Table

__all__ = [
    "Limits",
    "Scouting",
    "Solver",
    "require_limit",
    "run",
    "run_watched",
    "solver_memory",
    "watch",
]

UNLIMITED = 1 << 62


@dataclass(frozen=True, slots=True)
class Limits:
    """How far the search of a position may go; None for no limit."""

    nodes: int | None = None
    seconds: float | None = None
    stop: threading.Event | None = None

    def __post_init__(self) -> None:
        if self.nodes is not None and require_integer(self.nodes, "a node limit") < 1:
            raise CutnodeError(f"a node limit is at least 1, not {self.nodes}")
        if self.seconds is not None:
            if not isinstance(self.seconds, int | float) or not 0 < self.seconds < math.inf:
                raise CutnodeError(
                    f"a time limit is a number of seconds, more than 0, not {self.seconds!r}"
                )
        if self.stop is not None and not isinstance(self.stop, threading.Event):
            raise CutnodeError(f"stop is a threading.Event, not {self.stop!r}")


def require_limit(*limits: object) -> None:
    """:class:`CutnodeError` if nothing limits a search: all of *limits* are None."""
    if limits.count(None) == len(limits):
        raise CutnodeError("a search needs a limit: depth, nodes, seconds, or stop")


@dataclass(frozen=True, slots=True)
class Scouting:
    """What searches of limited depth say of positions, for those who prove their values."""

    guesses: list[int]
    """The score of each position, or ``INFINITE`` if it was not searched."""
    purpose: int
    """Part of the keys under which the searches left their moves in the table."""
    nodes: list[int]
    seconds: list[float]
    left: Limits
    """The limits that are left to the proof of each."""
    ended: str
    """Why the searches, and so the proofs, were ended early; "" if they were not."""


def solver_memory(cls: Any) -> Memory:
    """What a thread works in that solves positions of a class."""
    memory = Memory(cls, search_dtype(cls))
    memory["plies"] = game_constant(cls, "MAX_PLIES", 512)
    memory["line_limit"] = UNLIMITED
    memory["table_plies"], memory["enhanced_plies"] = profile_of(cls).solver_plies(cls)
    return memory


class Solver:
    """One thread's part of the work: some positions, a table, and the search's memory."""

    rate = 0.0

    def __init__(
        self,
        positions: Sequence[Any],
        table: Table,
        limits: Limits,
        *,
        weak: bool,
        line: int,
        cold: bool,
        sharing: int,
        known: tuple[int, int] | None = None,
        scouting: Scouting | None = None,
        memory: Memory | None = None,
    ):
        self.example = coerce(positions[0])
        self.words = as_words(positions)
        self.table = table
        table.claim(type(self.example))
        self.options = (weak, line, cold)
        self.sharing = sharing
        cls: Any = type(self.example)
        self.run = solve_batch.specialise(cls)
        self.rows = records(len(positions), result_dtype(cls))
        limit = most_value(self.example)
        self.rows["lower"], self.rows["upper"] = known or (-limit, limit)
        self.rows["guess"] = INFINITE if scouting is None else scouting.guesses
        self.rows["reason"] = CALLED
        self.memory = solver_memory(cls) if memory is None else memory
        self.search = self.memory.words
        self.search["stop"][0] = RUNNING
        self.most_nodes = min(limits.nodes or UNLIMITED, UNLIMITED)
        self.search["node_limit"][0] = self.most_nodes - 1
        self.search["scouted"][0] = 0 if scouting is None else scouting.purpose
        self.search["stop_at"][0] = -1
        self.clock = Clock(limits.seconds, held=True)
        self.seconds = np.zeros(len(positions))
        self.out_of_time: set[int] = set()

    def __call__(self) -> None:
        """Solve the positions; runs without Python's lock.

        :class:`ContractError` if one of those that are met breaks the contract.
        """
        self.clock.release()
        self._solve(self.sharing)

    def attempt(self, nodes: int) -> bool:
        """Whether so many nodes, in this thread, are enough to solve the only position.

        Or all that there may be.  What is proven stays.
        """
        self.search["node_limit"][0] = min(nodes, self.most_nodes) - 1
        self.search["line_limit"][0] = nodes
        self._solve(SINGLE_THREADED)
        done = self.search["stop"][0] == RUNNING or nodes >= self.most_nodes
        self.search["node_limit"][0] = self.most_nodes - 1
        self.search["line_limit"][0] = UNLIMITED
        self.search["stop"][0], self.search["stop_at"][0] = RUNNING, -1
        return bool(done)

    def _solve(self, sharing: int) -> None:
        self._call(self.rows, sharing)
        if self.search["stop"][0] in (VALUE, MOVES):
            violation = self.memory.position("violation", self.example)
            raise contract_violation(violation, int(self.search["stop"][0]))
        self.seconds = self.rows["ticks"] * self.seconds_per_tick()

    def seconds_per_tick(self) -> float:
        """The rate of the counter, measured once in a process."""
        if not Solver.rate:
            Solver.rate = seconds_per_tick(self._read_counter)
        return Solver.rate

    def _read_counter(self) -> int:
        self._call(self.rows[:0], SINGLE_THREADED)
        return int(self.search["ticks"][0])

    def open_table(self) -> None:
        """Make the table ready for several threads; before any of them starts."""
        self._call(self.rows[:0], PREPARE_TABLE)

    def _call(self, rows: np.ndarray, sharing: int) -> None:
        memory, table = self.memory.argument, self.table.words
        self.run(self.example, self.words, rows, *self.options, sharing, memory, table)

    def check_time(self) -> None:
        """End the search of the current position if its time is over."""
        current = int(self.search["current"][0])
        if self.clock.is_over(current) and current not in self.out_of_time:
            self.out_of_time.add(current)
            self.search["stop_at"][0] = current
            self.search["stop"][0] = TIME

    def end(self) -> None:
        """End the search for good."""
        self.search["stop_at"][0] = -1
        self.search["stop"][0] = CALLED


def run(
    solvers: Sequence[Solver],
    limits: Limits,
    *,
    first_wins: bool = False,
    ended: str = "",
    workers: Workers = SHARED_WORKERS,
) -> str:
    """Run solvers, each in a thread, to their end; return why they were ended early, or "".

    *first_wins*: they all work on the same, and the first to prove it ends the others.
    *ended*: why they are to end in a moment, if that is known already.
    """

    def work(solver: Solver) -> None:
        solver()
        if first_wins and solver.rows[0]["reason"] == RUNNING:
            for other in solvers:
                if other is not solver:
                    other.end()

    def look() -> str:
        for solver in solvers:
            solver.check_time()
        return "stopped" if limits.stop is not None and limits.stop.is_set() else ""

    def end() -> None:
        for solver in solvers:
            solver.end()

    def patience() -> float:
        return min(solver.clock.patience() for solver in solvers)

    tasks = [functools.partial(work, solver) for solver in solvers]
    return workers.run(tasks, look, end, patience, ended)


def watch(task: Callable[[], Any], memory: Memory) -> Any:
    """Run a kernel in a thread, and return its answer; Ctrl-C ends it and is raised here."""
    answers: list[Any] = []

    def end() -> None:
        memory.words["stop"][0] = CALLED

    if SHARED_WORKERS.run([lambda: answers.append(task())], lambda: "", end, Clock(None).patience):
        raise KeyboardInterrupt
    return answers[0]


def run_watched(
    task: Callable[[], Any],
    memory: Memory,
    clock: Clock,
    stops: Sequence[threading.Event],
    workers: Workers = SHARED_WORKERS,
) -> str:
    """Run a kernel in a thread; return why its ``stop`` was set, or ""."""

    def look() -> str:
        if any(stop.is_set() for stop in stops):
            return "stopped"
        return "time limit" if clock.is_over(0) else ""

    def end() -> None:
        memory.words["stop"][0] = CALLED

    return workers.run([task], look, end, clock.patience)
