"""The area under a ROC curve with its interval, and the test of two, of pairs or of clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from medsim.statistics.clusters import degrees_of
from medsim.statistics.edges import area_interval, difference_of
from medsim.statistics.estimates import (
    Z95,
    Estimate,
    student_reach,
    two_sided_p,
    two_sided_student,
)
from medsim.statistics.pairs import checked_flags
from medsim.statistics.significance import Test

if TYPE_CHECKING:
    from medsim.kernels.types import Counts, Flags, Ids, Rows, Values

_FEWEST_OF_A_CLASS = 2
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class RocArea:
    """An area under a ROC curve.

    Attributes:
        auc: the share of (positive, negative) in which the positive is more similar, where a tie
            counts half (Hanley and McNeil 1982), with the interval of DeLong et al. (1988), of
            clusters that of Obuchowski (1997), or where these are a point or leave 0 to 1 that of
            ``area_interval``; NaN where a class has no pairs, without an interval where one has
            fewer than 2, or is of fewer than 2 clusters.
        placements: float64[n_pairs], the share of negatives below a positive, and of positives
            above a negative, where a tie counts half: the structural components of DeLong et al.;
            NaN where there is no other class.
        labels: bool[n_pairs].
        clusters: int[n_pairs], see ``roc_area``.
    """

    auc: Estimate
    placements: Values
    labels: Flags
    clusters: Rows | None


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
    variance = _variance(placements, labels, clusters)
    if not math.isnan(variance):
        reach = _reach(clusters) * math.sqrt(variance)
        auc = Estimate(value=auc.value, low=auc.value - reach, high=auc.value + reach)
        if reach < _ROUNDING or auc.low < 0 or auc.high > 1:
            sizes = (_n_independent(members, clusters) for members in (labels, ~labels))
            auc = area_interval(auc.value, *sizes)
    return RocArea(auc=auc, placements=placements, labels=labels, clusters=clusters)


def delong(first: RocArea, second: RocArea) -> Test:
    """Return whether the AUCs of two similarities of the same pairs differ.

    The test of DeLong, DeLong and Clarke-Pearson (1988); of clusters that with the variance of
    Obuchowski (1997), under Student's law (``degrees_of``). The statistic is the standard normal
    deviate, or Student's t, of the first AUC less the second, the interval is of that difference.
    All are NaN where a class has fewer than 2 pairs, or clusters. Where the variance of the
    difference is estimated as 0, both similarities order all pairs alike, and do not differ, or one
    is perfect or constant: interval and p are then those of ``difference_of``.
    """
    labels, clusters = first.labels, first.clusters
    for area in (first, second):
        labels = checked_flags("labels", labels, len(area.placements))
    method = "delong" if clusters is None else "delong_clusters"
    difference = first.auc.value - second.auc.value
    error = math.sqrt(_variance(first.placements - second.placements, labels, clusters))
    if math.isnan(error):
        return Test(method=method, statistic=math.nan, p=math.nan)
    if error < _ROUNDING and (
        difference or _variance(first.placements, labels, clusters) < _ROUNDING
    ):
        found, z = difference_of(first.auc, second.auc)
        return Test(method=method, statistic=z, p=two_sided_p(z), low=found.low, high=found.high)
    deviate = difference / error if difference else 0.0 * error
    reach = _reach(clusters) * error
    return Test(
        method=method,
        statistic=deviate,
        p=_two_sided(deviate, clusters),
        low=max(-1.0, difference - reach),
        high=min(1.0, difference + reach),
    )


def _variance(placed: Values, labels: Flags, clusters: Rows | None) -> float:
    """Return the variance of an AUC, or of a difference of two, from (differences of) placements.

    The variance of a sum of the two classes' means; that of a difference, taken from differences,
    is what the covariance matrix gives. Of clusters it is the one of Obuchowski (Biometrics
    53:567-578, 1997): of the sums of each cluster's deviations, with their covariance between the
    classes. Where no two pairs are in one cluster that is the same.
    """
    if clusters is None:
        clusters = np.arange(len(placed))
    n_clusters = _n_independent(np.ones_like(labels), clusters)
    variance, sums = 0.0, []
    for members in (labels, ~labels):
        n_members, n_own = np.count_nonzero(members), _n_independent(members, clusters)
        if n_own < _FEWEST_OF_A_CLASS:
            return math.nan
        deviations = (placed[members] - placed[members].mean()) / n_members
        of_clusters = np.bincount(clusters[members], deviations, int(clusters.max()) + 1)
        variance += n_own / (n_own - 1) * float(of_clusters @ of_clusters)
        sums.append(of_clusters)
    variance += 2 * n_clusters / (n_clusters - 1) * float(sums[0] @ sums[1])
    return max(0.0, variance)


def _n_independent(members: Flags, clusters: Rows | None) -> int:
    """Return how many clusters those pairs are of that are members; without any, how many pairs."""
    if clusters is None:
        return int(np.count_nonzero(members))
    return int(np.count_nonzero(np.bincount(clusters[members])))


def _reach(clusters: Rows | None) -> float:
    """Return the standard errors that a 95% interval reaches."""
    return Z95 if clusters is None else student_reach(degrees_of(clusters))


def _two_sided(deviate: float, clusters: Rows | None) -> float:
    """Return the probability of a deviate that far from 0."""
    if clusters is None:
        return two_sided_p(deviate)
    return two_sided_student(deviate, degrees_of(clusters))
