"""Tests of differences, corrections for their number, and the areas under two ROC curves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from medsim.core.errors import OptionError
from medsim.statistics.edges import area_interval, difference_of
from medsim.statistics.estimates import Z95, Estimate, two_sided_p
from medsim.statistics.pairs import checked_flags

if TYPE_CHECKING:
    from medsim.kernels.types import Counts, Flags, FlagTable, Ids, Values

_FEWEST_FOR_CHI_SQUARE = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """The result of a test.

    Attributes:
        method: "mcnemar_exact", "mcnemar", "mcnemar_runs", "delong", "bca" or "clustered_t".
        statistic: of the method.
        p: two-sided; NaN where the test is not defined.
        low: the lower end of the interval of what is tested; NaN where there is none.
    """

    method: str
    statistic: float
    p: float
    low: float = math.nan
    high: float = math.nan


def mcnemar(correct1: Flags, correct2: Flags) -> Test:
    """Return whether two classifications of the same pairs differ in accuracy.

    Only pairs that one gets right and the other wrong count (McNemar 1947). Fewer than 25 of them
    are tested by the binomial law; more by the chi-square law of one degree, with the
    continuity correction of Edwards (1948), which takes off no more than there is, as in R's
    ``mcnemar.test``. (statsmodels takes off 1 even from 0, and so finds 1 / n where equally many
    disagree either way.)

    The statistic of the exact test is the smaller number of pairs that only one gets right, of the
    other the chi-square. p is 1 where none disagree.
    """
    correct1 = checked_flags("truths", correct1, len(correct1))
    correct2 = checked_flags("truths", correct2, len(correct1))
    only1 = int(np.count_nonzero(correct1 & ~correct2))
    only2 = int(np.count_nonzero(~correct1 & correct2))
    n_disagreeing, fewer = only1 + only2, min(only1, only2)
    if n_disagreeing < _FEWEST_FOR_CHI_SQUARE:
        n_as_far = 2 * sum(math.comb(n_disagreeing, n) for n in range(fewer + 1))
        p = min(1.0, n_as_far / 2**n_disagreeing)
        return Test(method="mcnemar_exact", statistic=float(fewer), p=p)
    chi_square = max(0, abs(only1 - only2) - 1) ** 2 / n_disagreeing
    return Test(method="mcnemar", statistic=chi_square, p=math.erfc(math.sqrt(chi_square / 2)))


def mcnemar_of_runs(correct1: FlagTable, correct2: FlagTable) -> Test:
    """Return whether two models of several runs each differ in accuracy on the same instances.

    McNemar's test of clustered pairs (Durkalski et al. 2003): the runs of an instance are a
    cluster, of which the difference of both models' shares of right answers counts. The statistic
    is the squared sum of these differences by the sum of their squares, and has the chi-square law
    of one degree. Instances are drawn, runs are not: the test is of these very runs. Where both
    models have a single run it is that of ``mcnemar``.

    Args:
        correct1: bool[n_runs1, n_instances].
        correct2: bool[n_runs2, n_instances].
    """
    if len(correct1) == len(correct2) == 1:
        return mcnemar(correct1[0], correct2[0])
    differences = correct1.mean(axis=0) - correct2.mean(axis=0)
    squares = float((differences**2).sum())
    chi_square = float(differences.sum()) ** 2 / squares if squares else 0.0
    return Test(method="mcnemar_runs", statistic=chi_square, p=math.erfc(math.sqrt(chi_square / 2)))


def bonferroni(p: Values) -> Values:
    """Return p-values corrected for their number by Bonferroni's inequality (Dunn 1961).

    NaN is no test and stays NaN.
    """
    p = _checked_p(p)
    return np.minimum(1.0, p * np.count_nonzero(~np.isnan(p)))


def holm(p: Values) -> Values:
    """Return p-values corrected for their number step by step (Holm 1979).

    The smallest is multiplied by the number of tests, the next by one less, and so on; none falls
    below one that was smaller. NaN is no test and stays NaN.
    """
    p = _checked_p(p)
    order = np.argsort(p, kind="stable")[: np.count_nonzero(~np.isnan(p))]  # NaN comes last
    corrected = np.full(len(p), np.nan)
    stepped = p[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(stepped))
    return corrected


def _checked_p(p: Values) -> Values:
    values = np.asarray(p, np.float64)
    wrong = values[~np.isnan(values) & ~((values >= 0) & (values <= 1))]
    if len(wrong):
        raise OptionError(f"p-value {wrong[0]} is out of range; 0 to 1 are accepted")
    return values


_FEWEST_OF_A_CLASS = 2
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class RocArea:
    """An area under a ROC curve.

    Attributes:
        auc: the share of (positive, negative) in which the positive is more similar, where a tie
            counts half (Hanley and McNeil 1982), with the interval of DeLong et al. (1988), or of
            ``area_interval`` where that is a point or leaves 0 to 1; NaN where a class has no
            pairs, without an interval where one has fewer than 2.
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
        auc = Estimate(value=auc.value, low=auc.value - reach, high=auc.value + reach)
        if reach < _ROUNDING or auc.low < 0 or auc.high > 1:
            auc = area_interval(auc.value, n_positives, n_negatives)
    return RocArea(auc=auc, placements=placements)


def delong(first: RocArea, second: RocArea, labels: Flags) -> Test:
    """Return whether the AUCs of two similarities of the same pairs differ.

    The test of DeLong, DeLong and Clarke-Pearson (1988). The statistic is the standard normal
    deviate of the first AUC less the second, the interval is of that difference. All are NaN where
    a class has fewer than 2 pairs. Where the variance of the difference is estimated as 0, both
    similarities order all pairs alike, and do not differ, or one is perfect or constant: interval
    and p are then those of ``difference_of``.
    """
    for area in (first, second):
        labels = checked_flags("labels", labels, len(area.placements))
    difference = first.auc.value - second.auc.value
    error = math.sqrt(_variance(first.placements - second.placements, labels))
    if error < _ROUNDING and (difference or _variance(first.placements, labels) < _ROUNDING):
        found, z = difference_of(first.auc, second.auc)
        return Test(method="delong", statistic=z, p=two_sided_p(z), low=found.low, high=found.high)
    z = difference / error if difference else 0.0 * error
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
