"""First terms served the nearest candidates that are still allowed, from lists of candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.builds.negatives import Negatives
from medsim.builds.negatives.candidates import first_terms, pool_of
from medsim.kernels.packing import starts_of
from medsim.kernels.serving import Chosen, serve_nearest, used_pairs

if TYPE_CHECKING:
    from collections.abc import Callable

    from medsim.builds.negatives import PositiveSet, SearchResult, TermIndex, UsedPairs
    from medsim.builds.negatives.candidates import CandidateSource
    from medsim.builds.negatives.search_plan import PartOfPool
    from medsim.core.progress import Stage
    from medsim.kernels.types import Ids

    Source = CandidateSource | PartOfPool


class ServedNegatives:
    """For a first term with n positives, its n nearest allowed terms; see ``NegativeSampler``.

    First terms are served greedily from lists of their nearest candidates. Where a list runs dry
    it is searched again, longer, and all are served anew from the first on: lists that do not run
    dry give the negatives of the greedy rule. So any lists that are long enough give the same, be
    they searched for here, elsewhere, or for another set of the same pool. A first
    term that no list can be found for gets no negatives.

    Args:
        index: all terms.
        source_of: returns the candidates of a pool, given its name and terms.
        served: is told the name of each set that has its negatives.
    """

    def __init__(
        self,
        index: TermIndex,
        source_of: Callable[[str, Ids], Source],
        served: Callable[[str], None] = lambda _name: None,
    ) -> None:
        self._index = index
        self._source_of = source_of
        self._served = served

    def __call__(self, positives: PositiveSet, used: UsedPairs, stage: Stage) -> Negatives:
        """Return the negatives of one set; see ``medsim.builds.negatives.NegativeSampler``."""
        source = self._source_of(*pool_of(self._index, positives))
        firsts, wanted = first_terms(positives)
        known = source.knows(firsts)
        firsts, wanted = firsts[known], wanted[known]
        sizes = wanted.copy()
        while True:
            lists = source.lists(firsts, sizes, stage)
            chosen = _serve(firsts, wanted, lists, used)
            dry = (chosen.counts < wanted) & (np.diff(lists.starts) >= lists.sizes)
            if not dry.any():
                self._served(positives.name)
                return _against_positives(positives, firsts, chosen)
            sizes[dry] = 3 * lists.sizes[dry]


def _serve(firsts: Ids, wanted: Ids, lists: SearchResult, used: UsedPairs) -> Chosen:
    starts = starts_of(wanted)
    chosen = Chosen(
        starts=starts, counts=np.zeros(len(firsts), np.int32), ids=np.empty(starts[-1], np.int32)
    )
    table = used_pairs(used.term1_ids, used.term2_ids, int(starts[-1]))
    serve_nearest(firsts, lists.starts, lists.term2_ids, table, chosen)
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
