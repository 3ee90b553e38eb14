"""The area under the ROC curve: its interval, and the comparison of two."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from medsim.statistics.estimates import Z95, Estimate, two_sided_p
from medsim.statistics.pairs import checked_flags
from medsim.statistics.significance import Test

if TYPE_CHECKING:
    from medsim.kernels.types import Counts, Flags, Ids, Values

_FEWEST_OF_A_CLASS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RocArea:
    """An area under a ROC curve.

    Attributes:
        auc: the share of (positive, negative) in which the positive is more similar, where a tie
            counts half (Hanley and McNeil 1982), with the interval of DeLong et al. (1988), cut at
            0 and 1; NaN where a class has no pairs, without an interval where one has fewer than 2.
        placements: float64[n_pairs], the share of negatives below a positive, and of positives
            above a negative, where a tie counts half: the structural components of DeLong et al.;
            NaN where there is no other class.
    """

    auc: Estimate
    placements: Values


def roc_area(ranks: Ids, labels: Flags, n_positive: Counts, n_negative: Counts) -> RocArea:
    """Return the area under the ROC curve of similarities.

    Counting over ranks gives the placements as the midranks of Sun and Xu (2014) do.

    Args:
        ranks: int32[n_pairs], dense ranks of similarities.
        labels: bool[n_pairs].
        n_positive: int64[n_ranks], how many positives have each rank.
        n_negative: int64[n_ranks].
    """
    n_positives, n_negatives = int(n_positive.sum()), int(n_negative.sum())
    if n_positives == 0 or n_negatives == 0:
        nothing = np.full(len(ranks), np.nan)
        return RocArea(auc=Estimate(value=math.nan), placements=nothing)
    below: Values = (np.cumsum(n_negative) - n_negative / 2) / n_negatives
    above: Values = (n_positives - np.cumsum(n_positive) + n_positive / 2) / n_positives
    placements = np.where(labels, below[ranks], above[ranks])
    halves = int((n_positive * (2 * np.cumsum(n_negative) - n_negative)).sum())
    auc = Estimate(value=halves / (2 * n_positives * n_negatives))
    reach = Z95 * math.sqrt(_variance(placements, labels))
    if not math.isnan(reach):
        low, high = max(0.0, auc.value - reach), min(1.0, auc.value + reach)
        auc = Estimate(value=auc.value, low=low, high=high)
    return RocArea(auc=auc, placements=placements)


def delong(first: RocArea, second: RocArea, labels: Flags) -> Test:
    """Return whether the AUCs of two similarities of the same pairs differ.

    The test of DeLong, DeLong and Clarke-Pearson (1988). Where both similarities place all pairs
    of a class alike, the variance of the difference is estimated as 0: p is then 1 where the AUCs
    are equal, and 0 where they are not, with a statistic that is infinite. The statistic is the
    standard normal deviate of the first AUC less the second, the interval is of that difference.
    All are NaN where a class has fewer than 2 pairs.
    """
    for area in (first, second):
        labels = checked_flags("labels", labels, len(area.placements))
    difference = first.auc.value - second.auc.value
    error = math.sqrt(_variance(first.placements - second.placements, labels))
    if error == 0:
        z = math.copysign(math.inf, difference) if difference else 0.0
    else:
        z = difference / error
    return Test(
        method="delong",
        statistic=z,
        p=two_sided_p(z),
        low=difference - Z95 * error,
        high=difference + Z95 * error,
    )


def _variance(placed: Values, labels: Flags) -> float:
    """Return the variance of an AUC, or of a difference of two, from (differences of) placements.

    The variance of a sum of the two classes' means; that of a difference, taken from differences,
    is what the covariance matrix gives.
    """
    variance = 0.0
    for members in (placed[labels], placed[~labels]):
        if len(members) < _FEWEST_OF_A_CLASS:
            return math.nan
        variance += float(np.var(members, ddof=1)) / len(members)
    return variance
