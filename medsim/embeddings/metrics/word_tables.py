"""Compares terms, all with all, by tables of how their words compare."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from medsim.embeddings.metrics import WordBags
from medsim.kernels.packing import starts_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from medsim.embeddings.metrics.workers import Workers
    from medsim.kernels.types import Ids, Rows, Starts, Table, Vectors

_ROWS_A_TASK = 16


def bags_of(bags: WordBags, terms: Ids) -> WordBags:
    """Return some terms as bags, with the vectors of their own words alone."""
    sizes = np.diff(bags.starts)[terms]
    starts = starts_of(sizes)
    tokens = np.repeat(bags.starts[terms] - starts[:-1], sizes) + np.arange(starts[-1])
    used, words = np.unique(bags.words[tokens], return_inverse=True)
    return WordBags(vectors=bags.vectors[used], words=words.astype(np.int32), starts=starts)


def tabulate_bags(
    bags: WordBags,
    compare_words: Callable[[Rows, slice], Table],
    compare_bags: Callable[[Table, Ids, Ids, Starts, Starts], Vectors],
    workers: Workers,
) -> Callable[[slice], Vectors]:
    """Return a function that compares some terms with all; see ``embeddings.metrics.Tabulate``.

    Bags are of ``bags_of``. ``compare_words`` tabulates some words and a slice of the words;
    ``compare_bags`` takes such a table, the row of each token and its column, and where the tokens
    of the terms on either side begin, and returns float32[n_left, n_right].
    """
    n_words = len(bags.vectors)

    def table(part: slice) -> Vectors:
        left_starts = bags.starts[part.start : part.stop + 1]
        used = np.unique(bags.words[left_starts[0] : left_starts[-1]])
        row_of = np.zeros(n_words, np.int32)  # tokens of other terms have rows that nobody asks for
        row_of[used] = np.arange(len(used))
        rows = row_of[bags.words]
        of_words = workers.spread_columns(
            partial(compare_words, used), np.empty((len(used), n_words))
        )

        def compare(left: slice) -> Vectors:
            starts = left_starts[left.start : left.stop + 1]
            return compare_bags(of_words, rows, bags.words, starts, bags.starts)

        return workers.spread(compare, part.stop - part.start, rows_a_task=_ROWS_A_TASK)

    return table
