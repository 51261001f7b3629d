"""Time management, the clock of a search, and a counter cheap enough to time short searches."""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from cutnode.contract.native import in_compiled_code

LOOK = 0.02
SHORTEST_LOOK = 0.0001
"""The seconds between two looks at the clock of a search."""

SHORTEST = 0.001
"""Seconds for a move when no time is left."""

MOVES_AHEAD = 35
"""The most moves to plan for.  Without a time control every move plans this far ahead anew, so each
uses a fraction of the time that is left, which never runs out."""

LONGEST_SHARE = 5.0
MOST_OF_TIME = 0.6
"""The hard limit as a multiple of a move's even share; and the largest part of the time left that
it may take while more moves have to be made."""

SETTLED = (1.4, 1.15, 1.0, 0.9, 0.8, 0.7)
"""Factors of the soft limit: when the best move is new, and after each depth that kept it."""

ALARM = 0.6
"""The part by which to think longer for each pawn (100) that the score has dropped; in total at
most as long again."""


def ticks() -> int:
    """Return a counter that runs evenly, at a rate that the caller measures (often nanoseconds)."""
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
    """Return the length of a tick of the counter *read*, in seconds; takes a few milliseconds."""

    def both() -> tuple[float, float, int]:
        before, count = time.perf_counter(), read()
        return time.perf_counter() - before, before, count

    # Of several readings take the shortest: another process may run between the two clocks.
    _, started, first = min(both() for _ in range(5))
    time.sleep(0.004)
    _, ended, last = min(both() for _ in range(5))
    return (ended - started) / (last - first)


class Clock:
    """A time limit for each position of a batch.

    While the clock is *held*, there is no limit: time counts from :meth:`release` on.
    """

    def __init__(self, seconds: float | None, *, held: bool = False):
        self.seconds = seconds
        self.held = held
        self.started = time.perf_counter()
        self._current = 0
        self._since = self.started

    def release(self) -> None:
        """Start counting time against the limit; callable from any thread."""
        if self.held:
            self._since = time.perf_counter()
            self.held = False

    def elapsed(self) -> float:
        """Return the seconds since the batch began."""
        return time.perf_counter() - self.started

    def spent(self) -> float:
        """Return the seconds that count against the limit."""
        return 0.0 if self.held else time.perf_counter() - self._since

    def left(self) -> float:
        """Return the seconds until the limit; infinite without one."""
        return math.inf if self.seconds is None else max(0.0, self.seconds - self.spent())

    def is_over(self, current: int) -> bool:
        """Return whether the position being searched, number *current*, has used up its time."""
        if self.seconds is None or self.held:
            return False
        now = time.perf_counter()
        if current != self._current:
            self._current, self._since = current, now
        return now - self._since >= self.seconds

    def patience(self) -> float:
        """Return the seconds to wait before the next look, which is not past the limit."""
        if self.seconds is None:
            return LOOK
        left = self.seconds - self.spent()
        return max(SHORTEST_LOOK, min(left, max(self.seconds / 10, 0.001), LOOK))


# Time management


@dataclass(frozen=True, slots=True)
class Allowance:
    """The time for a move, in seconds: start no depth after *soft*, and stop at *hard*."""

    soft: float
    hard: float


def allot(
    left: float,
    increment: float = 0.0,
    moves_to_go: int | None = None,
    *,
    overhead: float = 0.0,
    choices: int | None = None,
) -> Allowance:
    """Return the time for the next move of a game that is played with a clock.

    *left* seconds are on the clock, *increment* is added after each move, and *moves_to_go* moves
    remain until the next time control (None, or less than 1: the rest of the game).  *overhead* is
    lost on each move on its way to the clock.  With a single legal move (*choices*) the soft limit
    is 0.

    The hard limit never exceeds the time left minus the overhead, except when the clock has nearly
    run out: then it is ``SHORTEST`` or half of the time left.
    """
    moves = MOVES_AHEAD
    if moves_to_go is not None and moves_to_go > 0:
        moves = min(moves_to_go, MOVES_AHEAD)
    least = min(SHORTEST, max(left, 0) / 2) or SHORTEST
    usable = max(left - overhead, least)
    share = (left - overhead + (moves - 1) * (max(increment, 0) - overhead)) / moves
    share = min(max(share, least), usable)
    part = 1.0 if moves == 1 else MOST_OF_TIME
    hard = max(min(LONGEST_SHARE * share, part * usable), least)
    soft = min(share, hard) if choices is None or choices > 1 else 0.0
    return Allowance(soft, hard)


def settle(moves: Sequence[int], scores: Sequence[float]) -> float:
    """Return the factor of the soft limit, by the best moves and scores of the depths so far.

    It is smaller the longer the best move has stayed the same, and larger if the score has dropped
    since two depths earlier (scores of odd and even depths differ).
    """
    if not moves:
        return SETTLED[0]
    same = next((n for n, move in enumerate(reversed(moves)) if move != moves[-1]), len(moves))
    factor = SETTLED[min(same, len(SETTLED)) - 1]
    drop = scores[-3] - scores[-1] if len(scores) > 2 else 0.0
    return factor * (1.0 + min(1.0, ALARM * max(drop, 0.0) / 100))
