"""Several searchers at one position: they share a table, and so what each finds.

One leads: its result is that of the search.  The others search the same, and each puts off what
another is searching (T. Kerrigan, "Simplified ABDADA"); in games of chance every other one begins
a ply deeper instead.  They begin when a search turns out to be long.  Entries of the table are
checked when they are read (see ``engine.kernels.table``), and nobody resizes it meanwhile: it is
opened whole before they begin.  An exact search takes only entries that are exact for just its
depth, so its scores do not depend on who helps.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from engine.contract.errors import CutnodeError
from engine.kernels.node import COUNTERS
from engine.kernels.parameters import MOST_DEPTH
from engine.search.results import SearchResult
from engine.search.searcher import Searcher
from engine.search.threads import interrupts

__all__ = ["Crew"]

LOOK = 0.02
"""Helpers that are to end are told so every so many seconds, until they have."""


class Crew:
    """Searchers that help another one; *count* are they with that one, the leader."""

    def __init__(self, leader: Searcher, count: int):
        self.leader = leader
        shared = "table" in leader.techniques
        self.helpers = [leader.twin() for _ in range(count - 1 if shared else 0)]
        self._stop: threading.Event | None = None
        self._finished: list[threading.Event] = []
        self._failures: list[BaseException] = []
        self.began = False
        """Whether helpers have taken part in this search, or the last."""

    def __len__(self) -> int:
        return len(self.helpers) + 1

    def search(self, position: Any, **options: Any) -> SearchResult:
        """:meth:`Searcher.search`, by all together if it takes long; nodes are shared out."""
        return self.leader.search(position, crew=self, **options)

    @property
    def working(self) -> bool:
        return self._stop is not None

    def begin(self, task: Any, depth: int) -> None:
        """Let the helpers search what a task of the leader does, from *depth* on."""
        leader = self.leader
        leader.open_table(task.position)
        leader.memory["shared"] = 1
        self._stop = threading.Event()
        self._failures.clear()
        self.began = True
        with interrupts() as pressed:
            for number, helper in enumerate(self.helpers):
                helper.table = leader.table
                start = depth + (number + 1) % 2 * leader.has_chance
                search = functools.partial(
                    helper.help,
                    task.position,
                    min(start, MOST_DEPTH),
                    task.depth,
                    nodes=task.limits.nodes,
                    history=task.history,
                    moves=task.allowed,
                    stop=self._stop,
                )
                done = threading.Event()
                leader.workers.start(functools.partial(self._guard, search), done)
                self._finished.append(done)
        if pressed:
            raise KeyboardInterrupt

    def _guard(self, search: Callable[[], None]) -> None:
        try:
            search()
        except CutnodeError:
            pass  # the leader meets it, too
        except BaseException as error:
            self._failures.append(error)

    def end(self) -> bool:
        """End what the helpers do, and wait for it; whether Ctrl-C was pressed meanwhile."""
        with interrupts() as pressed:
            if self._stop is not None:
                self._stop.set()
                running = self._finished
                while running:
                    for helper in self.helpers:
                        helper.stop()
                    running[0].wait(LOOK)
                    running = [done for done in running if not done.is_set()]
                self._finished = []
                self._stop = None
                self.leader.memory["shared"] = 0
        if self._failures:
            raise self._failures.pop()
        return bool(pressed)

    def nodes(self) -> int:
        """The nodes that helpers have visited in this search."""
        return sum(int(helper.memory["nodes"]) for helper in self.helpers) if self.began else 0

    def counts(self) -> dict[str, int]:
        """What the leader and the helpers have counted, together."""
        helpers = self.helpers if self.began else []
        every = [searcher.memory.numbers(COUNTERS) for searcher in (self.leader, *helpers)]
        together = {name: sum(counts[name] for counts in every) for name in COUNTERS}
        return together | {"deepest": max(counts["deepest"] for counts in every)}

    def reset(self) -> None:
        """No nodes are visited yet."""
        self.leader.memory["nodes"] = 0
        self.began = False

    def unlearn(self) -> None:
        """Forget what searches learned of moves; the table keeps what it has."""
        for searcher in (self.leader, *self.helpers):
            searcher.unlearn()

    def clear(self) -> None:
        """Forget what searches stored and learned: the next is as the first."""
        self.leader.table.forget()
        self.unlearn()
