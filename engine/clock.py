"""Time: how long a search may take, and a counter cheap enough for single positions."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from engine.native import in_compiled_code

__all__ = ["Clock", "seconds_per_tick", "ticks"]


def ticks() -> int:
    """A counter that runs evenly, at a rate that the caller measures (often: nanoseconds)."""
    return time.perf_counter_ns()


_COUNTER = (
    "llvm.readcyclecounter"
    if platform.machine().lower() in {"x86_64", "amd64", "i686"}
    else "llvm.readsteadycounter"
)


@intrinsic
def _ticks(typing: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(64), [])
        function = cgutils.get_or_insert_function(builder.module, kind, _COUNTER)
        return builder.call(function, [])

    return types.int64(), generate


@in_compiled_code(ticks)
def _compiled_ticks() -> Any:
    return lambda: _ticks()


def seconds_per_tick(read: Callable[[], int]) -> float:
    """How long a tick of the counter is; *read* reads it now.  Takes a few milliseconds."""
    read()  # the first time may be slow
    started, first = time.perf_counter(), read()
    time.sleep(0.004)
    ended, last = time.perf_counter(), read()
    return (ended - started) / (last - first)


class Clock:
    """Watches a time limit for each position of a batch."""

    def __init__(self, seconds: float | None):
        self.seconds = seconds
        self.started = time.perf_counter()
        self._current = 0
        self._since = self.started

    def elapsed(self) -> float:
        """Seconds since the batch began."""
        return time.perf_counter() - self.started

    def is_over(self, current: int) -> bool:
        """Whether position number *current*, as last seen in work, has used its time."""
        if self.seconds is None:
            return False
        now = time.perf_counter()
        if current != self._current:
            self._current, self._since = current, now
        return now - self._since >= self.seconds

    def patience(self) -> float:
        """How long to wait before looking again, in seconds."""
        return 0.02 if self.seconds is None else min(0.02, max(self.seconds / 10, 0.001))
