"""Similarity metrics for pairs of embedded terms, one module per family."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from medsim.core.config import in_threads, thread_pool
from medsim.core.registry import Registry
from medsim.kernels.types import Ids, Starts, Values, Vectors

FilledTable = TypeVar("FilledTable", bound=np.ndarray[Any, Any])

_ROWS_A_TASK = 8192
_COLUMNS_A_TASK = 2048


def slices_of(n_rows: int, size: int) -> list[slice]:
    """Return slices of at most ``size`` rows."""
    return [slice(begin, min(begin + size, n_rows)) for begin in range(0, n_rows, size)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """Threads that report progress."""

    threads: int
    advance: Callable[[int], None] = lambda _n_rows: None

    def spread(
        self,
        work: Callable[[slice], NDArray[Any]],
        n_rows: int,
        advance: Callable[[int], None] = lambda _n_rows: None,
    ) -> NDArray[Any]:
        """Return the results of ``work`` for all rows.

        ``work`` returns values[n_slice] or values[n_slice, n_columns], a row for each row of a
        slice. It is called from several threads, or once with an empty slice if there are no rows.
        ``advance`` is called with the number of rows done since the last call.
        """
        slices = slices_of(n_rows, _ROWS_A_TASK) or [slice(0, 0)]
        alone = self.threads == 1 or len(slices) == 1
        with nullcontext() if alone else thread_pool(self.threads) as executor:
            parts = (executor.map if executor else map)(work, slices)
            first = next(parts)  # there is at least one slice
            results: NDArray[Any] = np.empty((n_rows, *first.shape[1:]), first.dtype)
            for rows, part in zip(slices, chain([first], parts), strict=True):
                results[rows] = part
                advance(rows.stop - rows.start)
        return results

    def spread_columns(
        self, work: Callable[[slice], NDArray[Any]], table: FilledTable
    ) -> FilledTable:
        """Fill a table, float[n_rows, n_columns], with ``work``, some columns at a time; return it.

        ``work`` returns all rows of a slice of columns, float[n_rows, n_slice], and is called from
        several threads. Values are rounded to the precision of the table.
        """

        def fill(part: slice) -> None:
            table[:, part] = work(part)

        in_threads(self.threads, fill, slices_of(table.shape[1], _COLUMNS_A_TASK))
        return table


@dataclass(frozen=True, slots=True, kw_only=True)
class WordBags:
    """Terms as bags of word vectors.

    Attributes:
        vectors: float32[n_words, n_dimensions].
        words: int32[n_tokens], rows of the vectors, term by term.
        starts: int64[n_terms + 1]; the words of term ``i`` are ``words[starts[i]:starts[i + 1]]``.
    """

    vectors: Vectors
    words: Ids
    starts: Starts


@dataclass(frozen=True, slots=True, kw_only=True)
class TermPoints:
    """Terms as one vector each: float32[n_terms, n_dimensions]."""

    vectors: Vectors


Embedded: TypeAlias = WordBags | TermPoints
"""Terms embedded by an embedding."""

Similarities: TypeAlias = Callable[[Any, "Ids", "Ids", "Workers"], "Values"]
"""Returns the similarity of each pair of terms, given as two arrays.

The function takes terms of the kind that the metric compares, two arrays int32[n_pairs] of rows of
terms, and workers that may divide the work and report finished pairs. Each term has a word or a
vector. Similarities are float64[n_pairs], finite, larger for more similar terms, and 1 for a term
of one word, or of one vector, and itself. They are symmetric up to rounding, and each depends only
on its pair.
"""

Tabulate: TypeAlias = Callable[[Any, "Ids", "Workers"], Callable[[slice], "Vectors"]]
"""Prepares terms for a table of their similarities with each other. Each of the terms has a word or
a vector. The returned function takes a slice of the terms and returns their similarities with all
terms: float32[n_rows, n_terms], the values of ``Similarities`` rounded to single precision.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A measure of the similarity of two embedded terms.

    Packages add metrics by entry points in the group ``medsim.metrics``.

    Attributes:
        kind: ``WordBags`` to compare terms as bags of word vectors, ``TermPoints`` to compare one
            vector per term.
        describes: the metric in a few words, for help and reports.
        similarities: see ``Similarities``.
        tabulate: see ``Tabulate``; without it terms are compared pair by pair.
    """

    kind: type[WordBags | TermPoints]
    describes: str
    similarities: Similarities
    tabulate: Tabulate | None = None

    def tabulated(
        self, embedded: Embedded, terms: Ids, workers: Workers
    ) -> Callable[[slice], Vectors]:
        """Return a function that compares a slice of terms, int32[n_terms], with all of them.

        See ``Tabulate``.
        """
        if self.tabulate is not None:
            return self.tabulate(embedded, terms, workers)

        def table(part: slice) -> Vectors:
            first = terms[part]
            left, right = np.repeat(first, len(terms)), np.tile(terms, len(first))
            values = self.similarities(embedded, left, right, Workers(threads=workers.threads))
            return values.astype(np.float32).reshape(len(first), len(terms))

        return table

    def register(self, name: str) -> None:
        """Add the metric to those of medsim."""
        METRICS.register(name, self)


METRICS = Registry("metric", __name__, group="medsim.metrics", entry_type=Metric)
"""The registered metrics."""


def metrics_of(kind: type[WordBags | TermPoints]) -> dict[str, Metric]:
    """Return the metrics that can compare terms of one kind, by name."""
    return {name: metric for name, metric in METRICS.all().items() if metric.kind is kind}
