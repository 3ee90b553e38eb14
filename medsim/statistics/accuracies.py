"""Accuracies of models with the exact intervals of a bootstrap."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from medsim.statistics.bca import moved_shares
from medsim.statistics.estimates import Estimate, wilson
from medsim.statistics.pairs import checked_flags

if TYPE_CHECKING:
    from medsim.kernels.types import Flags, FlagTable, Values

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance:
    """The distance of an accuracy from a known one.

    Attributes:
        difference: the accuracy less the other.
        low: the lower end of its 95% interval; NaN where there is none.
        within: whether the interval holds 0, so that the difference is not significant; None where
            there is no interval.
    """

    difference: float
    low: float
    high: float
    within: bool | None


def accuracy_of(correct: Flags | FlagTable, level: float = 0.95) -> Estimate:
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
        level: of the interval, between 0 and 1.
    """
    runs = np.atleast_2d(correct)
    n_runs, n = runs.shape
    n_right = np.sum([checked_flags("truths", one, n) for one in runs], axis=0, dtype=np.int64)
    if n == 0:
        return Estimate(value=math.nan)
    total, value = int(n_right.sum()), float(n_right.sum()) / (n_runs * n)
    from_mean = n_right - n_right.mean()
    if not from_mean.any():
        return wilson(value, n, _NORMAL.inv_cdf((1 + level) / 2))
    chances = _law_of_sums(np.bincount(n_right, minlength=n_runs + 1) / n, n)
    up_to = np.cumsum(chances)
    bias = _NORMAL.inv_cdf(float(up_to[total - 1] + chances[total] / 2))
    acceleration = float((from_mean**3).sum() / (6 * (from_mean**2).sum() ** 1.5))
    ends = np.searchsorted(up_to, moved_shares(bias, acceleration, level))
    low, high = np.minimum(ends, n_runs * n) / (n_runs * n)
    return Estimate(value=value, low=float(low), high=float(high))


def distance_to(accuracy: Estimate, known: float) -> Distance:
    """Return the distance of an accuracy from a known one, such as that of people."""
    low, high = accuracy.low - known, accuracy.high - known
    within = None if math.isnan(low) else low <= 0 <= high
    return Distance(difference=accuracy.value - known, low=low, high=high, within=within)


def _law_of_sums(chances: Values, n: int) -> Values:
    """Return the probability of each sum of n draws, by the power of the law's Fourier transform.

    Args:
        chances: float64[k + 1], of each draw from 0 to k.
        n: how many draws.

    Returns:
        float64[k * n + 1].
    """
    n_sums = (len(chances) - 1) * n + 1
    found: Values = np.fft.irfft(np.fft.rfft(chances, n_sums) ** n, n_sums)
    return np.maximum(found, 0)  # rounding
