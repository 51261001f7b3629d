"""Calls of the kernel for one search, within its limits.

Short calls run in the caller's thread, longer ones in a thread of their own that is looked after.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from cutnode.contract.messages import contract_violation
from cutnode.contract.stop import MOVES, NODES, PLIES, PROBABILITIES, RUNNING, VALUE
from cutnode.contract.verbs import INFINITE, NO_MOVE
from cutnode.kernels.clock import Clock
from cutnode.kernels.parameters import INLINE_NODES
from cutnode.runtime.running import UNLIMITED, KernelCall, Limits, is_stopped, run
from cutnode.search.compiled_search import CompiledSearch


class LimitedCalls:
    """The calls of the kernel for one search, and the reason why no more follow."""

    def __init__(self, search: CompiledSearch, position: Any, limits: Limits, clock: Clock):
        self.search = search
        self.position = position
        self.clock = clock
        self.most_nodes = min(limits.nodes or UNLIMITED, UNLIMITED)
        self.stops = [*limits.stops, search.stopped]
        self.reason = ""
        self.first = 1
        self.assisting = False
        self.reached: float = 0
        """What the last call of the kernel returned, also if it was stopped."""
        self.words = search.words
        search.claim_table()
        search.count_from_zero()
        search.memory.fill("excluded_move", NO_MOVE)
        for name in ("stop", "root_excluded", "probcut_level", "shared"):
            self.words[name][0] = 0

    def is_short(self, depth: int) -> bool:
        """Return whether a call of some depth will surely be done in a moment."""
        raise NotImplementedError

    def begin_long_call(self, depth: int) -> None:
        """Get ready for a call that takes long."""

    def line(self) -> tuple[int, ...]:
        """Return the line of play that the last call has found."""
        return tuple(int(move) for move in self.words["line"][: self.words["length"][0]])

    def call(self, low: float, high: float, depth: int) -> float | None:
        """Call the kernel once; return None after a stop."""
        words = self.words
        spent = int(words["nodes"][0])
        self.reached = -INFINITE
        if self.reason not in ("", "proven"):
            return None  # Ctrl-C, say, as the last call ended by itself
        if is_stopped(self.stops):
            self.reason = "stopped"
            return None
        search = functools.partial(self._search, low, high, depth)
        limit = self.most_nodes - 1
        if self.assisting:
            return self._call_here(search, limit)
        if self.is_short(depth):
            value = self._call_here(search, min(limit, spent + INLINE_NODES))
            if value is not None:
                return value
            words["stop"][0] = RUNNING
        if int(words["nodes"][0]) <= limit or limit < spent:
            words["node_limit"][0] = limit
            self.begin_long_call(depth)
            call = KernelCall(search, self.search.memory, self.clock)
            self.reason = run([call], self.stops, workers=self.search.workers)
            self.reached = call.answer
            if words["stop"][0] == RUNNING:
                return self.reached
        else:
            words["stop"][0] = NODES
        self._note_stop(int(words["stop"][0]))
        words["stop"][0] = RUNNING
        return None

    def _call_here(self, search: Callable[[], float], node_limit: int) -> float | None:
        """Call the kernel in this thread; return None after a stop."""
        self.words["node_limit"][0] = node_limit
        self.reached = search()
        return self.reached if self.words["stop"][0] == RUNNING else None

    def _note_stop(self, code: int) -> None:
        """Take down why the kernel stopped; :class:`ContractError` if the game is wrong."""
        if code == NODES:
            self.reason = "node limit"
        elif code in (PLIES, PROBABILITIES, VALUE, MOVES):
            violation = self.search.memory.position("violation", self.position)
            raise contract_violation(violation, code, self.search.evaluation)
        elif not self.reason:
            self.reason = "stopped"

    def _search(self, low: float, high: float, depth: int) -> float:
        self.words["estimates"][0] = 0
        first, self.first = self.first, 0
        return self.search.call(self.position, low, high, depth, first)
