"""The exact searches for the nearest terms of a pool, and for all pairs within a distance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np
import polars as pl
from numba import config
from numpy.typing import NDArray

from medsim.core.config import in_threads
from medsim.core.terms import PackedTerms, content_hashes, pack
from medsim.kernels.best import FAR, Nearest, empty_slots, nearest_of
from medsim.kernels.edit_distance import Workspace, new_workspace
from medsim.kernels.edit_search import (
    Queries,
    Search,
    SearchPool,
    TermsByLength,
    search,
    search_neighbours,
    search_within,
    signatures,
    suffixes,
)
from medsim.kernels.edit_table import KEPT_PASSES, MAX_PLANES, N_PLANES, Screen, Slate
from medsim.kernels.instructions import LANES, MARGIN, N_FIELDS, N_WORDS
from medsim.kernels.near_pairs import MATCH, QUERY, Join, near_pairs_of
from medsim.kernels.packing import MOST, term_hashes
from medsim.kernels.sliced import search_group
from medsim.kernels.types import Bytes, Codes, Hashes, Ids, Ranks, Rows, Starts, starts_of

Advance: TypeAlias = Callable[[int], None]
"""Receives the number of queries that are done since the last call."""

_TERMS_AT_ONCE = 1 << 15  # so that memory is small, and an interrupt does not wait for long
_LINE_BYTES = 64  # bytes of a line of the processor's cache
_SPREAD = 4  # a block's longest term is at most 1 / _SPREAD longer than its shortest
_MAX_EQUALS = 1 << 19  # vectors in a block's table of characters; a larger one does not pay


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms of a search; rows are in order of text.

    Attributes:
        terms: lower-cased terms, a column of strings.
        components: int32[n_terms]; terms of one component are never candidates of each other, and
            terms with the same text must have the same component.
        hashes: uint64[n_terms], hashes of the terms' content; they order equal distances.
    """

    terms: pl.Series
    components: Ids
    hashes: Hashes

    @classmethod
    def from_terms(cls, terms: Sequence[str], components: Ids | None = None) -> Terms:
        """Return terms as candidates of each other.

        Args:
            terms: distinct terms, in order of code points; lower-case them first to ignore case.
            components: int32[n_terms], equal for linked terms; by default, no terms are linked.
        """
        column = pl.Series(terms, dtype=pl.String)
        linked = np.arange(len(terms)) if components is None else components
        components = np.asarray(linked, np.int32)
        return cls(terms=column, components=components, hashes=content_hashes(column))


def by_length(terms: pl.Series) -> tuple[Ids, PackedTerms, Codes, Starts]:
    """Return terms by length, then by row, with characters numbered by frequency.

    Returns:
        The row of each term, the terms, the characters by number, and where each length begins,
        from 0 to one more than the greatest.
    """
    lengths = terms.str.len_chars().to_numpy()
    longest = int(lengths.max(initial=0))
    # NumPy sorts numbers of 16 bits by their digits.
    ids = np.argsort(lengths.astype(np.min_scalar_type(longest)), kind="stable").astype(np.int32)
    codes, alphabet = _number_characters(terms.gather(ids))
    lengths = lengths[ids]
    length_starts = np.searchsorted(lengths, np.arange(longest + 2)).astype(np.int64)
    return ids, PackedTerms(codes=codes, starts=starts_of(lengths)), alphabet, length_starts


def lay_out(candidates: Terms, threads: int = 1) -> SearchPool:
    """Return the pool by length, then by text, with characters numbered by frequency.

    The result does not depend on ``threads``.
    """
    ids, terms, alphabet, length_starts = by_length(candidates.terms)
    lengths, longest = np.diff(terms.starts), len(length_starts) - 2
    # A block ends when it is full or the next term is too long: the more the lengths differ, the
    # wider the band to compute.
    block_starts = [0]
    while block_starts[-1] < len(ids):
        shortest = int(lengths[block_starts[-1]])
        most = min(shortest + shortest // _SPREAD, longest)
        block_starts.append(min(block_starts[-1] + LANES, int(length_starts[most + 1])))
    of_characters, by_end = in_threads(
        threads,
        lambda part: part(terms.codes, terms.starts),
        [signatures, lambda codes, starts: ids[np.lexsort(suffixes(codes, starts))]],
    )
    return SearchPool(
        codes=terms.codes,
        starts=terms.starts,
        signatures=of_characters,
        length_starts=length_starts,
        block_starts=np.array(block_starts, np.int64),
        components=candidates.components[ids],
        hashes=candidates.hashes[ids],
        ids=ids,
        places=_inverse(ids),
        by_end=by_end,
        ranks=_inverse(by_end),
        n_characters=len(alphabet) + 1,
        alphabet=alphabet,
    )


def _inverse(order: Ids) -> Ids:
    """Return the inverse of an order, the position of each row: int32[n_terms]."""
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ranks


def _number_characters(terms: pl.Series) -> tuple[Codes, Codes]:
    """Return the characters of terms by number, from 0, the most frequent first, and the alphabet.

    The numbers have 16 bits if they fit. To save memory, texts are decoded in parts, twice.
    """
    parts = [terms.slice(first, _TERMS_AT_ONCE) for first in range(0, len(terms), _TERMS_AT_ONCE)]
    counts = np.zeros(1, np.int64)
    for part in parts:
        more = np.bincount(pack(part).codes, minlength=len(counts))
        more[: len(counts)] += counts
        counts = more
    alphabet = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)].astype(np.uint32)
    numbers = np.zeros(len(counts), np.uint16 if len(alphabet) < 1 << 16 else np.uint32)
    numbers[alphabet] = np.arange(len(alphabet))
    codes = np.empty(counts.sum(), numbers.dtype)
    first = 0
    for part in parts:
        packed = pack(part).codes
        codes[first : first + len(packed)] = numbers[packed]
        first += len(packed)
    return codes, alphabet


def _ends_of(codes: Codes, starts: Starts) -> NDArray[np.bytes_]:
    """Return the ``suffixes`` of terms as 16 bytes each, the last character first."""
    return np.ascontiguousarray(suffixes(codes, starts)[::-1].T, ">u8").view("S16").ravel()


def queries_in(pool: SearchPool, rows: Ids) -> Queries:
    """Return terms of the pool as queries, by their rows in order of text, int32[n_queries]."""
    return Queries(
        codes=pool.codes,
        starts=pool.starts,
        signatures=pool.signatures,
        components=pool.components,
        hashes=pool.hashes,
        places=pool.places[rows],
        rows=rows,
        ranks=pool.ranks[rows],
    )


def part_of(queries: Queries, numbers: Rows) -> Queries:
    """Return some queries, by their numbers, int[n]."""
    return queries._replace(
        places=queries.places[numbers], rows=queries.rows[numbers], ranks=queries.ranks[numbers]
    )


def workspace(pool: SearchPool, longest: int = 0) -> Workspace:
    """Return a workspace to compare queries with terms one by one.

    ``longest`` is the number of characters of the longest query that may be longer than all terms.
    """
    return new_workspace(pool.n_characters, max(longest, len(pool.length_starts) - 2))


def slate(pool: SearchPool, longest: int = 0) -> Slate:
    """Return a workspace to compare queries with terms block by block; see ``workspace``."""
    longest = max(1, longest, len(pool.length_starts) - 2)
    n_equals = min(pool.n_characters * longest, _MAX_EQUALS) * N_WORDS
    n_kept = KEPT_PASSES + 3
    n_planes = max(MAX_PLANES, longest.bit_length() + 1)  # one more for overflow
    return Slate(
        equals=_aligned(n_equals),
        states=_aligned(n_kept * (longest + 2 * MARGIN) * 2 * N_WORDS),
        counts=_aligned(n_kept * n_planes * N_WORDS),
        screen=Screen(
            windows=_aligned(n_equals + N_WORDS),
            preset=_aligned(N_PLANES * N_WORDS),
            ruled_out=_aligned(N_WORDS),
            present=np.zeros(pool.n_characters, np.int32),
            reach=np.zeros(3, np.int64),
        ),
        plan=np.zeros((longest + 2, N_FIELDS), np.int64),
    )


def _aligned(n_words: int) -> Hashes:
    """Return zeros aligned to cache lines, so that no vector crosses a line."""
    words = np.zeros(n_words + _LINE_BYTES // 8, np.uint64)
    first = -words.ctypes.data % _LINE_BYTES // 8
    return words[first : first + n_words]


_MIN_QUERIES = 2048  # queries per group, if enough have similar lengths
_MAX_QUERIES = 1 << 14  # so that their characters stay in the processor's cache
_GROUPS_PER_THREAD = 8  # the minimum, so that threads end at about the same time


def groups(task: Search, threads: int) -> list[Ids]:
    """Return the queries that want candidates in groups of similar lengths, costliest first.

    Returns:
        Groups as int32[n], numbers of queries in order of length, then text.
    """
    rows, places, starts = task.queries.rows, task.queries.places, task.queries.starts
    lengths = starts[places + 1] - starts[places]
    sizes = np.diff(task.best.starts) - task.best.spare
    bounds = np.full(len(sizes), np.iinfo(np.int32).max, np.int64)  # of distances that can enter
    full = np.flatnonzero((task.best.counts >= sizes) & (sizes > 0))
    bounds[full] = task.best.distances[task.best.starts[full] + sizes[full] - 1]
    wants = np.flatnonzero((sizes > 0) & (bounds > 0))  # no two terms are at distance 0
    order = wants[np.lexsort((rows[wants], bounds[wants], lengths[wants]))]
    most = min(max(_MIN_QUERIES, len(order) // (_GROUPS_PER_THREAD * threads)), _MAX_QUERIES)
    parts = [
        near[begin : begin + most]
        for near in _near_lengths(order.astype(np.int32), lengths)
        for begin in range(0, len(near), most)
    ]
    # Approximate cost: number of terms with lengths within the bound, times the band.
    parts.sort(key=lambda part: np.square(np.minimum(bounds[part], 1 << 12)).sum(), reverse=True)
    return [part[np.lexsort((rows[part], lengths[part]))] for part in parts]


def _near_lengths(order: Ids, lengths: Starts) -> Iterator[Ids]:
    """Yield groups of queries in order of length; groups have limits of size and of length.

    Empty queries form a group of their own.
    """
    cuts = np.flatnonzero(np.diff(lengths[order])) + 1
    first = 0
    for cut in [*cuts.tolist(), len(order)]:
        shortest = lengths[order[first]] if first < len(order) else 0
        stop = cut == len(order) or not (
            shortest > 0 and lengths[order[cut]] <= shortest + shortest // 4 + 4
        )
        if cut > first and (stop or cut - first >= _MIN_QUERIES):
            yield order[first:cut]
            first = cut


_QUERIES_PER_TASK = 64

S = TypeVar("S")
P = TypeVar("P")


def _ignore(_n: int) -> None:
    """Report no progress."""


class NearestSearch:
    """Candidates prepared once for any number of searches.

    Args:
        candidates: the pool, which can be freed afterwards.
        seed: random seed of the hash that orders equal distances.
        threads: number of threads; results do not depend on it.
        sliced: whether to compare many terms at once, by default if the machine supports it, and
            not for more than 65,535 distinct characters; the results are the same.

    Besides the pool, each thread needs about 4 kB per character of the longest term, and up to
    64 MiB for large alphabets.
    """

    def __init__(
        self, candidates: Terms, *, seed: int, threads: int, sliced: bool | None = None
    ) -> None:
        self.pool = lay_out(candidates, threads)
        self._seed, self._threads = np.uint64(seed), threads
        sliced = not config.DISABLE_JIT if sliced is None else sliced  # type: ignore[attr-defined]  # set when numba is imported
        self._sliced = sliced and self.pool.codes.dtype == np.uint16

    def nearest(
        self, rows: Ids, wanted: Ids, advance: Advance = _ignore, *, spare: int = 0
    ) -> Nearest:
        """Return the nearest terms of the pool's terms in rows, int32[n_queries]; see ``find``."""
        queries = queries_in(self.pool, np.asarray(rows, np.int32))
        return self.find(queries, wanted, advance=advance, spare=spare)

    def queries_of(self, terms: pl.Series, rows: Ids) -> Queries:
        """Return other terms, which may also be in the pool, as queries.

        A term of the pool is at distance 0 from itself.

        Args:
            terms: lower-cased terms, in any order.
            rows: int32[n_terms], the number of terms of the pool before each in order of text.
        """
        pool, packed = self.pool, pack(terms)
        most, n_known = int(pool.alphabet.max(initial=0)), len(pool.alphabet)
        numbers = np.full(most + 2, n_known, pool.codes.dtype)
        numbers[pool.alphabet] = np.arange(n_known)
        codes = numbers[np.minimum(packed.codes, len(numbers) - 1)]
        return Queries(
            codes=codes,
            starts=packed.starts,
            signatures=signatures(codes, packed.starts),
            components=np.full(len(terms), -1, np.int32),
            hashes=term_hashes(packed.codes, packed.starts),
            places=np.arange(len(terms), dtype=np.int32),
            rows=rows,
            ranks=np.searchsorted(self._ends, _ends_of(codes, packed.starts)).astype(np.int32),
        )

    @cached_property
    def _ends(self) -> NDArray[np.bytes_]:
        """The ends of the terms of the pool, in their order."""
        return _ends_of(self.pool.codes, self.pool.starts)[self.pool.places[self.pool.by_end]]

    def within(self, queries: Queries, limits: Ids) -> Nearest:
        """Return all terms within the distance of each query, int32[n_queries].

        They are in order of (distance, text).
        """
        task = Search(self.pool, self._seed, queries, empty_slots(np.zeros(0, np.int32), np.int32))
        found: list[Starts] = [np.empty(0, np.int64)] * len(limits)

        def fill(slot: int, space: tuple[Workspace, Starts]) -> None:
            work, keys = space
            found[slot] = np.sort(keys[: search_within(task, slot, int(limits[slot]), work, keys)])

        longest = int(np.diff(queries.starts).max(initial=0))
        spaces = [
            (workspace(self.pool, longest), np.empty(len(self.pool.ids), np.int64))
            for _ in range(self._threads)
        ]
        _in_threads(spaces, range(len(limits)), fill)
        keys = np.concatenate([np.empty(0, np.int64), *found])
        ids, distances = (keys & MOST).astype(np.int32), (keys >> 32).astype(np.int32)
        return Nearest(starts_of([len(part) for part in found]), ids, distances)

    def find(
        self,
        queries: Queries,
        wanted: Ids,
        limit: int = FAR,
        advance: Advance = _ignore,
        *,
        spare: int = 0,
    ) -> Nearest:
        """Return the nearest terms of each query, as brute force does.

        Candidates are ordered by (distance, hash of seed and both terms, text).

        Args:
            queries: the queries.
            wanted: whole[n_queries], number of terms for each; fewer if the pool has no more.
            limit: the largest distance.
            advance: called with the number of finished queries.
            spare: number of further terms for each, if they are at the distance of the last one
                that is wanted; they take no longer.
        """
        sizes = np.minimum(np.asarray(wanted, np.int64), len(self.pool.ids)).astype(np.int32)
        best = empty_slots(sizes, np.int32, limit, min(spare, len(self.pool.ids)))
        task = Search(self.pool, self._seed, queries, best)
        n_queries, longest = len(queries.places), int(np.diff(queries.starts).max(initial=0))
        works = [workspace(self.pool, longest) for _ in range(self._threads)]

        def bound(first: int, work: Workspace) -> None:  # from terms with a common prefix or suffix
            search_neighbours(task, first, min(first + _QUERIES_PER_TASK, n_queries), work)

        def complete(first: int, work: Workspace) -> None:
            stop = min(first + _QUERIES_PER_TASK, n_queries)
            search(task, first, stop, work)
            advance(stop - first)

        def complete_group(group: Ids, space: tuple[Slate, Workspace]) -> None:
            search_group(task, group, *space)
            advance(len(group))

        starts = range(0, n_queries, _QUERIES_PER_TASK)
        _in_threads(works, starts, bound)
        if self._sliced:
            spaces = [(slate(self.pool, longest), work) for work in works]
            _in_threads(spaces, groups(task, self._threads), complete_group)
        else:
            _in_threads(works, starts, complete)
        return nearest_of(best)


def _in_threads(spaces: list[S], parts: Iterable[P], run: Callable[[P, S], None]) -> None:
    """Run all parts in threads, each with a workspace that no other thread uses meanwhile."""

    def serve(part: P) -> None:
        space = spaces.pop()
        try:
            run(part, space)
        finally:
            spaces.append(space)

    in_threads(len(spaces), serve, parts)


def pairs_within(
    terms: pl.Series, limit: int, *, sides: Bytes | None = None, threads: int
) -> Ranks:
    """Return all pairs of distinct terms within an edit distance, exactly.

    Args:
        terms: distinct terms, lower-cased to ignore case.
        limit: the largest distance, at least 1.
        sides: uint8[n_terms], whether a term is a query, a match or both, see ``Join``; by default
            all are both.
        threads: number of threads; results do not depend on it.

    Returns:
        int32[3, n_pairs]: the rows of both terms, the smaller first, and the distance; in order of
        the rows.
    """
    order, packed, alphabet, lengths = by_length(terms)
    laid = TermsByLength(
        codes=packed.codes,
        starts=packed.starts,
        signatures=signatures(packed.codes, packed.starts),
        n_characters=len(alphabet),
    )
    both = np.full(len(terms), QUERY | MATCH, np.uint8)
    task = Join(laid, both if sides is None else sides[order], lengths, limit)
    parts_of = [
        (length, begin)
        for length in np.flatnonzero(np.diff(lengths)).tolist()
        for begin in range(lengths[length], lengths[: length + limit + 2][-1], _TERMS_AT_ONCE)
    ]
    parts = in_threads(
        threads,
        lambda part: near_pairs_of(task, part[0], part[1], part[1] + _TERMS_AT_ONCE),
        parts_of,
    )
    found = np.concatenate([np.empty((3, 0), np.int32), *parts], axis=1)
    rows = np.sort(order[found[:2]], axis=0)
    by_row = np.lexsort((rows[1], rows[0]))
    return np.vstack([rows, found[2:]])[:, by_row]
