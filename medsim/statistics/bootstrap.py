"""Bootstrap confidence intervals and tests of Spearman's correlation, and of differences."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from medsim.core.config import checked_threads
from medsim.kernels.resampling import resampled_spearman, weighted_spearman
from medsim.statistics.bca import Distribution, acceleration, bca_interval, bca_p, in_tasks
from medsim.statistics.estimates import (
    difference_of,
    perfect_correlation,
    rank_correlation,
    two_sided_p,
)
from medsim.statistics.ranks import leave_one_out_spearman, ranked
from medsim.statistics.resampling import RESAMPLES
from medsim.statistics.significance import Test

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from medsim.kernels.types import Table, Values

_RESAMPLES_A_TASK = 16  # at least
_RANKS_A_TASK = 1 << 18
_FEWEST_PAIRS = 3
_ENOUGH_PAIRS = 30  # with fewer, resamples do not show how much a correlation varies
_ROUNDING = 1e-12


class SpearmanBootstrap:
    """Spearman's correlations of several similarities with ratings, in the same resamples of pairs.

    Confidence intervals are bias-corrected and accelerated: BCa (Efron 1987; DiCiccio and Efron
    1996), with the acceleration from the jackknife. With few pairs and tied ratings they can be too
    narrow, so with fewer than 30 pairs the interval also includes the one of ``rank_correlation``.
    For perfect correlations no resample differs, and intervals come from ``perfect_correlation``.
    Resamples with a constant side have no correlation and are left out.

    The p-value is the smallest alpha whose interval excludes 0. It is at least
    2 / (resamples + 1), so for any of m comparisons to pass Bonferroni's correction at alpha, draw
    more than 2 m / alpha resamples.

    A resample depends only on its number, the seed and the order of pairs. For the same pairs in
    the same order, correlations and differences do not depend on the other similarities.

    Args:
        sides: similarities, float64[n_pairs] each; may be infinite. With more than 3,000,000 pairs,
            sums of squared ranks could leave 64 bits.
        ratings: float64[n_pairs].
        seed: random seed, from 0 to 2**64 - 1.
        resamples: number of resamples, at least 100. Each takes time O(n_pairs).
        threads: number of threads, by default all; results do not depend on it. Each needs 12 bytes
            per pair.
    """

    def __init__(
        self,
        sides: Sequence[Values],
        ratings: Values,
        *,
        seed: int = 0,
        resamples: int = RESAMPLES,
        threads: int | None = None,
    ) -> None:
        self._seed, self._threads = seed, checked_threads(threads)
        self._ratings = ranked(ratings).ranks
        self._sides = np.array([ranked(side).ranks for side in sides], np.int32)
        self._jackknifed: dict[int, Values] = {}
        self._resampled = self._drawn(resamples)

    def correlation(self, side: int) -> Test:
        """Return the correlation of one of the similarities with its interval and test against 0.

        The correlation is NaN for fewer than 2 pairs or a constant side; interval and p are NaN for
        fewer than 3 pairs too.
        """
        estimate = self._estimate(side)
        if self._is_perfect(estimate):
            return self._at_edge(estimate, 0.0)
        result = self._tested(estimate, self._resampled[:, side], partial(self._left_out, side))
        if math.isnan(result.p) or len(self._ratings) >= _ENOUGH_PAIRS:
            return result
        analytic, z = rank_correlation(result.statistic, len(self._ratings))
        return replace(
            result,
            low=min(result.low, analytic.low),
            high=max(result.high, analytic.high),
            p=max(result.p, two_sided_p(z)),
        )

    def difference(self, side: int, other: int) -> Test:
        """Return the difference of two correlations; p is 1 if both rank all pairs alike."""
        first, second = self._estimate(side), self._estimate(other)
        if self._is_perfect(first) and self._is_perfect(second) and first * second < 0:
            return self._at_edge(first, second)
        return self._tested(
            first - second,
            self._resampled[:, side] - self._resampled[:, other],
            lambda: self._left_out(side) - self._left_out(other),
        )

    def _is_perfect(self, correlation: float) -> bool:
        """Return whether ranks are equal or reversed, so that no resample can differ."""
        return len(self._ratings) >= _FEWEST_PAIRS and abs(correlation) > 1 - _ROUNDING

    def _at_edge(self, correlation: float, other: float) -> Test:
        """Return the difference of two correlations, each perfect or 0."""
        sides = (round(correlation), round(other))
        first, second = (perfect_correlation(side, len(self._ratings)) for side in sides)
        estimate, z = difference_of(first, second)
        return Test(
            method="bca",
            statistic=estimate.value,
            p=two_sided_p(z),
            low=estimate.low,
            high=estimate.high,
        )

    def _tested(self, estimate: float, resampled: Values, left_out: Callable[[], Values]) -> Test:
        """Return a statistic with its interval and p-value."""
        resampled = np.sort(resampled[~np.isnan(resampled)])
        if math.isnan(estimate) or len(self._ratings) < _FEWEST_PAIRS or not len(resampled):
            return Test(method="bca", statistic=estimate, p=math.nan)
        distribution = Distribution(
            estimate=estimate, resampled=resampled, acceleration=acceleration(left_out())
        )
        low, high = bca_interval(distribution)
        return Test(method="bca", statistic=estimate, p=bca_p(distribution), low=low, high=high)

    def _estimate(self, side: int) -> float:
        """Return the correlation of all pairs, with the same arithmetic as for resamples."""
        once = np.ones(len(self._ratings), np.int32)
        return float(weighted_spearman(self._sides[side], self._ratings, once))

    def _left_out(self, side: int) -> Values:
        """Return the correlations without each of the pairs; they are computed once."""
        if side not in self._jackknifed:
            self._jackknifed[side] = leave_one_out_spearman(self._sides[side], self._ratings)
        return self._jackknifed[side]

    def _drawn(self, resamples: int) -> Table:
        """Return the correlations of all sides in all resamples, in order."""
        if len(self._ratings) < _FEWEST_PAIRS or not len(self._sides):
            return np.empty((0, len(self._sides)))
        seed = np.uint64(self._seed)
        correlations = partial(resampled_spearman, self._sides, self._ratings, seed)
        a_task = max(_RESAMPLES_A_TASK, _RANKS_A_TASK // self._sides.size)
        return in_tasks(correlations, resamples, a_task, self._threads)
