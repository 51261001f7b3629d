"""Handles of searches that run: to see how far they are, to end them, to wait for them."""

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

    R_co = TypeVar("R_co", covariant=True, default=Any)
else:
    from typing import TypeVar

    R_co = TypeVar("R_co", covariant=True)

WAITING_PATIENCE = 1.0
"""A wait without end is interrupted every so many seconds: some systems take Ctrl-C only then."""


class Stop(threading.Event):
    """An event that is also set when another is."""

    other: threading.Event | None = None

    def is_set(self) -> bool:
        return super().is_set() or (self.other is not None and self.other.is_set())


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a search."""

    depth: int
    """Plies, of the last depth that was completed; 0 before that, and in a proof."""
    value: float | None
    """The score at that depth, or the value once it is proven, for the mover."""
    lower: int | None
    upper: int | None
    """What is proven of the value, in a proof."""
    line: tuple[int, ...]
    """The best play that is known."""
    nodes: int
    """Visited by all threads."""
    seconds: float
    fill: float
    """The part of the table's entries that are in use."""


class Handle(Unpickled, Generic[R_co]):
    """A search that an :class:`~cutnode.Engine` has started.

    :meth:`wait` gives its result; ``await`` does in asyncio, and ``async for`` gives the
    iterations of a search as they are completed (a proof has none).  A task of asyncio that is
    cancelled while it awaits the result ends the search.  What fails in the search, or in a
    callback, is raised there.  Any thread may use a handle.
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
        """"search", "solve" or "analyse"."""
        self.clock = clock
        self.iterations: list[Iteration] = []
        """The depths of a search that are completed."""
        self.stopped = stop
        self.thread = 0
        """Where the search is carried out, and callbacks are called."""
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
        """Whether the search still runs."""
        return not self._done.is_set()

    @property
    def progress(self) -> Progress:
        """The progress of the search now, or at its end."""
        try:
            return self._last or self._look(self)
        except CutnodeError:  # it ended just now, and the engine is closed
            if self._last is None:
                raise
            return self._last

    def stop(self) -> None:
        """End the search: :meth:`wait` gives the best that it has found so far."""
        self._end(self.stopped)

    def hit(self) -> None:
        """Let limits of time count from now on: the move that was pondered about has come."""
        self.clock.release()

    def wait(self, timeout: float | None = None) -> R_co:
        """Return the result, when it is there: a ``SearchResult``, or the ``Result`` of a proof.

        :class:`TimeoutError` if it is not after *timeout* seconds; the search goes on.  Ctrl-C
        ends the search and gives what it has found.  :class:`CutnodeError` if it would never
        come: in a callback of the search, and in a process that was forked meanwhile.
        """
        if timeout is not None and (not isinstance(timeout, int | float) or math.isnan(timeout)):
            raise CutnodeError(f"a time to wait is a number of seconds, not {timeout!r}")
        if self.running and self.thread == threading.get_ident():
            raise CutnodeError("a callback cannot wait for the search that calls it: stop() it")
        if self.running and self._process != os.getpid():
            raise CutnodeError("this search runs in the process from which this one was forked")
        clock = Clock(timeout)
        try:
            while not self._done.wait(min(WAITING_PATIENCE, clock.left())):
                if clock.is_over(0):
                    raise TimeoutError(f"the search goes on after {timeout} seconds")
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
            while self.running:  # then the engine is free again, also if this is cancelled twice
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
        """Return a future of the end, or of more than so many iterations."""
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
        """Add a depth that is completed; for the thread that searches."""
        with self._lock:
            self.iterations.append(iteration)
        self._tell()

    def rest(self, last: Progress) -> None:
        """Keep the last progress; for the thread that searched."""
        self._last = last

    def finish(self, result: Any, error: BaseException | None) -> None:
        """Give the result, or the error; for the thread that searched."""
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
