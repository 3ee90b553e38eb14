"""Baselines without a model: how similar two terms are by their spelling alone.

They show how much of a score needs no meaning. In results they are metrics of the embedding
"baseline".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cpdist

from medsim.core.terms import lowered_column, pack
from medsim.kernels.overlap import jaccard

if TYPE_CHECKING:
    from collections.abc import Callable

    from medsim.kernels.types import Hashes, Ids, Singles, Starts

_SUM_STEP = 5  # characters: the largest step that keeps all four shortcuts within 0.03 of 0.5
_PAIRS_A_TASK = 1 << 18
_TRIGRAM, _CODE_BITS = 3, 21  # bits of a code point


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
    rows = sides.to_frame("term").join(
        terms.to_frame("term").with_row_index("row"), on="term", how="left", maintain_order="left"
    )
    first, second = rows["row"].to_numpy().astype(np.int32).reshape(2, -1)
    lower = lowered_column(terms)
    distances = [np.empty(0, np.int32)]
    for begin in range(0, len(first), _PAIRS_A_TASK):
        part = slice(begin, begin + _PAIRS_A_TASK)
        left, right = (lower.gather(side[part]).to_list() for side in (first, second))
        distances.append(cpdist(left, right, scorer=Levenshtein.distance, dtype=np.int32))
    n_characters = lower.str.len_chars().to_numpy().astype(np.int32)
    return Spelling(
        terms=lower,
        first=first,
        second=second,
        lengths=np.array([n_characters[first], n_characters[second]]),
        distances=np.concatenate(distances),
    )


def strata_of_spelling(spelling: Spelling) -> Ids:
    """Return the stratum of each pair: int32[n_pairs], from 0 on.

    Pairs of a stratum have the same Levenshtein distance, the same difference of lengths, and sums
    of lengths in the same interval of 5 characters.
    """
    sizes = spelling.lengths.sum(axis=0)
    gaps = np.abs(spelling.lengths[0] - spelling.lengths[1])
    columns = {"distance": spelling.distances, "gap": gaps, "size": sizes // _SUM_STEP}
    numbered = pl.DataFrame(columns).select(pl.struct(pl.all()).rank("dense").cast(pl.Int32) - 1)
    strata: Ids = numbered.to_series().to_numpy()
    return strata


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
    starts = _starts(words.list.len())
    items = words.list.explode().drop_nulls().rank("dense").cast(pl.UInt64).to_numpy(writable=True)
    return _jaccard(items, starts, spelling)


def _trigram_overlap(spelling: Spelling) -> Singles:
    packed = pack("  " + spelling.terms + " ")
    codes = packed.codes.astype(np.uint64)
    begins = np.ones(len(codes), np.bool_)  # whether a trigram begins at each character
    for last in range(1, _TRIGRAM):
        begins[packed.starts[1:] - last] = False
    trigrams = np.zeros(len(codes), np.uint64)
    for place in range(_TRIGRAM):
        trigrams = (trigrams << np.uint64(_CODE_BITS)) | np.roll(codes, -place)
    starts = packed.starts - (_TRIGRAM - 1) * np.arange(len(packed.starts))
    return _jaccard(trigrams[begins], starts, spelling)


def _starts(sizes: pl.Series) -> Starts:
    starts: Starts = np.concatenate([[0], np.cumsum(sizes.to_numpy(), dtype=np.int64)])
    return starts


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
        similarities=_trigram_overlap,
    ),
    "word_overlap": Baseline(
        describes="Jaccard index of the sets of words", similarities=_word_overlap
    ),
}
"""The baselines by name."""
