"""Waiting threads, which start a search within microseconds, and the handling of Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

MOST_THREADS = 1024
"""The limit on threads for one position or one batch: asking for more is a mistake."""


class _Pressed(list[Any]):
    """A handler of Ctrl-C that only records each press."""

    def __call__(self, *event: Any) -> None:
        self.append(event)


@contextlib.contextmanager
def interrupts() -> Iterator[Sequence[Any]]:
    """Record Ctrl-C in a block instead of raising it, so that nothing is left half done.

    This works only in the main thread, where Python raises it, and only if Python's own handler is
    set.  A nested block shares the record of the outer one.
    """
    handler = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    if main and isinstance(handler, _Pressed):
        yield handler
        return
    pressed = _Pressed()
    if not main or handler is not signal.default_int_handler:
        yield pressed
        return
    signal.signal(signal.SIGINT, pressed)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, handler)


class _Worker(threading.Thread):
    """A thread that waits for a task, does it, and waits again, until it is given None.

    It waits for a lock that :meth:`give` releases, so no wake-up is lost.  As a daemon it does not
    keep Python from exiting.
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
            del task  # keep nothing alive while waiting


class Workers:
    """A pool of threads that grows to the most tasks run at once.

    The threads end with :meth:`close`, or with the object.  A forked process has none of them and
    starts its own.
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

    def close(self) -> None:
        """End the threads, busy ones after their task, and wait for them."""
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
"""The threads for all calls that bring none of their own."""
