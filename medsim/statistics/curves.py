"""Histograms of the similarities of positives and negatives, and ROC curves of few points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from medsim.statistics.ranks import ranked

if TYPE_CHECKING:
    from medsim.kernels.types import Flags, Values

BINS = 40
"""Bins of a histogram."""

POINTS = 120
"""The most points of a ROC curve, beside its ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """Shares of similarities in bins of equal width.

    Attributes:
        middles: float64[n_bins], the middle of each bin.
        positives: float64[n_bins], shares of the positives; NaN where there are none.
        negatives: float64[n_bins], shares of the negatives; NaN where there are none.
    """

    middles: Values
    positives: Values
    negatives: Values


@dataclass(frozen=True, slots=True, kw_only=True)
class RocCurve:
    """A ROC curve, from (0, 0) to (1, 1).

    Attributes:
        false_positives: float64[n_points], share of negatives at or above a threshold, ascending.
    """

    false_positives: Values
    true_positives: Values


def histogram(similarities: Values, labels: Flags, n_bins: int = BINS) -> Histogram:
    """Return the histogram of finite similarities of positives and of negatives.

    The bins are the same, from the least to the largest similarity.
    """
    ends = np.histogram_bin_edges(similarities, n_bins)
    counts = [np.histogram(similarities[of], ends)[0] for of in (labels, ~labels)]
    with np.errstate(invalid="ignore"):
        positives, negatives = (count / count.sum() for count in counts)
    return Histogram(middles=(ends[:-1] + ends[1:]) / 2, positives=positives, negatives=negatives)


def roc_curve(similarities: Values, labels: Flags, n_points: int = POINTS) -> RocCurve:
    """Return the ROC curve of similarities, with the corners that lie farthest along it.

    Pairs of one similarity count at once, so a tie is a slope and not a step. Of a curve that
    has more corners than ``n_points``, those are kept that are next to equal steps along it. Both
    classes have pairs.
    """
    distinct, ranks = ranked(similarities)
    shares = []
    for of in (~labels, labels):
        count = np.bincount(ranks[of], minlength=len(distinct))[::-1]
        shares.append(np.concatenate([[0], np.cumsum(count)]) / count.sum())
    along = shares[0] + shares[1]
    if len(along) > n_points:
        steps = np.linspace(0, along[-1], n_points)
        kept = np.unique(np.searchsorted(along, steps).clip(0, len(along) - 1))
    else:
        kept = np.arange(len(along))
    return RocCurve(false_positives=shares[0][kept], true_positives=shares[1][kept])
