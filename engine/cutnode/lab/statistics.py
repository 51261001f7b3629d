"""Statistics of paired samples: means of ratios, 95 % intervals, a test, and rates of growth.

A sample is one position, measured under each of several settings.  Intervals are of the
*population* the positions were drawn from, so they say nothing of a set that was chosen by hand,
and one position has none.  The bootstrap draws from a fixed seed: the same figures give the same
interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from cutnode.contract.errors import CutnodeError

CONFIDENCE = 0.95
"""The level of all intervals."""

RESAMPLES = 10_000
SEED = 21
"""The bootstrap's draws, and the seed of its generator."""

EXACT_PAIRS = 50
"""Up to so many pairs that differ, the signed-rank test counts all assignments of signs."""

Numbers = Sequence[float] | np.ndarray[Any, Any]

Interval = tuple[float, float | None, float | None]
"""An estimate, and the ends of its interval: None where one sample tells nothing of the spread."""


def quartiles(values: Numbers) -> tuple[float, float, float]:
    """Return the lower quartile, the median and the upper quartile (linear interpolation)."""
    low, middle, high = np.quantile(_numbers(values), (0.25, 0.5, 0.75))
    return float(low), float(middle), float(high)


def geometric_mean(values: Numbers) -> float:
    """Return the geometric mean of positive numbers."""
    return math.exp(float(np.mean(_logarithms(values))))


def bootstrap_mean(values: Numbers) -> Interval:
    """Return the mean of samples, and its interval by the BCa bootstrap.

    Equal samples have an interval of no width.
    """
    return bootstrap_share(values, np.ones(len(values)))


def bootstrap_share(parts: Numbers, wholes: Numbers) -> Interval:
    """Return the sum of *parts* / the sum of *wholes*, and its interval by the BCa bootstrap.

    Each sample is a part and its whole, such as the cutoffs of one search by the first move, and
    all of its cutoffs.  B. Efron, Better bootstrap confidence intervals (1987): the percentiles of
    the shares of resamples, corrected for bias and for skewness.
    """
    _require_pairs(parts, wholes)
    a, b = _numbers(parts), _numbers(wholes)
    if b.sum() == 0:
        raise CutnodeError("a share needs a whole that is not 0")
    share = float(a.sum() / b.sum())
    kept = b != 0  # a sample without a whole has no part in any share
    a, b = a[kept], b[kept]
    if len(a) < 2:
        return share, None, None
    if np.all(a * b[0] == b * a[0]):
        return share, share, share
    return share, *_bca(share, _resampled(a, b), (a.sum() - a) / (b.sum() - b))


def _bca(
    estimate: float, resampled: np.ndarray[Any, Any], left_out: np.ndarray[Any, Any]
) -> tuple[float, float]:
    """Return the interval of an estimate, by those of resamples and of all samples but one."""
    normal = NormalDist()
    # Half of the ties: the estimates of few samples are often the very same.
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
    """Return the shares of samples that are drawn again, with replacement."""
    random = np.random.default_rng(SEED)
    count = len(a)
    most = max(1, 1_000_000 // count)  # drawn at once
    shares = []
    for begun in range(0, RESAMPLES, most):
        drawn = random.integers(0, count, (min(most, RESAMPLES - begun), count))
        shares.append(a[drawn].sum(axis=1) / b[drawn].sum(axis=1))
    return np.concatenate(shares)


def geometric_mean_ratio(a: Numbers, b: Numbers) -> Interval:
    """Return the geometric mean of *a* / *b*, pair by pair, and its interval.

    The ratios of a and b and those of b and a have reciprocal means, which arithmetic means have
    not.  All numbers are positive.
    """
    _require_pairs(a, b)
    return _exponential(bootstrap_mean(_logarithms(a) - _logarithms(b)))


def share(known: Sequence[bool]) -> Interval:
    """Return the share of samples that are true, and its score interval.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference (1927).
    """
    count = len(known)
    if not count:
        raise CutnodeError("a share is of one sample or more")
    part = sum(known) / count
    if count < 2:
        return part, None, None
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    middle = (part + z * z / (2 * count)) / (1 + z * z / count)
    reach = z / (1 + z * z / count) * math.sqrt(part * (1 - part) / count + (z / (2 * count)) ** 2)
    return part, max(0.0, middle - reach), min(1.0, middle + reach)


def wilcoxon(a: Numbers, b: Numbers) -> float:
    """Return the p-value of Wilcoxon's signed-rank test, two-sided, for paired samples.

    The null hypothesis is that the differences *a* - *b* are symmetric about 0; take logarithms
    where ratios are what matters.  Pairs without a difference are left out, and 1 is returned if no
    other is left; equal differences share the mean of their ranks.  Up to 50 pairs the
    distribution is exact, ties included; beyond, it is the normal one with the correction for ties.
    """
    _require_pairs(a, b)
    differences = _numbers(a) - _numbers(b)
    differences = differences[differences != 0]
    if not len(differences):
        return 1.0
    _, places, counts = np.unique(np.abs(differences), return_inverse=True, return_counts=True)
    doubled = (2 * np.cumsum(counts) - counts + 1)[places]  # ranks, twice, so that ties are whole
    positive = int(doubled[differences > 0].sum())
    total = int(doubled.sum())
    extreme = min(positive, total - positive)
    if len(differences) <= EXACT_PAIRS:
        ways = np.zeros(total + 1)  # of each sum of ranks; exact as floats below 2 ** 53
        ways[0] = 1
        for rank in doubled:
            ways[rank:] += ways[:-rank].copy()
        tail = float(ways[: extreme + 1].sum()) / 2.0 ** len(differences)
    else:
        spread = math.sqrt(float(np.sum(doubled.astype(float) ** 2)) / 4)
        tail = NormalDist().cdf((extreme - total / 2) / spread)
    return min(1.0, 2 * tail)


def growth_factor(depths: Numbers, nodes: Numbers) -> Interval:
    """Return the branching factor of one position: the growth of its *nodes* by ply of depth.

    It is the exponential of the slope of log(nodes) over depths, by least squares; the interval
    is that of the slope (Student's t).  Nodes that alternate between odd and even depths widen it.
    :class:`CutnodeError` for less than two depths; two have no interval.
    """
    _require_pairs(depths, nodes)
    x, y = _numbers(depths), _logarithms(nodes)
    x = x - x.mean()
    spread = float(np.sum(x * x))
    if not spread:
        raise CutnodeError("a growth by depth needs two depths")
    slope = float(np.sum(x * y)) / spread
    freedom = len(x) - 2
    if not freedom:
        return _exponential((slope, None, None))
    residuals = y - y.mean() - slope * x
    error = math.sqrt(float(np.sum(residuals**2)) / freedom / spread)
    reach = student_quantile((1 + CONFIDENCE) / 2, freedom) * error
    return _exponential((slope, slope - reach, slope + reach))


def mean_growth_factor(depths: Numbers, nodes: Sequence[Numbers]) -> Interval:
    """Return the branching factor of positions, of each the *nodes* by depth.

    One position: :func:`growth_factor`.  Several: the geometric mean of theirs, with the interval
    of the bootstrap over positions.
    """
    factors = [growth_factor(depths, of_one) for of_one in nodes]
    if len(factors) == 1:
        return factors[0]
    each = [factor for factor, _, _ in factors]
    return geometric_mean_ratio(each, np.ones(len(each)))


def student_quantile(level: float, freedom: int) -> float:
    """Return the quantile of Student's t, for a *level* above 1/2 and whole degrees of freedom."""
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
    """The distribution function of Student's t for t >= 0: its finite series."""
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
        raise CutnodeError("statistics are of one finite number or more")
    return samples


def _logarithms(values: Numbers) -> np.ndarray[Any, Any]:
    samples = _numbers(values)
    if samples.min() <= 0:
        raise CutnodeError(f"a mean of ratios needs numbers above 0, not {samples.min():g}")
    logarithms: np.ndarray[Any, Any] = np.log(samples)
    return logarithms


def _require_pairs(a: Numbers, b: Numbers) -> None:
    if len(a) != len(b):
        raise CutnodeError(f"pairs are of as many samples each, not of {len(a)} and {len(b)}")
