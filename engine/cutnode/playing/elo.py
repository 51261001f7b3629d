"""The statistics of matches: Elo, its error, and sequential tests.

Each opening is played twice with sides reversed, and the two games count as one observation:
they are not independent, and an opening that favours one side cancels out.  Counting pairs by
their points (0, 1/2, 1, 3/2, 2: *pentanomial*) and taking the variance from these counts is the
standard way to test chess engines; see M. Van den Bergh, "A practical introduction to the GSPRT"
and "Comments on normalized Elo" (cantate.be/Fishtest), and the programs fishtest and fastchess.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from cutnode.contract.choices import MOST_ELO
from cutnode.contract.errors import CutnodeError, require_number

POINTS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The possible mean scores of a pair of games, in the order in which pairs are counted."""

CONFIDENCE = NormalDist().inv_cdf(0.975)

PRIOR = 1e-3
"""The count that replaces 0 in likelihoods, as in fishtest."""


def expected_score(elo: float) -> float:
    """Return the expected score for an advantage in Elo points (logistic)."""
    return float(1 / (1 + 10 ** (-elo / 400)))


def elo_difference(score: float) -> float:
    """Return the advantage in Elo points for a score; infinite at 0 and 1."""
    if not 0 < score < 1:
        return math.inf if score >= 1 else -math.inf
    return 400 * math.log10(score / (1 - score))


def mean_and_error(pairs: Sequence[float]) -> tuple[float, float]:
    """Return the mean score of pairs, counted by :data:`POINTS`, and its standard error.

    The error is 0 if all pairs ended alike: then there were too few.
    """
    number = sum(pairs)
    mean = sum(count * point for count, point in zip(pairs, POINTS, strict=True)) / number
    spread = sum(count * (point - mean) ** 2 for count, point in zip(pairs, POINTS, strict=True))
    return mean, math.sqrt(spread / number / number)


def score_interval(pairs: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % confidence interval of the mean score of pairs, from 0 to 1.

    If all pairs ended alike, their counts show no spread.  Then this is the score interval for the
    same number of independent trials (E. B. Wilson, "Probable inference, the law of succession,
    and statistical inference", 1927), which errs on the wide side: pairs vary less than trials.
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
    """A sequential probability ratio test (A. Wald, 1945) between two differences in Elo.

    It ends a match as soon as the pairs decide between H0 (at most *elo0*) and H1 (at least
    *elo1*), with a type I error rate of *alpha* (accepting *elo1* when *elo0* is true) and a type
    II error rate of *beta* (the reverse).  The ratio is the generalized one (X. Li, J. Liu and
    Z. Ying, 2014): it compares the maximum likelihoods of pentanomial distributions with the two
    expected scores.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    @classmethod
    def between(
        cls, elo0: float | None, elo1: float | None, alpha: float, beta: float
    ) -> Sprt | None:
        """Return a test, None if both differences are None; :class:`CutnodeError` if one is."""
        if elo0 is not None and elo1 is not None:
            return cls(elo0, elo1, alpha, beta)
        if elo0 is not None or elo1 is not None:
            raise CutnodeError("an SPRT needs both elo0 and elo1")
        return None

    def __post_init__(self) -> None:
        for name in ("elo0", "elo1", "alpha", "beta"):
            object.__setattr__(self, name, require_number(getattr(self, name), name))
        if not -MOST_ELO <= self.elo0 < self.elo1 <= MOST_ELO:
            raise CutnodeError(
                f"elo0 must be less than elo1, and both within {-MOST_ELO}..{MOST_ELO}; "
                f"got {self.elo0:g} and {self.elo1:g}"
            )
        for error in (self.alpha, self.beta):
            if not 0 < error < 0.5:
                raise CutnodeError(f"alpha and beta must be between 0 and 0.5, got {error:g}")

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds of the test: at the lower one elo0 is accepted, at the upper one elo1."""
        lower = math.log(self.beta / (1 - self.alpha))
        return lower, math.log((1 - self.beta) / self.alpha)

    def llr(self, pairs: Sequence[float]) -> float:
        """Return the log-likelihood ratio of *elo1* against *elo0*; 0 without pairs."""
        number = sum(pairs)
        if not number:
            return 0.0
        counts = [count or PRIOR for count in pairs]
        seen = [count / sum(counts) for count in counts]
        first, second = (_most_likely(seen, expected_score(elo)) for elo in (self.elo0, self.elo1))
        ratios = (math.log(b / a) for a, b in zip(first, second, strict=True))
        return sum(count * ratio for count, ratio in zip(counts, ratios, strict=True))

    def decision(self, pairs: Sequence[float]) -> str:
        """Return ``elo0`` or ``elo1``, whichever is accepted, or "" if the test continues."""
        lower, upper = self.bounds
        llr = self.llr(pairs)
        return "elo0" if llr <= lower else "elo1" if llr >= upper else ""


def _most_likely(seen: Sequence[float], score: float) -> list[float]:
    """Return the most likely distribution with a given expected score.

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
