"""The area under a ROC curve with its interval, and the test of two, of pairs or of clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from medsim.statistics.clusters import FEWEST_CLUSTERS, clustered_estimate, effective_clusters
from medsim.statistics.edges import area_interval, difference_of
from medsim.statistics.estimates import Z95, Estimate, two_sided_p
from medsim.statistics.pairs import checked_flags
from medsim.statistics.significance import Test, clustered_test

if TYPE_CHECKING:
    from medsim.kernels.types import Counts, Flags, Ids, Rows, Values

_FEWEST_OF_A_CLASS = 2
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class RocArea:
    """An area under a ROC curve.

    Attributes:
        auc: the share of (positive, negative) in which the positive is more similar, where a tie
            counts half (Hanley and McNeil 1982), with the interval of DeLong et al. (1988), or
            where it is a point or leaves 0 to 1 that of ``area_interval``; of clusters that of
            ``clustered_estimate``. NaN where a class has no pairs, without an interval where one
            has fewer than 2, or is of too few effective clusters.
        placements: float64[n_pairs], the share of negatives below a positive, and of positives
            above a negative, where a tie counts half: the structural components of DeLong et al.;
            NaN where there is no other class.
        labels: bool[n_pairs].
        clusters: int[n_pairs], see ``roc_area``.
        effective: the effective number of clusters, of the class with fewer; NaN without clusters.
        left_out: float64[n_clusters], the area without each cluster; None without clusters, or
            with too few.
    """

    auc: Estimate
    placements: Values
    labels: Flags
    clusters: Rows | None
    effective: float = math.nan
    left_out: Values | None = None


def roc_area(
    ranks: Ids,
    labels: Flags,
    n_positive: Counts,
    n_negative: Counts,
    clusters: Rows | None = None,
) -> RocArea:
    """Return the area under the ROC curve of similarities.

    Counting over ranks gives the placements as the midranks of Sun and Xu (2014) do.

    Args:
        ranks: int32[n_pairs], dense ranks of similarities.
        labels: bool[n_pairs].
        n_positive: int64[n_ranks], how many positives have each rank.
        n_negative: int64[n_ranks].
        clusters: int[n_pairs], the cluster of each pair from 0 on; None where all are independent.
    """
    n_positives, n_negatives = int(n_positive.sum()), int(n_negative.sum())
    if n_positives == 0 or n_negatives == 0:
        nothing = np.full(len(ranks), np.nan)
        auc = Estimate(value=math.nan)
        return RocArea(auc=auc, placements=nothing, labels=labels, clusters=clusters)
    below: Values = (np.cumsum(n_negative) - n_negative / 2) / n_negatives
    above: Values = (n_positives - np.cumsum(n_positive) + n_positive / 2) / n_positives
    placements = np.where(labels, below[ranks], above[ranks])
    halves = int((n_positive * (2 * np.cumsum(n_negative) - n_negative)).sum())
    auc = Estimate(value=halves / (2 * n_positives * n_negatives))
    if clusters is not None:
        effective = min(effective_clusters(clusters[members]) for members in (labels, ~labels))
        left_out = None
        if effective >= FEWEST_CLUSTERS:
            left_out = _areas_without_each(halves, placements, ranks, labels, clusters)
            auc = clustered_estimate(auc.value, left_out, len(ranks), effective)
        return RocArea(
            auc=auc,
            placements=placements,
            labels=labels,
            clusters=clusters,
            effective=effective,
            left_out=left_out,
        )
    variance = _variance(placements, labels)
    if not math.isnan(variance):
        reach = Z95 * math.sqrt(variance)
        auc = Estimate(value=auc.value, low=auc.value - reach, high=auc.value + reach)
        if reach < _ROUNDING or auc.low < 0 or auc.high > 1:
            auc = area_interval(auc.value, n_positives, n_negatives)
    return RocArea(auc=auc, placements=placements, labels=labels, clusters=None)


def _areas_without_each(
    halves: int, placements: Values, ranks: Ids, labels: Flags, clusters: Rows
) -> Values:
    """Return the area without each cluster, float64[n_clusters], none of which has a whole class.

    Of the ``halves``, twice the number of (positive, negative) in which the positive is more
    similar, those of a cluster's pairs leave with it; those within it are in both their classes.
    """
    sizes = np.bincount(clusters)
    positives, negatives = (
        np.bincount(clusters[members], minlength=len(sizes)) for members in (labels, ~labels)
    )
    n_positives, n_negatives = positives.sum(), negatives.sum()
    weights = np.where(labels, n_negatives, n_positives)
    won = np.bincount(clusters, placements * weights)
    n_ranks = int(ranks.max()) + 1
    keys, at = np.unique(clusters.astype(np.int64) * n_ranks + ranks, return_inverse=True)
    own, n_own = keys // n_ranks, np.bincount(at, ~labels)
    before = (np.cumsum(negatives) - negatives)[own]
    won -= np.bincount(own, np.bincount(at, labels) * (np.cumsum(n_own) - n_own / 2 - before))
    n_left = (n_positives - positives) * (n_negatives - negatives)
    areas: Values = ((halves / 2 - won) / n_left)[sizes > 0]
    return areas


def delong(first: RocArea, second: RocArea) -> Test:
    """Return whether the AUCs of two similarities of the same pairs differ.

    The test of DeLong, DeLong and Clarke-Pearson (1988); of clusters ``clustered_test``. The
    statistic is the standard normal deviate of the first AUC less the second, the interval is of
    that difference. All are NaN where a class has fewer than 2 pairs. Where the variance of the
    difference is estimated as 0, both similarities order all pairs alike, and do not differ, or one
    is perfect or constant: interval and p are then those of ``difference_of``.
    """
    labels = first.labels
    for area in (first, second):
        labels = checked_flags("labels", labels, len(area.placements))
    if first.clusters is not None:
        left_out = np.empty(0)
        if first.left_out is not None and second.left_out is not None:
            left_out = first.left_out - second.left_out
        return clustered_test("delong_clusters", first.auc, second.auc, left_out, first.effective)
    difference = first.auc.value - second.auc.value
    error = math.sqrt(_variance(first.placements - second.placements, labels))
    if math.isnan(error):
        return Test(method="delong", statistic=math.nan, p=math.nan)
    if error < _ROUNDING and (difference or _variance(first.placements, labels) < _ROUNDING):
        found, z = difference_of(first.auc, second.auc)
        return Test(method="delong", statistic=z, p=two_sided_p(z), low=found.low, high=found.high)
    deviate = difference / error if difference else 0.0 * error
    reach = Z95 * error
    return Test(
        method="delong",
        statistic=deviate,
        p=two_sided_p(deviate),
        low=max(-1.0, difference - reach),
        high=min(1.0, difference + reach),
    )


def _variance(placed: Values, labels: Flags) -> float:
    """Return the variance of an AUC, or of a difference of two, from (differences of) placements.

    The variance of a sum of the two classes' means; that of a difference, taken from differences,
    is what the covariance matrix gives.
    """
    variance = 0.0
    for members in (labels, ~labels):
        n_members = np.count_nonzero(members)
        if n_members < _FEWEST_OF_A_CLASS:
            return math.nan
        variance += float(np.var(placed[members], ddof=1)) / n_members
    return variance
