"""Metrics of words: the mean similarity of each word of a term with each of the other, and indices.

Jaccard indices are of fuzzy bags of words (Zhelezniak et al., ICLR 2019).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.embeddings.metrics import METRICS, Metric, WordBags
from medsim.embeddings.metrics.averages import (
    COMPARISONS,
    Comparison,
    compare_rows,
    prepared_rows,
    row_metric,
)
from medsim.embeddings.metrics.bags import bags_of, tabulate_bags
from medsim.embeddings.metrics.costs import cost
from medsim.embeddings.metrics.workers import Workers
from medsim.kernels.bag_pairs import (
    dynamax_overlaps,
    group_means,
    overlaps,
    positive_maxima,
    word_pairs,
)
from medsim.kernels.bag_tables import bag_means, dynamax_table, own_memberships
from medsim.kernels.vector_tables import centred_products, overlap_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from medsim.embeddings.metrics.costs import Cost
    from medsim.kernels.bag_tables import Bags
    from medsim.kernels.types import Ids, Rows, Table, Values, Vectors

WORD_PAIRS_AT_ONCE = 1 << 24  # keys of 8 bytes, and as many places
_LOW_BITS = (1 << 32) - 1


_COSTS = {
    "cos": cost(4.8, per_dimension=0.0036),
    "pearson": cost(4.8, per_dimension=0.0036),
    "spearman": cost(4.3, per_dimension=0.0067),
    "kendall": cost(4.5, per_square=0.0006),
}
"""The time of the pairs of words of two terms of three words."""


def _metric(comparison: Comparison, costs: Cost) -> Metric:
    def similarities(bags: WordBags, first: Ids, second: Ids, workers: Workers) -> Values:
        found = np.empty(len(first))
        for part in _blocks(bags, first, second):
            found[part] = _means(comparison, bags, first[part], second[part], workers)
        return found

    def tabulate(bags: WordBags, terms: Ids, workers: Workers) -> Callable[[slice], Vectors]:
        own = bags_of(bags, terms)
        every = np.arange(len(own.vectors), dtype=np.int32)
        words, weights = prepared_rows(comparison, lambda some: own.vectors[some], every, workers)

        def compare_words(rows: slice, columns: Rows) -> Table:
            return comparison.tabulate(words[rows], weights[rows], words[columns], weights[columns])

        def compare_bags(table: Table, bags: Bags, _left: Rows, _right: slice) -> Vectors:
            return bag_means(table, bags)

        return tabulate_bags(own, compare_words, compare_bags, workers)

    return Metric(
        of=WordBags,
        describes=f"mean of {comparison.describes} over all pairs of the terms' words",
        similarities=similarities,
        tabulate=tabulate,
        cost=costs,
    )


def _blocks(bags: WordBags, first: Ids, second: Ids) -> Iterator[slice]:
    """Yield pairs in slices that have a bounded number of pairs of words, or one pair."""
    sizes = np.diff(bags.starts)
    ends = np.cumsum(sizes[first] * sizes[second])
    begin = 0
    while begin < len(first):
        done = ends[begin - 1] if begin else 0
        end = int(np.searchsorted(ends, done + WORD_PAIRS_AT_ONCE, side="right"))
        end = max(end, begin + 1)
        yield slice(begin, end)
        begin = end


def _means(
    comparison: Comparison, bags: WordBags, first: Ids, second: Ids, workers: Workers
) -> Values:
    """Return the mean over pairs of words, each of which is compared once."""
    every, starts = word_pairs(bags.words, bags.starts, first, second)
    distinct, at = np.unique(every, return_inverse=True)
    n_compared = n_told = 0

    def advance(n_more: int) -> None:
        """Tell how many pairs of terms those of words come to."""
        nonlocal n_compared, n_told
        n_compared += n_more
        n_done = len(first) * n_compared // len(distinct)
        workers.advance(n_done - n_told)
        n_told = n_done

    similarities = compare_rows(
        comparison,
        lambda words: bags.vectors[words],
        (distinct >> 32).astype(np.int32),
        (distinct & _LOW_BITS).astype(np.int32),
        Workers(threads=workers.threads, advance=advance),
    )
    workers.advance(len(first) - n_told)
    return group_means(similarities, at, starts)


for _name, _comparison in COMPARISONS.items():
    METRICS.register(f"pair_{_name}", _metric(_comparison, _COSTS[_name]))


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

    def products(rows: slice, columns: Rows) -> Table:
        return centred_products(
            own.vectors[rows], centres[rows], own.vectors[columns], centres[columns]
        )

    def compare(products: Table, bags: Bags, left: Rows, right: slice) -> Vectors:
        return dynamax_table(memberships[left], memberships[right], products, bags)

    return tabulate_bags(own, products, compare, workers)


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
        cost=cost(0.1, per_dimension=0.034),
    ),
)
METRICS.register(
    "max_jaccard",
    row_metric(WordBags, "Jaccard index of max-pooled word vectors", _POOLED, _maxima),
)
