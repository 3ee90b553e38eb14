"""Equal quarters of word pairs: biomedical or general, associated or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.studies.words.domains import DOMAINS
from medsim.studies.words.draws import Draw, Drawn

if TYPE_CHECKING:
    from collections.abc import Mapping

RANDOM = "random"
"""The reason of pairs that nothing associates."""


class Quarters:
    """The pairs that quarters are drawn from.

    Args:
        words: word and domain, in order of word; a word's id is its place.
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
        self._words = words
        self._known = _drawn(known)
        self._seed = seed
        self._per_word = per_word
        self._ids = {
            domain: np.flatnonzero(words["domain"].to_numpy() == domain).astype(np.int32)
            for domain in DOMAINS
        }
        self._associated = {
            domain: frame.filter(
                pl.all_horizontal(
                    pl.col("word1_id", "word2_id").is_in(pl.Series(self._ids[domain]).implode())
                )
            )
            for domain, frame in associated.items()
        }

    def draw(self, n_pairs: int) -> dict[tuple[str, bool], pl.DataFrame]:
        """Return at most ``n_pairs`` of each quarter, by domain and whether they are associated.

        Returns:
            word1_id, word2_id, reason; no pair is there twice.
        """
        words = self._words["word"].to_list()
        draw = Draw(words, seed=self._seed, per_word=self._per_word)
        found = {}
        for domain, frame in self._associated.items():
            taken = draw.take(_drawn(frame), n_pairs)
            found[domain, True] = frame[taken]
        for domain, ids in self._ids.items():
            pairs = draw.unassociated(ids, self._known, n_pairs)
            found[domain, False] = _frame(pairs.rows(draw.take(pairs, n_pairs)))
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
        """Return pairs in an order drawn from the seed."""
        words = self._words["word"].to_list()
        draw = Draw(words, seed=self._seed, per_word=self._per_word)
        return pairs[draw.shuffled(_drawn(pairs))]


def _drawn(frame: pl.DataFrame) -> Drawn:
    return Drawn(
        firsts=frame["word1_id"].to_numpy().astype(np.int32),
        seconds=frame["word2_id"].to_numpy().astype(np.int32),
    )


def _frame(pairs: Drawn) -> pl.DataFrame:
    return pl.DataFrame({"word1_id": pairs.firsts, "word2_id": pairs.seconds}).with_columns(
        pl.lit(RANDOM).alias("reason")
    )
