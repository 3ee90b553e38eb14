"""The spelling of pairs of terms, as numbers that name no letter and no word."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
from rapidfuzz.distance import LCSseq, Levenshtein, Postfix, Prefix
from rapidfuzz.process import cpdist

from medsim.builds.positives import pair_distances
from medsim.core.terms import content_hashes, lowered_column, numbers_of, trigrams_of
from medsim.kernels.components import components
from medsim.kernels.packing import tie_hashes
from medsim.kernels.sparse import set_overlaps, sort_sets
from medsim.kernels.types import (
    Flags,
    FloatTable,
    Ids,
    Singles,
    Starts,
    Values,
    Vectors,
    starts_of,
)
from medsim.statistics.boosting import CrossFitted

_SUM_STEP = 5  # characters: the largest step that keeps all four shortcuts within 0.03 of 0.5
_WORD = r"[\p{L}\p{N}]+"
_AT_ONCE = 1 << 17  # pairs; the first so many train the classifier
_DRAW = np.uint64(0)
_LARGE = 0.001  # of the positives
_FEW = 32_000  # positives


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """The spelling of pairs of terms, in lower case.

    Attributes:
        terms: the distinct terms.
        first: int32[n_pairs], the row of each pair's first term.
        second: int32[n_pairs].
        lengths: int32[2, n_pairs], the numbers of characters of both terms.
        distances: int32[n_pairs], Levenshtein distances in characters.
        learned: float32[n_pairs], the log odds of ``learned_scores``; NaN where these are unknown.
    """

    terms: pl.Series
    first: Ids
    second: Ids
    lengths: Ids
    distances: Ids
    learned: Singles


def spelling_of(pairs: pl.DataFrame) -> Spelling:
    """Return the spelling of pairs with the columns term1 and term2, and spelling if learned."""
    sides = pl.concat([pairs["term1"], pairs["term2"].alias("term1")])
    terms = sides.unique(maintain_order=True)
    first, second = numbers_of(sides, terms).to_numpy().reshape(2, -1)
    lower = lowered_column(terms)
    distances = pair_distances(lower, pl.Series(first), pl.Series(second), threads=1)
    learned = pairs.get_column("spelling", default=pl.repeat(None, pairs.height, eager=True))
    n_characters = lower.str.len_chars().to_numpy().astype(np.int32)
    return Spelling(
        terms=lower,
        first=first,
        second=second,
        lengths=np.array([n_characters[first], n_characters[second]]),
        distances=distances.to_numpy(),
        learned=learned.cast(pl.Float32).fill_null(np.nan).to_numpy(),
    )


def strata_of_spelling(spelling: Spelling) -> Ids:
    """Return the stratum of each pair: int32[n_pairs], from 0 on.

    Pairs of a stratum have the same Levenshtein distance, the same difference of lengths, and sums
    of lengths in the same interval of 5 characters.
    """
    sizes = spelling.lengths.sum(axis=0)
    gaps = np.abs(spelling.lengths[0] - spelling.lengths[1])
    keys = np.array([spelling.distances, gaps, sizes // _SUM_STEP], np.int64)
    n_values = keys.max(axis=1, initial=0) + 1
    strata = np.unique(np.ravel_multi_index(tuple(keys), n_values), return_inverse=True)[1]
    return strata.astype(np.int32)


class Fragments:
    """The trigrams or the words of terms, and how rare they are.

    Attributes:
        items: int32[n_items], those of term ``i`` are ``items[starts[i]:starts[i + 1]]``.
        starts: int64[n_terms + 1].
        rarity: float64[n_distinct], about the binary logarithm of terms per occurrence.
    """

    def __init__(self, fragments: pl.Series, starts: Starts) -> None:
        self.items, self.starts = fragments.rank("dense").to_numpy().astype(np.int32) - 1, starts
        sort_sets(self.items, starts)
        counts = np.bincount(self.items)
        # Rounded, as logarithms may differ in the last digit between processors.
        self.rarity: Values = np.log2(1 + (len(starts) - 1) / counts).round(6).astype(np.float64)

    @classmethod
    def trigrams(cls, terms: pl.Series) -> Fragments:
        """Return the sequences of three characters of terms with blanks around them."""
        trigrams, starts = trigrams_of("  " + terms + " ")
        return cls(pl.Series(trigrams), starts)

    @classmethod
    def words(cls, terms: pl.Series, pattern: str) -> Fragments:
        """Return the matches of a pattern in terms."""
        words = terms.str.extract_all(pattern)
        return cls(words.list.explode().drop_nulls(), starts_of(words.list.len().to_numpy()))

    def overlap(self, first: Ids, second: Ids) -> FloatTable:
        """Return what pairs of terms share, and what only the first or the second has.

        Args:
            first: int32[n_pairs], the row of each pair's first term.
            second: int32[n_pairs].

        Returns:
            float64[8, n_pairs], sums of rarities, the largest, and counts, see
            ``medsim.kernels.sparse.set_overlaps``.
        """
        return set_overlaps(self.items, self.starts, first, second, self.rarity)

    def jaccard(self, first: Ids, second: Ids, *, rare: bool = False) -> Values:
        """Return the share of what the terms of pairs share, 0 if they have nothing."""
        overlap = self.overlap(first, second)
        return _share(*overlap[:3] if rare else overlap[5:])


def _share(both: Values, *others: Values) -> Values:
    """Return ``both`` as a share of the sum of it and ``others``; 0 if that is 0."""
    total = both + sum(others)
    return np.divide(both, total, out=np.zeros_like(both), where=total > 0)


class SpellingFeatures:
    """What a classifier sees of the spelling of pairs, without letters and words.

    Args:
        terms: distinct terms in lower case. The rarity of trigrams and words is among these.
    """

    def __init__(self, terms: pl.Series) -> None:
        self.terms = terms
        self.trigrams, self.words = Fragments.trigrams(terms), Fragments.words(terms, _WORD)
        words = terms.str.extract_all(_WORD)
        self._sorted = words.list.sort().list.join(" ")
        self._letters = words.list.join("")
        self._initials = words.list.eval(pl.element().str.slice(0, 1)).list.join("")
        self._digits = terms.str.replace_all(r"\P{N}+", "")
        self._lengths = terms.str.len_chars().to_numpy().astype(np.float32)
        self._n_digits = self._digits.str.len_chars().to_numpy().astype(np.float32)

    def of(self, first: Ids, second: Ids) -> Vectors:
        """Return the features of pairs of rows of ``terms``: float32[n_features, n_pairs]."""
        ends = (first, second)
        texts = [self.terms.gather(end).to_list() for end in ends]
        in_order = [self._sorted.gather(end).to_list() for end in ends]
        measured = partial(cpdist, dtype=np.int32, workers=1)
        sizes = np.array([self._lengths[end] for end in ends])
        shortest, longest = np.maximum(sizes.min(axis=0), 1), np.maximum(sizes.max(axis=0), 1)
        distance = measured(*texts, scorer=Levenshtein.distance)
        common = measured(*texts, scorer=LCSseq.similarity)
        rare_trigrams, trigrams = np.split(self.trigrams.overlap(*ends), [5])
        rare_words, words = np.split(self.words.overlap(*ends), [5])
        letters, initials, digits = (
            [column.gather(end) for end in ends]
            for column in (self._letters, self._initials, self._digits)
        )
        is_short = (letters[0] == initials[1]) | (letters[1] == initials[0])
        n_digits = np.subtract(*(self._n_digits[end] for end in ends))
        features = [
            distance,
            distance / longest,
            np.diff(sizes, axis=0)[0],
            sizes.sum(axis=0),
            common / longest,
            common / shortest,
            measured(*in_order, scorer=Levenshtein.distance) / longest,
            measured(*texts, scorer=Prefix.similarity),
            measured(*texts, scorer=Postfix.similarity),
            is_short.to_numpy(),
            (digits[0] == digits[1]).to_numpy(),
            np.abs(n_digits),
            _share(*trigrams),
            _share(*rare_trigrams[:3]),
            *rare_trigrams[1:],
            _share(*words),
            *words[1:],
            _share(*rare_words[:3]),
            *rare_words,
            words[1] - words[2],
            rare_trigrams[3] + rare_trigrams[4],
            rare_words[3:].min(axis=0),
            *(of_both[1] + of_both[2] for of_both in (words, rare_words, rare_trigrams)),
            rare_words[3] + rare_words[4],
            rare_words[3:].max(axis=0),
        ]
        return np.array(features, np.float32)


def terminology_parts(
    spelling: Spelling, labels: Flags, seed: int = 0, n_parts: int | None = None
) -> Ids:
    """Return the part of the terminology of each pair's first term: int32[n_pairs], from 0 on.

    Terms that positives connect, directly or through others, are in the same part. A hash of the
    terms and the seed decides which, except for groups of terms with more than 0.1% of the
    positives. These come first, the largest first, each in the part with the fewest positives so
    far, because the classifier depends on which of them are together.

    Args:
        spelling: the pairs.
        labels: bool[n_pairs], true for positives.
        seed: random seed.
        n_parts: number of parts; by default two, or five with fewer than 32,000 positives, since
            half of these are too few to learn from.
    """
    n_parts = n_parts or (5 if np.count_nonzero(labels) < _FEW else 2)
    connected = components(len(spelling.terms), spelling.first[labels], spelling.second[labels])
    smallest = np.full(len(connected), np.iinfo(np.uint64).max)
    np.minimum.at(smallest, connected, content_hashes(spelling.terms))
    drawn = tie_hashes(np.uint64(seed), _DRAW, smallest)
    parts = (drawn % np.uint64(n_parts)).astype(np.int32)
    n_positives = np.bincount(connected[spelling.first[labels]], minlength=len(connected))
    large = np.flatnonzero(n_positives > _LARGE * labels.sum())
    dealt = np.zeros(n_parts, np.int64)
    for group in large[np.lexsort((smallest[large], -n_positives[large]))]:
        parts[group] = dealt.argmin()
        dealt[parts[group]] += n_positives[group]
    return parts[connected[spelling.first]]


def learned_scores(spelling: Spelling, labels: Flags, parts: Ids, seed: int = 0) -> Values:
    """Return how alike a spelling classifier takes the terms of pairs to be, cross-fitted.

    Pairs of a part are scored by a classifier that learned positives and negatives of the others.

    Args:
        spelling: the pairs.
        labels: bool[n_pairs], true for positives.
        parts: int32[n_pairs], the part of each pair, from 0 on.
        seed: random seed, which draws the pairs to learn from if there are more than 131,072.

    Returns:
        float64[n_pairs], log odds.
    """
    features, first, second = SpellingFeatures(spelling.terms), spelling.first, spelling.second
    hashes = content_hashes(spelling.terms)
    order = np.argsort(tie_hashes(np.uint64(seed), hashes[first], hashes[second]), kind="stable")
    scores = np.empty(len(order))
    fitted = None
    for begin in range(0, len(order), _AT_ONCE):
        rows = order[begin : begin + _AT_ONCE]
        of_rows = features.of(first[rows], second[rows])
        fitted = fitted or CrossFitted(of_rows, labels[rows], parts[rows], 1 + parts.max())
        scores[rows] = fitted.log_odds(of_rows, parts[rows])
    return scores
