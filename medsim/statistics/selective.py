"""Scores of systems that may leave items unanswered, and of the confidence in their answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from medsim.kernels.types import Flags, Rows, Values
from medsim.statistics.estimates import (
    Estimate,
    clustered_mean,
    degrees_of,
    effective_clusters,
    quotients,
)
from medsim.statistics.ranks import ranked
from medsim.statistics.scores import roc_area

_RESAMPLES = 1_000
_N_BINS = 10
_ROUNDING = 1e-9  # items
_ENDS = (2.5, 97.5)  # percentiles of a 95% confidence interval


@dataclass(frozen=True, kw_only=True)
class AnswerSample:
    """The first answers of a system to items, with their scores.

    Confidence intervals of values at thresholds are percentiles of a bootstrap of clusters (Field
    and Welsh 2007). There are none if too few clusters are effective, or if all resamples agree.

    Attributes:
        scores: float64[n_items], larger for answers that are more certain; NaN without an answer.
        right: bool[n_items], whether the answer is right; False without one.
        clusters: int[n_items], from 0.
        seed: of the bootstrap.
    """

    scores: Values
    right: Flags
    clusters: Rows
    seed: int = 0

    def answered(self) -> Estimate:
        """Return the share of items with an answer."""
        return clustered_mean((~np.isnan(self.scores)).astype(np.float64), self.clusters)

    def precision(self) -> Estimate:
        """Return the share of answers that are right; NaN without answers."""
        given = ~np.isnan(self.scores)
        return clustered_mean(self.right[given].astype(np.float64), self.clusters[given])

    def at_thresholds(self, precision: float) -> tuple[Estimate, Estimate]:
        """Return the largest coverage at a threshold with this precision, and the risk area.

        The coverage is 0 if no threshold has this precision. The risk area is that under the curve
        of risk and coverage, 0 for a perfect system: the mean, over k from 1 to the number of
        items, of the share of wrong answers among the k most certain ones (AURC; Geifman and
        El-Yaniv 2017). Items without an answer are the last and count as wrong. Of items with equal
        scores every order counts alike. Both are NaN without items.
        """
        if not len(self.scores):
            return Estimate(value=math.nan), Estimate(value=math.nan)
        whole = self._values(np.ones(len(self.scores)), precision)
        coverage, area = (Estimate(value=value) for value in whole)
        if math.isnan(degrees_of(effective_clusters(self.clusters))):
            return coverage, area
        rng, n_clusters = np.random.default_rng(self.seed), int(self.clusters.max()) + 1
        drawn = (
            np.bincount(rng.integers(0, n_clusters, n_clusters), minlength=n_clusters)
            for _ in range(_RESAMPLES)
        )
        values = [self._values(counts[self.clusters].astype(float), precision) for counts in drawn]
        ends = np.percentile(values, _ENDS, axis=0).T.tolist()
        with_ends = zip((coverage, area), ends, strict=True)
        coverage, area = (
            estimate if low == high else replace(estimate, low=low, high=high)
            for estimate, (low, high) in with_ends
        )
        return coverage, area

    def _values(self, weights: Values, precision: float) -> tuple[float, float]:
        """Return the coverage and the risk area of items with whole weights."""
        answered, right = self._sums(weights)
        n_items = int(weights.sum())
        enough = answered[right >= precision * answered - _ROUNDING]
        ends = np.concatenate([[0], answered, [n_items]]).astype(np.int64)
        wrong = np.concatenate([[0.0], answered - right, [n_items - right[-1:].sum()]])
        sizes = np.diff(ends)
        rates = np.nan_to_num(quotients(np.diff(wrong), sizes))
        harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, n_items + 1))])
        areas = rates * sizes + (wrong[:-1] - rates * ends[:-1]) * np.diff(harmonic[ends])
        return float(enough.max(initial=0) / n_items), float(areas.sum() / n_items)

    def calibration_error(self) -> Estimate:
        """Return the expected calibration error of scores from 0 to 1 (Naeini et al. 2015).

        It is the mean difference between the score and the share of right answers in ten bins of
        equal width, by the number of answers in each; NaN without answers. It has no interval: in
        small samples it is too large, and in resamples of these larger still.
        """
        means, shares, counts = self.calibration()
        if not len(counts):
            return Estimate(value=math.nan)
        return Estimate(value=float(np.average(np.abs(means - shares), weights=counts)))

    def calibration(self) -> tuple[Values, Values, Values]:
        """Return the mean score, the share of right answers and the number in each bin with any."""
        given = ~np.isnan(self.scores)
        bins = np.minimum((self.scores[given] * _N_BINS).astype(np.int64), _N_BINS - 1)
        counts = np.bincount(bins, minlength=_N_BINS)
        sums = (np.bincount(bins, of[given], _N_BINS) for of in (self.scores, self.right))
        means, shares = (quotients(each, counts) for each in sums)
        filled = counts > 0
        return means[filled], shares[filled], counts[filled].astype(np.float64)

    def curve(self) -> dict[str, Values]:
        """Return what the system answers at each threshold on its scores.

        Returns:
            float64[n_thresholds] each: ``threshold``, the distinct scores, descending;
            ``coverage``, the share of all items with an answer of at least this score;
            ``precision``, the share of these answers that are right.
        """
        answered, right = self._sums(np.ones(len(self.scores)))
        return {
            "threshold": self.scores[self._order][self._ends],
            "coverage": answered / max(1, len(self.scores)),
            "precision": quotients(right, answered),
        }

    def detection(self, known: Flags) -> Estimate:
        """Return the area under the ROC curve of scores of items with a right answer or without.

        Args:
            known: bool[n_items], whether an item has a right answer. Items without an answer have
                the lowest score.
        """
        scores = np.where(np.isnan(self.scores), -np.inf, self.scores)
        return roc_area(ranked(scores).ranks, known, self.clusters).auc

    @cached_property
    def _order(self) -> Rows:
        """The rows with answers, by descending score: int64[n_answers]."""
        given = np.flatnonzero(~np.isnan(self.scores))
        return given[np.argsort(-self.scores[given], kind="stable")]

    @cached_property
    def _ends(self) -> Rows:
        """The last position in order of each distinct score: int64[n_distinct]."""
        scores = self.scores[self._order]
        return np.flatnonzero(np.diff(scores, append=-np.inf) != 0)

    def _sums(self, weights: Values) -> tuple[Values, Values]:
        """Return the weights of all answers and of right ones down to each distinct score."""
        in_order = weights[self._order]
        answered = np.cumsum(in_order)[self._ends]
        return answered, np.cumsum(in_order * self.right[self._order])[self._ends]
