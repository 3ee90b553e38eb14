"""Jaccard indices of fuzzy bags of words (Zhelezniak et al., ICLR 2019)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from medsim.embeddings.metrics import METRICS, Metric, WordBags
from medsim.embeddings.metrics.averages import Comparison, row_metric
from medsim.embeddings.metrics.pairs import bags_of, tabulate_bags
from medsim.kernels.bag_pairs import dynamax_overlaps, overlaps, positive_maxima
from medsim.kernels.bag_tables import dynamax_table, own_memberships
from medsim.kernels.vector_tables import centred_products, overlap_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from medsim.embeddings.metrics.workers import Workers
    from medsim.kernels.types import Ids, Rows, Table, Values, Vectors


def _fuzzy(bags: WordBags, first: Ids, second: Ids, workers: Workers) -> Values:
    return workers.spread(
        lambda part: dynamax_overlaps(
            bags.vectors, bags.words, bags.starts, first[part], second[part]
        ),
        len(first),
        workers.advance,
    )


def _tabulate_fuzzy(bags: WordBags, terms: Ids, workers: Workers) -> Callable[[slice], Vectors]:
    own = bags_of(bags, terms)
    memberships = own_memberships(own.vectors, own.words, own.starts)
    centres = np.zeros(len(own.vectors))

    def products(rows: Rows, columns: slice) -> Table:
        return centred_products(
            own.vectors[rows], centres[rows], own.vectors[columns], centres[columns]
        )

    return tabulate_bags(own, products, partial(dynamax_table, memberships), workers)


_POOLED = Comparison(
    describes="Jaccard index",
    prepare=lambda vectors: vectors,
    weigh=lambda vectors: np.zeros(len(vectors), np.int8),
    compare=lambda prepared, _weights, first, second: overlaps(prepared, first, second),
    tabulate=lambda left, _left, right, _right: overlap_table(left, right),
)


def _maxima(bags: WordBags, terms: Ids) -> Vectors:
    return positive_maxima(bags.vectors, bags.words, bags.starts, terms)


METRICS.register(
    "fuzzy_jaccard",
    Metric(
        of=WordBags,
        describes="DynaMax-Jaccard of the terms' words",
        similarities=_fuzzy,
        tabulate=_tabulate_fuzzy,
    ),
)
METRICS.register(
    "max_jaccard",
    row_metric(WordBags, "Jaccard index of max-pooled word vectors", _POOLED, _maxima),
)
