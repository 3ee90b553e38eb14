"""Errors of similarities of terms of categories, and their mean similarities.

Of triples of terms (a, b, c) those are errors in which a is at most as similar to b as to c. The
overlap error is their share where a is of one category, b of another near to it, and c of one far
from both (Schulz and Juric, AAAI 2020, section 5.3); the category error where a and b are of one
category, and c of another. For each a, one row of similarities is put in order: that counts all
pairs of b and c without visiting them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from medsim.core.config import in_threads
from medsim.kernels.separation import n_not_below, sums_of_later
from medsim.statistics.estimates import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from medsim.embeddings.metrics import Workers
    from medsim.kernels.types import CountTable, Starts, Table, Vectors

SIMILARITIES_AT_ONCE = 1 << 24  # 64 MiB
_ROWS_A_TASK = 16
_N_NEAR = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class TripleCounts:
    """Triples of terms, and the errors among them."""

    n_triples: int
    n_errors: int

    @property
    def error(self) -> Estimate:
        """The share of errors, without an interval; NaN of no triples."""
        share = float(self.n_errors) / float(self.n_triples) if self.n_triples else math.nan
        return Estimate(value=share)


@dataclass(frozen=True, slots=True, kw_only=True)
class Separation:
    """The separation of categories under one metric.

    Attributes:
        n_triples: int64[n_categories, n_categories], of two different terms of the row's category
            and one of the column's, and 0 on the diagonal; or where the first two categories are
            near, of a term of each of them and one of the column's, in the first row alone.
        n_errors: int64[n_categories, n_categories], triples whose first similarity, within the
            category or of the two near ones, is not above that with the column's, in single
            precision.
        errors: int64[n_terms, n_categories], those of triples that begin with each term.
        mean_similarity: float64[n_categories, n_categories], over pairs of different terms;
            symmetric, NaN where there is no pair.
    """

    n_triples: CountTable
    n_errors: CountTable
    errors: CountTable
    mean_similarity: Table


def separation(
    table: Callable[[slice], Vectors], starts: Starts, workers: Workers, *, near: bool = False
) -> Separation:
    """Return the separation of categories; neither threads nor blocks change it.

    Time is O(n_terms) a term beside that of the similarities; memory holds
    ``SIMILARITIES_AT_ONCE``.

    Args:
        table: returns the similarities of a slice of the terms with all terms, finite,
            float32[n_rows, n_terms].
        starts: int64[n_categories + 1]; the terms of category ``c`` are ``starts[c]`` to
            ``starts[c + 1]``.
        workers: share out the rows of a table, and count the terms that are done.
        near: whether the first two categories are near, and all others far from both.
    """
    n_terms, n_categories = int(starts[-1]), len(starts) - 1
    n_errors = np.zeros((n_terms, n_categories), np.int64)
    sums = np.zeros((n_terms, n_categories))

    def count(own: int, similarities: Vectors, terms: slice) -> None:
        sums[terms] = sums_of_later(similarities, starts, terms.start)
        if near and own:
            return
        inner, outer = (1, range(_N_NEAR, n_categories)) if near else (own, range(n_categories))
        categories = np.array([inner, *(other for other in outer if other != inner)])
        bits = similarities.view(np.uint32)
        n_errors[terms] = n_not_below(bits, starts, categories, terms.start)

    for own, block in _blocks(starts):
        similarities = table(block)
        parts = [
            slice(begin, min(begin + _ROWS_A_TASK, block.stop))
            for begin in range(block.start, block.stop, _ROWS_A_TASK)
        ]
        rows = (similarities[p.start - block.start : p.stop - block.start] for p in parts)
        in_threads(workers.threads, partial(count, own), rows, parts)
        workers.advance(len(similarities))
    return _summed(starts, n_errors, sums, near=near)


def _blocks(starts: Starts) -> Iterator[tuple[int, slice]]:
    """Yield categories and slices of their terms whose rows fit in memory."""
    n_rows = max(1, SIMILARITIES_AT_ONCE // max(1, int(starts[-1])))
    for own, (first, end) in enumerate(pairwise(starts.tolist())):
        for begin in range(first, end, n_rows):
            yield own, slice(begin, min(begin + n_rows, end))


def _summed(starts: Starts, errors: CountTable, sums: Table, *, near: bool) -> Separation:
    """Return the separation of categories from the errors and sums of terms, in rows."""
    sizes = np.diff(starts)
    n_triples = np.outer(sizes * (sizes - 1), sizes)
    np.fill_diagonal(n_triples, 0)
    if near:
        n_triples[:] = 0
        n_triples[0, _N_NEAR:] = sizes[0] * sizes[1] * sizes[_N_NEAR:]
    n_pairs = np.outer(sizes, sizes)
    np.fill_diagonal(n_pairs, sizes * (sizes - 1) // 2)
    totals = np.array([sums[begin:end].sum(axis=0) for begin, end in pairwise(starts)])
    totals += np.triu(totals, 1).T
    mean = np.divide(totals, n_pairs, out=np.full_like(totals, np.nan), where=n_pairs > 0)
    return Separation(
        n_triples=n_triples,
        n_errors=np.array([errors[begin:end].sum(axis=0) for begin, end in pairwise(starts)]),
        errors=errors,
        mean_similarity=mean,
    )
