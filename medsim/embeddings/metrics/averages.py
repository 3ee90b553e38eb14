"""Metrics of averaged word vectors: a term is the mean of its words, compared as one vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.embeddings.metrics import METRICS, Embedded, TermPoints, WordBags
from medsim.embeddings.metrics.vectors import COMPARISONS, row_metric
from medsim.kernels.bag_pairs import averaged

if TYPE_CHECKING:
    from medsim.embeddings.metrics.workers import Workers
    from medsim.kernels.types import Ids, Vectors

COSINES = {WordBags: "avg_cos", TermPoints: "cos"}
"""The metric that is the cosine of one vector a term, by how an embedding has terms."""


def points_of(embedded: Embedded, terms: Ids, workers: Workers) -> Vectors:
    """Return one vector a term, of a bag the mean of its words: float32[n_terms, n_dimensions].

    Their cosines are one of ``COSINES``. Where all terms are wanted, vectors are not copied.
    """
    if isinstance(embedded, WordBags):
        return workers.spread(lambda part: _means(embedded, terms[part]), len(terms))
    if np.array_equal(terms, np.arange(len(embedded.vectors))):
        return embedded.vectors
    return embedded.vectors[terms]


def _means(bags: WordBags, terms: Ids) -> Vectors:
    return averaged(bags.vectors, bags.words, bags.starts, terms)


for _name, _comparison in COMPARISONS.items():
    METRICS.register(
        f"avg_{_name}",
        row_metric(
            WordBags,
            f"{_comparison.describes} of the terms' mean word vectors",
            _comparison,
            _means,
        ),
    )
