"""Draws of pairs by hashes of their words, so that no draw depends on the order of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from medsim.core.terms import pack
from medsim.kernels.hashing import mixed, term_hashes, tie_hashes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.kernels.types import Hashes, Ids

_FEWEST_PAIRED = 2_048


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """Pairs of words.

    Attributes:
        firsts: int32[n_pairs], the word that is first in order of text.
        seconds: int32[n_pairs], the other.
    """

    firsts: Ids
    seconds: Ids

    def __len__(self) -> int:
        return len(self.firsts)

    def rows(self, rows: Sequence[int] | np.ndarray) -> Drawn:
        """Return the pairs at ``rows``, in that order."""
        return Drawn(firsts=self.firsts[rows], seconds=self.seconds[rows])


class Draw:
    """The draws of one seed among words that are each used a few times.

    Args:
        words: in order of text; a word's id is its place.
        seed: of all draws.
        per_word: how many pairs a word may be in, over all that are taken.
    """

    def __init__(self, words: Sequence[str], *, seed: int, per_word: int) -> None:
        packed = pack(words)
        self._hashes: Hashes = term_hashes(packed.codes, packed.starts)
        self._seed = np.uint64(seed)
        self._left = np.full(len(words), per_word, np.int64)

    def take(self, pairs: Drawn, wanted: int) -> np.ndarray:
        """Return the rows of at most ``wanted`` pairs, none of which uses a word too often.

        Pairs are taken in order of the hash of (seed, first word, second word).

        Args:
            pairs: no two are the same.
            wanted: how many at most.

        Returns:
            int64[n_taken].
        """
        order = np.argsort(self._ties(pairs, self._seed), kind="stable")
        ordered = pairs.rows(order)
        taken: list[int] = []
        sides = zip(ordered.firsts.tolist(), ordered.seconds.tolist(), strict=True)
        for at, (first, second) in enumerate(sides):
            if len(taken) == wanted:
                break
            if self._left[first] and self._left[second]:
                self._left[first] -= 1
                self._left[second] -= 1
                taken.append(at)
        return order[taken]

    def unassociated(self, words: Ids, associated: Drawn, wanted: int) -> Drawn:
        """Return all pairs of some words but those that are associated.

        Where there are many words, pairs are those of a sample of them, drawn by their hashes, that
        is large enough for what is wanted. Time and memory O(n_sampled ** 2).

        Args:
            words: int32[n_words].
            associated: what is left out.
            wanted: how many pairs will be taken.
        """
        ties = tie_hashes(self._seed, np.uint64(0), self._hashes[words])
        sampled = words[np.argsort(ties, kind="stable")][: max(_FEWEST_PAIRED, 2 * wanted)]
        sampled = np.sort(sampled)
        first, second = np.triu_indices(len(sampled), 1)
        pairs = Drawn(firsts=sampled[first], seconds=sampled[second])
        return pairs.rows(~np.isin(self._codes(pairs), self._codes(associated)))

    def shuffled(self, pairs: Drawn) -> np.ndarray:
        """Return the rows of pairs in an order drawn by other hashes than those of ``take``."""
        return np.argsort(self._ties(pairs, np.uint64(mixed(self._seed))), kind="stable")

    def _ties(self, pairs: Drawn, seed: np.uint64) -> Hashes:
        """Return the hash of each pair; they are grouped by their first words."""
        ties = np.empty(len(pairs), np.uint64)
        order = np.argsort(pairs.firsts, kind="stable")
        words, starts = np.unique(pairs.firsts[order], return_index=True)
        stops = [*starts[1:], len(order)]
        for word, start, stop in zip(words, starts, stops[: len(words)], strict=True):
            rows = order[start:stop]
            seconds = self._hashes[pairs.seconds[rows]]
            ties[rows] = tie_hashes(seed, self._hashes[word], seconds)
        return ties

    def _codes(self, pairs: Drawn) -> np.ndarray:
        """Return a number for each pair that no other has."""
        return pairs.firsts.astype(np.int64) * len(self._hashes) + pairs.seconds
