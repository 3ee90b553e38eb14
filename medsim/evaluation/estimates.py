"""Estimates with their 95% intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

Z95 = NormalDist().inv_cdf(0.975)
"""How many standard errors a 95% interval reaches to either side, under the normal law."""

_FEWEST_FOR_FISHER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A statistic of some pairs.

    Attributes:
        value: NaN where it is not defined.
        low: the lower end of its 95% interval; NaN where there is none.
        high: the upper end.
    """

    value: float
    low: float = math.nan
    high: float = math.nan


def normal_share(z: float) -> float:
    """Return the share of the standard normal law below ``z``, precise far below 0 as well."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def two_sided_p(z: float) -> float:
    """Return how probable it is that a standard normal value is as far from 0 as ``z``."""
    return math.erfc(abs(z) / math.sqrt(2.0))


def share_of(n_hits: int, n_pairs: int) -> Estimate:
    """Return a share with the interval of ``wilson``; NaN of no pairs."""
    if n_pairs == 0:
        return Estimate(value=math.nan)
    return wilson(n_hits / n_pairs, n_pairs)


def student_reach(degrees: int) -> float:
    """Return how many standard errors a 95% interval reaches under Student's law.

    Args:
        degrees: of freedom, at least 1. It is the inverse of Wallace's approximation, see
            ``two_sided_student``; from 9 degrees on it is right to three digits.
    """
    z = Z95 * (8 * degrees + 3) / (8 * degrees + 1)
    return math.sqrt(degrees * math.expm1(z * z / degrees))


def two_sided_student(t: float, degrees: int) -> float:
    """Return how probable it is that a value under Student's law is as far from 0 as ``t``.

    Args:
        t: the value.
        degrees: of freedom, at least 1.

    Wallace (Annals of Mathematical Statistics 1959) gives the normal value that is as improbable.
    """
    shrunk = (8 * degrees + 1) / (8 * degrees + 3)
    return two_sided_p(shrunk * math.sqrt(degrees * math.log1p(t * t / degrees)))


def wilson(share: float, size: float, reach: float = Z95) -> Estimate:
    """Return a share with the score interval of Wilson (1927).

    The interval holds the shares from which the one seen is at most so many standard errors away,
    so it stays within 0 and 1, and is right where the share is near either.

    Args:
        share: from 0 to 1.
        size: of how many independent values, at least 1.
        reach: how many standard errors away.
    """
    weight = reach * reach / size
    middle = share + weight / 2
    half = math.sqrt(weight * (share * (1 - share) + weight / 4))
    low, high = (middle - half) / (1 + weight), (middle + half) / (1 + weight)
    # Exact at the ends, where rounding could leave the share outside its interval.
    return Estimate(value=share, low=0.0 if share == 0 else low, high=1.0 if share == 1 else high)


def pearson_of(correlation: float, n_pairs: int) -> Estimate:
    """Return Pearson's correlation with the interval of Fisher (1921).

    The inverse hyperbolic tangent of a correlation is nearly normal with the variance
    1 / (n_pairs - 3). There is no interval of fewer than 4 pairs; that of 1 or -1 is a point.
    """
    if math.isnan(correlation) or n_pairs < _FEWEST_FOR_FISHER:
        return Estimate(value=correlation)
    if abs(correlation) == 1:
        return Estimate(value=correlation, low=correlation, high=correlation)
    middle, reach = math.atanh(correlation), Z95 / math.sqrt(n_pairs - 3)
    return Estimate(
        value=correlation, low=math.tanh(middle - reach), high=math.tanh(middle + reach)
    )
