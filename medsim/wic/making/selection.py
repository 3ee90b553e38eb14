"""Selects candidate instances in the order of their draws, window by window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from medsim.kernels.instances import pairs_between, take_in_order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from medsim.kernels.types import Counts, Flags, Hashes, Ids, Places
    from medsim.wic.making.candidates import Blocks

_DRAWS = 1 << 64
_FIRST_WINDOW, _LAST_WINDOW = 1 << 14, 1 << 21  # expected pairs; a pair takes 32 bytes
_DEVIATIONS = 8  # room for so many more than expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Instances in the order of their draws.

    Attributes:
        mentions: int64[n, 2], rows of mentions, the smaller first.
        terms: int32[n], the pair of terms of each.
        draws: uint64[n].
    """

    mentions: Places
    terms: Ids
    draws: Hashes

    def __len__(self) -> int:
        return len(self.draws)

    def rows(self, rows: np.ndarray | slice) -> Selection:
        """Return the instances at ``rows``, in that order, or where a flag is set."""
        return Selection(
            mentions=self.mentions[rows], terms=self.terms[rows], draws=self.draws[rows]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """Mentions and pairs of terms that are used up; selecting instances writes to it.

    Attributes:
        mentions: int64[n_mentions], how often each was used.
        most: how often a mention may be used.
        terms: bool[n_pairs_of_terms], those that may not be used again; None where all may.
    """

    mentions: Counts
    most: int
    terms: Flags | None


def select(
    blocks: Blocks,
    hashes: Hashes,
    seed: int,
    uses: Uses,
    wanted: int,
    before: Selection | None = None,
) -> Selection:
    """Return the first instances in the order of their draws that may be selected.

    The draw of an instance is a hash of the seed and of the content of its two mentions. So
    neither the order of rows nor threads decide which are selected.

    ``hashes`` are uint64[n_mentions], see ``medsim.wic.making.mentions.content_hashes``. At most
    ``wanted`` are selected, and none of those ``before``; ``uses`` is written.
    """
    found: list[Selection] = []
    n_left = wanted
    known = None if before is None else _keys(before, len(hashes))
    for window in _windows(blocks, hashes, seed, uses):
        if n_left == 0:
            break
        fresh = window
        if known is not None:
            fresh = window.rows(~np.isin(_keys(window, len(hashes)), known))
        terms = fresh.terms if uses.terms is not None else np.full(len(fresh), -1, np.int32)
        used = uses.terms if uses.terms is not None else np.zeros(0, np.bool_)
        rows = take_in_order(fresh.mentions, terms, uses.mentions, uses.most, used, n_left)
        found.append(fresh.rows(rows))
        n_left -= len(rows)
    return joined(found)


def joined(parts: list[Selection]) -> Selection:
    """Return instances one after the other."""
    return Selection(
        mentions=np.concatenate([np.empty((0, 2), np.int64), *(one.mentions for one in parts)]),
        terms=np.concatenate([np.empty(0, np.int32), *(one.terms for one in parts)]),
        draws=np.concatenate([np.empty(0, np.uint64), *(one.draws for one in parts)]),
    )


def _windows(blocks: Blocks, hashes: Hashes, seed: int, uses: Uses) -> Iterator[Selection]:
    """Yield instances of blocks in the order of their draws, some at a time.

    Those whose pair of terms is used up are left out from the next window on; so the few pairs of
    terms that most instances have do not stand in the way of the others.
    """
    low, size = 0, _FIRST_WINDOW
    while low < _DRAWS:
        if uses.terms is not None:
            blocks = blocks.take(~uses.terms[blocks.terms])
        total = int(blocks.n_pairs.sum())
        if not total:
            break
        high = min(_DRAWS, low + -(-_DRAWS * size // total))
        yield _between(blocks, hashes, seed, low, high)
        low, size = high, min(2 * size, _LAST_WINDOW)


def _between(blocks: Blocks, hashes: Hashes, seed: int, low: int, high: int) -> Selection:
    """Return the instances whose draws are at least ``low`` and below ``high``, in order."""
    span = np.array([low, high - 1], np.uint64)
    expected = float(blocks.n_pairs.sum()) * (high - low) / _DRAWS
    room = int(expected + _DEVIATIONS * (expected**0.5 + 1))
    while True:
        pairs = np.empty((room, 3), np.int64)
        draws = np.empty(room, np.uint64)
        n_found = pairs_between(blocks.places, hashes, np.uint64(seed), span, pairs, draws)
        if n_found <= room:
            break
        room = n_found
    pairs, draws = pairs[:n_found], draws[:n_found]
    order = np.lexsort((pairs[:, 2], pairs[:, 1], draws))
    pairs = pairs[order]
    return Selection(mentions=pairs[:, 1:], terms=blocks.terms[pairs[:, 0]], draws=draws[order])


def _keys(drawn: Selection, n_mentions: int) -> Counts:
    """Return a number of each pair of mentions, int64[n]."""
    return drawn.mentions[:, 0] * n_mentions + drawn.mentions[:, 1]
