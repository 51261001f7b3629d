"""Games of chance: the expected value of each position of a layer, by value iteration.

Sweeps recompute the values of a layer from each other (Gauss-Seidel) until they hardly change.  A
sweep notes the best moves that stay in the layer.  Between two full sweeps, many cheap ones compute
the values as if these moves were best, in a tenth of the time (modified policy iteration).  Every
few sweeps, the component of the change that shrinks most slowly is summed as a geometric series and
added at once (Aitken).  None of this proves anything.

The proof follows.  Lower and upper bounds start as the values minus and plus a tolerance, and
sweeps compute them from each other.  If after some sweeps every lower bound has risen and every
upper bound has fallen, the true values lie between them.  For suppose that a value exceeds its
upper bound by *m*, the largest excess of all.  Bounds raised by *m* everywhere would hold, but
backing them up gives this position a bound below its value, although a value is its own backup.  So
the bounds hold for any game, and also show that infinite play does not matter.  If this test fails,
the bounds start from the limits of all values instead, which always works but takes longer
(interval iteration).

Sources: L. Shapley, "Stochastic games" (1953); M. Puterman and M. Shin, "Modified policy iteration
algorithms for discounted Markov decision problems" (1978); S. Haddad and B. Monmege, "Interval
iteration algorithm for MDPs and IMDPs" (2018); for checking a guess by one more computation,
A. Hartmanns and B. Kaminski, "Optimistic value iteration" (2020); A. Aitken, "On Bernoulli's
numerical solution of algebraic equations" (1926).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from cutnode.contract.dispatch import value_limit
from cutnode.contract.errors import GameError
from cutnode.contract.verbs import chance, outcome
from cutnode.kernels.layer_iteration import MOST_SLOTS, NO_EDGE, Choices, sweep, sweep_choices
from cutnode.kernels.retrograde import MISSING
from cutnode.tablebases.retrograde import MissingLayerError
from cutnode.tablebases.scratch import parts
from cutnode.tablebases.threads import LayerTask

EXTRAPOLATE = 6
"""Sweeps between two additions of a geometric series."""

MOST_RATIO = 0.97
"""The largest ratio of a geometric series that is summed."""

PROOF_SWEEPS = 20
"""The most sweeps over the bounds before the attempt to tighten all of them is given up."""

CALM = 1 / 40
"""The largest change of a value before a proof is tried, as a fraction of the tolerance."""

CHEAP_SWEEPS = 60
"""The most sweeps over noted moves between two sweeps over all moves."""

CALMER = 1 / 100
"""The largest change at which such cheap sweeps end, as a fraction of the largest change in the
last full sweep."""

MOST_INDICES = 1 << 31
"""The limit of an index that an edge can name."""

MOST_PATIENCE = 60
"""Sweeps without a new smallest change after which iteration ends."""

NOTHING = np.zeros(0)
NO_CHOICES = Choices(np.zeros(0, np.uint32), np.zeros(0))


class ChanceLayer:
    """Value iteration in a layer: its ``values``, and the ``error`` that bounds theirs."""

    def __init__(self, task: LayerTask, *, tolerance: float):
        self.space, self.number, self.threads = task.space, task.number, task.threads
        self.tolerance = tolerance
        self.tables = task.directory.numbers
        self._scratch = scratch = task.scratch
        self.values = scratch.zeros(task.size, float)
        self._changes = scratch.zeros(task.size, float)
        self.memory = scratch.memory
        """Bytes left for the best moves."""
        self.sweeps = 0
        """Sweeps so far; the two bounds count as one each."""
        self.error = max((table.error for table in task.directory.layers.values()), default=0.0)
        """The largest error of earlier layers, to which this layer's own is added."""
        self._limit = value_limit(task.space.cls)

    @property
    def step(self) -> str:
        """The current step."""
        return f"sweep {self.sweeps + 1}"

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the number of sweeps and the current values."""
        return {"sweeps": self.sweeps}, {"known": self.values}

    def restore(self, numbers: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Resume from a state."""
        self.values[:] = arrays["known"]
        self.sweeps = int(numbers["sweeps"])

    def solve(self, pause: Callable[[], None] | None = None) -> None:
        """Find all values, to within the tolerance plus the error of earlier layers.

        *pause* is called between sweeps.
        """
        margin = self.error + self.tolerance
        calm = self.tolerance * CALM
        for _ in range(3):
            self._iterate(calm, pause)
            if self._prove(margin):
                return
            calm /= 10
        self._bound(margin)

    def _sweep(
        self, own: Any, other: Any, changes: Any, side: float, choices: Choices
    ) -> dict[str, float]:
        """Recompute *own* once; return the sums over the threads and the largest change."""
        threads, space = self.threads, self.space
        self._clear(side)
        threads.run(sweep, self.tables, space.words, None, own, other, changes, choices, space.room)
        self.sweeps += 1
        for memory in threads.memories:
            if memory["fault"] == MISSING:
                raise MissingLayerError(int(memory["fault_layer"]))
        bad = max(threads.each("bad_index"))
        if bad:
            raise GameError(self.complaint(int(bad) - 1))
        return self._counts()

    def _clear(self, side: float) -> None:
        self.threads.set(side=side, held=0, largest=0, product=0, square=0, done=0)

    def _counts(self) -> dict[str, float]:
        each = self.threads.each
        sums = {name: float(sum(each(name))) for name in ("held", "product", "square")}
        return {**sums, "largest": float(max(each("largest")))}

    def _iterate(self, calm: float, pause: Callable[[], None] | None) -> None:
        """Sweep until no value changes by more than *calm*, or the changes stop shrinking."""
        changes = self._changes
        changes[:] = 0
        choices = self._room_for_choices()
        least, patience = math.inf, 0
        since = 0
        while True:
            found = self._sweep(self.values, self.values, changes, 0.0, choices)
            largest = found["largest"]
            if largest <= calm:
                return
            least, patience = min(least, largest), 0 if largest < least else patience + 1
            if patience > MOST_PATIENCE:
                return
            if max(self.threads.each("irregular")):
                choices = NO_CHOICES
            if len(choices.rest):
                self._follow(choices, changes, max(largest * CALMER, calm / 4))
            else:
                since = self._extrapolate(found, changes, since + 1, 4 * calm)
            if pause is not None:
                pause()

    def _room_for_choices(self) -> Choices:
        """Return room for one best move per outcome of chance; none if it takes too much memory."""
        size = len(self.values)
        if size == 0:
            return NO_CHOICES
        position = self.space.position(self.number, 0)
        slots = 1 if outcome(position)[0] else max(chance(position), 1)
        self.threads.set(slots=slots, irregular=0)
        needed = size * (4 * slots + 8)
        if slots > MOST_SLOTS or size >= MOST_INDICES or needed > self.memory:
            return NO_CHOICES
        return Choices(np.full(size * slots, NO_EDGE, np.uint32), np.zeros(size))

    def _follow(self, choices: Choices, changes: Any, calm: float) -> None:
        """Compute values as if the noted moves were best, until none changes by more than *calm*.

        It ends after ``CHEAP_SWEEPS`` in any case.
        """
        odds = np.max([memory.words["odds"] for memory in self.threads.memories], axis=0)
        for memory in self.threads.memories:
            memory.words["odds"][:] = odds
        since = 0
        changes[:] = 0
        for _ in range(CHEAP_SWEEPS):
            self._clear(0.0)
            self.threads.run_all(sweep_choices, choices, self.values, changes)
            found = self._counts()
            if found["largest"] <= calm:
                break
            since = self._extrapolate(found, changes, since + 1, 4 * calm)
        changes[:] = 0

    def _extrapolate(self, found: dict[str, float], changes: Any, since: int, least: float) -> int:
        """Add the sum of all later changes every few sweeps; return the sweeps since the last."""
        ratio = found["product"] / found["square"] if found["square"] else 0.0
        if since < EXTRAPOLATE or not 0 < ratio < MOST_RATIO or found["largest"] <= least:
            return since
        changes *= ratio / (1 - ratio)
        self.values += changes
        changes[:] = 0
        return 0

    @functools.cached_property
    def _bounds(self) -> tuple[Any, Any]:
        """Room for lower and upper bounds; the lower ones reuse the array of changes."""
        return self._changes, self._scratch.zeros(len(self.values), float)

    def _prove(self, margin: float) -> bool:
        """Return whether the values are proven to be within a margin of the truth."""
        low, high = self._bounds
        np.subtract(self.values, margin, out=low)
        np.add(self.values, margin, out=high)
        for _ in range(PROOF_SWEEPS):
            held = self._sweep(low, high, NOTHING, -1.0, NO_CHOICES)["held"]
            held += self._sweep(high, low, NOTHING, 1.0, NO_CHOICES)["held"]
            if held == 0 or self._all_closer(low, high, margin):
                self._take(low, high)
                return True
        return False

    def _all_closer(self, low: Any, high: Any, margin: float) -> bool:
        for part in parts(len(low)):
            values = self.values[part]
            # Indices without a position hold NaN, so both comparisons are false there.
            if ((low[part] <= values - margin) | (high[part] >= values + margin)).any():
                return False
        return True

    def _take(self, low: Any, high: Any) -> None:
        """Take the middle of bounds that hold."""
        self.error = _widest(low, high) / 2
        np.add(low, high, out=self.values)
        self.values /= 2

    def _bound(self, margin: float) -> None:
        """Narrow bounds that start at the limits of values."""
        low, high = self._bounds
        low[:], high[:] = -self._limit, self._limit
        while True:
            largest = self._sweep(low, high, NOTHING, -1.0, NO_CHOICES)["largest"]
            upper = self._sweep(high, low, NOTHING, 1.0, NO_CHOICES)["largest"]
            largest = max(largest, upper)
            if _widest(low, high) <= 2 * margin or largest <= margin * 1e-6:
                self._take(low, high)
                return

    def complaint(self, number: int) -> str:
        """Return the message for a position from which play leaves the layers."""
        return (
            f"from index {number:,} of layer {self.space.names[self.number]} play leads to a later "
            f"layer, or to a position without an index whose moves do"
        )


def _widest(low: Any, high: Any) -> float:
    """Return the largest difference of two bounds, 0 if there is none."""
    widths = (np.nanmax(high[part] - low[part], initial=0.0) for part in parts(len(low)))
    return float(max(widths, default=0.0))
