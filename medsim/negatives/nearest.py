"""The exact k nearest terms of a pool: packed arrays in, ids and distances out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING

import numpy as np

from medsim.kernels.nearest import Best, Pool, Workspace, search, signatures

if TYPE_CHECKING:
    from collections.abc import Callable

    from medsim.kernels.types import Codes, Hashes, Ids, Starts
    from medsim.terms import PackedTerms

_QUERIES_A_TASK = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The terms that a search is about; rows are in order of text.

    Attributes:
        terms: lower-cased, packed.
        components: int32[n_terms]; terms with the same one are never candidates of each other, and
            terms with the same text must have the same one.
        hashes: uint64[n_terms], of each term's own content; they order equal distances.
    """

    terms: PackedTerms
    components: Ids
    hashes: Hashes


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """What a search found, nearest first.

    Attributes:
        starts: int64[n_queries + 1], the slots of each query.
        ids: int32[n_slots], rows of terms.
        distances: int32[n_slots], at least 1.
    """

    starts: Starts
    ids: Ids
    distances: Ids


def nearest(
    candidates: Candidates,
    queries: Ids,
    wanted: Ids,
    *,
    seed: int,
    threads: int,
    advance: Callable[[int], None] = lambda _n: None,
) -> Nearest:
    """Return the nearest terms of each query by Levenshtein distance, exactly as brute force does.

    Candidates are ordered by (distance, hash of seed and both terms, text).

    Args:
        candidates: the pool.
        queries: int32[n_queries], rows of the pool.
        wanted: int32[n_queries], how many each query asks for.
        seed: of the hash.
        threads: how many to use; the result does not depend on it.
        advance: told how many more queries are done, from any thread.

    Returns:
        As many as wanted, or fewer where the pool has no more.
    """
    pool = _laid_out(candidates)
    capacity = np.minimum(wanted, len(candidates.terms))
    best = _no_candidates(capacity)
    longest = int(np.diff(pool.starts).max(initial=1))
    n_words = max(1, -(-longest // 64))
    idle: SimpleQueue[Workspace] = SimpleQueue()
    for _ in range(threads):
        idle.put(
            Workspace(
                masks=np.zeros(pool.n_characters * n_words, np.uint64),
                plus=np.zeros(n_words, np.uint64),
                minus=np.zeros(n_words, np.uint64),
            )
        )

    def serve(first: int) -> None:
        work = idle.get()
        stop = min(first + _QUERIES_A_TASK, len(queries))
        try:
            search(pool, np.uint64(seed), queries, first, stop, best, work)
        finally:
            idle.put(work)
        advance(stop - first)

    executor = ThreadPoolExecutor(threads)
    try:
        for _ in executor.map(serve, range(0, len(queries), _QUERIES_A_TASK)):
            pass
    finally:
        executor.shutdown(cancel_futures=True)
    return _trimmed(best)


def _laid_out(candidates: Candidates) -> Pool:
    """Return the pool by length, then by text, with characters numbered by frequency."""
    lengths = np.diff(candidates.terms.starts)
    ids = np.argsort(lengths, kind="stable").astype(np.int32)
    places = np.empty_like(ids)
    places[ids] = np.arange(len(ids), dtype=np.int32)
    terms = candidates.terms.take(ids)
    codes, n_characters = _numbered(terms.codes)
    n_lengths = int(lengths.max(initial=0)) + 2
    return Pool(
        codes=codes,
        starts=terms.starts,
        signatures=signatures(codes, terms.starts),
        length_starts=np.searchsorted(lengths[ids], np.arange(n_lengths)).astype(np.int64),
        components=candidates.components[ids],
        hashes=candidates.hashes[ids],
        ids=ids,
        places=places,
        n_characters=n_characters,
    )


def _numbered(codes: Codes) -> tuple[Codes, int]:
    """Return the characters as numbers from 0, the most frequent first, and how many there are."""
    counts = np.bincount(codes, minlength=1)
    by_frequency = np.argsort(-counts, kind="stable")
    n_characters = int(np.count_nonzero(counts))
    numbers = np.empty(len(counts), np.uint32)
    numbers[by_frequency] = np.arange(len(counts), dtype=np.uint32)
    return numbers[codes], max(1, n_characters)


def _no_candidates(capacity: Ids) -> Best:
    starts = np.zeros(len(capacity) + 1, np.int64)
    np.cumsum(capacity, out=starts[1:])
    return Best(
        starts=starts,
        counts=np.zeros(len(capacity), np.int32),
        ids=np.empty(starts[-1], np.int32),
        distances=np.empty(starts[-1], np.int32),
        ties=np.empty(starts[-1], np.uint64),
    )


def _trimmed(best: Best) -> Nearest:
    """Return the slots that are filled."""
    slot_of = np.repeat(best.starts[:-1], best.counts)
    starts = np.zeros_like(best.starts)
    np.cumsum(best.counts, out=starts[1:])
    slots = slot_of + np.arange(starts[-1]) - np.repeat(starts[:-1], best.counts)
    return Nearest(starts=starts, ids=best.ids[slots], distances=best.distances[slots])
