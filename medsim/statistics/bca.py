"""Bias-corrected and accelerated intervals of bootstraps, drawn or of a known law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from medsim.core.config import in_threads
from medsim.statistics.estimates import Z95, Estimate, normal_share, wilson

if TYPE_CHECKING:
    from collections.abc import Callable

    from medsim.kernels.types import Flags, FlagTable, Values

_NORMAL = NormalDist()
_ROUNDING = 1e-12
_POSITIVE = 1e-9  # in place of what is not: there the acceleration has no meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """The distribution that a bootstrap found.

    Attributes:
        estimate: the statistic of the data.
        resampled: float64[n_resamples], the statistics of resamples in order; at least one.
        acceleration: how fast the standard error changes with the statistic.
    """

    estimate: float
    resampled: Values
    acceleration: float


def bca_estimate(estimate: float, resampled: Values, left_out: Values) -> Estimate:
    """Return a statistic with its BCa interval.

    There is none where the statistic is NaN, nor where no resample differs, as of a perfect score:
    a point would claim to be certain.

    Args:
        estimate: the statistic of the data.
        resampled: float64[n_resamples], in any order; NaN is left out.
        left_out: float64[n_units], the statistics without each of the units; NaN is left out.
    """
    resampled = np.sort(resampled[~np.isnan(resampled)])
    if np.isnan(estimate) or not len(resampled) or np.ptp(resampled) < _ROUNDING:
        return Estimate(value=estimate)
    found = Distribution(
        estimate=estimate, resampled=resampled, acceleration=acceleration(left_out)
    )
    low, high = bca_interval(found)
    return Estimate(value=estimate, low=low, high=high)


def acceleration(left_out: Values) -> float:
    """Return the acceleration of a BCa interval, from the statistics without each of the units.

    They are float64[n_units], the jackknife; NaN is left out.
    """
    left_out = left_out[~np.isnan(left_out)]
    if not len(left_out) or np.ptp(left_out) < _ROUNDING:
        return 0.0
    from_mean = left_out.mean() - left_out
    return float((from_mean**3).sum() / (6 * (from_mean**2).sum() ** 1.5))


def bca_interval(found: Distribution, level: float = 0.95) -> tuple[float, float]:
    """Return the ends of the BCa interval (Efron 1987, section 3).

    They are the quantiles of the resampled statistics, between neighbours in proportion, at shares
    that bias and acceleration have moved away from (1 - level) / 2 and (1 + level) / 2.
    """
    low, high = np.quantile(found.resampled, moved_shares(_bias(found), found.acceleration, level))
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


def bca_p(found: Distribution) -> float:
    """Return the smallest alpha at which the BCa interval of level 1 - alpha leaves out 0.

    The moving of shares, undone: from where 0 stands among the resampled statistics to the level
    whose interval ends there. The share beyond 0 counts as 1 / (n_resamples + 1) at least, and p is
    never below twice that.
    """
    first, last = _shares_at_zero(found.resampled)
    least = _least(found)
    below = _unmoved(max(last, least), found)
    above = 1 - _unmoved(min(first, 1 - least), found)
    return min(1.0, max(2 * min(below, above), 2 * least))


def _least(found: Distribution) -> float:
    """Return the smallest share that the resamples can show."""
    return 1 / (len(found.resampled) + 1)


def _bias(found: Distribution) -> float:
    """Return the normal deviate of the share of resampled statistics below the estimate.

    Those that equal it count half; a share of 0 or 1 counts as the nearest that the
    resamples can show.
    """
    n_below = int(np.searchsorted(found.resampled, found.estimate, "left"))
    n_up_to = int(np.searchsorted(found.resampled, found.estimate, "right"))
    share = (n_below + n_up_to) / (2 * len(found.resampled))
    return _NORMAL.inv_cdf(min(max(share, _least(found)), 1 - _least(found)))


def _unmoved(share: float, found: Distribution) -> float:
    """Return the share that bias and acceleration move to ``share``."""
    if share in {0.0, 1.0}:
        return share
    bias = _bias(found)
    moved = _NORMAL.inv_cdf(share) - bias
    return normal_share(moved / max(1 + found.acceleration * moved, _POSITIVE) - bias)


def _shares_at_zero(resampled: Values) -> tuple[float, float]:
    """Return the first and the last share whose quantile is 0.

    The quantile of share s is the statistic at place s (n - 1), between neighbours in proportion.
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
    compute: Callable[[int, int], np.ndarray], resamples: int, a_task: int, threads: int
) -> np.ndarray:
    """Return the rows of all resamples, computed from one to before another by several threads."""
    firsts = range(0, resamples, a_task)
    stops = [min(first + a_task, resamples) for first in firsts]
    return np.concatenate(in_threads(threads, compute, firsts, stops))


def accuracy_of(correct: Flags | FlagTable) -> Estimate:
    """Return the accuracy of a model with its BCa bootstrap interval.

    The bootstrap draws instances (Efron 1987). What it draws of n instances has a known law, that
    of the sum of n draws from the numbers of right answers that instances have: of one run with k
    right the binomial of n and k / n. So its quantiles are taken as they are: nothing is drawn, and
    no seed matters. The jackknife leaves out an instance at a time, from which the acceleration is
    a sixth of the skewness of instances by the root of n.

    Instances count as independent; those that share a sentence make the interval a little too
    narrow. Where all have equally many right answers every resample is the same, and the interval
    is Wilson's of so many instances. The accuracy is NaN of no instances.

    Args:
        correct: bool[n], or bool[n_runs, n] of a model that was fitted several times; the accuracy
            is the mean over runs, and the interval says nothing of what other runs would give.
    """
    runs = np.atleast_2d(correct)
    n_runs, n = runs.shape
    n_right = runs.sum(axis=0, dtype=np.int64)
    if n == 0:
        return Estimate(value=math.nan)
    total, value = int(n_right.sum()), float(n_right.sum()) / (n_runs * n)
    if not np.ptp(n_right):
        return wilson(value, n, Z95)
    # The law of a sum of draws, by the power of the Fourier transform of the law of one.
    law, n_sums = np.bincount(n_right, minlength=n_runs + 1) / n, n_runs * n + 1
    chances = np.maximum(np.fft.irfft(np.fft.rfft(law, n_sums) ** n, n_sums), 0)  # rounding
    up_to = np.cumsum(chances)
    bias = _NORMAL.inv_cdf(float(up_to[total - 1] + chances[total] / 2))
    ends = np.searchsorted(up_to, moved_shares(bias, acceleration(-n_right), 0.95))
    low, high = np.minimum(ends, n_runs * n) / (n_runs * n)
    return Estimate(value=value, low=float(low), high=float(high))
