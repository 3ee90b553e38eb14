"""All pairs of terms within a small edit distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.core.config import in_threads
from medsim.kernels.edit_search import TermsByLength, signatures
from medsim.kernels.near_pairs import MATCH, QUERY, Join, near_pairs_of
from medsim.neighbours.search import by_length

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
