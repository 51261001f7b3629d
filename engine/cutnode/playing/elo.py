"""The statistics of matches: Elo, its error, and sequential tests.

Each opening is played twice with the sides changed, and the two games are one observation:
they are not independent, and an opening that favours a side then cancels out.  Counting
pairs by their points (0, 1/2, 1, 3/2, 2: *pentanomial*) and taking the variance from
these counts is what the testing of chess engines settled on; see M. Van den Bergh, "A
practical introduction to the GSPRT" and "Comments on normalized Elo" (cantate.be/Fishtest),
and the programs fishtest and fastchess.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from cutnode.contract.choices import MOST_ELO
from cutnode.contract.errors import CutnodeError, require_number

POINTS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The mean scores that a pair of games can have, in the order in which pairs are counted."""

CONFIDENCE = NormalDist().inv_cdf(0.975)

PRIOR = 1e-3
"""The count that replaces 0 in likelihoods (as in fishtest)."""


def expected_score(elo: float) -> float:
    """Return the score that an advantage in Elo points means (logistic)."""
    return float(1 / (1 + 10 ** (-elo / 400)))


def elo_difference(score: float) -> float:
    """Return the advantage in Elo points that a score means; infinite at 0 and 1."""
    if not 0 < score < 1:
        return math.inf if score >= 1 else -math.inf
    return 400 * math.log10(score / (1 - score))


def mean_and_error(pairs: Sequence[float]) -> tuple[float, float]:
    """Return the mean score of pairs, counted by :data:`POINTS`, and its standard error.

    The error is 0 if all pairs ended alike, which
    says that there were too few.
    """
    number = sum(pairs)
    mean = sum(count * point for count, point in zip(pairs, POINTS, strict=True)) / number
    spread = sum(count * (point - mean) ** 2 for count, point in zip(pairs, POINTS, strict=True))
    return mean, math.sqrt(spread / number / number)


def score_interval(pairs: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the mean score of pairs, from 0 to 1.

    Where all pairs ended alike they show no spread, and it is the score interval of as many tries
    (E. B. Wilson, "Probable inference, the law of succession, and statistical inference", 1927),
    which is the wider one for a spread that is less than theirs.
    """
    mean, error = mean_and_error(pairs)
    reach = CONFIDENCE * error
    if not error:
        number, square = sum(pairs), CONFIDENCE**2
        wide = 1 + square / number
        reach = CONFIDENCE / wide * math.sqrt(mean * (1 - mean) / number + square / number**2 / 4)
        mean = (mean + square / number / 2) / wide
    return max(0.0, mean - reach), min(1.0, mean + reach)


@dataclass(frozen=True, slots=True)
class Sprt:
    """A sequential probability ratio test (A. Wald, 1945) of two differences in Elo.

    It ends a match as soon as the pairs played say that the difference is rather *elo1* or
    more than *elo0* or less, with odds of error *alpha* (for *elo1* when *elo0* is true)
    and *beta* (the other way).  The ratio is the generalized one (X. Li, J. Liu and
    Z. Ying, 2014): of the likelihoods of the most likely pentanomial distributions that
    have the two expected scores.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        for name in ("elo0", "elo1", "alpha", "beta"):
            object.__setattr__(self, name, require_number(getattr(self, name), name))
        if not -MOST_ELO <= self.elo0 < self.elo1 <= MOST_ELO:
            raise CutnodeError(
                f"a test needs elo0 less than elo1, both within {-MOST_ELO} to {MOST_ELO}, not "
                f"{self.elo0:g} and {self.elo1:g}"
            )
        for error in (self.alpha, self.beta):
            if not 0 < error < 0.5:
                raise CutnodeError(f"odds of an error are between 0 and 0.5, not {error:g}")

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds of the test: below them elo0 is accepted, above them elo1."""
        lower = math.log(self.beta / (1 - self.alpha))
        return lower, math.log((1 - self.beta) / self.alpha)

    def llr(self, pairs: Sequence[float]) -> float:
        """Return the logarithm of the likelihood ratio of *elo1* and *elo0*; 0 without pairs."""
        number = sum(pairs)
        if not number:
            return 0.0
        counts = [count or PRIOR for count in pairs]
        seen = [count / sum(counts) for count in counts]
        first, second = (_most_likely(seen, expected_score(elo)) for elo in (self.elo0, self.elo1))
        ratios = (math.log(b / a) for a, b in zip(first, second, strict=True))
        return sum(count * ratio for count, ratio in zip(counts, ratios, strict=True))

    def decision(self, pairs: Sequence[float]) -> str:
        """Return ``elo0`` or ``elo1`` if that is accepted, "" if the test goes on."""
        lower, upper = self.bounds
        llr = self.llr(pairs)
        return "elo0" if llr <= lower else "elo1" if llr >= upper else ""


def _most_likely(seen: Sequence[float], score: float) -> list[float]:
    """Return the most likely distribution among those with an expected score.

    It is ``seen / (1 + x * (point - score))`` for the x that gives the score (Van den
    Bergh, "The MLE of a multinomial distribution with an expectation constraint").
    """
    offsets = [point - score for point in POINTS]
    low, high = -1 / offsets[-1], -1 / offsets[0]
    for _ in range(200):
        x = (low + high) / 2
        if sum(p * a / (1 + x * a) for p, a in zip(seen, offsets, strict=True)) > 0:
            low = x
        else:
            high = x
    return [p / (1 + x * a) for p, a in zip(seen, offsets, strict=True)]
