"""The ranks at which the terms that are linked to a term are found among all terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from medsim.statistics.clusters import clustered_mean
from medsim.statistics.significance import clustered_difference

if TYPE_CHECKING:
    from medsim.kernels.types import Counts, Rows, Values
    from medsim.statistics.estimates import Estimate
    from medsim.statistics.significance import Test

LENGTHS = ("1", "2", "3", "4", "5+")
"""Numbers of words that terms are grouped by."""

NOT_FOUND = 0
"""The rank of a linked term that was not found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankSample:
    """Ranks of the nearest linked term of each term.

    Attributes:
        ranks: int64[n_terms], from 1, or ``NOT_FOUND``.
        clusters: int[n_terms]; terms of a cluster are linked.
    """

    ranks: Counts
    clusters: Rows

    def accuracy_at(self, depth: int) -> Estimate:
        """Return the share of terms that have a linked term among the nearest so many."""
        return clustered_mean(self._hits_at(depth), self.clusters)

    def accuracy_difference(self, other: RankSample, depth: int) -> Test:
        """Return whether the accuracy differs from that of other ranks of the same terms."""
        return clustered_difference(self._hits_at(depth), other._hits_at(depth), self.clusters)

    def mean_reciprocal_rank(self) -> Estimate:
        """Return the mean of one over each rank, 0 where none is found (Voorhees, TREC-8, 1999)."""
        return clustered_mean(self._reciprocal(), self.clusters)

    def reciprocal_difference(self, other: RankSample) -> Test:
        """Return whether the mean reciprocal rank differs from that of other ranks."""
        return clustered_difference(self._reciprocal(), other._reciprocal(), self.clusters)

    def _hits_at(self, depth: int) -> Values:
        return ((self.ranks > NOT_FOUND) & (self.ranks <= depth)).astype(np.float64)

    def _reciprocal(self) -> Values:
        return np.where(self.ranks > NOT_FOUND, 1 / np.maximum(self.ranks, 1), 0.0)
