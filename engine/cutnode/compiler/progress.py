"""How far the compilation of a kernel is, and which kernels were compiled or loaded.

A kernel consists of functions, and numba compiles one after the other.  Those compiled so far are
counted, and the counts of finished kernels are kept in the cache: so the next compilation of a
kernel, after an edit or for another game, knows about how many there will be.

A program may ask for the running compilation at any time, from any thread.  Nobody is called, and
nothing is written, unless standard error is a terminal: there a line shows the progress, and
disappears at the end.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from cutnode.compiler.directory import read_memo, write_memo
from cutnode.contract.native import functions_compiled

MEMO = "functions.json"
MOST_REMEMBERED = 2_000
"""The file of the memo, and the most counts in it; older ones are forgotten."""

LOOK_SECONDS = 0.2
"""The interval between updates of the line on a terminal."""


class Progress(NamedTuple):
    """The progress of the running compilation."""

    kernel: str
    game: str
    """The position class, with its module's last name: ``connect4.Position``."""
    functions: int
    """The number of functions compiled so far."""
    expected: int | None
    """The number that the kernel had last time, for this game or another; None if it is unknown.
    Functions that several kernels of a program call are compiled only once."""
    seconds: float

    def __str__(self) -> str:
        of = "" if self.expected is None else f" of {max(self.expected, self.functions)}"
        return f"compiling {self.kernel} for {self.game}: {self.functions}{of} functions"


class Prepared(NamedTuple):
    """A kernel that is ready to run."""

    kernel: str
    game: str
    """The position class, with its module's last name: ``connect4.Position``."""
    compiled: bool
    """Whether it was compiled; otherwise it was loaded from the cache."""
    seconds: float


class Compilation:
    """The work on a kernel for a game: it is compiled, or loaded."""

    def __init__(self, kernel: str, game: str):
        self.kernel = kernel
        self.game = game
        self.compiles = False
        self._started = time.monotonic()
        self._functions = 0
        self._expected: int | None = None
        self._line: _Line | None = None

    def begin(self) -> None:
        """Note that it is not in the cache, and that numba compiles it from now on.

        A recursive kernel begins once more if it calls itself with arguments of other types.
        """
        if self.compiles:
            return
        self.compiles = True
        self._started = time.monotonic()
        self._functions = functions_compiled()
        counts = read_memo(MEMO)
        self._expected = counts.get(self._name, counts.get(self.kernel))
        _running.append(self)
        if not _shown_elsewhere and _is_terminal():
            self._line = _Line(self.progress)

    @property
    def _name(self) -> str:
        return f"{self.kernel} {self.game}"

    def progress(self) -> Progress:
        """Return how far it is."""
        return Progress(
            self.kernel,
            self.game,
            functions_compiled() - self._functions,
            self._expected,
            time.monotonic() - self._started,
        )

    def __enter__(self) -> Compilation:
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        """Note that the kernel is ready, unless that failed."""
        if self.compiles:
            _running.remove(self)
            if self._line is not None:
                self._line.erase()
        if failure is not None:
            return
        ended = self.progress()
        if self.compiles:
            counts = read_memo(MEMO)
            for name in (self.kernel, self._name):
                counts.pop(name, None)
                counts[name] = ended.functions
            write_memo(MEMO, dict([*counts.items()][-MOST_REMEMBERED:]))
        for listen in _listeners:
            listen(Prepared(self.kernel, self.game, self.compiles, ended.seconds))


_running: list[Compilation] = []
"""The running compilations: at most one in each thread, and numba has one at a time."""

_listeners: list[Callable[[Prepared], None]] = []

_shown_elsewhere: list[object] = []
"""Marks of the callers that show the progress themselves, so that no line is written."""


def running() -> Progress | None:
    """Return the progress of the running compilation; None if there is none."""
    for compilation in _running[-1:]:
        return compilation.progress()
    return None


@contextlib.contextmanager
def listening(listener: Callable[[Prepared], None]) -> Iterator[None]:
    """Call *listener* with each kernel that becomes ready, in the thread that needed it."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@contextlib.contextmanager
def shown_elsewhere() -> Iterator[None]:
    """Write no line in the block: the caller shows the progress."""
    mark = object()
    _shown_elsewhere.append(mark)
    try:
        yield
    finally:
        _shown_elsewhere.remove(mark)


def announce(message: str) -> None:
    """Tell a user at a terminal why there is a wait; silent if stderr is not one."""
    if not _shown_elsewhere and _is_terminal():
        print(f"cutnode: {message} ...", file=sys.stderr, flush=True)


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


class _Line:
    """A line on a terminal that a thread writes again and again."""

    def __init__(self, look: Callable[[], Progress]):
        self._look = look
        self._stream: Any = sys.stderr
        self._rewritten = os.environ.get("TERM") != "dumb"
        self._done = threading.Event()
        self._width = 0
        self._write()
        self._thread = threading.Thread(target=self._follow, name="progress", daemon=True)
        if self._rewritten:
            self._thread.start()

    def erase(self) -> None:
        """Remove the line; a terminal that cannot do that keeps it."""
        self._done.set()
        if self._rewritten:
            self._thread.join()
        self._put("\r" + " " * self._width + "\r" if self._rewritten else "\n")

    def _follow(self) -> None:
        while not self._done.wait(LOOK_SECONDS):
            self._write()

    def _write(self) -> None:
        columns = shutil.get_terminal_size().columns
        text = f"cutnode: {self._look()} (once)"[: columns - 1]
        self._put("\r" * self._rewritten + text.ljust(self._width))
        self._width = len(text)

    def _put(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # a closed terminal
            self._stream.write(text)
            self._stream.flush()
