"""Metrics of one vector per term: cosine, and the correlations of Pearson, Spearman and Kendall.

The vector of a term with word vectors is their mean. Zhelezniak et al. (NAACL 2019) explain why to
treat vectors as samples and correlate them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medsim.embeddings.metrics import Embedded, Metric, TermPoints, WordBags, Workers
from medsim.kernels.bags import averaged
from medsim.kernels.types import FloatTable, Ids, Rows, Values, Vectors
from medsim.kernels.vectors import (
    centred_cosines,
    cosine_table,
    kendall_table,
    kendalls,
    mean_ranks,
    means,
    untied_pairs,
)

BLOCK_VALUES = 1 << 28  # of prepared vectors in memory at once: 1 GiB


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A comparison of rows of vectors, which are prepared once.

    Attributes:
        describes: the comparison, for help and reports.
        weigh: returns a number for each prepared row.
        compare: returns float64[n_pairs] for prepared rows, their numbers, and two rows per pair.
        tabulate: returns float64[n_left, n_right], the same comparison for all pairs, for prepared
            rows and their numbers on the left and on the right.
        prepare: returns float32[n_rows, n_dimensions] for the vectors of some rows; by default the
            vectors themselves.
    """

    describes: str
    weigh: Callable[[Vectors], NDArray[Any]]
    compare: Callable[[Vectors, NDArray[Any], Ids, Ids], Values]
    tabulate: Callable[[Vectors, NDArray[Any], Vectors, NDArray[Any]], FloatTable]
    prepare: Callable[[Vectors], Vectors] = lambda vectors: vectors


_centred = partial(Comparison, compare=centred_cosines, tabulate=cosine_table)

COMPARISONS = {
    "cos": _centred(describes="cosine", weigh=lambda vectors: np.zeros(len(vectors))),
    "pearson": _centred(describes="Pearson's correlation", weigh=means),
    "spearman": _centred(describes="Spearman's rank correlation", prepare=mean_ranks, weigh=means),
    "kendall": Comparison(
        describes="Kendall's tau-b",
        prepare=mean_ranks,
        weigh=untied_pairs,
        compare=kendalls,
        tabulate=kendall_table,
    ),
}
"""Comparisons of two vectors; 0 if one of them is constant, or zero for the cosine."""


def compare_rows(
    comparison: Comparison,
    vectors_of: Callable[[Ids], Vectors],
    first: Ids,
    second: Ids,
    workers: Workers,
) -> Values:
    """Return the similarity of each pair of rows: float64[n_pairs].

    Rows are prepared once if they all fit in ``BLOCK_VALUES``. Otherwise pairs are compared in
    blocks, and a row is prepared once per block. Workers divide rows, then pairs.

    Args:
        comparison: the comparison.
        vectors_of: returns the vectors of some rows: float32[n_rows, n_dimensions].
        first: int32[n_pairs], rows.
        second: int32[n_pairs], rows.
        workers: divide the work.
    """
    similarities = np.zeros(len(first))
    if not len(first):
        return similarities
    n_rows = max(2, BLOCK_VALUES // vectors_of(first[:1]).shape[1])

    def compared(pairs: Rows) -> Values:
        rows, at = np.unique([first[pairs], second[pairs]], return_inverse=True)
        left, right = at.reshape(2, -1).astype(np.int32)
        prepared, weights = prepared_rows(comparison, vectors_of, rows, workers)
        return workers.spread(
            lambda part: comparison.compare(prepared, weights, left[part], right[part]),
            len(left),
            workers.advance,
        )

    for pairs in _blocks(first, second, n_rows):
        similarities[pairs] = compared(pairs)
    return similarities


def cosines(vectors: Vectors, first: Ids, second: Ids, threads: int) -> Values:
    """Return the cosine of each pair of vectors: float64[n_pairs].

    Args:
        vectors: float32[n_items, n_dimensions].
        first: int32[n_pairs], the row of the first vector.
        second: int32[n_pairs], of the second.
        threads: the number of threads.
    """
    workers = Workers(threads=threads)
    return compare_rows(COMPARISONS["cos"], lambda rows: vectors[rows], first, second, workers)


def _blocks(first: Ids, second: Ids, n_rows: int) -> Iterator[Rows]:
    """Yield the pairs in blocks with a limited number of different rows."""
    if len(np.union1d(first, second)) <= n_rows:
        yield np.arange(len(first))
        return
    in_order = np.lexsort((second, first))
    for begin in range(0, len(first), n_rows // 2):
        yield in_order[begin : begin + n_rows // 2]


def prepared_rows(
    comparison: Comparison, vectors_of: Callable[[Ids], Vectors], rows: Ids, workers: Workers
) -> tuple[Vectors, NDArray[Any]]:
    """Return prepared rows, float32[n_rows, n_dimensions], and their numbers, [n_rows].

    ``vectors_of`` returns the vectors of some of the rows, int32[n_rows].
    """
    prepared = workers.spread(lambda part: comparison.prepare(vectors_of(rows[part])), len(rows))
    return prepared, workers.spread(lambda part: comparison.weigh(prepared[part]), len(rows))


def row_metric(
    kind: type[WordBags | TermPoints],
    compared: str,
    comparison: Comparison,
    vectors_of: Callable[[Any, Ids], Vectors],
) -> Metric:
    """Return the metric that compares one vector per term, given a description of the vectors.

    ``vectors_of`` returns the vectors of terms, int32[n]: float32[n, n_dimensions].
    """

    def similarities(embedded: Embedded, first: Ids, second: Ids, workers: Workers) -> Values:
        return compare_rows(comparison, partial(vectors_of, embedded), first, second, workers)

    def tabulate(embedded: Embedded, terms: Ids, workers: Workers) -> Callable[[slice], Vectors]:
        prepared, weights = prepared_rows(comparison, partial(vectors_of, embedded), terms, workers)

        def table(part: slice) -> Vectors:
            left, of_left = prepared[part], weights[part]
            return workers.spread_columns(
                lambda right: comparison.tabulate(left, of_left, prepared[right], weights[right]),
                np.empty((len(left), len(prepared)), np.float32),
            )

        return table

    return Metric(
        kind=kind,
        describes=f"{comparison.describes} of {compared}",
        similarities=similarities,
        tabulate=tabulate,
    )


COSINES = {WordBags: "avg_cos", TermPoints: "cos"}
"""The metric that is the cosine of one vector per term, by kind of embedded terms."""


def points_of(embedded: Embedded, terms: Ids, workers: Workers) -> Vectors:
    """Return one vector per term, for a bag the mean of its words: float32[n_terms, n_dimensions].

    Their cosines are the metric in ``COSINES``. If all terms are requested, vectors are not copied.
    """
    if isinstance(embedded, WordBags):
        return workers.spread(lambda part: _means(embedded, terms[part]), len(terms))
    if np.array_equal(terms, np.arange(len(embedded.vectors))):
        return embedded.vectors
    return embedded.vectors[terms]


def _means(bags: WordBags, terms: Ids) -> Vectors:
    return averaged(bags.vectors, bags.words, bags.starts, terms)


for _name, _comparison in COMPARISONS.items():
    row_metric(
        TermPoints,
        "the terms' vectors",
        _comparison,
        lambda points, terms: points.vectors[terms],
    ).register(_name)
    row_metric(WordBags, "the terms' mean word vectors", _comparison, _means).register(
        f"avg_{_name}"
    )
