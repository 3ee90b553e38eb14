"""The area under the ROC curve: its interval, and the comparison of two."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from medsim.statistics.estimates import Z95, Estimate, two_sided_p
from medsim.statistics.pairs import checked_flags
from medsim.statistics.significance import Test

if TYPE_CHECKING:
    from medsim.kernels.types import Counts, Flags, Ids, Values
    from medsim.statistics.scores import LabelledScores

_FEWEST_OF_A_CLASS = 2


def placements(ranks: Ids, labels: Flags, n_positive: Counts, n_negative: Counts) -> Values:
    """Return how well each pair is placed among those of the other class.

    That is the share of negatives below a positive, and of positives above a negative, where a tie
    counts half: the structural components of DeLong et al. (1988). Counting over ranks gives them
    as the midranks of Sun and Xu (2014) do.

    Args:
        ranks: int32[n_pairs], dense ranks of similarities.
        labels: bool[n_pairs].
        n_positive: int64[n_ranks], how many positives have each rank.
        n_negative: int64[n_ranks].

    Returns:
        float64[n_pairs], from 0 to 1; NaN where there is no other class.
    """
    n_positives, n_negatives = n_positive.sum(), n_negative.sum()
    if n_positives == 0 or n_negatives == 0:
        return np.full(len(ranks), np.nan)
    below: Values = (np.cumsum(n_negative) - n_negative / 2) / n_negatives
    above: Values = (n_positives - np.cumsum(n_positive) + n_positive / 2) / n_positives
    return np.where(labels, below[ranks], above[ranks])


def auc_of(placed: Values, labels: Flags, n_positive: Counts, n_negative: Counts) -> Estimate:
    """Return the AUC with the interval of DeLong et al. (1988), cut at 0 and 1.

    The AUC is the share of (positive, negative) in which the positive is more similar, where a tie
    counts half (Hanley and McNeil 1982). There is no interval where a class has fewer than 2 pairs.

    Args:
        placed: float64[n_pairs], see ``placements``.
        labels: bool[n_pairs].
        n_positive: int64[n_ranks], how many positives have each rank.
        n_negative: int64[n_ranks].
    """
    n_pairs_of_classes = int(n_positive.sum()) * int(n_negative.sum())
    if n_pairs_of_classes == 0:
        return Estimate(value=math.nan)
    halves = int((n_positive * (2 * np.cumsum(n_negative) - n_negative)).sum())
    value = halves / (2 * n_pairs_of_classes)
    reach = Z95 * math.sqrt(_variance(placed, labels))
    # Against NaN, which min and max would drop or keep by the order of their arguments.
    if math.isnan(reach):
        return Estimate(value=value)
    return Estimate(value=value, low=max(0.0, value - reach), high=min(1.0, value + reach))


def delong(scores1: LabelledScores, scores2: LabelledScores, labels: Flags) -> Test:
    """Return whether the AUCs of two similarities of the same pairs differ.

    The test of DeLong, DeLong and Clarke-Pearson (1988). Where both similarities place all pairs
    of a class alike, the variance of the difference is estimated as 0: p is then 1 where the AUCs
    are equal, and 0 where they are not, with a statistic that is infinite.

    Args:
        scores1: of one similarity.
        scores2: of the other.
        labels: bool[n_pairs], as given for both.

    Returns:
        The statistic is the standard normal deviate of ``scores1.auc - scores2.auc``, the interval
        is of that difference. All are NaN where a class has fewer than 2 pairs.

    Raises:
        OptionError: the labels are not one for each pair of both.
    """
    labels = checked_flags("labels", labels, len(scores1.placements))
    checked_flags("labels", labels, len(scores2.placements))
    difference = scores1.auc.value - scores2.auc.value
    error = math.sqrt(_variance(scores1.placements - scores2.placements, labels))
    if error == 0:
        z = math.copysign(math.inf, difference) if difference else 0.0
    else:
        z = difference / error
    reach = Z95 * error
    return Test(
        method="delong",
        statistic=z,
        p=two_sided_p(z),
        low=difference - reach,
        high=difference + reach,
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
