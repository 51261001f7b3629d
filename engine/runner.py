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

from engine.clock import Clock, seconds_per_tick
from engine.contract import INFINITE, game_constant, most_value
from engine.errors import CutnodeError, whole
from engine.limits import CALLED, MOVES, RUNNING, TIME, VALUE
from engine.memory import Memory
from engine.native import records
from engine.parameters import ENHANCED_PLIES, TABLE_PLIES
from engine.people import accusation
from engine.positions import as_words, coerce
from engine.solver import ALONE, OPENING, plies_for, result_dtype, search_dtype, solve_batch
from engine.table import Table

__all__ = ["Limits", "Scouting", "Solver", "in_threads", "run", "run_watched", "watch"]

UNLIMITED = 1 << 62


@dataclass(frozen=True, slots=True)
class Limits:
    """How far the search of a position may go; None for no limit."""

    nodes: int | None = None
    seconds: float | None = None
    stop: threading.Event | None = None

    def __post_init__(self) -> None:
        if self.nodes is not None and whole(self.nodes, "a node limit") < 1:
            raise CutnodeError(f"a node limit is at least 1, not {self.nodes}")
        if self.seconds is not None:
            if not isinstance(self.seconds, int | float) or not 0 < self.seconds < math.inf:
                raise CutnodeError(
                    f"a time limit is a number of seconds, more than 0, not {self.seconds!r}"
                )
        if self.stop is not None and not isinstance(self.stop, threading.Event):
            raise CutnodeError(f"stop is a threading.Event, not {self.stop!r}")


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
        self.like = coerce(positions[0])
        self.words = as_words(positions)
        self.table = table
        table.claim(type(self.like))
        self.options = (weak, line, cold)
        self.sharing = sharing
        cls: Any = type(self.like)
        self.run = solve_batch.specialise(cls)
        self.rows = records(len(positions), result_dtype(cls))
        limit = most_value(self.like)
        self.rows["lower"], self.rows["upper"] = known or (-limit, limit)
        self.rows["guess"] = INFINITE if scouting is None else scouting.guesses
        self.rows["reason"] = CALLED
        self.memory = Memory(cls, search_dtype(cls)) if memory is None else memory
        self.search = self.memory.words
        self.search["stop"][0] = RUNNING
        self.search["node_limit"][0] = min(limits.nodes or UNLIMITED, UNLIMITED) - 1
        self.search["plies"][0] = game_constant(cls, "MAX_PLIES", 512)
        for name, usual in (("TABLE_PLIES", TABLE_PLIES), ("ENHANCED_PLIES", ENHANCED_PLIES)):
            plies = game_constant(cls, name, plies_for(cls, usual))
            self.search[name.lower()][0] = plies
        self.search["scouted"][0] = 0 if scouting is None else scouting.purpose
        self.search["stop_at"][0] = -1
        self.clock = Clock(limits.seconds)
        self.seconds = np.zeros(len(positions))
        self.out_of_time: set[int] = set()

    def __call__(self) -> None:
        """Solve the positions; runs without Python's lock.

        :class:`ContractError` if one of those that are met breaks the contract.
        """
        self.clock = Clock(self.clock.seconds)
        self._call(self.rows, self.sharing)
        if self.search["stop"][0] in (VALUE, MOVES):
            culprit = self.memory.position("culprit", self.like)
            raise accusation(culprit, int(self.search["stop"][0]))
        self.seconds = self.rows["ticks"] * self.seconds_per_tick()

    def seconds_per_tick(self) -> float:
        """The rate of the counter, measured once in a process."""
        if not Solver.rate:
            Solver.rate = seconds_per_tick(self._read_counter)
        return Solver.rate

    def _read_counter(self) -> int:
        self._call(self.rows[:0], ALONE)
        return int(self.search["ticks"][0])

    def open_table(self) -> None:
        """Make the table ready for several threads; before any of them starts."""
        self._call(self.rows[:0], OPENING)

    def _call(self, rows: np.ndarray, sharing: int) -> None:
        memory, table = self.memory.argument, self.table.words
        self.run(self.like, self.words, rows, *self.options, sharing, memory, table)

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
    progress: Callable[[int], None] | None = None,
    ended: str = "",
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
        if progress is not None:
            progress(sum(int(solver.search["current"][0]) for solver in solvers))
        return "stopped" if limits.stop is not None and limits.stop.is_set() else ""

    def end() -> None:
        for solver in solvers:
            solver.end()

    def patience() -> float:
        return min(solver.clock.patience() for solver in solvers)

    tasks = [functools.partial(work, solver) for solver in solvers]
    return in_threads(tasks, look, end, patience, ended)


def watch(task: Callable[[], Any], memory: Memory) -> Any:
    """Run a kernel in a thread, and return its answer; Ctrl-C sets its ``stop``."""
    answers: list[Any] = []

    def end() -> None:
        memory.words["stop"][0] = CALLED

    in_threads([lambda: answers.append(task())], lambda: "", end, Clock(None).patience)
    return answers[0]


def run_watched(
    task: Callable[[], Any],
    memory: Memory,
    clock: Clock,
    stops: Sequence[threading.Event],
) -> str:
    """Run a kernel in a thread; return why its ``stop`` was set, or ""."""

    def look() -> str:
        if any(stop.is_set() for stop in stops):
            return "stopped"
        return "time limit" if clock.is_over(0) else ""

    def end() -> None:
        memory.words["stop"][0] = CALLED

    return in_threads([task], look, end, clock.patience)


def in_threads(
    tasks: Sequence[Callable[[], None]],
    look: Callable[[], str],
    end: Callable[[], None],
    patience: Callable[[], float],
    reason: str = "",
) -> str:
    """Run tasks to their end, looking after them after so many seconds of *patience*.

    *look* may give a *reason* to end them early, and so does Ctrl-C; *end* does it.
    Returns the reason, or "".
    """
    failures: list[BaseException] = []
    # Not Thread.join: a join that Ctrl-C interrupts can take a running thread for dead.
    finished = [threading.Event() for _ in tasks]

    def guarded(task: Callable[[], None], done: threading.Event) -> None:
        try:
            task()
        except BaseException as error:
            failures.append(error)
            end()
        finally:
            done.set()

    for pair in zip(tasks, finished, strict=True):
        threading.Thread(target=guarded, args=pair, daemon=True).start()
    for done in finished:
        while not done.is_set():
            try:
                done.wait(patience())
                reason = reason or look()
            except KeyboardInterrupt:
                reason = "interrupted"
            if reason:
                end()
    if failures:
        raise failures[0]
    return reason
