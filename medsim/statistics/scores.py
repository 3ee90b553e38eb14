"""Scores of similarities of labelled and rated pairs, with confidence intervals and tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from medsim.kernels.resampling import resampled_spearman, weighted_spearman
from medsim.kernels.types import Counts, Flags, FloatTable, Ids, Rows, Values
from medsim.statistics import estimates
from medsim.statistics.bca import Distribution, acceleration, bca_interval, bca_p, in_tasks
from medsim.statistics.estimates import Estimate
from medsim.statistics.matched import MatchedPairs
from medsim.statistics.options import Resampling
from medsim.statistics.ranks import counts_by_label, kendall, leave_one_out_spearman, ranked
from medsim.statistics.significance import Test, clustered_test, mcnemar

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
        resampling: at least 100 resamples. Each takes time O(n_pairs), and each thread 12 bytes per
            pair.
    """

    def __init__(self, sides: Sequence[Values], ratings: Values, resampling: Resampling) -> None:
        self._ratings = ranked(ratings).ranks
        self._sides = np.array([ranked(side).ranks for side in sides], np.int32)
        self._jackknifed: dict[int, Values] = {}
        self._resampled = self._drawn(resampling)

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
        analytic, z = estimates.rank_correlation(result.statistic, len(self._ratings))
        return replace(
            result,
            low=min(result.low, analytic.low),
            high=max(result.high, analytic.high),
            p=max(result.p, estimates.two_sided_p(z)),
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
        first, second = (estimates.perfect_correlation(side, len(self._ratings)) for side in sides)
        estimate, z = estimates.difference_of(first, second)
        return Test.of("bca", estimate.value, estimates.two_sided_p(z), estimate)

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

    def _drawn(self, resampling: Resampling) -> FloatTable:
        """Return the correlations of all sides in all resamples, in order."""
        if len(self._ratings) < _FEWEST_PAIRS or not len(self._sides):
            return np.empty((0, len(self._sides)))
        seed = np.uint64(resampling.seed)
        correlations = partial(resampled_spearman, self._sides, self._ratings, seed)
        a_task = max(_RESAMPLES_A_TASK, _RANKS_A_TASK // self._sides.size)
        return in_tasks(correlations, resampling, a_task)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSample:
    """Similarities of labelled pairs, and how well they separate positives from negatives.

    Attributes:
        similarities: float64[n_pairs], for statistics that are not attributes.
        labels: bool[n_pairs], true for positives.
        area: under the ROC curve.
        average_precision: mean precision over recall, tied pairs retrieved at once; NaN if a class
            has no pairs.
        accuracy: at ``threshold``, with Wilson's interval, or for clusters the interval of
            ``clustered_mean``. It is optimistic, since the threshold is chosen on the same pairs.
        accuracy_heldout: on held-out pairs, at the threshold that is best on the others, with an
            interval of the same kind; NaN if there are no held-out or no other pairs.
        threshold: pairs at least as similar are classified as positives, see ``best_threshold``;
            NaN without pairs.
        correct: bool[n_pairs], whether ``threshold`` puts each pair on the right side.
        left_out: float64[n_clusters], the accuracy without each cluster, see
            ``_accuracies_without_each``; empty without clusters.
    """

    similarities: Values
    labels: Flags
    area: RocArea
    average_precision: Estimate
    accuracy: Estimate
    accuracy_heldout: Estimate
    threshold: Estimate
    correct: Flags
    left_out: Values

    def auc_difference(self, other: LabelledSample) -> Test:
        """Test the difference from the AUC of another similarity of the same pairs."""
        return delong(self.area, other.area)

    def accuracy_difference(self, other: LabelledSample) -> Test:
        """Test the difference from the accuracy of another similarity of the same pairs."""
        left_out = self.left_out - other.left_out
        area = self.area
        return mcnemar(self.correct, other.correct, area.clusters, area.effective, left_out)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedSample:
    """Similarities of rated pairs, and how well they follow the ratings.

    All correlations are NaN for fewer than 2 pairs or a constant side.

    Attributes:
        similarities: float64[n_pairs], for statistics that are not attributes.
        ratings: float64[n_pairs], higher for more similar pairs.
        spearman: correlation of average ranks, with a BCa bootstrap interval.
        pearson: with Fisher's interval; also NaN if a value is infinite.
        kendall: tau-b, without an interval.
        bootstrap: of this and other similarities of the pairs.
        side: the place of these similarities in the bootstrap.
    """

    similarities: Values
    ratings: Values
    spearman: Estimate
    pearson: Estimate
    kendall: Estimate
    bootstrap: SpearmanBootstrap
    side: int

    def spearman_difference(self, other: RatedSample) -> Test:
        """Test the difference from Spearman's correlation of another sample of the bootstrap."""
        return self.bootstrap.difference(self.side, other.side)


def labelled_sample(
    similarities: Values, labels: Flags, held_out: Flags, clusters: Rows | None = None
) -> LabelledSample:
    """Return the sample of labelled pairs; no score depends on the order of ties.

    Args:
        similarities: float64[n_pairs], not NaN; infinite ones are the first or last in order.
        labels: bool[n_pairs], true for positives.
        held_out: bool[n_pairs], true for pairs that are not used to choose a threshold.
        clusters: int[n_pairs], the cluster of each pair from 0 on, for intervals and tests; None
            if all pairs are independent.
    """
    distinct, ranks = ranked(similarities)
    n_positive, n_negative = counts_by_label(ranks, labels, len(distinct))
    threshold = best_threshold(distinct, n_positive, n_negative)
    correct = (similarities >= threshold) == labels
    of_others = counts_by_label(ranks[~held_out], labels[~held_out], len(distinct))
    fitted = best_threshold(distinct, *of_others)
    counted = held_out & (not math.isnan(fitted))
    correct_later = (similarities >= fitted) == labels
    return LabelledSample(
        similarities=similarities,
        labels=labels,
        area=roc_area(ranks, labels, clusters),
        average_precision=Estimate(value=average_precision(n_positive, n_negative)),
        accuracy=_share(correct, np.ones_like(correct), clusters),
        accuracy_heldout=_share(correct_later, counted, clusters),
        threshold=Estimate(value=threshold),
        correct=correct,
        left_out=_accuracies_without_each(distinct, ranks, labels, correct, clusters),
    )


_LARGE = 0.05


def _accuracies_without_each(
    distinct: Values, ranks: Ids, labels: Flags, correct: Flags, clusters: Rows | None
) -> Values:
    """Return the accuracy without each cluster, float64[n_clusters]; empty without clusters.

    Without a cluster that has at least a twentieth of the pairs, the threshold is the best of the
    other pairs: such a cluster can move it, and then all others differ together.
    """
    if clusters is None:
        return np.empty(0)
    left_out = estimates.means_without_each(correct.astype(np.float64), clusters)
    sizes = np.bincount(clusters)
    for at, name in enumerate(np.flatnonzero(sizes)):
        if _LARGE * len(clusters) <= sizes[name] < len(clusters):
            others = clusters != name
            counts = counts_by_label(ranks[others], labels[others], len(distinct))
            is_above = distinct >= best_threshold(distinct, *counts)
            left_out[at] = (is_above[ranks] == labels)[others].mean()
    return left_out


def _share(correct: Flags, counted: Flags, clusters: Rows | None) -> Estimate:
    """Return the share of correct values among those that are ``counted``."""
    hits = correct[counted]
    if clusters is None:
        return estimates.share_of(int(hits.sum()), len(hits))
    return estimates.clustered_mean(hits.astype(np.float64), clusters[counted])


def rated_samples(
    sides: Sequence[Values], ratings: Values, resampling: Resampling
) -> list[RatedSample]:
    """Return the samples of several similarities of the same pairs, float64[n_pairs] each."""
    bootstrap = SpearmanBootstrap(sides, ratings, resampling)
    samples = []
    for at, side in enumerate(sides):
        spearman = bootstrap.correlation(at)
        samples.append(
            RatedSample(
                similarities=side,
                ratings=ratings,
                spearman=Estimate(value=spearman.statistic, low=spearman.low, high=spearman.high),
                pearson=estimates.pearson_of(estimates.pearson(side, ratings), len(ratings)),
                kendall=Estimate(value=kendall(ranked(side).ranks, ranked(ratings).ranks)),
                bootstrap=bootstrap,
                side=at,
            )
        )
    return samples


def redrawn(samples: Sequence[RatedSample], resampling: Resampling) -> Sequence[RatedSample]:
    """Return samples of one bootstrap with enough resamples to compare every two of them."""
    n_comparisons = math.comb(len(samples), 2)
    larger = resampling.for_comparisons(n_comparisons)
    if not n_comparisons or larger.resamples <= resampling.resamples:
        return samples
    sides = [sample.similarities for sample in samples]
    bootstrap = SpearmanBootstrap(sides, samples[0].ratings, larger)
    return [replace(sample, bootstrap=bootstrap, side=at) for at, sample in enumerate(samples)]


def best_threshold(distinct: Values, n_positive: Counts, n_negative: Counts) -> float:
    """Return the threshold that classifies most pairs correctly; pairs at or above it are positive.

    It is midway between two neighbouring similarities, or the upper one if no number is between
    them; it is -inf if all pairs are best classified as positives, and inf if none is. Pairs with
    the same similarity are never separated. Of equally good thresholds the lowest is used. Pairs
    with a similarity of inf are always classified as positives.

    It is NaN without pairs.

    Args:
        distinct: float64[n_ranks], similarities in order.
        n_positive: int64[n_ranks], the number of positives with each similarity.
        n_negative: int64[n_ranks], the negatives; similarities without any pair do not count.
    """
    occurs = (n_positive + n_negative) > 0
    if not occurs.any():
        return math.nan
    values = distinct[occurs]
    n_right = np.full(len(values) + 1, n_positive.sum())  # for each number of values below
    n_right[1:] += np.cumsum(n_negative[occurs] - n_positive[occurs])
    if math.isinf(values[-1]) and values[-1] > 0:
        n_right = n_right[:-1]
    n_below = int(np.argmax(n_right))
    if n_below == 0:
        return -math.inf
    if n_below == len(values):
        return math.inf
    low, high = float(values[n_below - 1]), float(values[n_below])
    middle = low / 2 + high / 2
    return middle if low < middle else high


def average_precision(n_positive: Counts, n_negative: Counts) -> float:
    """Return the mean over positives of the precision at their similarity, as scikit-learn does.

    Args:
        n_positive: int64[n_ranks], the positives at each similarity, in ascending order.
        n_negative: int64[n_ranks], the negatives at each.
    """
    if not n_positive.any() or not n_negative.any():
        return math.nan
    n_hits, n_found = np.cumsum(n_positive[::-1]), np.cumsum((n_positive + n_negative)[::-1])
    return float((n_positive[::-1] * (n_hits / n_found)).sum() / n_positive.sum())


_FEWEST_OF_A_CLASS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RocArea:
    """An area under a ROC curve.

    Attributes:
        auc: the share of (positive, negative) whose positive is more similar, where ties count half
            (Hanley and McNeil 1982). The interval is of DeLong et al. (1988), or ``area_interval``
            if that is a point or leaves 0 to 1; for clusters, ``clustered_estimate``. NaN if a
            class has no pairs; no interval if one has fewer than 2 or too few effective clusters.
        placements: float64[n_pairs], the share of negatives below a positive, and of positives
            above a negative, where a tie counts half: the structural components of DeLong et al.;
            NaN if there is only one class.
        labels: bool[n_pairs].
        clusters: int[n_pairs], see ``roc_area``.
        effective: the effective number of clusters, of the class with fewer; NaN without clusters.
        left_out: float64[n_clusters], the area without each cluster, in order of their first
            pairs; empty without clusters, or with too few.
    """

    auc: Estimate
    placements: Values
    labels: Flags
    clusters: Rows | None
    effective: float = math.nan
    left_out: Values = field(default_factory=lambda: np.empty(0))


def roc_area(ranks: Ids, labels: Flags, clusters: Rows | None = None) -> RocArea:
    """Return the area under the ROC curve of similarities.

    Counting over ranks gives the placements as the midranks of Sun and Xu (2014) do.

    Args:
        ranks: int32[n_pairs], dense ranks of similarities.
        labels: bool[n_pairs].
        clusters: int[n_pairs], the cluster of each pair from 0 on; None if all are independent.
    """
    n_positive, n_negative = counts_by_label(ranks, labels)
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
    effective, left_out = math.nan, np.empty(0)
    if clusters is not None:
        in_one_stratum = MatchedPairs(labels, np.zeros_like(clusters), clusters)
        sample = in_one_stratum.sample(ranks.astype(np.float64))
        effective, left_out = sample.effective, sample.left_out
        if len(left_out):
            auc = estimates.clustered_estimate(auc.value, left_out, len(ranks), effective)
    elif not math.isnan(variance := _variance(placements, labels)):
        reach = estimates.Z95 * math.sqrt(variance)
        auc = Estimate(value=auc.value, low=auc.value - reach, high=auc.value + reach)
        if reach < _ROUNDING or auc.low < 0 or auc.high > 1:
            auc = estimates.area_interval(auc.value, n_positives, n_negatives)
    return RocArea(
        auc=auc,
        placements=placements,
        labels=labels,
        clusters=clusters,
        effective=effective,
        left_out=left_out,
    )


def delong(first: RocArea, second: RocArea) -> Test:
    """Test whether the AUCs of two similarities of the same pairs differ.

    This is the test of DeLong, DeLong and Clarke-Pearson (1988); for clusters, ``clustered_test``.
    The statistic is the standard normal deviate of the first AUC minus the second, with the
    interval of this difference. All are NaN if a class has fewer than 2 pairs. If the estimated
    variance of the difference is 0, either both similarities order all pairs alike and do not
    differ, or one is perfect or constant; interval and p then come from ``difference_of``.
    """
    labels = first.labels
    if first.clusters is not None:
        left_out = first.left_out - second.left_out
        return clustered_test("delong_clusters", first.auc, second.auc, left_out, first.effective)
    difference = first.auc.value - second.auc.value
    error = math.sqrt(_variance(first.placements - second.placements, labels))
    if math.isnan(error):
        return Test(method="delong", statistic=math.nan, p=math.nan)
    if error < _ROUNDING and (difference or _variance(first.placements, labels) < _ROUNDING):
        estimate, z = estimates.difference_of(first.auc, second.auc)
    else:
        estimate, z = estimates.tested_difference(first.auc, second.auc, error, estimates.Z95)
    return Test.of("delong", z, estimates.two_sided_p(z), estimate)


def _variance(placed: Values, labels: Flags) -> float:
    """Return the variance of an AUC, or of a difference of two, from (differences of) placements.

    It is the variance of the sum of the two classes' means. For differences of placements, it
    equals the result of the covariance matrix.
    """
    variance = 0.0
    for members in (labels, ~labels):
        n_members = np.count_nonzero(members)
        if n_members < _FEWEST_OF_A_CLASS:
            return math.nan
        variance += float(np.var(placed[members], ddof=1)) / n_members
    return variance
