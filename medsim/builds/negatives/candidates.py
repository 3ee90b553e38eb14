"""The nearest candidates of first terms in one pool, searched ahead or when needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from medsim.builds.negatives import NegativeSampler, PositiveSet, SearchResult, TermIndex
from medsim.core.progress import Stage
from medsim.kernels.serving import serve_nearest, used_pairs
from medsim.kernels.types import Flags, Ids, Ranks, Rows, gathered, starts_of
from medsim.neighbours.search import NearestSearch, Terms

if TYPE_CHECKING:
    from medsim.kernels.best import Nearest

PoolSearch: TypeAlias = "Callable[[Ids, Ids, Callable[[int], None]], Nearest]"
"""A function that returns the nearest candidates of first terms, as rows of a pool."""

TERMINOLOGY = "terminology"
"""The name of the pool that all sets share."""

SPARE = 4
"""Further candidates per first term, if they are as near as the last one that is wanted."""

SLACK = 1
"""Additional candidates in a search when needed, because earlier first terms take some pairs."""

_BLOCK = 64  # first terms per block; similar terms are searched together
_BLOCKS_PER_SHARE = 16  # the minimum, to balance shares


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """A request for the nearest candidates of first terms in one pool.

    Attributes:
        pool: name of the pool: the name of its set, or ``TERMINOLOGY``, with the number of a
            language if it is of this language.
        pool_ids: int32[n_pool], terms of the pool, in order of text.
        term1_ids: int32[n_firsts], first terms in order of text; in one language, all of them are
            in the pool.
        sizes: int32[n_firsts], the number of candidates for each.
    """

    pool: str
    pool_ids: Ids
    term1_ids: Ids
    sizes: Ids


def pool_of(index: TermIndex, positives: PositiveSet) -> tuple[str, Ids]:
    """Return the name and the terms, in order of text, of a set's pool."""
    language = positives.language
    if index.pool is None:
        firsts = positives.term1_ids if language is None else positives.term2_ids
        return positives.name, np.union1d(firsts, positives.term2_ids).astype(np.int32)
    if language is None:
        return TERMINOLOGY, index.pool
    return f"{TERMINOLOGY}/{language}", index.translations[language]


def request_share(
    index: TermIndex, request: SearchRequest, number: int, total: int
) -> SearchRequest:
    """Return one share of a request, numbered from 1; all shares together are the request.

    First terms are sorted by (length, text) and dealt out in blocks, so shares cost about the same
    and neighbours stay together.
    """
    lengths = index.lower.gather(request.term1_ids).str.len_chars().to_numpy()
    order = np.argsort(lengths, kind="stable")
    block = min(_BLOCK, max(1, len(order) // (_BLOCKS_PER_SHARE * total)))
    share_rows = np.sort(order[(np.arange(len(order)) // block) % total == number - 1])
    return replace(
        request, term1_ids=request.term1_ids[share_rows], sizes=request.sizes[share_rows]
    )


@dataclass(eq=False)
class CandidateSource:
    """The candidates of first terms; those not stored yet are searched for in the pool.

    The pool is prepared once, at the first search.

    Attributes:
        name: name of the pool.
        term_ids: int32[n_pool], ids of its terms, in order of text.
        first_ids: int32[n_firsts], terms whose candidates can be requested, in order of text.
        lay_out: function that prepares the pool for searching; its search returns the nearest
            candidates of each term, as rows of the pool: fewer than requested if the pool has no
            others, and up to ``SPARE`` more at the distance of the last one.
        ahead: request to search together with the first one, because it will be needed later.
        prepared_search: the prepared pool after the first search; set to None to free its memory.
    """

    name: str
    term_ids: Ids
    first_ids: Ids
    lay_out: Callable[[], PoolSearch]
    ahead: SearchRequest | None = None
    prepared_search: PoolSearch | None = None

    def __post_init__(self) -> None:
        self._sizes = np.zeros(len(self.first_ids), np.int32)
        self._begins, self._counts = np.zeros((2, len(self.first_ids)), np.int64)
        self._found = np.empty(0, np.int32)  # all lists, one after the other

    def add(self, result: SearchResult) -> None:
        """Store the results of a search, replacing shorter lists of the same first terms."""
        rows = np.searchsorted(self.first_ids, result.term1_ids)
        self._sizes[rows] = result.sizes
        self._begins[rows] = len(self._found) + result.starts[:-1]
        self._counts[rows] = np.diff(result.starts)
        self._found = np.concatenate([self._found, result.term2_ids])

    def lists(self, term1_ids: Ids, sizes: Ids, stage: Stage) -> SearchResult:
        """Return at least the requested number of candidates for terms, if the pool has them.

        Both arrays are int32[n_firsts]. The stage reports how many terms are searched for.
        """
        rows = np.searchsorted(self.first_ids, term1_ids)
        short = self._is_short(rows, sizes)
        if short.any():
            requested = np.zeros(len(self.first_ids), np.int32)
            if self.ahead is not None:
                requested[np.searchsorted(self.first_ids, self.ahead.term1_ids)] = self.ahead.sizes
                self.ahead = None
            at, minimum = rows[short], sizes[short]
            requested[at] = np.where(requested[at] < minimum, minimum + SLACK, requested[at])
            lacking = np.flatnonzero(self._is_short(np.arange(len(requested)), requested))
            stage.total(len(lacking))
            self.add(self.search(self.first_ids[lacking], requested[lacking], stage.advance))
        counts = self._counts[rows]
        starts, slots = gathered(self._begins[rows], counts)
        return SearchResult(
            pool=self.name,
            term1_ids=term1_ids,
            sizes=self._sizes[rows],
            starts=starts,
            term2_ids=self._found[slots],
        )

    def _is_short(self, rows: Rows, sizes: Ids) -> Flags:
        """Return which rows have fewer candidates than requested although there are more."""
        has_more: Flags = self._counts[rows] >= self._sizes[rows]  # or was not searched
        return (self._sizes[rows] < sizes) & has_more

    def search(self, term1_ids: Ids, sizes: Ids, advance: Callable[[int], None]) -> SearchResult:
        """Return the nearest candidates of first terms in the pool; both are int32[n_firsts]."""
        if self.prepared_search is None:
            self.prepared_search = self.lay_out()
        nearest = self.prepared_search(term1_ids, sizes, advance)
        return SearchResult(
            pool=self.name,
            term1_ids=term1_ids,
            sizes=np.maximum(sizes, np.diff(nearest.starts)).astype(np.int32),
            starts=nearest.starts,
            term2_ids=self.term_ids[nearest.ids],
        )


def candidate_source(
    index: TermIndex,
    name: str,
    pool_ids: Ids,
    *,
    seed: int,
    threads: int,
    ahead: SearchRequest | None = None,
    from_outside: bool = False,
) -> CandidateSource:
    """Return the source of a pool's candidates by Levenshtein distance, as exact as brute force.

    The pool is int32[n_pool], in order of text. The first terms are those of the pool or, if
    ``from_outside``, any terms.
    """

    def lay_out() -> PoolSearch:
        search = NearestSearch(candidates_of(index, pool_ids), seed=seed, threads=threads)

        def from_others(term1_ids: Ids, sizes: Ids, advance: Callable[[int], None]) -> Nearest:
            rows = np.searchsorted(pool_ids, term1_ids).astype(np.int32)
            queries = search.queries_of(index.lower.gather(term1_ids), rows)._replace(
                components=index.groups[term1_ids], hashes=index.hashes[term1_ids]
            )
            return search.find(queries, sizes, advance=advance, spare=SPARE)

        return from_others if from_outside else with_spares(pool_ids, search)

    first_ids = np.arange(len(index.lower), dtype=np.int32) if from_outside else pool_ids
    return CandidateSource(name, pool_ids, first_ids, lay_out, ahead)


def among(term_ids: Ids, nearest: PoolSearch) -> PoolSearch:
    """Return the search among terms by their ids, int32[n_terms], given that by their rows."""
    order = np.argsort(term_ids, kind="stable").astype(np.int32)
    return lambda term1_ids, sizes, advance: nearest(
        order[np.searchsorted(term_ids, term1_ids, sorter=order)], sizes, advance
    )


def with_spares(term_ids: Ids, search: NearestSearch) -> PoolSearch:
    """Return the search for candidates among terms by their ids, with ``SPARE`` further ones."""
    return among(term_ids, partial(search.nearest, spare=SPARE))


def candidates_of(index: TermIndex, pool_ids: Ids) -> Terms:
    """Return the terms of a pool, int32[n_pool], for a search."""
    return Terms(
        terms=index.lower.gather(pool_ids),
        components=index.groups[pool_ids],
        hashes=index.hashes[pool_ids],
    )


_MAX_RATIO = 2  # maximum ratio of sizes to search a larger pool instead


def search_plan(
    index: TermIndex, sets: Sequence[PositiveSet]
) -> tuple[dict[str, SearchRequest], dict[str, str]]:
    """Return the initial searches for sets.

    If sets share a pool, a first term of several sets is searched for once, with the largest number
    of candidates. If the pool of a set contains another set's pool and is not much larger, it is
    searched for the first terms of both, unless only one of them is across languages.

    Returns:
        The requests by the name of their pool; and, for each pool that is not searched itself, the
        name of the pool that contains it.
    """
    if index.pool is not None:
        sharing: dict[str, list[PositiveSet]] = {}
        for positives in sets:
            sharing.setdefault(pool_of(index, positives)[0], []).append(positives)
        return {name: _request(index, group[0], group) for name, group in sharing.items()}, {}
    languages = {positives.name: positives.language for positives in sets}
    pools = {positives.name: pool_of(index, positives)[1] for positives in sets}
    parts: dict[str, list[PositiveSet]] = {}
    wider: dict[str, str] = {}
    by_size = sorted(sets, key=lambda positives: len(pools[positives.name]))
    for positives in by_size[::-1]:
        pool = pools[positives.name]
        alike = (name for name in reversed(parts) if languages[name] == positives.language)
        near = (name for name in alike if len(pools[name]) <= _MAX_RATIO * len(pool))
        containing = (n for n in near if np.isin(pool, pools[n], assume_unique=True).all())
        wider_pool = next(containing, None)
        if wider_pool is None:
            parts[positives.name] = []
        else:
            parts[wider_pool].append(positives)
            wider[positives.name] = wider_pool
    requests = {s.name: _request(index, s, [s, *parts[s.name]]) for s in sets if s.name in parts}
    return requests, wider


def _request(index: TermIndex, of_pool: PositiveSet, sets: Iterable[PositiveSet]) -> SearchRequest:
    """Return the initial search for several sets in the pool of one."""
    pool, pool_ids = pool_of(index, of_pool)
    counted = []
    for positives in sets:
        firsts, counts = np.unique(positives.term1_ids, return_counts=True)
        set_pool = pool_of(index, positives)[1]
        is_part = len(set_pool) < len(pool_ids)
        set_sizes = scaled_sizes(pool_ids, set_pool, counts) if is_part else counts
        counted.append((firsts, set_sizes))
    term1_ids = np.unique(np.concatenate([firsts for firsts, _ in counted]))
    sizes = np.zeros(len(term1_ids), np.int32)
    for firsts, set_sizes in counted:
        at = np.searchsorted(term1_ids, firsts)
        sizes[at] = np.maximum(sizes[at], set_sizes)
    return SearchRequest(pool=pool, pool_ids=pool_ids, term1_ids=term1_ids, sizes=sizes)


def scaled_sizes(pool: Ids, part: Ids, sizes: Rows) -> Ids:
    """Return how many candidates of a pool contain ``sizes`` of a part, on average: int32[n]."""
    scaled: Ids = np.ceil(sizes * (len(pool) / max(1, len(part)))).astype(np.int32)
    return scaled


class PartOfPool:
    """The candidates of a pool, taken from the candidates of a larger pool that contains it.

    The order of distances is the same in both, so a list of the larger pool, without terms outside
    the smaller one, is a list of the smaller one.
    """

    def __init__(self, name: str, term_ids: Ids, source: CandidateSource) -> None:
        self.term_ids = term_ids
        self.first_ids = source.first_ids
        self._name = name
        self._source = source

    def lists(self, term1_ids: Ids, sizes: Ids, stage: Stage) -> SearchResult:
        """Return at least the requested number of candidates, if the pool has them.

        Both arrays are int32[n_firsts], see ``CandidateSource``; a list of the larger pool that is
        too short is searched again.
        """
        wider_ids = self._source.term_ids
        is_inside = np.zeros(int(wider_ids.max(initial=-1)) + 1, np.bool_)
        is_inside[self.term_ids] = True
        wider_sizes = scaled_sizes(wider_ids, self.term_ids, sizes)
        while True:
            wider = self._source.lists(term1_ids, wider_sizes, stage)
            inside = is_inside[wider.term2_ids]
            before = starts_of(inside)
            counts = np.diff(before[wider.starts]).astype(np.int32)
            complete = np.diff(wider.starts) < wider.sizes
            short = (counts < sizes) & ~complete
            if not short.any():
                break
            wider_sizes[short] = 2 * wider.sizes[short]
        return SearchResult(
            pool=self._name,
            term1_ids=term1_ids,
            sizes=np.where(complete, np.maximum(sizes, counts + 1), counts).astype(np.int32),
            starts=starts_of(counts),
            term2_ids=wider.term2_ids[inside],
        )


def served_negatives(
    source_of: Callable[[PositiveSet], CandidateSource | PartOfPool],
    on_set_done: Callable[[str], None] = lambda _name: None,
) -> NegativeSampler:
    """Return a sampler that gives each first term with n positives its n nearest allowed terms.

    First terms are served greedily from lists of their nearest candidates. If a list is too short,
    a longer one is searched and all first terms are served again from the first on. So any lists
    that are long enough give the same result, whether they were searched here, elsewhere, or for
    another set of the same pool. A first term without a list gets no negatives.

    Args:
        source_of: function that returns the candidates of a set's pool.
        on_set_done: called with the name of each finished set.
    """

    def negatives_of(positives: PositiveSet, used: Ranks, stage: Stage) -> tuple[Rows, Ids]:
        source = source_of(positives)
        firsts, n_positives = np.unique(positives.term1_ids, return_counts=True)
        are_candidates = np.isin(firsts, source.first_ids)
        firsts, n_wanted = firsts[are_candidates], n_positives[are_candidates].astype(np.int32)
        sizes, starts = n_wanted.copy(), starts_of(n_wanted)
        for repeated in count(1):
            lists = source.lists(firsts, sizes, stage)
            table = used_pairs(used[0], used[1], int(starts[-1]))
            counts, ids = serve_nearest(firsts, lists.starts, lists.term2_ids, table, starts)
            del table
            too_short = (counts < n_wanted) & (np.diff(lists.starts) >= lists.sizes)
            if not too_short.any():
                break
            more = np.maximum(n_wanted - counts, repeated * lists.sizes // 2)
            sizes[too_short] = (lists.sizes + more)[too_short]
            del lists  # before the search takes memory
        on_set_done(positives.name)
        # The nearest negative of a first term belongs to its first positive.
        _, rows = gathered(np.searchsorted(positives.term1_ids, firsts), counts)
        return rows, ids[gathered(starts[:-1], counts)[1]]

    return negatives_of
