"""Handles of running searches: to follow them, to end them, and to wait for their results."""

from __future__ import annotations

import contextlib
import math
import os
import threading
from collections.abc import AsyncIterator, Callable, Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, cast

from cutnode.contract.errors import CutnodeError
from cutnode.kernels.clock import Clock
from cutnode.runtime.unpickled import Unpickled
from cutnode.search.results import Iteration

if TYPE_CHECKING:
    import asyncio

    from typing_extensions import TypeVar

    from cutnode.search.resuming import Outlook

    R_co = TypeVar("R_co", covariant=True, default=Any)
else:
    from typing import TypeVar

    R_co = TypeVar("R_co", covariant=True)

WAITING_PATIENCE = 1.0
"""Seconds after which a wait wakes up, as some systems notice Ctrl-C only between waits."""


class Stop(threading.Event):
    """An event that is also set when another is."""

    other: threading.Event | None = None

    def is_set(self) -> bool:
        return super().is_set() or (self.other is not None and self.other.is_set())


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a search."""

    depth: int
    """The last completed depth in plies; 0 before the first, and in a proof."""
    value: float | None
    """The score at that depth, or in a proof the value once proven, for the player to move."""
    lower: int | None
    """The proven lower bound of the value, in a proof."""
    upper: int | None
    """The proven upper bound of the value, in a proof."""
    line: tuple[int, ...]
    """The best line of play found so far."""
    nodes: int
    """Nodes visited by all threads."""
    seconds: float
    """Seconds spent."""
    fill: float
    """The share of the table's entries in use."""
    outlook: Outlook | None = None
    """How far a proof with a journal is, if that is known."""


class Handle(Unpickled, Generic[R_co]):
    """A search that an :class:`~cutnode.Engine` has started.

    :meth:`wait` returns its result.  In asyncio, ``await handle`` returns it too, and ``async for``
    yields the iterations of a search as they complete (a proof has none).  Cancelling a task that
    awaits the handle ends the search.  Errors of the search and of its callbacks are raised where
    the result is awaited.  Any thread may use a handle.
    """

    def __init__(
        self,
        position: Any,
        kind: str,
        clock: Clock,
        stop: Stop,
        end: Callable[[Stop], None],
        look: Callable[[Handle[Any]], Progress],
    ):
        self.position = position
        self.kind = kind
        """The kind of call: "search", "solve" or "analyse"."""
        self.clock = clock
        self.iterations: list[Iteration] = []
        """The completed depths of a search."""
        self.stopped = stop
        self.thread = 0
        """The thread that runs the search and its callbacks."""
        self._end = end
        self._look = look
        self._process = os.getpid()
        self._done = threading.Event()
        self._interrupted = False
        self._result: Any = None
        self._error: BaseException | None = None
        self._last: Progress | None = None
        self._lock = threading.Lock()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []

    @property
    def running(self) -> bool:
        """Whether the search is still running."""
        return not self._done.is_set()

    @property
    def progress(self) -> Progress:
        """The current progress of the search, or its progress at the end."""
        try:
            return self._last or self._look(self)
        except CutnodeError:  # the search has just ended, and the engine is closed
            if self._last is None:
                raise
            return self._last

    def stop(self) -> None:
        """End the search; :meth:`wait` then returns the best that it has found."""
        self._end(self.stopped)

    def hit(self) -> None:
        """Start the clock of :meth:`~cutnode.Engine.ponder`: the expected position has arisen."""
        self.clock.release()

    def wait(self, timeout: float | None = None) -> R_co:
        """Wait for the search to end, and return its result.

        A search returns a ``SearchResult`` or ``MonteCarloResult``, a proof a ``Result``.
        Ctrl-C ends the search and returns what it has found.

        Raise :class:`TimeoutError` after *timeout* seconds; the search continues.  Raise
        :class:`CutnodeError` in a callback of the search and in a process that was forked during
        it, where the result would never arrive.
        """
        if timeout is not None and (not isinstance(timeout, int | float) or math.isnan(timeout)):
            raise CutnodeError(f"timeout must be a number of seconds, got {timeout!r}")
        if self.running and self.thread == threading.get_ident():
            raise CutnodeError("a callback cannot wait for the search that calls it; use stop()")
        if self.running and self._process != os.getpid():
            raise CutnodeError("this search runs in the parent process, not in this fork of it")
        clock = Clock(timeout)
        try:
            while not self._done.wait(min(WAITING_PATIENCE, clock.left())):
                if clock.is_over(0):
                    raise TimeoutError(f"the search is still running after {timeout} seconds")
        except KeyboardInterrupt:
            self._interrupted = True
            self.stop()
            while not self._done.wait(WAITING_PATIENCE):
                pass
        return self._outcome()

    def __await__(self) -> Generator[Any, None, R_co]:
        return self._finished().__await__()

    async def _finished(self) -> R_co:
        import asyncio

        try:
            while self.running:
                await self._news(None)
        except asyncio.CancelledError:
            self.stop()
            while self.running:  # wait until the engine is free, even if cancelled twice
                with contextlib.suppress(asyncio.CancelledError):
                    await self._news(None)
            raise
        return self._outcome()

    async def __aiter__(self) -> AsyncIterator[Iteration]:
        seen = 0
        while True:
            running = self.running
            while seen < len(self.iterations):
                yield self.iterations[seen]
                seen += 1
            if not running:
                break
            await self._news(seen)
        self._outcome()

    def _news(self, seen: int | None) -> asyncio.Future[None]:
        """Return a future that is done at the end, or after more than *seen* iterations."""
        import asyncio

        loop = asyncio.get_running_loop()
        future = loop.create_future()
        with self._lock:
            if not self.running or (seen is not None and len(self.iterations) > seen):
                future.set_result(None)
            else:
                self._waiting.append((loop, future))
        return future

    def note(self, iteration: Iteration) -> None:
        """Add a completed depth; the searching thread calls this."""
        with self._lock:
            self.iterations.append(iteration)
        self._tell()

    def rest(self, last: Progress) -> None:
        """Keep the final progress; the searching thread calls this."""
        self._last = last

    def finish(self, result: Any, error: BaseException | None) -> None:
        """Set the result or the error; the searching thread calls this last."""
        with self._lock:
            self._result, self._error = result, error
            self._done.set()
        self._tell()

    def _tell(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for loop, future in waiting:
            with contextlib.suppress(RuntimeError):  # that loop is closed
                loop.call_soon_threadsafe(_arrive, future)

    def _outcome(self) -> R_co:
        if self._error is not None:
            raise self._error
        result = self._result
        if self._interrupted:
            result = replace(result, reason="interrupted")
        return cast(R_co, result)

    def __repr__(self) -> str:
        state = "running" if self.running else "done"
        return f"<{self.kind} of {type(self.position).__name__}, {state}>"


def _arrive(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
