"""Equal quarters of word pairs: biomedical or general, associated or not.

Pairs are drawn by hashes of their words, so that no draw depends on the order of rows. They are
frames with word1_id and word2_id, of which the first word is the first in order of text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.terms import pack
from medsim.kernels.hashing import mixed, term_hashes, tie_hashes
from medsim.studies.words.domains import DOMAINS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from medsim.kernels.types import Counts, Hashes, Ids

RANDOM = "random"
"""The reason of pairs that nothing associates."""

PAIR = ("word1_id", "word2_id")

_FEWEST_PAIRED = 2_048


class Quarters:
    """The pairs that quarters are drawn from.

    Args:
        words: word and domain, in order of word; a word's id is its row.
        associated: word1_id, word2_id and reason of the associated pairs that each domain has, if
            their words are both of that domain; a domain that is missing has no such quarter.
        known: word1_id and word2_id of all pairs that are associated or related in any way.
        seed: of the draws.
        per_word: how many pairs a word may be in, in all quarters together.
    """

    def __init__(
        self,
        words: pl.DataFrame,
        associated: Mapping[str, pl.DataFrame],
        known: pl.DataFrame,
        *,
        seed: int,
        per_word: int,
    ) -> None:
        packed = pack(words["word"].to_list())
        self._hashes: Hashes = term_hashes(packed.codes, packed.starts)
        self._known = self._codes(known)
        self._seed = np.uint64(seed)
        self._per_word = per_word
        self._ids = {
            domain: np.flatnonzero(words["domain"].to_numpy() == domain).astype(np.int32)
            for domain in DOMAINS
        }
        self._associated = {
            domain: frame.filter(
                pl.all_horizontal(pl.col(PAIR).is_in(pl.Series(self._ids[domain]).implode()))
            )
            for domain, frame in associated.items()
        }

    def draw(self, n_pairs: int) -> dict[tuple[str, bool], pl.DataFrame]:
        """Return at most ``n_pairs`` of each quarter, by domain and whether they are associated.

        Returns:
            word1_id, word2_id, reason; no pair is there twice.
        """
        left = np.full(len(self._hashes), self._per_word)
        found = {
            (domain, True): self._take(frame, n_pairs, left)
            for domain, frame in self._associated.items()
        }
        for domain, ids in self._ids.items():
            pairs = self._take(self.unassociated(ids, n_pairs), n_pairs, left)
            found[domain, False] = pairs.with_columns(pl.lit(RANDOM).alias("reason"))
        return found

    def largest(self, n_pairs: int) -> int:
        """Return how many pairs all quarters can have, at most ``n_pairs``."""
        while n_pairs:
            fewest = min(frame.height for frame in self.draw(n_pairs).values())
            if fewest == n_pairs:
                break
            n_pairs = fewest
        return n_pairs

    def in_order(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """Return pairs in an order drawn by other hashes than those that drew them."""
        return pairs[self._order(pairs, np.uint64(mixed(self._seed)))]

    def unassociated(self, words: Ids, wanted: int) -> pl.DataFrame:
        """Return all pairs of some words but those that are known.

        Where there are many words, pairs are those of a sample of them, drawn by their hashes, that
        is large enough to take ``wanted`` pairs of. Time and memory O(n_sampled ** 2).
        """
        ties = tie_hashes(self._seed, np.uint64(0), self._hashes[words])
        sampled = words[np.argsort(ties, kind="stable")][: max(_FEWEST_PAIRED, 2 * wanted)]
        sampled = np.sort(sampled)
        sides = np.triu_indices(len(sampled), 1)
        pairs = pl.DataFrame([sampled[side] for side in sides], PAIR)
        return pairs.filter(~np.isin(self._codes(pairs), self._known))

    def _take(self, pairs: pl.DataFrame, wanted: int, left: Counts) -> pl.DataFrame:
        """Return at most ``wanted`` pairs, and count their words off what is left of each.

        Pairs, no two of them the same, are taken in order of the hash of (seed, first word, second
        word).
        """
        ordered = pairs[self._order(pairs, self._seed)]
        taken: list[int] = []
        for at, (first, second) in enumerate(ordered.select(PAIR).iter_rows()):
            if len(taken) == wanted:
                break
            if left[first] and left[second]:
                left[first] -= 1
                left[second] -= 1
                taken.append(at)
        return ordered[taken]

    def _order(self, pairs: pl.DataFrame, seed: np.uint64) -> np.ndarray:
        """Return the rows of pairs in order of their hashes."""
        firsts, seconds = (pairs[side].to_numpy() for side in PAIR)
        ties = np.empty(len(pairs), np.uint64)
        grouped = np.argsort(firsts, kind="stable")
        words, starts = np.unique(firsts[grouped], return_index=True)
        for word, rows in zip(words, np.split(grouped, starts[1:]), strict=False):
            ties[rows] = tie_hashes(seed, self._hashes[word], self._hashes[seconds[rows]])
        return np.argsort(ties, kind="stable")

    def _codes(self, pairs: pl.DataFrame) -> np.ndarray:
        """Return a number for each pair that no other has."""
        firsts, seconds = (pairs[side].to_numpy().astype(np.int64) for side in PAIR)
        codes: np.ndarray = firsts * len(self._hashes) + seconds
        return codes
