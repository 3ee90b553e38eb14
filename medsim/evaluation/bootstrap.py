"""Bootstrap intervals and tests of Spearman's correlation, and of the difference of two."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from medsim.config import checked_threads
from medsim.errors import OptionError
from medsim.evaluation.bca import Distribution, bca_interval, bca_p
from medsim.evaluation.pairs import checked_values
from medsim.evaluation.ranks import leave_one_out_spearman, ranked
from medsim.evaluation.significance import Test
from medsim.kernels.resampling import resampled_spearman, weighted_spearman

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.kernels.types import Values

RESAMPLES = 10_000
"""How many resamples are drawn by default: p-values go down to 0.0002."""

_FEWEST_RESAMPLES = 100
_MOST_RESAMPLES = 10_000_000
_RESAMPLES_A_TASK = 16
_FEWEST_PAIRS = 3
_MOST_PAIRS = 3_000_000  # beyond, sums of squared ranks could leave 64 bits
_SEEDS = 1 << 64
_ROUNDING = 1e-12


def bca_spearman(
    similarities: Values,
    ratings: Values,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    threads: int | None = None,
    level: float = 0.95,
) -> Test:
    """Return Spearman's correlation with its bootstrap interval, and whether it differs from 0.

    The interval is bias-corrected and accelerated: BCa (Efron 1987; DiCiccio and Efron 1996), with
    the acceleration from the jackknife. It can be too narrow for few pairs, and is a point where no
    resample differs. Resamples in which a side is constant have no correlation and are left out.

    p is the smallest alpha whose interval leaves out 0. Resamples tell no share finer than
    1 / (resamples + 1), so p is at least 2 / (resamples + 1): for any of m comparisons to pass
    Bonferroni's correction at alpha, draw more than 2 m / alpha.

    Args:
        similarities: float64[n_pairs], at most 3,000,000; may be infinite.
        ratings: float64[n_pairs].
        seed: of the draws, from 0 to 2**64 - 1. They do not depend on the order of pairs.
        resamples: how many, at least 100. Each takes time O(n_pairs).
        threads: how many to use, all available ones by default; results do not depend on it. Each
            takes 12 bytes a pair.
        level: of the interval, between 0 and 1.

    Returns:
        The statistic is the correlation. It is NaN of fewer than 2 pairs or a constant side;
        interval and p then too, and of fewer than 3 pairs.

    Raises:
        OptionError: a value is NaN, the arrays are not of one length, or a number is out of range.
    """
    similarities = checked_values("similarities", similarities)
    ratings = checked_values("ratings", ratings, len(similarities))
    _check(len(ratings), seed=seed, resamples=resamples, level=level)
    bootstrap = _Bootstrap((similarities,), ratings, seed)
    return bootstrap.test(resamples, checked_threads(threads), level)


def bca_spearman_difference(
    similarities1: Values,
    similarities2: Values,
    ratings: Values,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    threads: int | None = None,
    level: float = 0.95,
) -> Test:
    """Return how Spearman's correlations of two similarities with the same ratings differ.

    Both are taken of the same resamples of pairs, so that what they share cancels out. Interval
    and p are those of ``bca_spearman``, for the difference.

    Args:
        similarities1: float64[n_pairs], at most 3,000,000; may be infinite.
        similarities2: float64[n_pairs], of the same pairs.
        ratings: float64[n_pairs].
        seed: see ``bca_spearman``.
        resamples: see ``bca_spearman``.
        threads: see ``bca_spearman``.
        level: see ``bca_spearman``.

    Returns:
        The statistic is the first correlation less the second; NaN as in ``bca_spearman``. Where
        both rank all pairs alike, p is 1.

    Raises:
        OptionError: a value is NaN, the arrays are not of one length, or a number is out of range.
    """
    similarities1 = checked_values("similarities", similarities1)
    similarities2 = checked_values("similarities", similarities2, len(similarities1))
    ratings = checked_values("ratings", ratings, len(similarities1))
    _check(len(ratings), seed=seed, resamples=resamples, level=level)
    bootstrap = _Bootstrap((similarities1, similarities2), ratings, seed)
    return bootstrap.test(resamples, checked_threads(threads), level)


class _Bootstrap:
    """A correlation with ratings, or the difference of two, that is taken of resampled pairs.

    Args:
        sides: one array of similarities or two, float64[n_pairs] each.
        ratings: float64[n_pairs].
        seed: of the draws.
    """

    def __init__(self, sides: Sequence[Values], ratings: Values, seed: int) -> None:
        ranks = [ranked(values).ranks for values in (*sides, ratings)]
        # The same pairs in any order are drawn alike; and ratings in order are read in order.
        order = np.lexsort(ranks)
        self._sides = np.stack([of_side[order] for of_side in ranks[:-1]])
        self._ratings = ranks[-1][order]
        self._seed = np.uint64(seed)

    def test(self, resamples: int, threads: int, level: float) -> Test:
        """Return the statistic with its interval and its p."""
        n_pairs = len(self._ratings)
        estimate = self._estimate()
        if math.isnan(estimate) or n_pairs < _FEWEST_PAIRS:
            return Test(method="bca", statistic=estimate, p=math.nan)
        resampled = self._resampled(resamples, threads)
        if not len(resampled):
            return Test(method="bca", statistic=estimate, p=math.nan)
        distribution = Distribution(
            estimate=estimate, resampled=resampled, acceleration=self._acceleration()
        )
        low, high = bca_interval(distribution, level)
        return Test(method="bca", statistic=estimate, p=bca_p(distribution), low=low, high=high)

    def _estimate(self) -> float:
        """Return the statistic of all pairs, in the same arithmetic as that of a resample."""
        once = np.ones(len(self._ratings), np.int32)
        first, *second = (weighted_spearman(side, self._ratings, once) for side in self._sides)
        return float(first - second[0] if second else first)

    def _resampled(self, resamples: int, threads: int) -> Values:
        """Return the statistics of resamples, in order, where they are defined."""

        def statistics(first: int) -> Values:
            stop = min(first + _RESAMPLES_A_TASK, resamples)
            return resampled_spearman(self._sides, self._ratings, self._seed, first, stop)

        executor = ThreadPoolExecutor(threads)
        try:
            parts = list(executor.map(statistics, range(0, resamples, _RESAMPLES_A_TASK)))
        finally:
            executor.shutdown(cancel_futures=True)
        found = np.concatenate(parts)
        return np.sort(found[~np.isnan(found)])

    def _acceleration(self) -> float:
        """Return how fast the standard error changes with the statistic, from the jackknife."""
        first, *second = (leave_one_out_spearman(side, self._ratings) for side in self._sides)
        left_out = first - second[0] if second else first
        left_out = left_out[~np.isnan(left_out)]
        if not len(left_out) or np.ptp(left_out) < _ROUNDING:
            return 0.0
        from_mean = left_out.mean() - left_out
        return float((from_mean**3).sum() / (6 * (from_mean**2).sum() ** 1.5))


def _check(n_pairs: int, *, seed: int, resamples: int, level: float) -> None:
    if n_pairs > _MOST_PAIRS:
        raise OptionError(f"{n_pairs:,} rated pairs are too many; {_MOST_PAIRS:,} are accepted")
    if not 0 <= seed < _SEEDS:
        raise OptionError(f"seed {seed} is out of range; 0 to {_SEEDS - 1} are accepted")
    if not _FEWEST_RESAMPLES <= resamples <= _MOST_RESAMPLES:
        raise OptionError(
            f"{resamples:,} resamples are out of range; {_FEWEST_RESAMPLES} to "
            f"{_MOST_RESAMPLES:,} are accepted"
        )
    if not 0 < level < 1:
        raise OptionError(f"level {level} is out of range; a number between 0 and 1 is accepted")
