"""The AUC within strata: how well similarities separate pairs of the same stratum.

Strata are pairs of the same edit distance, or pairs that a spelling classifier takes to be
equally alike. A similarity that only tells strata apart has 0.5. Standard errors are those of the
cluster jackknife, see ``medsim.statistics.estimates``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from medsim.kernels.types import Flags, Rows, Values
from medsim.statistics import estimates
from medsim.statistics.estimates import Estimate
from medsim.statistics.ranks import counts_by_label, ranked
from medsim.statistics.significance import Test, clustered_test

_CHANCE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedSample:
    """How well similarities separate positives from negatives of the same stratum.

    Attributes:
        auc: weighted mean over strata of the share of comparisons of a positive with a negative in
            which the positive is more similar. Ties, and comparisons with a pair that is not
            covered, count one half. NaN if no positive is matched. Without an interval if too few
            clusters are effective, or if the similarity is the same for all pairs of a stratum:
            then 0.5 is not an estimate.
        share: share of positives with a negative in their stratum: the matched ones; NaN without
            positives.
        effective: effective number of clusters of the matched pairs, of the label with fewer.
        left_out: float64[n_clusters], the AUC without each cluster, in order of their first matched
            pairs; empty if too few are effective.
    """

    auc: Estimate
    share: Estimate
    effective: float
    left_out: Values

    @classmethod
    def of(
        cls, value: float, left_out: Values, n_pairs: int, effective: float, share: float = math.nan
    ) -> MatchedSample:
        """Return a sample with its interval, from ``n_pairs`` matched pairs."""
        auc = Estimate(value=value)
        if len(left_out) and (estimates.jackknife_error(value, left_out) or value != _CHANCE):
            auc = estimates.clustered_estimate(value, left_out, n_pairs, effective)
        return cls(auc=auc, share=Estimate(value=share), effective=effective, left_out=left_out)

    def difference(self, other: MatchedSample) -> Test:
        """Test the difference from the AUC of another similarity of the same pairs."""
        left_out = self.left_out - other.left_out
        first, second = (
            Estimate(value=auc.value, low=auc.value, high=auc.value) if math.isnan(auc.low) else auc
            for auc in (self.auc, other.auc)
        )
        return clustered_test("matched_clusters", first, second, left_out, self.effective)


class MatchedPairs:
    """Labelled pairs in strata.

    Without a cluster, its positives and its negatives are missing from their strata, and a stratum
    that has only one label left does not count.

    Args:
        labels: bool[n_pairs], true for positives.
        strata: int[n_pairs], the stratum of each pair from 0 on.
        clusters: int[n_pairs], the cluster of each pair from 0 on; None if all are independent.
        by_precision: whether a stratum with n1 positives and n0 negatives has the weight n1 n0 /
            (n1 + n0), which suits strata with few of either (van Elteren 1960). Otherwise it has
            the weight n1, so that all matched positives count the same.

    Attributes:
        matched: bool[n_pairs], whether the stratum of each pair has both labels.
    """

    def __init__(
        self,
        labels: Flags,
        strata: Rows,
        clusters: Rows | None = None,
        *,
        by_precision: bool = False,
    ) -> None:
        self._by_precision = by_precision
        positives, negatives = counts_by_label(strata, labels)
        self.matched = ((positives > 0) & (negatives > 0))[strata]
        n_positives, n_matched = (
            int(np.count_nonzero(members)) for members in (labels, labels & self.matched)
        )
        self._share = n_matched / n_positives if n_positives else math.nan
        self._labels = labels[self.matched]
        self._strata = np.unique(strata[self.matched], return_inverse=True)[1]
        if clusters is None:
            clusters = np.arange(len(labels))
        _, first, clusters = np.unique(
            clusters[self.matched], return_index=True, return_inverse=True
        )
        clusters = np.argsort(np.argsort(first))[clusters]  # in order of their first pairs
        self._effective = estimates.effective_of_labels(clusters, self._labels)
        # A cell has the pairs of one stratum and one cluster.
        n_clusters = int(clusters.max(initial=-1)) + 1
        keys, self._cells = np.unique(self._strata * n_clusters + clusters, return_inverse=True)
        self._stratum_of_cell, self._cluster_of_cell = np.divmod(keys, max(n_clusters, 1))

    def sample(self, similarities: Values) -> MatchedSample:
        """Return the sample of similarities, float64[n_pairs], NaN for pairs not covered."""
        values = similarities[self.matched]
        value, left_out = math.nan, np.empty(0)
        if len(values):
            wins = _wins(values, self._labels, self._strata)
            weights, compared = self._weighed(*counts_by_label(self._strata, self._labels))
            won = np.bincount(self._strata, np.where(self._labels, wins, 0)).astype(np.float64)
            value = float((won / compared).sum() / weights.sum())
            if self._effective >= estimates.FEWEST_CLUSTERS:
                left_out = self._without_each(values, wins, won)
        return MatchedSample.of(value, left_out, len(values), self._effective, self._share)

    def _without_each(self, similarities: Values, wins: Values, won: Values) -> Values:
        """Return the AUC without each cluster, float64[n_clusters].

        Args:
            similarities: float64[n_matched].
            wins: float64[n_matched], see ``_wins``.
            won: float64[n_strata], the sum of those of positives.
        """
        positives, negatives = counts_by_label(self._strata, self._labels)
        weights, compared = self._weighed(positives, negatives)
        of_cell_positives, of_cell_negatives = counts_by_label(self._cells, self._labels)
        # Comparisons within the cell are among the wins of its positives and of its negatives.
        within = np.where(self._labels, _wins(similarities, self._labels, self._cells), 0.0)
        lost = np.bincount(self._cells, wins - within)
        stratum = self._stratum_of_cell
        weights_left, compared_left = self._weighed(
            positives[stratum] - of_cell_positives, negatives[stratum] - of_cell_negatives
        )
        counts = weights_left > 0
        sums = np.where(counts, (won[stratum] - lost) / compared_left, 0.0)
        changes = sums - (won / compared)[stratum]
        total = (won / compared).sum() + np.bincount(self._cluster_of_cell, changes)
        left = weights.sum() + np.bincount(self._cluster_of_cell, weights_left - weights[stratum])
        return estimates.quotients(total, left)

    def _weighed(self, positives: Rows, negatives: Rows) -> tuple[Values, Values]:
        """Return weights of strata, and by what their wins are divided to have this weight.

        A stratum with one label has the weight 0.

        Args:
            positives: int64[n_strata], numbers of positives.
            negatives: int64[n_strata].

        Returns:
            float64[n_strata] and float64[n_strata], at least 1.
        """
        divisors = negatives + positives if self._by_precision else negatives
        at_least_one = np.maximum(divisors, 1.0)
        return positives * negatives / at_least_one, at_least_one


def _wins(similarities: Values, labels: Flags, groups: Rows) -> Values:
    """Return how many comparisons with the other label of its group each pair wins or loses.

    Returns:
        float64[n_pairs]: for a positive, the number of negatives of its group that are less
        similar; for a negative, the number of positives that are more similar. A tie, or a pair
        that is not covered, counts one half.
    """
    covered = ~np.isnan(similarities)
    ranks = ranked(similarities[covered]).ranks
    n_ranks = int(ranks.max(initial=0)) + 1
    keys, places = np.unique(groups[covered] * n_ranks + ranks, return_inverse=True)
    group_of_key = keys // n_ranks
    wins = np.empty(len(labels))
    n_groups = int(groups.max()) + 1
    for members in (labels, ~labels):
        others = ~members
        n_others = np.bincount(groups[others], minlength=n_groups)
        n_covered = np.bincount(groups[others & covered], minlength=n_groups)
        of_key = np.bincount(places[others[covered]], minlength=len(keys))
        less = np.cumsum(of_key) - of_key / 2 - (np.cumsum(n_covered) - n_covered)[group_of_key]
        if members is not labels:  # the positives above a negative
            less = n_covered[group_of_key] - less
        of_pairs = n_others[groups] / 2.0
        of_pairs[covered] = less[places] + ((n_others - n_covered) / 2)[groups[covered]]
        wins[members] = of_pairs[members]
    return wins
