"""Statistics with their 95% intervals: shares and correlations, and tests of the latter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from medsim.core.errors import OptionError
from medsim.statistics.pairs import checked_values

if TYPE_CHECKING:
    from medsim.kernels.types import Values

Z95 = NormalDist().inv_cdf(0.975)
"""Standard errors that a 95% interval reaches to either side, under the normal law."""

_ALPHA = 0.05
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


@cache
def student_reach(degrees: float) -> float:
    """Return the standard errors that a 95% interval reaches under Student's law."""
    # Newton's steps from below never pass the value, since the tail is convex.
    log_density = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)
    scale = math.exp(log_density) / math.sqrt(degrees * math.pi)
    reach, step = Z95, 1.0
    while step > 1e-14 * reach:  # to the last digits
        density = scale * (1 + reach * reach / degrees) ** (-(degrees + 1) / 2)
        step = (two_sided_student(reach, degrees) - _ALPHA) / (2 * density)
        reach += step
    return reach


def two_sided_student(t: float, degrees: float) -> float:
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
    1 / (n_pairs - 3). There is no interval of fewer than 4 pairs, and none of 1 or -1, where
    it would be a point.
    """
    if math.isnan(correlation) or n_pairs < _FEWEST_FOR_FISHER or abs(correlation) == 1:
        return Estimate(value=correlation)
    middle, reach = math.atanh(correlation), Z95 / math.sqrt(n_pairs - 3)
    return Estimate(
        value=correlation, low=math.tanh(middle - reach), high=math.tanh(middle + reach)
    )


FEWEST_FOR_TEST = 3
"""Of fewer values, any two sides lie on a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PearsonTest:
    """Pearson's correlation of two sides with its test.

    Attributes:
        r: Pearson's correlation, with Fisher's interval of at least 4 values; NaN of fewer than 3,
            of a constant side, or where a value is infinite.
        t: r sqrt((n - 2) / (1 - r^2)); infinite where r is 1 or -1.
        p: two-tailed, under Student's law of n - 2 degrees.
    """

    r: Estimate
    t: float
    p: float
    n: int


def pearson_test(left: Values, right: Values) -> PearsonTest:
    """Return Pearson's correlation of float64[n] values with its two-tailed test (Student 1908)."""
    left = checked_values("left values", left)
    right = checked_values("right values", right, len(left))
    n = len(left)
    r = pearson(left, right) if n >= FEWEST_FOR_TEST else math.nan
    if math.isnan(r):
        return PearsonTest(r=Estimate(value=r), t=math.nan, p=math.nan, n=n)
    rest = (1 - r) * (1 + r)
    t = r * math.sqrt((n - 2) / rest) if rest else math.copysign(math.inf, r)
    return PearsonTest(r=pearson_of(r, n), t=t, p=two_sided_student(t, n - 2), n=n)


def pearson(left: Values, right: Values) -> float:
    """Return Pearson's correlation of float64[n] values.

    It is NaN of no values or a constant side, or where a value is infinite.
    """
    sides = []
    for values in (left, right):
        largest = np.abs(values).max(initial=0.0)
        if not len(values) or values.min() == values.max() or math.isinf(largest):
            return math.nan
        scaled = values / largest  # so that no square overflows
        sides.append(scaled - scaled.mean())
    x, y = sides
    correlation = float((x * y).sum() / math.sqrt((x * x).sum() * (y * y).sum()))
    return max(-1.0, min(1.0, correlation))


def smallest_detectable(n: int, power: float = 0.8, alpha: float = 0.05) -> float:
    """Return the smallest absolute correlation that a test of ``n`` values is likely to show.

    A true correlation of this size is significant, two-tailed at ``alpha``, in the share ``power``
    of samples. It is taken by Fisher's transformation, whose standard error is 1 / sqrt(n - 3)
    (Cohen, Statistical Power Analysis 1988, section 3.5). Of few values that is a little strict: of
    12, a correlation of this size is shown in 84% of samples rather than 80%. It is NaN of fewer
    than 4 values, by which nothing could be shown.
    """
    for name, share in (("power", power), ("alpha", alpha)):
        if not 0 < share < 1:
            raise OptionError(f"{name} {share} is out of range; between 0 and 1 is accepted")
    if n < _FEWEST_FOR_FISHER:
        return math.nan
    normal = NormalDist()
    reach = normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)
    return math.tanh(max(reach, 0.0) / math.sqrt(n - 3))
