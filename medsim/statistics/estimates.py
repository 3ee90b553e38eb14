"""Statistics with 95% confidence intervals: shares, correlations, areas and clustered values."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medsim.kernels.types import Flags, Rows, Values

Z95 = NormalDist().inv_cdf(0.975)
"""Half-width of a normal 95% confidence interval, in standard errors."""

_ALPHA = 0.05
_FEWEST_FOR_FISHER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A statistic of some pairs.

    Attributes:
        value: value; NaN if undefined.
        low: lower end of the 95% confidence interval; NaN if there is none.
    """

    value: float
    low: float = math.nan
    high: float = math.nan


def defined(value: float) -> float | None:
    """Return a value for a table; NaN becomes a missing value."""
    return None if math.isnan(value) else float(value)


def interval_of(estimate: Estimate, name: str = "value") -> dict[str, float | None]:
    """Return the columns of an estimate: its value under a name, low and high."""
    columns = {name: estimate.value, "low": estimate.low, "high": estimate.high}
    return {column: defined(value) for column, value in columns.items()}


def quotients(numbers: NDArray[Any], divisors: NDArray[Any]) -> NDArray[np.float64]:
    """Return numbers divided by others of the same shape, float64[n]; NaN where these are 0."""
    results = np.full_like(numbers, np.nan, np.float64)
    np.divide(numbers, divisors, out=results, where=divisors > 0)
    return results


def normal_share(z: float) -> float:
    """Return the standard normal distribution function at ``z``, precise far below 0 too."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def two_sided_p(z: float) -> float:
    """Return the two-sided p-value of a standard normal deviate ``z``."""
    return math.erfc(abs(z) / math.sqrt(2.0))


def share_of(n_hits: int, n_pairs: int) -> Estimate:
    """Return a share with the interval of ``wilson``; NaN without pairs."""
    if n_pairs == 0:
        return Estimate(value=math.nan)
    return wilson(n_hits / n_pairs, n_pairs)


@cache
def student_reach(degrees: float) -> float:
    """Return the half-width of Student's 95% confidence interval, in standard errors."""
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
    """Return the two-sided p-value of ``t`` in Student's distribution.

    It is the incomplete beta function of degrees / (degrees + t^2) (Abramowitz and Stegun 1964,
    26.7.1), precise far from 0 too.
    """
    if math.isinf(t):
        return 0.0
    within = t * t / (degrees + t * t)
    if within < 3 / (degrees + 5):  # where its continued fraction converges
        return 1 - _incomplete_beta(within, 0.5, degrees / 2)
    return _incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5)


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function, for x below (a + 1) / (a + b + 2).

    By its continued fraction (DLMF 8.17.22), evaluated from its end; it converges within about
    sqrt(a + b) terms.
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

    The interval contains the shares that differ from the observed one by at most ``reach`` standard
    errors, so it stays within 0 and 1 and is accurate near both. ``size`` is the number of
    independent values, at least 1.
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
    1 / (n_pairs - 3). There is no interval for fewer than 4 pairs. There is none for a correlation
    of 1 or -1 either, since it would be a point.
    """
    if math.isnan(correlation) or n_pairs < _FEWEST_FOR_FISHER or abs(correlation) == 1:
        return Estimate(value=correlation)
    middle, reach = math.atanh(correlation), Z95 / math.sqrt(n_pairs - 3)
    return Estimate(
        value=correlation, low=math.tanh(middle - reach), high=math.tanh(middle + reach)
    )


FEWEST_FOR_TEST = 3
"""The minimum number of values: any 2 points are on a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PearsonTest:
    """Pearson's correlation of two sides with its test.

    Attributes:
        r: Pearson's correlation, with Fisher's interval for at least 4 values; NaN for fewer than
            3, for a constant side, or if a value is infinite.
        t: r sqrt((n - 2) / (1 - r^2)); infinite if r is 1 or -1.
        p: two-tailed, by Student's distribution with n - 2 degrees of freedom.
    """

    r: Estimate
    t: float
    p: float
    n: int


def pearson_test(left: Values, right: Values) -> PearsonTest:
    """Return Pearson's correlation of float64[n] values with its two-tailed test (Student 1908).

    The values are not NaN.
    """
    n = len(left)
    r = pearson(left, right) if n >= FEWEST_FOR_TEST else math.nan
    if math.isnan(r):
        return PearsonTest(r=Estimate(value=r), t=math.nan, p=math.nan, n=n)
    rest = (1 - r) * (1 + r)
    t = r * math.sqrt((n - 2) / rest) if rest else math.copysign(math.inf, r)
    return PearsonTest(r=pearson_of(r, n), t=t, p=two_sided_student(t, n - 2), n=n)


def pearson(left: Values, right: Values) -> float:
    """Return Pearson's correlation of float64[n] values.

    It is NaN without values, for a constant side, or if a value is infinite.
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


def smallest_detectable(n: int) -> float:
    """Return the smallest absolute correlation that a test of ``n`` values can detect.

    A true correlation of this size is significant, two-tailed at 0.05, in about 80% of samples. It
    is computed by Fisher's transformation, whose standard error is 1 / sqrt(n - 3) (Cohen,
    Statistical Power Analysis 1988, section 3.5), and is slightly too large for few values. It is
    NaN for fewer than 4 values, since these cannot show any correlation.
    """
    if n < _FEWEST_FOR_FISHER:
        return math.nan
    return math.tanh((Z95 + NormalDist().inv_cdf(0.8)) / math.sqrt(n - 3))


_HALVINGS = 50  # to the last digits of a share


# For perfect areas or correlations, the usual variance is 0 and the interval is a point, with any
# number of pairs. The functions below use the variance at the values that an interval can contain,
# not at the observed value.


def area_interval(auc: float, n_positives: int, n_negatives: int) -> Estimate:
    """Return an area under a ROC curve with the score interval of Newcombe (2006, method 5).

    The interval contains the areas that differ from the observed one by at most 1.96 standard
    errors, with the variance of Hanley and McNeil (1982) at these areas. In the variance, the mean
    of both numbers of pairs replaces each (Newcombe, Statistics in Medicine 25:559-573). In
    simulations with 4 to 100 pairs and areas of 0.9 to 0.99, it covers 87% to 99%; DeLong's
    interval, cut at 1, covers 3% to 93%.
    """

    def is_beyond(area: float) -> bool:
        n_others = (n_positives + n_negatives) / 2 - 1
        shared = (1 - area) / (2 - area) + area / (1 + area)
        variance = area * (1 - area) * (1 + n_others * shared) / (n_positives * n_negatives)
        return (auc - area) ** 2 > Z95**2 * variance

    return Estimate(value=auc, low=_end(0.0, auc, is_beyond), high=_end(1.0, auc, is_beyond))


def _end(outside: float, inside: float, is_beyond: Callable[[float], bool]) -> float:
    """Return the end of an interval between a value outside it (or its bound) and one inside."""
    for _ in range(_HALVINGS):
        middle = (outside + inside) / 2
        if is_beyond(middle):
            outside = middle
        else:
            inside = middle
    return inside


def perfect_correlation(sign: float, n_pairs: int) -> Estimate:
    """Return a correlation of 1 or -1 with an interval, from -1 to 1 for fewer than 4 pairs.

    A correlation of 0 is a known value, and its interval is a point.

    Its inner end is computed as for Spearman's correlation by Bonett and Wright (Psychometrika
    65:23-28, 2000), at the value halfway between 1 and the next that ranks of ``n_pairs`` can give.
    If the true correlation of normal pairs is at that end, 0.1% to 3.1% of samples are perfect
    (simulated with 4 to 100 pairs): 2.5% would be exact.

    Args:
        sign: 1 or -1, or 0.
        n_pairs: at least 1.
    """
    inner = -1.0
    if n_pairs >= _FEWEST_FOR_FISHER:
        missing = 6 / (n_pairs * (n_pairs**2 - 1))
        error = _transformed_error(1 - missing, n_pairs)
        inner = math.tanh(math.log((2 - missing) / missing) / 2 - Z95 * error)
    low, high = sorted((sign * inner, sign))
    return Estimate(value=sign, low=low, high=high)


def rank_correlation(value: float, n_pairs: int) -> tuple[Estimate, float]:
    """Return a Spearman's correlation between -1 and 1 with its interval, and its normal deviate.

    The interval uses Fisher's transformation with the variance of Bonett and Wright (Psychometrika
    65:23-28, 2000). For fewer than 4 pairs it is from -1 to 1, with a deviate of 0.

    Args:
        value: not -1 and not 1.
        n_pairs: at least 1.
    """
    if n_pairs < _FEWEST_FOR_FISHER:
        return Estimate(value=value, low=-1.0, high=1.0), 0.0
    transformed, error = math.atanh(value), _transformed_error(value, n_pairs)
    low, high = (math.tanh(transformed + sign * Z95 * error) for sign in (-1, 1))
    return Estimate(value=value, low=low, high=high), transformed / error


def _transformed_error(value: float, n_pairs: int) -> float:
    """Return the standard error of Spearman's correlation after Fisher's transformation."""
    return math.sqrt((1 + value**2 / 2) / (n_pairs - 3))


def tested_difference(
    first: Estimate, second: Estimate, error: float, reach: float
) -> tuple[Estimate, float]:
    """Return the difference of two estimates with its interval, and its deviate.

    The interval is ``reach`` standard errors to either side, within -1 and 1.
    """
    difference = first.value - second.value
    low, high = max(-1.0, difference - reach * error), min(1.0, difference + reach * error)
    deviate = difference / error if difference else 0.0
    return Estimate(value=difference, low=low, high=high), deviate


def difference_of(first: Estimate, second: Estimate, reach: float = Z95) -> tuple[Estimate, float]:
    """Return the difference of two estimates with its interval, and its standard normal deviate.

    The interval combines both intervals (Newcombe, Statistics in Medicine 17:873-890, 1998, method
    10) as if the estimates were independent: it is for edges, where their dependence is unknown.
    The deviate is beyond ``reach`` if the interval excludes 0.
    """
    difference = first.value - second.value
    below = math.hypot(first.value - first.low, second.high - second.value)
    above = math.hypot(first.high - first.value, second.value - second.low)
    estimate = Estimate(value=difference, low=difference - below, high=difference + above)
    error = (below if difference > 0 else above) / reach
    if difference and error == 0:
        return estimate, math.copysign(math.inf, difference)
    return estimate, difference / error if difference else 0.0


# Values of one cluster are not independent. Their standard error is the cluster jackknife, CV3 of
# MacKinnon, Nielsen and Webb (Journal of Applied Econometrics 38:671-694, 2023): the value is
# computed without each cluster in turn. ``clusters`` holds the number of each value's cluster, from
# 0 on.

FEWEST_CLUSTERS = 5
"""The least effective number of clusters that intervals and tests need."""

_ROUNDING = 1e-12


def effective_clusters(clusters: Rows) -> float:
    """Return the effective number of clusters, int[n_values]; 0 without values.

    It is the squared sum of the sizes divided by the sum of their squares. If one cluster has half
    of the values, it is below 4, however many other clusters there are.
    """
    sizes = np.bincount(clusters).astype(np.float64)
    return float(sizes.sum() ** 2 / max(sizes @ sizes, 1.0))


def effective_of_labels(clusters: Rows, labels: Flags) -> float:
    """Return the effective number of clusters of the True or the False labels, the smaller."""
    return min(effective_clusters(clusters[members]) for members in (labels, ~labels))


def degrees_of(effective: float) -> float:
    """Return the degrees of freedom: half the effective number of clusters; NaN if too few.

    For normal sums of equal clusters, their number minus 1 would be right. Sums of unequal clusters
    are skewed, and a few of them decide the variance (Carter, Schnepel and Steigerwald, Review of
    Economics and Statistics 99:698-709, 2017). In simulations, half corrects for both.
    """
    return effective / 2 if effective >= FEWEST_CLUSTERS else math.nan


def degrees_of_error(value: float, left_out: Values) -> float:
    """Return the degrees of freedom of ``jackknife_error``: few if few clusters dominate it.

    The chi-square distribution with these degrees has the relative variance of the squared error
    (Satterthwaite, Biometrics Bulletin 2:110-114, 1946), estimated from the clusters' shares in the
    error: 2 if one cluster dominates, and the number of clusters if the shares are distributed as
    for normal values. The result is infinite if no cluster changes the value.

    Args:
        value: value of all clusters.
        left_out: float64[n_clusters], the value without each cluster.
    """
    shares = (left_out - value) ** 2
    total = float(shares.sum())
    spread = float(shares @ shares) - total**2 / len(shares)
    return 2 * total**2 / spread if spread > 0 else math.inf


def jackknife_error(value: float, left_out: Values) -> float:
    """Return the standard error of a value from those without each cluster, float64[n_clusters]."""
    share = 1 - 1 / len(left_out)
    error = math.sqrt(share * float(((left_out - value) ** 2).sum()))
    return error if error > _ROUNDING else 0.0


def means_without_each(values: Values, clusters: Rows) -> Values:
    """Return the mean of the values without each cluster, float64[n_clusters]; NaN without any."""
    sizes, sums = np.bincount(clusters), np.bincount(clusters, values)
    n_left, sums_left = len(values) - sizes[sizes > 0], values.sum() - sums[sizes > 0]
    return quotients(sums_left, n_left)


def clustered_estimate(value: float, left_out: Values, n_values: int, effective: float) -> Estimate:
    """Return a value from 0 to 1 with Wilson's interval at its effective size.

    The effective size is the number of independent hits with the same standard error, at most the
    number of values (Korn and Graubard, Survey Methodology 24:193-201, 1998). If the standard error
    is 0, it is the effective number of clusters. The interval is NaN if fewer than
    ``FEWEST_CLUSTERS`` clusters are effective.

    Near 0 and 1 only a few clusters differ from the others. If no large one does, the standard
    error is too small. If clusters were right or wrong as a whole, all effective clusters would be
    right with the probability value^effective. Their number replaces the effective size to the
    degree of this probability, or of that of all being wrong, in the geometric mean of both. It is
    1 for a value of 0 or 1, and near 0 if some effective clusters must differ.

    Degrees of freedom are the smaller of ``degrees_of`` and ``degrees_of_error``, since a high
    share has its misses in few clusters, however many there are. The latter never widen the
    interval beyond the one for a single value per effective cluster.

    Args:
        value: a mean, a share or an area under a ROC curve.
        left_out: float64[n_clusters], the value without each cluster.
        n_values: number of values, or pairs.
        effective: the effective number of clusters.
    """
    degrees = degrees_of(effective)
    if math.isnan(degrees):
        return Estimate(value=value)
    spread, error = value * (1 - value), jackknife_error(value, left_out)
    size, reach = effective, student_reach(degrees)
    if spread > 0 and error:
        size = min(spread / error**2, n_values)
        if size > effective:
            none_differs = max(value, 1 - value) ** effective
            size *= (effective / size) ** none_differs
            reach_of_few = student_reach(min(degrees, degrees_of_error(value, left_out)))
            reach = min(reach_of_few, reach * math.sqrt(size / effective))
    return wilson(value, size, reach)


def clustered_mean(values: Values, clusters: Rows) -> Estimate:
    """Return the mean of values from 0 to 1, such as hits, with ``clustered_estimate``'s interval.

    Values are float64[n_values] and clusters int[n_values]. The mean is NaN without values.
    """
    if not len(values):
        return Estimate(value=math.nan)
    left_out, effective = means_without_each(values, clusters), effective_clusters(clusters)
    return clustered_estimate(float(values.mean()), left_out, len(values), effective)
