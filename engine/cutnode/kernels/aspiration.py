"""The depths and windows of iterative deepening, defined once.

Python drives the search of a single position, and compiled code the search of a batch; both take
their depths and their aspiration windows from here, and so visit the same nodes.
"""

from __future__ import annotations

from cutnode.compiler.jit import compiled
from cutnode.contract.dispatch import MAX_VALUE
from cutnode.contract.verbs import INFINITE
from cutnode.kernels.parameters import MOST_DEPTH


def iteration_depths(depth: int | None, deepening: bool, parity: int) -> range:
    """Return the depths to search, up to *depth*; None means the maximum.

    *deepening* begins with the shallowest.  Depths on the way to a given one are *parity* apart:
    it is 2 where scores of odd and even depths differ too much to help each other.
    """
    last = MOST_DEPTH if depth is None else depth
    step = 1 if depth is None else parity
    return range((last - 1) % step + 1 if deepening else max(last, 1), last + 1, step)


@compiled
def aspiration_window(expected, width):
    """Return the window that extends *width* on either side of the *expected* score.

    It is the full window if the expected score is ``INFINITE``.
    """
    low, high = -INFINITE, INFINITE
    if expected != INFINITE:
        low, high = expected - width, expected + width
    return max(low, -INFINITE), min(high, INFINITE)


@compiled
def widened_window(low, high, value, width, researches):
    """Return the window of a re-search after *value* fell outside the last one, and so is a bound.

    On that side it extends *width* beyond the value, four times as far with each of the
    *researches* of this depth.
    """
    width = width << 2 * researches
    if value <= low:
        low = value - width if width < MAX_VALUE else -INFINITE
    else:
        high = value + width if width < MAX_VALUE else INFINITE
    return max(low, -INFINITE), min(high, INFINITE)
