"""Threads that wait for work, so that a search begins within microseconds.

Compiled code runs without Python's lock in such a thread, while the thread that asked for it
watches the clock, stop events, and Ctrl-C.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

__all__ = ["MOST_THREADS", "SHARED_WORKERS", "Workers", "interrupts"]

MOST_THREADS = 1024
"""More threads than that on one position, or in one batch, are a slip."""


@contextlib.contextmanager
def interrupts() -> Iterator[list[Any]]:
    """Collect what Ctrl-C would raise in a block, so that nothing is left half done.

    Only in the main thread, where Python raises it, and if nobody else handles it.
    """
    pressed: list[Any] = []
    handler = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    if not main or handler is not signal.default_int_handler:
        yield pressed
        return
    signal.signal(signal.SIGINT, lambda *event: pressed.append(event))
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, handler)


class _Worker(threading.Thread):
    """A thread that waits, does a task, and waits again, until it is given None.

    It waits without an end that could be missed: a lock that whoever gives work releases.  As a
    daemon it does not keep Python from ending.
    """

    def __init__(self) -> None:
        super().__init__(name="cutnode", daemon=True)
        self._wake = threading.Lock()
        self._wake.acquire()
        self._task: Callable[[], None] | None = None
        self.start()

    def give(self, task: Callable[[], None] | None) -> None:
        self._task = task
        self._wake.release()

    def run(self) -> None:
        while True:
            self._wake.acquire()
            task, self._task = self._task, None
            if task is None:
                return
            task()
            del task  # nothing is kept alive while waiting


class Workers:
    """Threads to run tasks in; as many as were needed at once so far.

    They end with :meth:`close`, or when nobody refers to the object any more.  A process that
    is forked has none of them, and starts its own.
    """

    def __init__(self) -> None:
        self._idle: list[_Worker] = []
        self._threads: list[_Worker] = []
        self._process = os.getpid()
        self._closed = False
        weakref.finalize(self, _end, self._idle).atexit = False

    @property
    def left_behind(self) -> bool:
        """Whether this process was forked from the one that has the threads."""
        return self._process != os.getpid()

    def start(self, task: Callable[[], None], done: threading.Event | None = None) -> None:
        """Run a task, which must not raise, in a thread of its own; then set the event *done*."""
        if self.left_behind:
            self._idle.clear()
            self._threads.clear()
            self._process = os.getpid()
        try:
            worker = self._idle.pop()
        except IndexError:
            worker = _Worker()
            self._threads.append(worker)

        def run() -> None:
            try:
                task()
            finally:
                self._idle.append(worker)
                if self._closed:
                    _end(self._idle)
                if done is not None:
                    done.set()

        worker.give(run)

    def run(
        self,
        tasks: Sequence[Callable[[], None]],
        look: Callable[[], str],
        end: Callable[[], None],
        patience: Callable[[], float],
        reason: str = "",
    ) -> str:
        """Run tasks to their end, looking after them after so many seconds of *patience*.

        *look* may give a *reason* to end them early, and so does Ctrl-C; *end* does it.  If a
        task or *look* raises, the (other) tasks are ended, and the exception is raised here when
        they have.  Returns the reason, or "".
        """
        failures: list[BaseException] = []

        def guarded(task: Callable[[], None]) -> None:
            try:
                task()
            except BaseException as error:
                failures.append(error)
                end()

        with interrupts() as pressed:
            # Not Thread.join: a join that Ctrl-C interrupts can take a running thread for dead.
            finished: list[threading.Event] = []
            try:
                for task in tasks:
                    done = threading.Event()
                    self.start(functools.partial(guarded, task), done)
                    finished.append(done)
            except RuntimeError as error:  # there are no more threads to be had
                failures.append(error)
            if reason or failures:
                end()
            for done in finished:
                over = False
                while not over:
                    try:
                        over = done.wait(patience())
                        if not (reason or failures):
                            reason = look()
                    except KeyboardInterrupt:  # of a handler that is not Python's own
                        reason, over = "interrupted", done.is_set()
                    except BaseException as error:
                        failures.append(error)
                    if pressed:
                        reason = "interrupted"
                    if (reason or failures) and not over:
                        end()
        if failures:
            raise failures[0]
        return "interrupted" if pressed else reason

    def close(self) -> None:
        """End the threads, those that are at work when that is done, and wait for it."""
        self._closed = True
        _end(self._idle)
        for worker in self._threads:
            if worker is not threading.current_thread():
                worker.join()
        self._threads.clear()


def _end(idle: list[_Worker]) -> None:
    with contextlib.suppress(IndexError):
        while True:
            idle.pop().give(None)


SHARED_WORKERS = Workers()
"""The threads of all calls that have none of their own."""
