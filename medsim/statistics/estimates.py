"""Estimates with their 95% intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

Z95 = NormalDist().inv_cdf(0.975)
"""Standard errors that a 95% interval reaches to either side, under the normal law."""

_FEWEST_FOR_FISHER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A statistic of some pairs.

    Attributes:
        value: NaN where it is not defined.
        low: the lower end of its 95% interval; NaN where there is none.
    """

    value: float
    low: float = math.nan
    high: float = math.nan


def defined(value: float) -> float | None:
    """Return a value for a table, in which what is not defined is missing."""
    return None if math.isnan(value) else float(value)


def interval_of(estimate: Estimate) -> dict[str, float | None]:
    """Return the columns of an estimate: value, low and high."""
    return {name: defined(getattr(estimate, name)) for name in ("value", "low", "high")}


def normal_share(z: float) -> float:
    """Return the share of the standard normal law below ``z``, precise far below 0 as well."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def two_sided_p(z: float) -> float:
    """Return the probability that a standard normal value is as far from 0 as ``z``."""
    return math.erfc(abs(z) / math.sqrt(2.0))


def share_of(n_hits: int, n_pairs: int) -> Estimate:
    """Return a share with the interval of ``wilson``; NaN of no pairs."""
    if n_pairs == 0:
        return Estimate(value=math.nan)
    return wilson(n_hits / n_pairs, n_pairs)


def student_reach(degrees: int) -> float:
    """Return the standard errors that a 95% interval reaches under Student's law.

    Wallace (Annals of Mathematical Statistics 1959) gives the normal value that is as improbable;
    from 9 degrees on it is right to three digits.
    """
    z = Z95 * (8 * degrees + 3) / (8 * degrees + 1)
    return math.sqrt(degrees * math.expm1(z * z / degrees))


def two_sided_student(t: float, degrees: int) -> float:
    """Return the probability that a value under Student's law is as far from 0 as ``t``.

    It is the incomplete beta function of degrees / (degrees + t^2) (Abramowitz and Stegun 1964,
    26.7.1), and as precise far from 0.
    """
    if math.isinf(t):
        return 0.0
    within = t * t / (degrees + t * t)
    if within < 3 / (degrees + 5):  # where the fraction of this one converges
        return 1 - _incomplete_beta(within, 0.5, degrees / 2)
    return _incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5)


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function, for x below (a + 1) / (a + b + 2).

    By its continued fraction (DLMF 8.17.22), from its end; it converges within some sqrt(a + b)
    terms.
    """
    if x == 0:
        return 0.0
    fraction = 1.0
    for m in range(50 + math.isqrt(int(a + b)), 0, -1):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = (a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        fraction = 1 + even / (1 - odd / fraction)
    fraction = 1 - (a + b) * x / (a + 1) / fraction
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    return math.exp(a * math.log(x) + b * math.log1p(-x) - log_beta) / (a * fraction)


def wilson(share: float, size: float, reach: float = Z95) -> Estimate:
    """Return a share with the score interval of Wilson (1927).

    The interval holds the shares from which the one seen is at most so many standard errors away,
    so it stays within 0 and 1, and is right where the share is near either. ``size`` is the number
    of independent values, at least 1, and ``reach`` that of standard errors.
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
