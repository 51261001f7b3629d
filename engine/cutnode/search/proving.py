"""The task of one thread that proves values: the exact solver's kernel and its memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cutnode.compiler.memory import Memory
from cutnode.contract.derived import most_value
from cutnode.contract.dispatch import game_constant, value_limit
from cutnode.contract.messages import contract_violation
from cutnode.contract.native import records
from cutnode.contract.positions import as_words, coerce
from cutnode.contract.stop import CALLED, MOVES, RUNNING, VALUE
from cutnode.contract.verbs import INFINITE
from cutnode.kernels.clock import Clock, seconds_per_tick
from cutnode.kernels.profiles import profile_of
from cutnode.kernels.solver import (
    ENLARGE_TABLE,
    PREPARE_TABLE,
    SINGLE_THREADED,
    result_dtype,
    search_dtype,
    solve_batch,
)
from cutnode.runtime.running import UNLIMITED, KernelLoop, Limits
from cutnode.search.scouting import Scouting
from cutnode.storage.tables import Table
from cutnode.tablebases.layer_tables import POINTS
from cutnode.tablebases.tablebase import Tablebase

LINE_FACTOR = 2
"""The proof of a value and the search for its line may together visit so many times the nodes to
which the proof is limited: where a game's ``bounds`` know who wins, the line is all the work."""


def solver_memory(cls: Any, tablebase: Tablebase | None = None) -> Memory:
    """Return the memory of a thread that solves positions of a class.

    Lines end in the *tablebase* if it has values, and not only who wins where they are larger.
    """
    memory = Memory(cls, search_dtype(cls))
    if tablebase is not None and (tablebase.kind == POINTS or value_limit(cls) == 1):
        tablebase.lend(memory.words)
    memory["plies"] = game_constant(cls, "MAX_PLIES", 512)
    profile = profile_of(cls)
    memory["table_plies"], memory["enhanced_plies"] = profile.solver_plies(cls)
    memory["crowding"] = profile.crowding
    return memory


class ProofSettings(NamedTuple):
    """The settings of a proof, explained at ``cutnode.kernels.solver.solve_batch``."""

    weak: bool = False
    line: int = 0
    cold: bool = False
    sharing: int = SINGLE_THREADED


class ProofTask(KernelLoop):
    """One thread's proofs of the values of some positions, with a table and a memory."""

    rate = 0.0

    def __init__(
        self,
        positions: Sequence[Any],
        table: Table,
        limits: Limits,
        settings: ProofSettings,
        *,
        known: tuple[int, int] | None = None,
        scouting: Scouting | None = None,
        memory: Memory | None = None,
    ):
        self.example = coerce(positions[0])
        self.words = as_words(positions)
        self.table = table
        table.claim(type(self.example))
        self.settings = settings
        cls: Any = type(self.example)
        self.run = solve_batch.specialise(cls)
        self.rows = records(len(positions), result_dtype(cls))
        limit = most_value(self.example)
        self.rows["lower"], self.rows["upper"] = known or (-limit, limit)
        self.rows["guess"] = INFINITE if scouting is None else scouting.guesses
        self.rows["reason"] = CALLED
        memory = solver_memory(cls) if memory is None else memory
        super().__init__(memory, memory, Clock(limits.seconds, held=True))
        self.search = memory.words
        self.search["stop"][0] = RUNNING
        self.most_nodes = min(limits.nodes or UNLIMITED, UNLIMITED)
        in_all = limits.whole or limits.nodes or UNLIMITED
        self.most_with_line = min(in_all * LINE_FACTOR, UNLIMITED)
        self.search["node_limit"][0] = self.most_nodes - 1
        self.search["line_limit"][0] = self.most_with_line - 1
        self.search["scouted"][0] = 0 if scouting is None else scouting.purpose
        self.search["stop_at"][0] = -1
        self.seconds = np.zeros(len(positions))
        self.rivals: Sequence[ProofTask] = ()
        """Tasks with the same position, which end when this one has proven its value."""

    def work(self) -> None:
        """Solve the positions.

        :class:`ContractError` if one of those that are met breaks the contract.
        """
        self.clock.release()
        self._solve(self.settings.sharing)
        if self.rivals and self.rows[0]["reason"] == RUNNING:
            for rival in self.rivals:
                rival.stop()

    def attempt(self, nodes: int) -> bool:
        """Solve the only position in this thread, with so many nodes at most.

        Return whether that was enough, or all that the limits allow.  What is proven stays.
        """
        self.search["node_limit"][0] = min(nodes, self.most_nodes) - 1
        self.search["line_limit"][0] = nodes
        self._solve(SINGLE_THREADED)
        done = self.search["stop"][0] == RUNNING or nodes >= self.most_nodes
        self.search["node_limit"][0] = self.most_nodes - 1
        self.search["line_limit"][0] = self.most_with_line - 1
        self.search["stop"][0], self.search["stop_at"][0] = RUNNING, -1
        return bool(done)

    def _solve(self, sharing: int) -> None:
        self._call(self.rows, sharing)
        if self.search["stop"][0] in (VALUE, MOVES):
            violation = self.memory.position("violation", self.example)
            raise contract_violation(violation, int(self.search["stop"][0]))
        self.seconds = self.rows["ticks"] * self.seconds_per_tick()

    def seconds_per_tick(self) -> float:
        """Return the rate of the counter, measured once in a process."""
        if not ProofTask.rate:
            ProofTask.rate = seconds_per_tick(self._read_counter)
        return ProofTask.rate

    def _read_counter(self) -> int:
        self._call(self.rows[:0], SINGLE_THREADED)
        return int(self.search["ticks"][0])

    def open_table(self) -> None:
        """Make the table ready for several threads; before any of them starts."""
        self._call(self.rows[:0], PREPARE_TABLE)

    def enlarge_table(self, entries: int) -> None:
        """Make room for so many more entries of threads that go on with a search."""
        self.search["node_limit"][0] = entries
        self._call(self.rows[:0], ENLARGE_TABLE)
        self.search["node_limit"][0] = self.most_nodes - 1

    def _call(self, rows: np.ndarray, sharing: int) -> None:
        memory, table = self.memory.argument, self.table.words
        weak, line, cold, _ = self.settings
        self.run(self.example, self.words, rows, weak, line, cold, sharing, memory, table)
