"""Levenshtein negatives: the second term is the nearest one that is still allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.kernels.serving import Chosen, run_dry, serve_nearest, used_pairs
from medsim.negatives import STRATEGIES, Negatives, PositiveSet, TermSpace, UsedPairs
from medsim.negatives.nearest import Candidates, NearestSearch

if TYPE_CHECKING:
    from medsim.kernels.types import Flags, Ids, Starts
    from medsim.progress import Stage

_SLACK = 2  # candidates beyond those wanted, for pairs that earlier first terms took


def levenshtein_negatives(
    space: TermSpace,
    positives: PositiveSet,
    used: UsedPairs,
    *,
    seed: int,
    threads: int,
    stage: Stage,
) -> Negatives:
    """Return for a first term with n positives its n nearest allowed terms.

    Schulz and Juric 2020, section 3.2, strategy "minimal Levenshtein distance", with the order of
    serving and the ties made independent of the order of rows. See ``medsim.negatives.Strategy``.

    First terms are served greedily from lists of their nearest candidates. Where a list runs dry
    it is searched again, longer, and all are served anew from the first on: what was served with
    lists that did not run dry is what the greedy rule gives.
    """
    pool = np.union1d(positives.term1_ids, positives.term2_ids).astype(np.int32)
    firsts, counts = np.unique(positives.term1_ids, return_counts=True)
    wanted = counts.astype(np.int32)
    queries = np.searchsorted(pool, firsts).astype(np.int32)
    candidates = Candidates(
        terms=space.lower.take(pool),
        components=space.components[pool],
        hashes=space.hashes[pool],
    )
    search = NearestSearch(candidates, seed=seed, threads=threads)
    lists = _Lists(len(queries), wanted + np.int32(_SLACK))
    chosen = _serve(firsts, wanted, lists, used)
    todo = np.arange(len(queries))
    while len(todo):
        stage.total(len(todo))
        found = search.nearest(queries[todo], lists.sizes[todo], stage.advance)
        lists.replace(todo, found.starts, pool[found.ids])
        chosen = _serve(firsts, wanted, lists, used)
        todo = np.flatnonzero(run_dry(chosen, lists.complete))
        lists.sizes[todo] *= 4
    return _against_positives(positives, firsts, chosen)


class _Lists:
    """The candidates of each query, nearest first, as term ids.

    Attributes:
        sizes: int32[n_queries], how many were asked for.
        complete: bool[n_queries], whether there are no others.
    """

    def __init__(self, n_queries: int, sizes: Ids) -> None:
        self.sizes = sizes
        self.complete: Flags = np.zeros(n_queries, np.bool_)
        self._counts = np.zeros(n_queries, np.int64)
        self._ids: list[Ids] = [np.empty(0, np.int32)] * n_queries

    def replace(self, queries: np.ndarray, starts: Starts, ids: Ids) -> None:
        """Set the candidates of some queries."""
        for at, query in enumerate(queries):
            self._ids[query] = ids[starts[at] : starts[at + 1]]
        self._counts[queries] = np.diff(starts)
        self.complete[queries] = self._counts[queries] < self.sizes[queries]

    def flat(self) -> tuple[Starts, Ids]:
        """Return all candidates as one array with the start of each query's."""
        starts = np.zeros(len(self._counts) + 1, np.int64)
        np.cumsum(self._counts, out=starts[1:])
        return starts, np.concatenate([np.empty(0, np.int32), *self._ids])


def _serve(firsts: Ids, wanted: Ids, lists: _Lists, used: UsedPairs) -> Chosen:
    starts = np.zeros(len(firsts) + 1, np.int64)
    np.cumsum(wanted, out=starts[1:])
    chosen = Chosen(
        starts=starts,
        counts=np.zeros(len(firsts), np.int32),
        ids=np.empty(starts[-1], np.int32),
    )
    found_starts, found_ids = lists.flat()
    table = used_pairs(used.term1_ids, used.term2_ids, int(starts[-1]))
    serve_nearest(firsts, found_starts, found_ids, table, chosen)
    return chosen


def _against_positives(positives: PositiveSet, firsts: Ids, chosen: Chosen) -> Negatives:
    """Return each first term's negatives, the nearest against its first positive."""
    begin = np.searchsorted(positives.term1_ids, firsts)
    within = np.arange(chosen.counts.sum()) - np.repeat(
        np.cumsum(chosen.counts) - chosen.counts, chosen.counts
    )
    slots = np.repeat(chosen.starts[:-1], chosen.counts) + within
    rows = np.repeat(begin, chosen.counts) + within
    return Negatives(positive_rows=rows.astype(np.int32), term2_ids=chosen.ids[slots])


STRATEGIES.register("levenshtein", levenshtein_negatives)
