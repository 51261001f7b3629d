"""Statistics of paired samples: mean ratios, 95 % confidence intervals, a test, growth rates.

A sample is one position, measured under each of several settings.  Confidence intervals are for
the *population* from which the positions were drawn, so they mean nothing for a set chosen by
hand, and one position has none.  The bootstrap has a fixed seed: the same figures give the same
interval.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from cutnode.contract.errors import CutnodeError

CONFIDENCE = 0.95
"""The confidence level of all intervals."""

RESAMPLES = 10_000
"""The number of bootstrap resamples."""

SEED = 21
"""The seed of the bootstrap's generator."""

EXACT_PAIRS = 50
"""The most differing pairs for which the signed-rank test is exact."""

Numbers = Sequence[float] | np.ndarray[Any, Any]

Interval = tuple[float, float | None, float | None]
"""An estimate and the ends of its interval; None if a single sample gives no spread."""


def quartiles(values: Numbers) -> tuple[float, float, float]:
    """Return the lower quartile, the median and the upper quartile (linear interpolation)."""
    low, middle, high = np.quantile(_numbers(values), (0.25, 0.5, 0.75))
    return float(low), float(middle), float(high)


def geometric_mean(values: Numbers) -> float:
    """Return the geometric mean of positive numbers."""
    return math.exp(float(np.mean(_logarithms(values))))


def bootstrap_mean(values: Numbers) -> Interval:
    """Return the mean of samples, and its BCa bootstrap interval.

    Equal samples have an interval of width 0.
    """
    return bootstrap_share(values, np.ones(len(values)))


def bootstrap_share(parts: Numbers, wholes: Numbers) -> Interval:
    """Return the sum of *parts* / the sum of *wholes*, and its BCa bootstrap interval.

    Each sample is a part and its whole, such as the first-move cutoffs of one search and all its
    cutoffs.  BCa, from B. Efron, Better bootstrap confidence intervals (1987), takes percentiles of
    the resamples' shares, corrected for bias and skewness.
    """
    _require_pairs(parts, wholes)
    a, b = _numbers(parts), _numbers(wholes)
    if b.sum() == 0:
        raise CutnodeError("a share needs a whole other than 0")
    share = float(a.sum() / b.sum())
    kept = b != 0  # a sample whose whole is 0 contributes to no share
    a, b = a[kept], b[kept]
    if len(a) < 2:
        return share, None, None
    if np.all(a * b[0] == b * a[0]):
        return share, share, share
    return share, *_bca(share, _resampled(a, b), (a.sum() - a) / (b.sum() - b))


def _bca(
    estimate: float, resampled: np.ndarray[Any, Any], left_out: np.ndarray[Any, Any]
) -> tuple[float, float]:
    """Return the interval of an estimate, from the estimates of resamples and the jackknife's."""
    normal = NormalDist()
    # Count ties half, since resamples of a few samples often give exactly the same estimate.
    below = np.mean(resampled < estimate) + np.mean(resampled == estimate) / 2
    bias = normal.inv_cdf(float(np.clip(below, 1 / RESAMPLES, 1 - 1 / RESAMPLES)))
    apart = left_out.mean() - left_out
    spread = float(np.sum(apart**2)) ** 1.5
    skewness = float(np.sum(apart**3)) / (6 * spread) if spread else 0.0

    def end(level: float) -> float:
        reach = bias + normal.inv_cdf(level)
        part = normal.cdf(bias + reach / max(1 - skewness * reach, 1e-9))
        return float(np.quantile(resampled, part))

    return end((1 - CONFIDENCE) / 2), end((1 + CONFIDENCE) / 2)


def _resampled(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the shares of bootstrap resamples."""
    random = np.random.default_rng(SEED)
    count = len(a)
    most = max(1, 1_000_000 // count)  # drawn at once
    shares = []
    for begun in range(0, RESAMPLES, most):
        drawn = random.integers(0, count, (min(most, RESAMPLES - begun), count))
        shares.append(a[drawn].sum(axis=1) / b[drawn].sum(axis=1))
    return np.concatenate(shares)


def geometric_mean_ratio(a: Numbers, b: Numbers) -> Interval:
    """Return the geometric mean of the paired ratios *a* / *b*, and its interval.

    Unlike arithmetic means, the geometric means of a / b and b / a are reciprocal.  All numbers
    must be positive.
    """
    _require_pairs(a, b)
    return _exponential(bootstrap_mean(_logarithms(a) - _logarithms(b)))


def share(known: Sequence[bool]) -> Interval:
    """Return the share of samples that are true, and its Wilson score interval.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference (1927).
    """
    count = len(known)
    if not count:
        raise CutnodeError("a share needs at least one sample")
    part = sum(known) / count
    if count < 2:
        return part, None, None
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    middle = (part + z * z / (2 * count)) / (1 + z * z / count)
    reach = z / (1 + z * z / count) * math.sqrt(part * (1 - part) / count + (z / (2 * count)) ** 2)
    return part, max(0.0, middle - reach), min(1.0, middle + reach)


def wilcoxon(a: Numbers, b: Numbers) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test for paired samples.

    The null hypothesis is that the differences *a* - *b* are symmetric about 0; pass logarithms to
    compare ratios.  Pairs without a difference are left out, and the p-value is 1 if no pair
    remains; equal differences share their mean rank.  Up to 50 pairs the distribution is exact,
    even with ties; beyond, it is the normal approximation, corrected for ties.
    """
    _require_pairs(a, b)
    differences = _numbers(a) - _numbers(b)
    differences = differences[differences != 0]
    if not len(differences):
        return 1.0
    _, places, counts = np.unique(np.abs(differences), return_inverse=True, return_counts=True)
    doubled = (2 * np.cumsum(counts) - counts + 1)[
        places
    ]  # doubled ranks are integers even with ties
    positive = int(doubled[differences > 0].sum())
    total = int(doubled.sum())
    extreme = min(positive, total - positive)
    if len(differences) <= EXACT_PAIRS:
        ways = np.zeros(total + 1)  # to get each rank sum; exact as floats below 2 ** 53
        ways[0] = 1
        for rank in doubled:
            ways[rank:] += ways[:-rank].copy()
        tail = float(ways[: extreme + 1].sum()) / 2.0 ** len(differences)
    else:
        spread = math.sqrt(float(np.sum(doubled.astype(float) ** 2)) / 4)
        tail = NormalDist().cdf((extreme - total / 2) / spread)
    return min(1.0, 2 * tail)


def growth_factor(depths: Numbers, nodes: Numbers) -> Interval:
    """Return the branching factor of one position: the growth of its *nodes* per ply.

    It is the exponential of the least-squares slope of log(nodes) on depth, with the slope's
    interval (Student's t).  An odd-even effect in the nodes widens the interval.
    :class:`CutnodeError` for fewer than two depths; two depths have no interval.
    """
    _require_pairs(depths, nodes)
    x, y = _numbers(depths), _logarithms(nodes)
    x = x - x.mean()
    spread = float(np.sum(x * x))
    if not spread:
        raise CutnodeError("a branching factor needs at least two different depths")
    slope = float(np.sum(x * y)) / spread
    freedom = len(x) - 2
    if not freedom:
        return _exponential((slope, None, None))
    residuals = y - y.mean() - slope * x
    error = math.sqrt(float(np.sum(residuals**2)) / freedom / spread)
    reach = student_quantile((1 + CONFIDENCE) / 2, freedom) * error
    return _exponential((slope, slope - reach, slope + reach))


def mean_growth_factor(depths: Numbers, nodes: Sequence[Numbers]) -> Interval:
    """Return the branching factor of positions, given each one's *nodes* by depth.

    For one position it is :func:`growth_factor`; for several, the geometric mean of their factors,
    with the bootstrap interval over positions.
    """
    factors = [growth_factor(depths, of_one) for of_one in nodes]
    if len(factors) == 1:
        return factors[0]
    each = [factor for factor, _, _ in factors]
    return geometric_mean_ratio(each, np.ones(len(each)))


@functools.cache
def student_quantile(level: float, freedom: int) -> float:
    """Return the quantile of Student's t at a *level* above 1/2, for integer degrees of freedom."""
    low, high = 0.0, 1.0
    while _student(high, freedom) < level:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _student(middle, freedom) < level else (low, middle)
    return high


def _student(t: float, freedom: int) -> float:
    """Return the distribution function of Student's t for t >= 0, by its finite series."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    series = term if freedom > 1 else 0.0
    for k in range(3 if odd else 2, freedom - 1, 2):
        term *= cosine * cosine * (k - 1) / k
        series += term
    central = 2 / math.pi * (angle + sine * series) if odd else sine * series
    return 0.5 + central / 2


def _exponential(logarithms: Interval) -> Interval:
    mean, low, high = logarithms
    return (
        math.exp(mean),
        None if low is None else math.exp(low),
        None if high is None else math.exp(high),
    )


def _numbers(values: Numbers) -> np.ndarray[Any, Any]:
    samples = np.asarray(values, float)
    if samples.ndim != 1 or not len(samples) or not np.all(np.isfinite(samples)):
        raise CutnodeError("statistics need at least one number, and only finite ones")
    return samples


def _logarithms(values: Numbers) -> np.ndarray[Any, Any]:
    samples = _numbers(values)
    if samples.min() <= 0:
        raise CutnodeError(f"a geometric mean needs positive numbers, got {samples.min():g}")
    logarithms: np.ndarray[Any, Any] = np.log(samples)
    return logarithms


def _require_pairs(a: Numbers, b: Numbers) -> None:
    if len(a) != len(b):
        raise CutnodeError(f"paired samples must be equally many, got {len(a)} and {len(b)}")
