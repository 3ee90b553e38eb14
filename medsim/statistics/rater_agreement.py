"""Inter-annotator agreement on a graded scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np

from medsim.kernels.resampling import resampled_pairs, shared_spearman
from medsim.kernels.types import Flags, FloatTable, Places, Ranks, Values
from medsim.statistics.bca import bca_estimate, in_tasks
from medsim.statistics.estimates import Estimate, quotients
from medsim.statistics.options import Resampling
from medsim.statistics.ranks import leave_one_out_spearman, ranked, without_rounding_errors

FEWEST_SHARED = 10
"""The minimum number of items: a correlation of 2 items is always 1 or -1."""

_RESAMPLES_A_TASK = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterAgreement:
    """The agreement of raters (Chiu et al. 2018), with BCa bootstrap intervals over items.

    A correlation is over the items that both sides rated. It is undefined if a side is constant or
    there are too few items; means ignore undefined correlations.

    Attributes:
        iaa1: the mean of Spearman's correlations of every two raters; NaN if all are undefined.
        iaa2: the mean of ``with_mean``.
        with_others: float64[n_raters], the mean of each rater's correlations with the others.
        with_mean: float64[n_raters], Spearman's correlation of each rater with the mean of the
            others' ratings of each item.
    """

    iaa1: Estimate
    iaa2: Estimate
    with_others: Values
    with_mean: Values


def rater_agreement(
    ratings: FloatTable, resampling: Resampling | None = None, *, fewest: int = FEWEST_SHARED
) -> RaterAgreement:
    """Return the agreement of raters.

    Args:
        ratings: float64[n_raters, n_items], NaN where a rating is missing; at most 3,000,000 items.
        resampling: the bootstrap of intervals, which takes time O(n_raters^2 n_items) for each
            resample; None or without resamples for no intervals.
        fewest: minimum number of items rated by both sides for a correlation to be defined.
    """
    n_raters = len(ratings)
    ranks = np.vstack([_ranks(ratings), _ranks(_means_of_others(ratings))])  # raters, then means
    raters = np.arange(n_raters)
    pairs = np.vstack([_every_two(n_raters), np.column_stack([raters, n_raters + raters])])
    two_raters = pairs[:, 1] < n_raters
    observed = _correlations(ranks, pairs, fewest)
    resampled = left_out = np.empty((0, len(pairs)))
    if resampling and resampling.resamples and ranks.shape[1]:
        correlations = partial(resampled_pairs, ranks, pairs, np.uint64(resampling.seed))
        resampled = in_tasks(correlations, resampling, _RESAMPLES_A_TASK)
        left_out = _left_out(ranks, pairs, observed)
        resampled[:, np.isnan(observed)] = np.nan
        left_out[:, np.isnan(observed)] = np.nan

    def mean_of(chosen: Flags) -> Estimate:
        return bca_estimate(
            mean_of_defined(observed[chosen]),
            row_means(resampled[:, chosen]),
            row_means(left_out[:, chosen]),
        )

    return RaterAgreement(
        iaa1=mean_of(two_raters),
        iaa2=mean_of(~two_raters),
        with_others=row_means(_table(n_raters, observed[two_raters])),
        with_mean=observed[~two_raters],
    )


def pairwise_spearman(ratings: FloatTable, fewest: int = 2) -> FloatTable:
    """Return Spearman's correlation of every two raters over the items that both rated.

    The arguments are as in ``rater_agreement``. The table is float64[n_raters, n_raters], NaN on
    the diagonal and where a correlation is undefined.
    """
    n_raters = len(ratings)
    return _table(n_raters, _correlations(_ranks(ratings), _every_two(n_raters), fewest))


def mean_of_defined(values: Values) -> float:
    """Return the mean of the values, float64[n], that are not NaN; NaN if all are."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else math.nan


def row_means(table: FloatTable) -> Values:
    """Return the mean of each row's values that are not NaN, float64[n_rows]; NaN if all are."""
    defined = ~np.isnan(table)
    return quotients(np.where(defined, table, 0.0).sum(axis=1), defined.sum(axis=1))


def _ranks(ratings: FloatTable) -> Ranks:
    """Return the dense ranks of each rater's ratings, int32[n_raters, n_items], -1 if missing."""
    ranks = np.full(ratings.shape, -1, np.int32)
    for row, values in zip(ranks, ratings, strict=True):
        rated = ~np.isnan(values)
        row[rated] = ranked(values[rated]).ranks
    return ranks


def _means_of_others(ratings: FloatTable) -> FloatTable:
    """Return for each rater the mean of the others' ratings of each item; NaN without ratings."""
    rated = ~np.isnan(ratings)
    filled = np.where(rated, ratings, 0.0)
    n_others = rated.sum(axis=0) - rated
    return without_rounding_errors(quotients(filled.sum(axis=0) - filled, n_others))


def _every_two(n_raters: int) -> Places:
    return np.array(list(combinations(range(n_raters), 2)), np.int64).reshape(-1, 2)


def _table(n_raters: int, correlations: Values) -> FloatTable:
    """Return the correlations of ``_every_two`` raters as a table, with NaN on the diagonal."""
    table: FloatTable = np.full((n_raters, n_raters), np.nan)
    first, second = _every_two(n_raters).T
    table[first, second] = table[second, first] = correlations
    return table


def _correlations(ranks: Ranks, pairs: Places, fewest: int) -> Values:
    once = np.ones(ranks.shape[1], np.int32)
    correlations = np.array(
        [shared_spearman(ranks[first], ranks[second], once) for first, second in pairs]
    )
    rated = ranks >= 0
    n_shared = np.array([(rated[first] & rated[second]).sum() for first, second in pairs])
    return np.where(n_shared < fewest, np.nan, correlations)


def _left_out(ranks: Ranks, pairs: Places, observed: Values) -> FloatTable:
    """Return the correlations of all pairs without each item, float64[n_items, n_pairs]."""
    left_out = np.tile(observed, (ranks.shape[1], 1))
    for at, (first, second) in enumerate(pairs):
        shared = np.flatnonzero((ranks[first] >= 0) & (ranks[second] >= 0))
        # Rank the shared items again: ranks of all items have gaps there.
        left, right = (ranked(ranks[side][shared]).ranks for side in (first, second))
        left_out[shared, at] = leave_one_out_spearman(left, right)
    return left_out
