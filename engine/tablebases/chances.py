"""Games of chance: the expected value of each position of a layer, by value iteration.

The values of a layer are computed again and again from each other (Gauss-Seidel sweeps), until they
hardly change.  Every few sweeps the part of the change that shrinks the slowest is added at once as
the sum of its geometric series (Aitken).  None of that proves anything.  Then it is proven: lower
and upper bounds, at first the values minus and plus a tolerance, are computed from each other.  If
after some sweeps every lower bound is higher than it was, and every upper one lower, then the value
lies between them: suppose it is further above an upper bound than above any other, by *m*; bounds
that are greater by *m* everywhere would hold, and computing them anew makes that one smaller than
the value, while a value is its own backup.  So the bounds hold for any game, and also show that
play which goes on forever does not matter.  Where that fails, bounds are computed from the limits
of all values on, which always holds and takes longer (interval iteration).

Sources: L. Shapley, "Stochastic games" (1953); S. Haddad and B. Monmege, "Interval iteration
algorithm for MDPs and IMDPs" (2018); that a guess is checked by computing it once more,
A. Hartmanns and B. Kaminski, "Optimistic value iteration" (2020); A. Aitken, "On Bernoulli's
numerical solution of algebraic equations" (1926).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from engine.contract.dispatch import value_limit
from engine.contract.errors import GameError
from engine.kernels.layer_iteration import sweep
from engine.tablebases.spaces import Space
from engine.tablebases.tables import Directory
from engine.tablebases.threads import LayerThreads

__all__ = ["ChanceLayer"]

EXTRAPOLATE = 6
"""Sweeps between two additions of a geometric series."""

MOST_RATIO = 0.97
"""Of a series that is summed."""

PROOF_SWEEPS = 6
"""After so many sweeps bounds that hold are better than they were."""

CALM = 1 / 40
"""Values change by no more than this part of the tolerance before they are proven."""


class ChanceLayer:
    """The iteration of a layer: ``values`` and the ``error`` that they have at most."""

    def __init__(
        self,
        space: Space,
        number: int,
        directory: Directory,
        threads: LayerThreads,
        tolerance: float,
    ):
        self.space, self.number, self.threads = space, number, threads
        self.tolerance = tolerance
        self.tables = directory.numbers
        self.values = np.zeros(space.sizes[number])
        self.sweeps = 0
        """Of values, and of bounds twice."""
        self.error = max((table.error for table in directory.layers.values()), default=0.0)
        """Of the layers before, which it adds to."""
        self._limit = value_limit(space.cls)

    @property
    def step(self) -> str:
        """What is done now."""
        return f"sweep {self.sweeps + 1}"

    def state(self) -> tuple[dict[str, Any], Any]:
        """Return the number of sweeps, and the values as they are."""
        return {"sweeps": self.sweeps}, self.values

    def restore(self, numbers: dict[str, Any], values: Any) -> None:
        """Go on from a state."""
        self.values[:] = values
        self.sweeps = int(numbers["sweeps"])

    def solve(self, pause: Callable[[], None] | None = None) -> None:
        """Find all values, within the tolerance more than the error of earlier layers.

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

    def _sweep(self, own: Any, other: Any, changes: Any, side: float) -> dict[str, float]:
        """Compute *own* once; return the sums over the threads, and the largest change."""
        threads, space = self.threads, self.space
        threads.set(side=side, held=0, largest=0, product=0, square=0, done=0)
        threads.run(sweep, self.tables, space.words, None, own, other, changes, space.room)
        self.sweeps += 1
        bad = max(threads.each("bad_index"))
        if bad:
            raise GameError(self.complaint(int(bad) - 1))
        sums = {name: float(sum(threads.each(name))) for name in ("held", "product", "square")}
        return {**sums, "largest": float(max(threads.each("largest")))}

    def _iterate(self, calm: float, pause: Callable[[], None] | None) -> None:
        """Sweep until no value changes by more than *calm*, or they do not get calmer."""
        changes = np.zeros_like(self.values)
        since, least, patience = 0, math.inf, 0
        while True:
            found = self._sweep(self.values, self.values, changes, 0.0)
            since += 1
            largest = found["largest"]
            if largest <= calm:
                return
            least, patience = min(least, largest), 0 if largest < least else patience + 1
            if patience > 60:
                return
            ratio = found["product"] / found["square"] if found["square"] else 0.0
            if since >= EXTRAPOLATE and 0 < ratio < MOST_RATIO and largest > 4 * calm:
                changes *= ratio / (1 - ratio)
                self.values += changes
                changes[:] = 0
                since = 0
            if pause is not None:
                pause()

    def _prove(self, margin: float) -> bool:
        """Return whether the values are shown to be within a margin of the truth."""
        low, high = self.values - margin, self.values + margin
        nothing = np.zeros(0)
        for _ in range(PROOF_SWEEPS):
            held = self._sweep(low, high, nothing, -1.0)["held"]
            held += self._sweep(high, low, nothing, 1.0)["held"]
            if held == 0 or self._all_closer(low, high, margin):
                self._take(low, high)
                return True
        return False

    def _all_closer(self, low: Any, high: Any, margin: float) -> bool:
        worse = (low <= self.values - margin) | (high >= self.values + margin)
        return not worse.any()  # of indices that are no position's, values are not numbers

    def _take(self, low: Any, high: Any) -> None:
        """Take bounds that hold: the value is between them."""
        self.error = _most(high - low) / 2
        np.add(low, high, out=self.values)
        self.values /= 2

    def _bound(self, margin: float) -> None:
        """Narrow bounds from the limits of values on."""
        low = np.full_like(self.values, -self._limit)
        high = np.full_like(self.values, self._limit)
        nothing = np.zeros(0)
        while True:
            largest = self._sweep(low, high, nothing, -1.0)["largest"]
            largest = max(largest, self._sweep(high, low, nothing, 1.0)["largest"])
            if _most(high - low) <= 2 * margin or largest <= margin * 1e-6:
                self._take(low, high)
                return

    def complaint(self, number: int) -> str:
        """Say where play leads out of the layers."""
        return (
            f"from index {number:,} of layer {self.space.names[self.number]} play leads to a later "
            f"layer, or to a position without an index whose moves do"
        )


def _most(widths: Any) -> float:
    return float(np.nanmax(widths, initial=0.0))
