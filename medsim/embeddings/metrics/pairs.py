"""Metrics of words: mean similarities of the words of two terms, and Jaccard indices.

Jaccard indices compare fuzzy bags of words (Zhelezniak et al., ICLR 2019).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from medsim.core.config import in_threads
from medsim.embeddings.metrics import Metric, WordBags, Workers, slices_of
from medsim.embeddings.metrics.averages import (
    COMPARISONS,
    Comparison,
    compare_rows,
    prepared_rows,
    row_metric,
)
from medsim.kernels.bags import (
    Bags,
    bag_means,
    dynamax_overlaps,
    dynamax_table,
    overlaps,
    own_memberships,
    positive_maxima,
    word_pairs,
)
from medsim.kernels.types import FloatTable, Ids, Rows, Values, Vectors, gathered
from medsim.kernels.vectors import centred_products, overlap_table

_ROWS_A_TASK = 2048
_FREQUENT = 384  # words whose similarities are kept between slices of terms


def bags_of(bags: WordBags, terms: Ids) -> WordBags:
    """Return some terms, int32[n_terms], as bags with the vectors of only their words."""
    sizes = np.diff(bags.starts)[terms]
    starts, tokens = gathered(bags.starts[terms], sizes)
    used, words = np.unique(bags.words[tokens], return_inverse=True)
    return WordBags(vectors=bags.vectors[used], words=words.astype(np.int32), starts=starts)


def tabulate_bags(
    bags: WordBags,
    compare_words: Callable[[slice, Rows], FloatTable],
    compare_bags: Callable[[FloatTable, Bags, Rows, slice], Vectors],
    workers: Workers,
) -> Callable[[slice], Vectors]:
    """Return a function that compares some terms with all; see ``embeddings.metrics.Tabulate``.

    ``bags`` come from ``bags_of``. ``compare_words`` tabulates a slice of the words with selected
    words; ``compare_bags`` takes such a table of all words, the bags, and the tokens of its columns
    and rows, and returns float32[n_right, n_left].
    """
    of_words = _WordTable(bags, compare_words, workers)

    def table(part: slice) -> Vectors:
        bounds = bags.starts[part.start : part.stop + 1]
        # Bags in ascending order of size, and their tokens in the order of ``Bags``.
        sizes = np.diff(bounds)
        order = np.argsort(sizes, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        bag = np.repeat(np.arange(len(sizes)), sizes)
        tokens = np.arange(bounds[0], bounds[-1])
        tokens = tokens[np.lexsort((rank[bag], tokens - bounds[bag], sizes[bag]))]
        similarities, column_of = of_words.with_words(np.unique(bags.words[tokens]))

        def compare(terms: slice) -> Vectors:
            starts = bags.starts[terms.start : terms.stop + 1]
            right = slice(int(starts[0]), int(starts[-1]))
            compared = Bags(
                sizes=sizes[order],
                columns=column_of[bags.words[tokens]],
                rows=bags.words[right],
                starts=starts - right.start,
            )
            values = np.empty((len(order), len(starts) - 1), np.float32)
            values[order] = compare_bags(similarities, compared, tokens, right).T
            return values

        n_terms = len(bags.starts) - 1
        return workers.spread_columns(compare, np.empty((len(order), n_terms), np.float32))

    return table


class _WordTable:
    """The similarities of all words with requested words.

    Similarities with the most frequent words are kept, since neighbouring terms often share them.
    """

    def __init__(
        self, bags: WordBags, compare: Callable[[slice, Rows], FloatTable], workers: Workers
    ) -> None:
        self._n_words = len(bags.vectors)
        self._compare = compare
        self._threads = workers.threads
        counts = np.bincount(bags.words, minlength=self._n_words)
        self._frequent = np.sort(np.argsort(-counts, kind="stable")[:_FREQUENT])
        self._column_of = np.full(self._n_words, -1, np.int32)
        self._column_of[self._frequent] = np.arange(len(self._frequent))
        self._table = np.empty((0, 0))

    def with_words(self, words: Rows) -> tuple[FloatTable, Ids]:
        """Return the similarities of all words with the requested words, and their columns.

        The similarities are float64[n_words, n_columns], which the next call overwrites. The
        columns are int32[n_words], arbitrary for words that were not requested.
        """
        n_frequent = len(self._frequent)
        others = np.setdiff1d(words, self._frequent, assume_unique=True)
        n_columns = n_frequent + len(others)
        if n_columns > self._table.shape[1]:
            self._table = np.empty((self._n_words, n_columns + len(others) // 32))
            self._fill(0, self._frequent)
        self._fill(n_frequent, others)
        self._column_of[others] = np.arange(n_frequent, n_columns)
        return self._table, self._column_of

    def _fill(self, first: int, words: Rows) -> None:
        """Write the similarities with some words, starting at a column."""

        def fill(rows: slice) -> None:
            self._table[rows, first : first + len(words)] = self._compare(rows, words)

        in_threads(self._threads, fill, slices_of(self._n_words, _ROWS_A_TASK))


WORD_PAIRS_AT_ONCE = 1 << 24  # keys of 8 bytes, and as many places
_LOW_BITS = (1 << 32) - 1


def _metric(comparison: Comparison) -> Metric:
    def similarities(bags: WordBags, first: Ids, second: Ids, workers: Workers) -> Values:
        values = np.empty(len(first))
        for part in _blocks(bags, first, second):
            values[part] = _means(comparison, bags, first[part], second[part], workers)
        return values

    def tabulate(bags: WordBags, terms: Ids, workers: Workers) -> Callable[[slice], Vectors]:
        chosen = bags_of(bags, terms)
        every = np.arange(len(chosen.vectors), dtype=np.int32)
        words, weights = prepared_rows(comparison, lambda ids: chosen.vectors[ids], every, workers)

        def compare_words(rows: slice, columns: Rows) -> FloatTable:
            return comparison.tabulate(words[rows], weights[rows], words[columns], weights[columns])

        def compare_bags(table: FloatTable, bags: Bags, _left: Rows, _right: slice) -> Vectors:
            return bag_means(table, bags)

        return tabulate_bags(chosen, compare_words, compare_bags, workers)

    return Metric(
        kind=WordBags,
        describes=f"mean of {comparison.describes} over all pairs of the terms' words",
        similarities=similarities,
        tabulate=tabulate,
    )


def _blocks(bags: WordBags, first: Ids, second: Ids) -> Iterator[slice]:
    """Yield pairs in slices with a limited number of pairs of words, or with one pair."""
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
    """Return the mean over pairs of words; each pair of words is compared once."""
    every, starts = word_pairs(bags.words, bags.starts, first, second)
    distinct, at = np.unique(every, return_inverse=True)
    similarities = compare_rows(
        comparison,
        lambda words: bags.vectors[words],
        (distinct >> 32).astype(np.int32),
        (distinct & _LOW_BITS).astype(np.int32),
        Workers(threads=workers.threads),
    )
    workers.advance(len(first))
    sizes = np.diff(starts)
    pair = np.repeat(np.arange(len(first)), sizes)
    return np.bincount(pair, similarities[at], len(first)) / sizes


for _name, _comparison in COMPARISONS.items():
    _metric(_comparison).register(f"pair_{_name}")


def _fuzzy(bags: WordBags, first: Ids, second: Ids, workers: Workers) -> Values:
    return workers.spread(
        lambda part: dynamax_overlaps(
            bags.vectors, bags.words, bags.starts, first[part], second[part]
        ),
        len(first),
        workers.advance,
    )


def _tabulate_fuzzy(bags: WordBags, terms: Ids, workers: Workers) -> Callable[[slice], Vectors]:
    selected = bags_of(bags, terms)
    memberships = own_memberships(selected.vectors, selected.words, selected.starts)
    centres = np.zeros(len(selected.vectors))

    def products(rows: slice, columns: Rows) -> FloatTable:
        return centred_products(
            selected.vectors[rows], centres[rows], selected.vectors[columns], centres[columns]
        )

    def compare(products: FloatTable, bags: Bags, left: Rows, right: slice) -> Vectors:
        return dynamax_table(memberships[left], memberships[right], products, bags)

    return tabulate_bags(selected, products, compare, workers)


_POOLED = Comparison(
    describes="Jaccard index (sum of minima over sum of maxima)",
    weigh=lambda vectors: np.zeros(len(vectors), np.int8),
    compare=lambda prepared, _weights, first, second: overlaps(prepared, first, second),
    tabulate=lambda left, _left, right, _right: overlap_table(left, right),
)


Metric(
    kind=WordBags,
    describes="Jaccard index of the terms' words, each counted by its similarity to all words "
    "of both terms (DynaMax-Jaccard)",
    similarities=_fuzzy,
    tabulate=_tabulate_fuzzy,
).register("fuzzy_jaccard")
row_metric(
    WordBags,
    "the terms' max-pooled word vectors, negative values taken as 0",
    _POOLED,
    lambda bags, terms: positive_maxima(bags.vectors, bags.words, bags.starts, terms),
).register("max_jaccard")
