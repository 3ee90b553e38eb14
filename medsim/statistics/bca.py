"""Bias-corrected and accelerated (BCa) bootstrap confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from medsim.core.config import in_threads
from medsim.kernels.types import Flags, FlagTable, Values
from medsim.statistics.estimates import Z95, Estimate, normal_share, wilson
from medsim.statistics.options import Resampling

_NORMAL = NormalDist()
_ROUNDING = 1e-12
_POSITIVE = 1e-9  # replaces a denominator that is not positive, where acceleration has no meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """The distribution of a bootstrap.

    Attributes:
        estimate: the statistic of the data.
        resampled: float64[n_resamples], the statistics of resamples in order; at least one.
        acceleration: rate of change of the standard error with the statistic.
    """

    estimate: float
    resampled: Values
    acceleration: float


def bca_estimate(estimate: float, resampled: Values, left_out: Values) -> Estimate:
    """Return a statistic with its BCa interval.

    There is no interval if the statistic is NaN, or if no resample differs, as for a perfect score:
    an interval of one point would claim certainty.

    Args:
        estimate: the statistic of the data.
        resampled: float64[n_resamples], in any order; NaN is left out.
        left_out: float64[n_units], the jackknife statistics, each without one unit; NaN is ignored.
    """
    resampled = np.sort(resampled[~np.isnan(resampled)])
    if np.isnan(estimate) or not len(resampled) or np.ptp(resampled) < _ROUNDING:
        return Estimate(value=estimate)
    distribution = Distribution(
        estimate=estimate, resampled=resampled, acceleration=acceleration(left_out)
    )
    low, high = bca_interval(distribution)
    return Estimate(value=estimate, low=low, high=high)


def acceleration(left_out: Values) -> float:
    """Return the acceleration of a BCa interval.

    ``left_out``, float64[n_units], has the jackknife statistics, each without one unit; NaN is
    ignored.
    """
    left_out = left_out[~np.isnan(left_out)]
    if not len(left_out) or np.ptp(left_out) < _ROUNDING:
        return 0.0
    from_mean = left_out.mean() - left_out
    return float((from_mean**3).sum() / (6 * (from_mean**2).sum() ** 1.5))


def bca_interval(distribution: Distribution, level: float = 0.95) -> tuple[float, float]:
    """Return the ends of the BCa interval (Efron 1987, section 3).

    They are quantiles of the resampled statistics, by linear interpolation. Bias and acceleration
    move their shares away from (1 - level) / 2 and (1 + level) / 2.
    """
    low, high = np.quantile(
        distribution.resampled, moved_shares(_bias(distribution), distribution.acceleration, level)
    )
    return float(low), float(high)


def moved_shares(bias: float, acceleration: float, level: float) -> tuple[float, float]:
    """Return the shares of resampled statistics below the ends of the BCa interval.

    The bias is the normal deviate of the share of resampled statistics below the estimate.
    """
    low, high = (bias + _NORMAL.inv_cdf(share) for share in ((1 - level) / 2, (1 + level) / 2))
    return (
        normal_share(bias + low / max(1 - acceleration * low, _POSITIVE)),
        normal_share(bias + high / max(1 - acceleration * high, _POSITIVE)),
    )


def bca_p(distribution: Distribution) -> float:
    """Return the p-value: the smallest alpha whose BCa interval of level 1 - alpha excludes 0.

    The correction is inverted: from the share of resampled statistics beyond 0 to the level of the
    interval that ends at 0. This share counts as at least 1 / (n_resamples + 1), so p is at least
    2 / (n_resamples + 1).
    """
    first, last = _shares_at_zero(distribution.resampled)
    min_share = _min_share(distribution)
    below = _unmoved(max(last, min_share), distribution)
    above = 1 - _unmoved(min(first, 1 - min_share), distribution)
    return min(1.0, max(2 * min(below, above), 2 * min_share))


def _min_share(distribution: Distribution) -> float:
    """Return the smallest share that this number of resamples can show."""
    return 1 / (len(distribution.resampled) + 1)


def _bias(distribution: Distribution) -> float:
    """Return the normal deviate of the share of resampled statistics below the estimate.

    Ties count half. A share of 0 or 1 is replaced by the nearest share that resamples can show.
    """
    n_below = int(np.searchsorted(distribution.resampled, distribution.estimate, "left"))
    n_up_to = int(np.searchsorted(distribution.resampled, distribution.estimate, "right"))
    share = (n_below + n_up_to) / (2 * len(distribution.resampled))
    return _NORMAL.inv_cdf(min(max(share, _min_share(distribution)), 1 - _min_share(distribution)))


def _unmoved(share: float, distribution: Distribution) -> float:
    """Return the share that bias and acceleration move to ``share``."""
    if share in {0.0, 1.0}:
        return share
    bias = _bias(distribution)
    moved = _NORMAL.inv_cdf(share) - bias
    return normal_share(moved / max(1 + distribution.acceleration * moved, _POSITIVE) - bias)


def _shares_at_zero(resampled: Values) -> tuple[float, float]:
    """Return the first and the last share whose quantile is 0.

    The quantile of share s is the statistic at place s (n - 1), by linear interpolation.
    """
    n_below = int(np.searchsorted(resampled, 0.0, "left"))
    n_up_to = int(np.searchsorted(resampled, 0.0, "right"))
    n_steps = max(len(resampled) - 1, 1)
    if n_up_to > n_below:
        return n_below / n_steps, (n_up_to - 1) / n_steps
    if n_below in {0, len(resampled)}:
        share = float(n_below > 0)
        return share, share
    below, above = resampled[n_below - 1], resampled[n_below]
    share = float(n_below - 1 - below / (above - below)) / n_steps
    return share, share


def in_tasks(
    compute: Callable[[int, int], np.ndarray], resampling: Resampling, a_task: int
) -> np.ndarray:
    """Return ``compute(first, stop)`` of all resamples as rows; threads do ``a_task`` at a time."""
    firsts = range(0, resampling.resamples, a_task)
    stops = [min(first + a_task, resampling.resamples) for first in firsts]
    return np.concatenate(in_threads(resampling.threads, compute, firsts, stops))


def accuracy_of(correct: Flags | FlagTable) -> Estimate:
    """Return the accuracy of a model with its BCa bootstrap interval.

    The bootstrap resamples instances (Efron 1987). Its distribution is known exactly: the sum of n
    draws from the instances' numbers of right answers; for one run with k right answers it is
    binomial with n and k / n. So the quantiles are exact, without draws or a random seed. By the
    jackknife over instances, the acceleration is a sixth of the skewness of instances divided by
    the root of n.

    Instances count as independent, so shared sentences make the interval slightly too narrow. If
    all instances have equally many right answers, all resamples are the same, and the interval is
    Wilson's. Without instances, the accuracy is NaN.

    Args:
        correct: bool[n], or bool[n_runs, n] of a model that was fitted several times; the accuracy
            is the mean over runs, and the interval does not cover variation between runs.
    """
    runs = np.atleast_2d(correct)
    n_runs, n = runs.shape
    n_right = runs.sum(axis=0, dtype=np.int64)
    if n == 0:
        return Estimate(value=math.nan)
    total, value = int(n_right.sum()), float(n_right.sum()) / (n_runs * n)
    if not np.ptp(n_right):
        return wilson(value, n, Z95)
    # The Fourier transform of the distribution of a sum of n draws is the n-th power of one draw's.
    law, n_sums = np.bincount(n_right, minlength=n_runs + 1) / n, n_runs * n + 1
    chances = np.maximum(np.fft.irfft(np.fft.rfft(law, n_sums) ** n, n_sums), 0)  # rounding
    up_to = np.cumsum(chances)
    bias = _NORMAL.inv_cdf(float(up_to[total - 1] + chances[total] / 2))
    ends = np.searchsorted(up_to, moved_shares(bias, acceleration(-n_right), 0.95))
    low, high = np.minimum(ends, n_runs * n) / (n_runs * n)
    return Estimate(value=value, low=float(low), high=float(high))
