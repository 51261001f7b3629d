"""Thermographs: how the stops of a game change as it is cooled (Winning Ways, chapter 6).

Cooled by t, a game costs its mover t at every move, until the stops meet at its mean.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from cutnode.cgt.memory import Memory
from cutnode.contract.extras import extra
from cutnode.kernels import forms

Wall = tuple[tuple[Fraction, Fraction], ...]
"""Points of a temperature and a value, with rising temperature; vertical above the last one."""


@dataclass(frozen=True, slots=True)
class Thermograph:
    """The walls of a game: its Left and Right stops when it is cooled by each temperature."""

    left: Wall
    """Points (temperature, value), from temperature 0 up to the game's temperature."""
    right: Wall
    temperature: Fraction
    """The temperature at which the walls meet: of a number n / 2**k, -1 / 2**k."""
    mean: Fraction
    """The value at which they meet."""

    def plot(self, axes: Any = None) -> Any:
        """Draw the walls with matplotlib into *axes*, by default new ones; return the axes.

        Values run from right to left, because Left's side is on the left.  :class:`CutnodeError`
        without matplotlib (extra ``plot``).
        """
        if axes is None:
            _, axes = extra("matplotlib.pyplot", "plot", "plots need").subplots()
        top = max(self.left[-1][0], Fraction(0)) + max(self.left[-1][0] / 4, Fraction(1))
        for wall, name in ((self.left, "Left"), (self.right, "Right")):
            points = [*wall, (top, self.mean)]
            axes.plot([float(x) for _, x in points], [float(t) for t, _ in points], label=name)
        axes.set_xlabel("value")
        axes.set_ylabel("temperature")
        if not axes.xaxis_inverted():
            axes.invert_xaxis()
        return axes


def thermograph(memory: Memory, a: int) -> Thermograph:
    """Return the thermograph of a form."""
    known: dict[int, tuple[Wall, Wall]] = {}
    for b in memory.tree(a):
        if forms.is_simple(b):
            mast = ((Fraction(0), Fraction(forms.number_of(b), forms.ONE)),)
            known[b] = mast, mast
        else:
            left, right = memory.both(b)
            highest = known[left[0]][1]
            for option in left[1:]:
                highest = _greater(highest, known[option][1])
            lowest = _negated(known[right[0]][0])
            for option in right[1:]:
                lowest = _greater(lowest, _negated(known[option][0]))
            known[b] = _met(highest, _negated(lowest))
    left_wall, right_wall = known[a]
    temperature, mean = left_wall[-1]
    if forms.is_number(a):
        temperature = Fraction(-1, mean.denominator)
    return Thermograph(left_wall, right_wall, temperature, mean)


def _at(wall: Wall, t: Fraction) -> Fraction:
    """Return the value of a wall at a temperature."""
    for (t0, x0), (t1, x1) in itertools.pairwise(wall):
        if t <= t1:
            return x0 + (x1 - x0) * (t - t0) / (t1 - t0)
    return wall[-1][1]


def _negated(wall: Wall) -> Wall:
    return tuple((t, -x) for t, x in wall)


def _greater(a: Wall, b: Wall) -> Wall:
    """Return the greater of two walls at each temperature."""
    temperatures = sorted({t for t, _ in (*a, *b)})
    points: list[tuple[Fraction, Fraction]] = []
    gap0 = Fraction(0)
    for t in temperatures:
        x, y = _at(a, t), _at(b, t)
        gap = x - y
        if points and gap0 * gap < 0:
            t0 = points[-1][0]
            crossing = t0 + (t - t0) * gap0 / (gap0 - gap)
            points.append((crossing, _at(a, crossing)))
        points.append((t, max(x, y)))
        gap0 = gap
    return _plain(points)


def _met(left: Wall, right: Wall) -> tuple[Wall, Wall]:
    """Return the walls of a game from the best walls of its options, before the mover's cost."""
    temperatures = sorted({t for t, _ in (*left, *right)})
    # Above the last point, the walls approach each other by 2 for each unit of temperature.
    last = temperatures[-1]
    temperatures.append(last + max(_at(left, last) - _at(right, last), Fraction(0)) / 2 + 1)
    walls: tuple[list[Any], list[Any]] = [], []
    for t in temperatures:
        x, y = _at(left, t) - t, _at(right, t) + t
        if x <= y:
            if walls[0] and x < y:
                (t0, x0), (_, y0) = walls[0][-1], walls[1][-1]
                part = (x0 - y0) / ((x0 - y0) - (x - y))
                t, x = t0 + (t - t0) * part, x0 + (x - x0) * part
            walls[0].append((t, x))
            walls[1].append((t, x))
            break
        walls[0].append((t, x))
        walls[1].append((t, y))
    return _plain(walls[0]), _plain(walls[1])


def _plain(points: list[tuple[Fraction, Fraction]]) -> Wall:
    """Return a wall without repeated points and points on a straight line."""
    kept: list[tuple[Fraction, Fraction]] = []
    for t, x in points:
        if kept and kept[-1][0] == t:
            continue
        if len(kept) > 1:
            (t0, x0), (t1, x1) = kept[-2:]
            if (x1 - x0) * (t - t1) == (x - x1) * (t1 - t0):
                kept.pop()
        kept.append((t, x))
    return tuple(kept)
