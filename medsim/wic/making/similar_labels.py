"""Pairs of terms whose labels are similar."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from medsim.core.terms import pack
from medsim.core.threads import in_threads
from medsim.kernels.edit_search import signatures
from medsim.kernels.indel import TermsByLength, search_alike_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.kernels.types import Places, Rows

_ROOM = 1 << 12
_TERMS_A_TASK = 256


def similar_label_pairs(terms: Sequence[str], *, threads: int = 1) -> Places:
    """Return all pairs of distinct terms in lower case whose ratio is above 0.75.

    The ratio is (|a| + |b| - d) / (|a| + |b|), lengths in code points, where d counts insertions
    and deletions, a substitution being one of each (Rouhizadeh et al. 2024). Every pair above it is
    found: pairs that are not compared cannot reach it. Threads never change the result.

    Returns:
        int64[n_pairs, 2], rows of terms, the smaller first, in order. Time O(n_terms^2) for
        signatures of 32 bytes; what they do not rule out is compared in O(length).
    """
    lengths = np.fromiter(map(len, terms), np.int64, len(terms))
    order = np.argsort(lengths, kind="stable")
    packed = pack([terms[row] for row in order])
    characters, numbers = np.unique(packed.codes, return_inverse=True)
    codes = numbers.astype(np.uint32)
    laid = TermsByLength(
        codes=codes,
        starts=packed.starts,
        signatures=signatures(codes, packed.starts),
        n_characters=len(characters),
    )
    tasks = range(int(np.count_nonzero(lengths == 0)), len(terms), _TERMS_A_TASK)
    found = in_threads(threads, partial(_searched, laid), tasks)
    places = np.concatenate(found) if found else np.empty((0, 2), np.int64)
    pairs = np.sort(order[places], axis=1)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _searched(laid: TermsByLength, first: int) -> Places:
    """Return the pairs of one task, int64[n_pairs, 2]; searched again where there was no room."""
    stop = min(first + _TERMS_A_TASK, len(laid.starts) - 1)
    room = _ROOM
    while True:
        firsts: Rows = np.empty(room, np.int64)
        seconds: Rows = np.empty(room, np.int64)
        n_found = search_alike_pairs(laid, first, stop, firsts, seconds)
        if n_found <= room:
            return np.stack([firsts[:n_found], seconds[:n_found]], axis=1)
        room = n_found
