"""Accuracies of models with the exact intervals of a bootstrap."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from medsim.statistics.bca import moved_shares
from medsim.statistics.estimates import Estimate
from medsim.statistics.pairs import checked_flags

if TYPE_CHECKING:
    from medsim.kernels.types import Flags, Values

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


def accuracy_of(correct: Flags, level: float = 0.95) -> Estimate:
    """Return the accuracy of a model with its BCa bootstrap interval.

    The bootstrap draws instances (Efron 1987), and what it draws of n instances of which k are
    right has a known law, the binomial of n and k / n. So its quantiles are taken as they are:
    nothing is drawn, and no seed matters. The jackknife has two values, n - k and k times over,
    from which the acceleration is (n - 2k) / (6 sqrt(n k (n - k))).

    Instances count as independent; those that share a sentence make the interval a little too
    narrow. It is NaN of no instances, and without an interval where all are right or none is, since
    then every resample is the same.
    """
    n = len(correct)
    n_right = int(np.count_nonzero(checked_flags("truths", correct, n)))
    if n == 0:
        return Estimate(value=math.nan)
    if n_right in {0, n}:
        return Estimate(value=n_right / n)
    chances = _binomial(n, n_right / n)
    up_to = np.cumsum(chances)
    bias = _NORMAL.inv_cdf(float(up_to[n_right - 1] + chances[n_right] / 2))
    acceleration = (n - 2 * n_right) / (6 * math.sqrt(n * n_right * (n - n_right)))
    ends = np.searchsorted(up_to, moved_shares(bias, acceleration, level))
    low, high = np.minimum(ends, n) / n
    return Estimate(value=n_right / n, low=float(low), high=float(high))


def distance_to(accuracy: Estimate, known: float) -> Distance:
    """Return the distance of an accuracy from a known one, such as that of people."""
    low, high = accuracy.low - known, accuracy.high - known
    within = None if math.isnan(low) else low <= 0 <= high
    return Distance(difference=accuracy.value - known, low=low, high=high, within=within)


def _binomial(n: int, chance: float) -> Values:
    """Return the probability of each number of hits: float64[n + 1]."""
    log_factorials = np.zeros(n + 1)
    np.cumsum(np.log(np.arange(1, n + 1)), out=log_factorials[1:])
    hits = np.arange(n + 1)
    ways = log_factorials[n] - log_factorials - log_factorials[::-1]
    found: Values = np.exp(ways + hits * math.log(chance) + (n - hits) * math.log1p(-chance))
    return found
