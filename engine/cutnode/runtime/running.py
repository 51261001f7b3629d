"""Running work in threads under supervision: time limits, stop events, Ctrl-C.

A :class:`ThreadTask` works in a thread of its own, without Python's lock if it is compiled, while
the calling thread watches the clock, the stop events and Ctrl-C.  Everything that is computed
here goes through :func:`run`: searches, proofs, batches, counts.  A word in a kernel's memory,
which it reads at every node, tells it to stop.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from cutnode.compiler.memory import Memory
from cutnode.contract.errors import CutnodeError
from cutnode.contract.stop import CALLED, RUNNING, TIME
from cutnode.kernels.clock import Clock
from cutnode.runtime.options import check
from cutnode.runtime.threads import SHARED_WORKERS, Workers, interrupts

UNLIMITED = 1 << 62


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a search; None for no limit."""

    nodes: int | None = None
    seconds: float | None = None
    stop: threading.Event | None = None
    whole: int | None = None
    """The node limit of the whole search, if these are the limits of one part."""

    @property
    def stops(self) -> Sequence[threading.Event]:
        """The events that stop the search."""
        return () if self.stop is None else (self.stop,)

    def __post_init__(self) -> None:
        for name in ("nodes", "seconds", "stop"):
            value = getattr(self, name)
            if value is not None:
                check(name, value)


def require_limit(*limits: object) -> None:
    """Raise :class:`CutnodeError` if nothing limits a search: all of *limits* are None."""
    if limits.count(None) == len(limits):
        raise CutnodeError("a search needs a limit: depth, nodes, seconds, or stop")


class ThreadTask:
    """A *call* in a thread, supervised by another thread, which calls *end* to end it.

    There are three more kinds: a :class:`KernelCall`, a :class:`KernelLoop`, and the workers of a
    batch (:mod:`cutnode.search.spans`).
    """

    def __init__(
        self,
        call: Callable[[], Any] = lambda: None,
        end: Callable[[], None] = lambda: None,
    ):
        self.call = call
        self.end = end
        self.clock = Clock(None)
        self.answer: Any = None

    def work(self) -> None:
        """Do the work, in a thread of its own."""
        self.answer = self.call()

    def look(self) -> str:
        """Check time limits; return why all tasks should end, or ""."""
        return "time limit" if self.clock.is_over(0) else ""

    def stop(self) -> None:
        """End the work soon, for good.  Any thread may call it, any number of times."""
        self.end()

    def patience(self) -> float:
        """Return how many seconds to wait before looking again."""
        return self.clock.patience()


class RunningTasks:
    """Started tasks, each in a thread of its own; :meth:`wait` has to follow.

    If a task raises an error, all are stopped, and :meth:`wait` raises it when they have ended.
    """

    def __init__(self, tasks: Sequence[ThreadTask], workers: Workers = SHARED_WORKERS):
        self.tasks = tasks
        self.failures: list[BaseException] = []
        # Not Thread.join: if Ctrl-C interrupts a join, it can take a running thread for dead.
        self._finished: list[threading.Event] = []
        try:
            for task in tasks:
                done = threading.Event()
                workers.start(functools.partial(self._work, task), done)
                self._finished.append(done)
        except RuntimeError as error:  # the system has no more threads
            self.failures.append(error)

    def _work(self, task: ThreadTask) -> None:
        try:
            task.work()
        except BaseException as error:
            self.failures.append(error)
            self.stop()

    def stop(self) -> None:
        """Tell all tasks to end."""
        for task in self.tasks:
            task.stop()

    def wait(
        self,
        stops: Iterable[threading.Event] = (),
        look: Callable[[], None] | None = None,
        reason: str = "",
    ) -> str:
        """Watch the tasks until all have ended; return why they ended early, or "".

        They end early if a task's ``look`` gives a reason, one of the events *stops* is set, or
        Ctrl-C is pressed; and at once if there already is a *reason*.  *look* is called from time
        to time.
        """
        with interrupts() as pressed:
            if reason or self.failures:
                self.stop()
            for done in self._finished:
                over = False
                while not over:
                    try:
                        over = done.wait(min(task.patience() for task in self.tasks))
                        if not (reason or self.failures):
                            reason = self._look(stops, look)
                    except KeyboardInterrupt:  # raised by a handler other than Python's own
                        reason, over = "interrupted", done.is_set()
                    except BaseException as error:
                        self.failures.append(error)
                    if pressed:
                        reason = "interrupted"
                    if (reason or self.failures) and not over:
                        self.stop()
        if self.failures:
            raise self.failures[0]
        return "interrupted" if pressed else reason

    def _look(self, stops: Iterable[threading.Event], look: Callable[[], None] | None) -> str:
        reasons = [task.look() for task in self.tasks]
        if look is not None:
            look()
        return "stopped" if is_stopped(stops) else next(filter(None, reasons), "")


def run(
    tasks: Sequence[ThreadTask],
    stops: Iterable[threading.Event] = (),
    *,
    look: Callable[[], None] | None = None,
    reason: str = "",
    workers: Workers = SHARED_WORKERS,
) -> str:
    """Run tasks to their end, each in a thread of its own; see :meth:`RunningTasks.wait`."""
    with interrupts() as pressed:
        if reason:
            for task in tasks:
                task.stop()
        reason = RunningTasks(tasks, workers).wait(stops, look, reason)
    return "interrupted" if pressed else reason


def is_stopped(stops: Iterable[threading.Event]) -> bool:
    """Return whether any of the events is set."""
    return any(stop.is_set() for stop in stops)


class KernelCall(ThreadTask):
    """A task that makes one or more kernel calls with the same memory; *clock* limits it."""

    def __init__(self, call: Callable[[], Any], memory: Memory, clock: Clock | None = None):
        super().__init__(call)
        self.memory = memory
        self.clock = clock or self.clock

    def stop(self) -> None:
        self.memory["stop"] = CALLED


class KernelLoop(ThreadTask):
    """A task whose kernel takes positions one by one, each with its own time limit.

    In *control*, the kernel writes the number of its ``current`` position, and reads in ``stop_at``
    which position a stop is meant for.
    """

    def __init__(self, memory: Memory, control: Memory, clock: Clock):
        super().__init__()
        self.memory = memory
        self.control = control
        self.clock = clock

    def work(self) -> None:
        raise NotImplementedError

    def look(self) -> str:
        """End the search of the current position if its time is up.

        The kernel clears a stop that was meant for an earlier position, and may clear with it a new
        one that arrives at the same moment, so each look repeats the stop until it takes effect.
        """
        current = int(self.control["current"])
        if self.clock.is_over(current) and int(self.memory["stop"]) == RUNNING:
            self.control["stop_at"] = current
            self.memory["stop"] = TIME
        return ""

    def stop(self) -> None:
        self.control["stop_at"] = -1
        self.memory["stop"] = CALLED


def watch(call: Callable[[], Any], memory: Memory) -> Any:
    """Call a kernel in a thread and return its answer; Ctrl-C ends it and is raised here."""
    task = KernelCall(call, memory)
    if run([task]):
        raise KeyboardInterrupt
    return task.answer
