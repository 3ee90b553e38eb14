"""How well the terms that are linked to a term are found among all terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.statistics.clusters import clustered_mean, clustered_share

if TYPE_CHECKING:
    from medsim.kernels.types import Counts, Rows, Values
    from medsim.statistics.estimates import Estimate

DEPTHS = (1, 5, 10)
"""How many of the nearest terms are looked at for accuracy."""

LENGTHS = ("1", "2", "3", "4", "5+")
"""Numbers of words by which terms are told apart."""

NOT_FOUND = 0
"""The rank of what was not found."""


def retrieval_scores(ranks: Counts, clusters: Rows) -> dict[str, Estimate]:
    """Return accuracy at 1, 5 and 10, and the mean reciprocal rank (MRR), by name.

    Accuracy at k is the share of terms for which one that is linked to it is among the k nearest.
    The reciprocal rank of what was not found is 0 (Voorhees, TREC-8, 1999).

    Args:
        ranks: int64[n_terms], of the nearest linked term, from 1, or ``NOT_FOUND``.
        clusters: int[n_terms]; terms of a cluster are linked.
    """
    found = {
        f"accuracy_at_{depth}": clustered_share(hits_at(ranks, depth) == 1, clusters)
        for depth in DEPTHS
    }
    return found | {"mrr": clustered_mean(reciprocal(ranks), clusters)}


def hits_at(ranks: Counts, depth: int) -> Values:
    """Return 1 for each rank that is among the first, else 0: float64[n_terms]."""
    return ((ranks > NOT_FOUND) & (ranks <= depth)).astype(np.float64)


def reciprocal(ranks: Counts) -> Values:
    """Return one over each rank, 0 of what was not found: float64[n_terms]."""
    return np.where(ranks > NOT_FOUND, 1 / np.maximum(ranks, 1), 0.0)
