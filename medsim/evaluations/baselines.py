"""Baselines without a model: how similar two terms are by their spelling alone.

They show how much of a score needs no meaning. In results they are metrics of the embedding
"baseline".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from medsim.builds.positives import numbers_of, pair_distances
from medsim.core.terms import lowered_column, trigrams_of
from medsim.kernels.sparse import jaccard
from medsim.kernels.types import Hashes, Ids, Singles, Starts, starts_of

_SUM_STEP = 5  # characters: the largest step that keeps all four shortcuts within 0.03 of 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """The spelling of pairs of terms, in lower case.

    Attributes:
        terms: the distinct terms.
        first: int32[n_pairs], the row of each pair's first term.
        second: int32[n_pairs].
        lengths: int32[2, n_pairs], the numbers of characters of both terms.
        distances: int32[n_pairs], Levenshtein distances in characters.
    """

    terms: pl.Series
    first: Ids
    second: Ids
    lengths: Ids
    distances: Ids


def spelling_of(pairs: pl.DataFrame) -> Spelling:
    """Return the spelling of pairs with the columns term1 and term2."""
    sides = pl.concat([pairs["term1"], pairs["term2"].alias("term1")])
    terms = sides.unique(maintain_order=True)
    first, second = numbers_of(sides, terms).to_numpy().reshape(2, -1)
    lower = lowered_column(terms)
    distances = pair_distances(lower, pl.Series(first), pl.Series(second), threads=1)
    n_characters = lower.str.len_chars().to_numpy().astype(np.int32)
    return Spelling(
        terms=lower,
        first=first,
        second=second,
        lengths=np.array([n_characters[first], n_characters[second]]),
        distances=distances.to_numpy(),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """A baseline.

    Attributes:
        describes: its similarity in a few words, for help and reports.
        similarities: returns float32[n_pairs], larger for more similar terms.
    """

    describes: str
    similarities: Callable[[Spelling], Singles]


def _word_overlap(spelling: Spelling) -> Singles:
    words = spelling.terms.str.extract_all(r"\S+")
    starts = starts_of(words.list.len().to_numpy())
    items = words.list.explode().drop_nulls().rank("dense").cast(pl.UInt64).to_numpy(writable=True)
    return _jaccard(items, starts, spelling)


def _jaccard(items: Hashes, starts: Starts, spelling: Spelling) -> Singles:
    return jaccard(items, starts, spelling.first, spelling.second).astype(np.float32)


BASELINES = {
    "distance": Baseline(
        describes="a smaller Levenshtein distance counts as more similar",
        similarities=lambda spelling: -spelling.distances.astype(np.float32),
    ),
    "distance_reversed": Baseline(
        describes="a larger Levenshtein distance counts as more similar",
        similarities=lambda spelling: spelling.distances.astype(np.float32),
    ),
    "length": Baseline(
        describes="a smaller difference of lengths counts as more similar",
        similarities=lambda spelling: (
            -np.abs(np.diff(spelling.lengths, axis=0)[0]).astype(np.float32)
        ),
    ),
    "trigram_overlap": Baseline(
        describes="Jaccard index of the sets of three adjacent characters",
        similarities=lambda spelling: _jaccard(*trigrams_of("  " + spelling.terms + " "), spelling),
    ),
    "word_overlap": Baseline(
        describes="Jaccard index of the sets of words", similarities=_word_overlap
    ),
}
"""The baselines by name."""
