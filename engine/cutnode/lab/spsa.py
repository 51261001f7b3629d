"""SPSA (simultaneous perturbation stochastic approximation): minimise a noisy function.

Whatever the number of parameters, a step takes two measurements: one with all parameters
perturbed at once, each up or down at random, and one with all perturbed the other way.

The gain sequences are from J. Spall, "Implementation of the simultaneous perturbation algorithm
for stochastic optimization" (1998): at iteration k = 1, 2, ... the step is
``a / (A + k) ** 0.602`` and the perturbation ``c / k ** 0.101``, where A is a tenth of all
iterations.  If the noise is known, a follows from how far noise alone may lead.

>>> search = Spsa([3.0, 3.0], iterations=200, seed=1)
>>> for up, down in search:
...     search.tell(*(sum(x * x for x in point) for point in (up, down)))
>>> all(abs(x) < 0.1 for x in search.mean())
True
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

STEP_DECAY, PERTURBATION_DECAY = 0.602, 0.101
STABILITY = 0.1
"""Spall's constants: the decay exponents, and A as a share of all iterations."""

PERTURBATION = 1.0
"""The constant c; points are in units in which a change of 1 matters."""

FIRST_STEP = 0.5
"""The length of the first step, the mean over the parameters."""

LONGEST_STEP = 1.0
"""The longest step of a parameter."""

TRIAL = 5
"""The iterations that estimate the slope at the start, from which a then follows."""

ASTRAY = 0.5
"""The distance that noise alone leads in all iterations, if it is known (standard deviation)."""


class Spsa:
    """A search for the minimum of a function of several numbers, by its values at pairs of points.

    Iteration yields the pairs; call :meth:`tell` with the measurements at both points.  *bounds*
    are the least and the greatest value of each number.  *noise* is the standard deviation of the
    difference between the two measurements; without it, the size of steps follows from the slope
    at the start.
    """

    def __init__(
        self,
        start: Sequence[float],
        *,
        iterations: int,
        seed: int,
        bounds: Sequence[tuple[float, float]] | None = None,
        noise: float = 0.0,
    ):
        self.point = list(start)
        self.bounds = bounds or [(float("-inf"), float("inf"))] * len(start)
        self.iterations = iterations
        self.random = Random(f"{seed} spsa")
        self.slopes: list[list[float]] = []
        self.path: list[list[float]] = []
        """The point after each iteration."""
        self._signs: list[int] = []
        self._trial = 0 if noise else min(TRIAL, iterations)
        self._gain = 0.0
        if noise:
            numbers = range(1, iterations + 1)
            variance = sum((self._decay(k) * noise / self._distance(k)) ** 2 for k in numbers)
            self._gain = ASTRAY / variance**0.5

    def __iter__(self) -> Iterator[tuple[list[float], list[float]]]:
        while len(self.path) < self.iterations:
            self._signs = [self.random.choice((-1, 1)) for _ in self.point]
            yield self._moved(1), self._moved(-1)

    def _decay(self, number: int) -> float:
        """Return the factor of an iteration's step."""
        return float((STABILITY * self.iterations + number) ** -STEP_DECAY)

    def _distance(self, number: int) -> float:
        """Return the distance between an iteration's two points, in each number."""
        return float(2 * PERTURBATION * number**-PERTURBATION_DECAY)

    def _moved(self, sign: int) -> list[float]:
        width = sign * self._distance(len(self.path) + 1) / 2
        return self._bounded(
            [x + width * each for x, each in zip(self.point, self._signs, strict=True)]
        )

    def _bounded(self, point: Sequence[float]) -> list[float]:
        pairs = zip(point, self.bounds, strict=True)
        return [min(max(x, least), most) for x, (least, most) in pairs]

    def tell(self, up: float, down: float) -> None:
        """Take a step, given the measurements at the two points yielded last."""
        number = len(self.path) + 1
        slope = [(up - down) / self._distance(number) * sign for sign in self._signs]
        self.slopes.append(slope)
        if number == self._trial:
            # The mean of several slopes near the start: a single one is mostly noise.
            count = len(self.slopes)
            slope = [sum(each) / count for each in zip(*self.slopes, strict=True)]
            steep = sum(abs(each) for each in slope) / len(slope)
            if steep:
                self._gain = FIRST_STEP / self._decay(number) / steep
        gain = self._gain * self._decay(number)
        steps = [min(max(gain * each, -LONGEST_STEP), LONGEST_STEP) for each in slope]
        self.point = self._bounded([x - step for x, step in zip(self.point, steps, strict=True)])
        self.path.append(self.point)

    def mean(self) -> list[float]:
        """Return the mean of the later half of the points, which is less noisy than the last."""
        later = self.path[len(self.path) // 2 :] or [self.point]
        return [sum(each) / len(later) for each in zip(*later, strict=True)]
