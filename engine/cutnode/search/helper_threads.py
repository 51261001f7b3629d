"""Helper threads, which search the leader's position and share its table.

The leading thread gives the result.  Helpers search the same tree: each thread defers moves that
another is searching, and leaves nodes that another has decided (see ``cutnode.kernels.sharing``);
in games of chance every other helper starts one ply deeper instead.  Helpers start when a search
turns out to be long, with the leader's scores as centres of their aspiration windows.  Table
entries are verified when they are read (see ``cutnode.kernels.table``), and the whole table is
opened before the helpers start, so that it does not grow meanwhile.  An exact search uses only
entries that are exact for just its depth, so its scores do not depend on the helpers.
"""

from __future__ import annotations

from collections.abc import Sequence

from cutnode.kernels.node import COUNTERS
from cutnode.runtime.running import RunningTasks, ThreadTask
from cutnode.runtime.threads import interrupts
from cutnode.search.compiled_search import CompiledSearch


class HelperThreads:
    """The helpers of a leading search: *threads* - 1, or none if it uses no table."""

    def __init__(self, leader: CompiledSearch, threads: int):
        self.workers = leader.workers
        shared = "table" in leader.techniques
        self.searches = [leader.clone() for _ in range(threads - 1 if shared else 0)]
        self._run: RunningTasks | None = None
        self.began = False
        """Whether helpers took part in the current or last search."""

    def __len__(self) -> int:
        return len(self.searches)

    @property
    def working(self) -> bool:
        return self._run is not None

    def begin(self, tasks: Sequence[ThreadTask]) -> None:
        """Run one task per helper, until :meth:`end`."""
        self.began = True
        with interrupts() as pressed:
            self._run = RunningTasks(tasks, self.workers)
        if self._run.failures:
            self.end()
        if pressed:
            raise KeyboardInterrupt

    def end(self) -> bool:
        """End the helpers; return whether Ctrl-C was pressed meanwhile."""
        run, self._run = self._run, None
        return run is not None and run.wait(reason="ended") == "interrupted"

    def nodes(self) -> int:
        """Return the nodes that helpers visited in this search."""
        return sum(int(each.memory["nodes"]) for each in self.searches) if self.began else 0

    def counts(self, leader: CompiledSearch) -> dict[str, int]:
        """Return the counters of the leader and its helpers, added up."""
        helpers = self.searches if self.began else []
        every = [search.memory.numbers(COUNTERS) for search in (leader, *helpers)]
        together = {name: sum(counts[name] for counts in every) for name in COUNTERS}
        return together | {"deepest": max(counts["deepest"] for counts in every)}

    def outside_counts(self, leader: CompiledSearch) -> dict[str, int]:
        """Return the counters of techniques from outside the engine, added up over all threads."""
        every = [leader, *(self.searches if self.began else [])]
        counts = [search.outside_counts() for search in every]
        return {name: sum(each[name] for each in counts) for name in counts[0]}

    def unlearn(self) -> None:
        """Forget what searches learned about moves; the table keeps its entries."""
        for search in self.searches:
            search.unlearn()
