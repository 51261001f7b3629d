"""Simultaneous perturbation stochastic approximation: a minimum found by noisy measurements.

Whatever the number of parameters, a step takes two measurements: all parameters are moved at once,
each up or down by chance, and then all the other way.

J. Spall, "Implementation of the simultaneous perturbation algorithm for stochastic optimization"
(1998), whose gains these are: the step is ``a / (A + k) ** 0.602`` and the perturbation
``c / k ** 0.101`` at the iteration k = 1, 2, ..., with A a tenth of all iterations.

>>> search = Spsa([3.0, 3.0], iterations=200, seed=1)
>>> for up, down in search:
...     search.tell(*(sum(x * x for x in point) for point in (up, down)))
>>> all(abs(x) < 0.1 for x in search.mean())
True
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

__all__ = ["Spsa"]

STEP_DECAY, PERTURBATION_DECAY = 0.602, 0.101
STABILITY = 0.1
"""Published: how fast steps and perturbations get smaller, and A as a part of all iterations."""

PERTURBATION = 1.0
"""c: points are given in units in which a change of 1 matters."""

FIRST_STEP = 0.5
LONGEST_STEP = 1.0
"""How far the first step goes on average over the parameters, and how far any step goes at most."""

TRIAL = 5
"""So many iterations measure how steep it is at the start; then a follows from the first step."""


class Spsa:
    """A search for the minimum of a function of several numbers, by its values at pairs of points.

    It yields the pairs, and is to be told what was measured at both.  *bounds* are the least and
    the most of each number.
    """

    def __init__(
        self,
        start: Sequence[float],
        *,
        iterations: int,
        seed: int,
        bounds: Sequence[tuple[float, float]] | None = None,
    ):
        self.point = list(start)
        self.bounds = bounds or [(float("-inf"), float("inf"))] * len(start)
        self.iterations = iterations
        self.random = Random(f"{seed} spsa")
        self.slopes: list[list[float]] = []
        self.path: list[list[float]] = []
        """The points after each iteration."""
        self._signs: list[int] = []
        self._gain = 0.0

    def __iter__(self) -> Iterator[tuple[list[float], list[float]]]:
        while len(self.path) < self.iterations:
            self._signs = [self.random.choice((-1, 1)) for _ in self.point]
            yield self._moved(1), self._moved(-1)

    def _moved(self, sign: int) -> list[float]:
        width = sign * PERTURBATION / (len(self.path) + 1) ** PERTURBATION_DECAY
        return self._bounded(
            [x + width * each for x, each in zip(self.point, self._signs, strict=True)]
        )

    def _bounded(self, point: Sequence[float]) -> list[float]:
        pairs = zip(point, self.bounds, strict=True)
        return [min(max(x, least), most) for x, (least, most) in pairs]

    def tell(self, up: float, down: float) -> None:
        """Take a step by what was measured at the two points that were yielded last."""
        number = len(self.path) + 1
        width = 2 * PERTURBATION / number**PERTURBATION_DECAY
        slope = [(up - down) / width * sign for sign in self._signs]
        self.slopes.append(slope)
        if number == min(TRIAL, self.iterations):
            # Of several slopes at the same point: one alone is mostly noise.
            count = len(self.slopes)
            slope = [sum(each) / count for each in zip(*self.slopes, strict=True)]
            steep = sum(abs(each) for each in slope) / len(slope)
            if steep:
                stability = STABILITY * self.iterations
                self._gain = FIRST_STEP * (stability + number) ** STEP_DECAY / steep
        gain = self._gain / (STABILITY * self.iterations + number) ** STEP_DECAY
        steps = [min(max(gain * each, -LONGEST_STEP), LONGEST_STEP) for each in slope]
        self.point = self._bounded([x - step for x, step in zip(self.point, steps, strict=True)])
        self.path.append(self.point)

    def mean(self) -> list[float]:
        """Return the mean of the later half of the points, which is less noisy than the last."""
        later = self.path[len(self.path) // 2 :] or [self.point]
        return [sum(each) / len(later) for each in zip(*later, strict=True)]
