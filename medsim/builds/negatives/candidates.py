"""The nearest candidates of first terms in one pool, searched for when they are first needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from medsim.builds.negatives import SearchResult
from medsim.builds.negatives.layout import Candidates
from medsim.builds.negatives.nearest import NearestSearch
from medsim.kernels.packing import starts_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from medsim.builds.negatives import TermIndex
    from medsim.core.progress import Stage
    from medsim.kernels.types import Flags, Ids, Starts


class Listed(Protocol):
    """The results of a search, nearest first."""

    @property
    def starts(self) -> Starts:
        """int64[n_queries + 1], the candidates of each query."""

    @property
    def ids(self) -> Ids:
        """int32[n_candidates], rows of the pool."""


class Search(Protocol):
    """A pool laid out for searching."""

    def nearest(self, queries: Ids, sizes: Ids, advance: Callable[[int], None], /) -> Listed:
        """Return the nearest candidates of rows of the pool; fewer only if there are no others."""


class CandidateSource:
    """The candidates of first terms, searched for in the pool where they are not known.

    The pool is laid out once, when something is first searched for.

    Args:
        name: of the pool.
        term_ids: int32[n_pool], the ids of its terms, in order of text.
        lay_out: returns the pool laid out for searching.
    """

    def __init__(self, name: str, term_ids: Ids, lay_out: Callable[[], Search]) -> None:
        self._name = name
        self._term_ids = term_ids
        self._lay_out = lay_out
        self._search: Search | None = None
        self._sizes = np.zeros(len(term_ids), np.int32)
        self._begins = np.zeros(len(term_ids), np.int64)
        self._counts = np.zeros(len(term_ids), np.int64)
        self._found = np.empty(0, np.int32)  # all lists, one after the other

    def knows(self, term_ids: Ids) -> Flags:
        """Return which terms are of the pool: bool[n_terms]."""
        return np.isin(term_ids, self._term_ids)

    def add(self, found: SearchResult) -> None:
        """Keep the results of a search; they replace shorter lists of the same first terms."""
        rows = np.searchsorted(self._term_ids, found.term1_ids)
        self._sizes[rows] = found.sizes
        self._begins[rows] = len(self._found) + found.starts[:-1]
        self._counts[rows] = np.diff(found.starts)
        self._found = np.concatenate([self._found, found.term2_ids])

    def lists(self, term1_ids: Ids, sizes: Ids, stage: Stage) -> SearchResult:
        """Return at least as many candidates of terms of the pool as each asks for, if it has them.

        The stage is told how many terms are searched for.
        """
        rows = np.searchsorted(self._term_ids, term1_ids)
        has_more = self._counts[rows] >= self._sizes[rows]  # or was not searched for
        short = np.flatnonzero((self._sizes[rows] < sizes) & has_more)
        if len(short):
            stage.total(len(short))
            self.add(self.search(term1_ids[short], sizes[short], stage.advance))
        counts = self._counts[rows]
        starts = starts_of(counts)
        slots = np.arange(starts[-1]) + np.repeat(self._begins[rows] - starts[:-1], counts)
        return SearchResult(
            pool=self._name,
            term1_ids=term1_ids,
            sizes=self._sizes[rows],
            starts=starts,
            term2_ids=self._found[slots],
        )

    def search(self, term1_ids: Ids, sizes: Ids, advance: Callable[[int], None]) -> SearchResult:
        """Return the nearest candidates of some first terms, all of them in the pool."""
        if self._search is None:
            self._search = self._lay_out()
        queries = np.searchsorted(self._term_ids, term1_ids).astype(np.int32)
        nearest = self._search.nearest(queries, sizes, advance)
        return SearchResult(
            pool=self._name,
            term1_ids=term1_ids,
            sizes=sizes,
            starts=nearest.starts,
            term2_ids=self._term_ids[nearest.ids],
        )


def candidate_source(
    index: TermIndex, name: str, pool_ids: Ids, *, seed: int, threads: int
) -> CandidateSource:
    """Return the source of candidates of one pool by Levenshtein distance, exact as brute force."""
    return CandidateSource(
        name,
        pool_ids,
        lambda: NearestSearch(candidates_of(index, pool_ids), seed=seed, threads=threads),
    )


def candidates_of(index: TermIndex, pool_ids: Ids) -> Candidates:
    """Return the terms of a pool as a search takes them."""
    return Candidates(
        terms=index.lower.take(pool_ids),
        components=index.components[pool_ids],
        hashes=index.hashes[pool_ids],
    )
