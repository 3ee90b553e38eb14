"""All pairs of terms within a small edit distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.core.config import in_threads
from medsim.core.terms import pack
from medsim.kernels.edit_search import TermsByLength, signatures
from medsim.kernels.near_pairs import MATCH, QUERY, Join, Pairs, find_near_pairs
from medsim.neighbours.search import number_characters

if TYPE_CHECKING:
    import polars as pl

    from medsim.kernels.types import Bytes, Ranks

_TERMS_AT_ONCE = 1 << 15  # so that an interrupt does not wait for long


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
    sizes = terms.str.len_chars().to_numpy()
    order = np.argsort(sizes, kind="stable").astype(np.int32)
    packed = pack(terms.gather(order))
    n_characters = len(number_characters(packed.codes))
    laid = TermsByLength(
        codes=packed.codes,
        starts=packed.starts,
        signatures=signatures(packed.codes, packed.starts),
        n_characters=n_characters,
    )
    longest = int(sizes.max(initial=0))
    lengths = np.searchsorted(sizes[order], np.arange(longest + 2)).astype(np.int32)
    both = np.full(len(terms), QUERY | MATCH, np.uint8)
    task = Join(laid, both if sides is None else sides[order], lengths, limit)

    def search(length: int, begin: int) -> Ranks:
        n_slots = _TERMS_AT_ONCE
        while True:
            pairs = Pairs(np.empty((3, n_slots), np.int32), np.zeros(1, np.int64))
            find_near_pairs(task, length, begin, begin + _TERMS_AT_ONCE, pairs)
            n_pairs = int(pairs.counts[0])
            if n_pairs <= n_slots:
                return pairs.slots[:, :n_pairs].copy()
            n_slots = n_pairs

    parts_of = [
        (length, begin)
        for length in np.flatnonzero(np.diff(lengths)).tolist()
        for begin in range(
            lengths[length], lengths[min(length + limit, longest) + 1], _TERMS_AT_ONCE
        )
    ]
    parts = in_threads(threads, search, *zip(*parts_of, strict=True)) if parts_of else []
    found = np.concatenate([np.empty((3, 0), np.int32), *parts], axis=1)
    rows = np.sort(order[found[:2]], axis=0)
    by_row = np.lexsort((rows[1], rows[0]))
    return np.vstack([rows, found[2:]])[:, by_row]
