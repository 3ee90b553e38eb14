"""Similarities of terms as bags of words, all with all, by those of their words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.core.config import in_threads
from medsim.embeddings.metrics import WordBags
from medsim.kernels.bag_tables import Bags
from medsim.kernels.packing import starts_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from medsim.embeddings.metrics.workers import Workers
    from medsim.kernels.types import Ids, Rows, Starts, Table, Vectors

_ROWS_A_TASK = 2048
_FREQUENT = 384  # words whose similarities are kept from some terms to the next


def bags_of(bags: WordBags, terms: Ids) -> WordBags:
    """Return some terms as bags, with the vectors of their own words alone."""
    sizes = np.diff(bags.starts)[terms]
    starts = starts_of(sizes)
    tokens = np.repeat(bags.starts[terms] - starts[:-1], sizes) + np.arange(starts[-1])
    used, words = np.unique(bags.words[tokens], return_inverse=True)
    return WordBags(vectors=bags.vectors[used], words=words.astype(np.int32), starts=starts)


def tabulate_bags(
    bags: WordBags,
    compare_words: Callable[[slice, Rows], Table],
    compare_bags: Callable[[Table, Bags, Rows, slice], Vectors],
    workers: Workers,
) -> Callable[[slice], Vectors]:
    """Return a function that compares some terms with all; see ``embeddings.metrics.Tabulate``.

    Bags are of ``bags_of``. ``compare_words`` tabulates a slice of the words and some words;
    ``compare_bags`` takes such a table of all words, bags, and which of all tokens their columns
    and their rows are of, and returns float32[n_right, n_left].
    """
    of_words = _WordTable(bags, compare_words, workers)

    def table(part: slice) -> Vectors:
        own = bags.starts[part.start : part.stop + 1]
        order, tokens = _side_by_side(own)
        similarities, column_of = of_words.with_words(np.unique(bags.words[tokens]))

        def compare(terms: slice) -> Vectors:
            starts = bags.starts[terms.start : terms.stop + 1]
            right = slice(int(starts[0]), int(starts[-1]))
            compared = Bags(
                sizes=np.diff(own)[order],
                columns=column_of[bags.words[tokens]],
                rows=bags.words[right],
                starts=starts - right.start,
            )
            found = np.empty((len(order), len(starts) - 1), np.float32)
            found[order] = compare_bags(similarities, compared, tokens, right).T
            return found

        n_terms = len(bags.starts) - 1
        return workers.spread_columns(compare, np.empty((len(order), n_terms), np.float32))

    return table


def _side_by_side(starts: Starts) -> tuple[Rows, Rows]:
    """Return bags in ascending size, and their tokens as ``Bags`` has them."""
    sizes = np.diff(starts)
    order = np.argsort(sizes, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    bag = np.repeat(np.arange(len(sizes)), sizes)
    tokens = np.arange(starts[0], starts[-1])
    return order, tokens[np.lexsort((rank[bag], tokens - starts[bag], sizes[bag]))]


class _WordTable:
    """The similarities of all words with those that are asked for.

    Those with the most frequent words, which most terms beside each other share, are kept.
    """

    def __init__(
        self, bags: WordBags, compare: Callable[[slice, Rows], Table], workers: Workers
    ) -> None:
        self._n_words = len(bags.vectors)
        self._compare = compare
        self._threads = workers.threads
        counts = np.bincount(bags.words, minlength=self._n_words)
        self._frequent = np.sort(np.argsort(-counts, kind="stable")[:_FREQUENT])
        self._column_of = np.full(self._n_words, -1, np.int32)
        self._column_of[self._frequent] = np.arange(len(self._frequent))
        self._table = np.empty((0, 0))

    def with_words(self, words: Rows) -> tuple[Table, Ids]:
        """Return the similarities of all words with some, and the column of each of these.

        float64[n_words, n_columns], which the next call writes over, and int32[n_words], of words
        that were not asked for anything.
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
        """Write the similarities with some words, from a column on."""

        def fill(rows: slice) -> None:
            self._table[rows, first : first + len(words)] = self._compare(rows, words)

        slices = [
            slice(begin, min(begin + _ROWS_A_TASK, self._n_words))
            for begin in range(0, self._n_words, _ROWS_A_TASK)
        ]
        in_threads(self._threads, fill, slices)
