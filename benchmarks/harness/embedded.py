"""Invented embeddings: terms of words with natural frequencies, or terms of one vector each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from medsim.embeddings.metrics import TermPoints, WordBags

if TYPE_CHECKING:
    from medsim.kernels.types import Ids, Vectors

_MOST_WORDS = 8  # in a term
_TERMS_A_FAMILY, _FAMILIES_A_FIELD = 4, 50
_OF_FAMILY, _OF_TERM = 0.6, 0.4  # distances from a family's field, and a term's family


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """The sizes of invented data.

    Attributes:
        n_pairs: pairs of terms.
        n_terms: distinct terms.
        n_words: words of the vocabulary.
        n_dimensions: dimensions of every vector.
    """

    n_pairs: int
    n_terms: int
    n_words: int
    n_dimensions: int


def invented_pairs(sizes: Sizes, seed: int = 0) -> tuple[Ids, Ids]:
    """Return the first and the second terms of pairs: int32[n_pairs] each."""
    rng = np.random.default_rng([seed, 0])
    first, second = rng.integers(0, sizes.n_terms, (2, sizes.n_pairs), np.int32)
    return first, second


def invented_bags(sizes: Sizes, seed: int = 0) -> WordBags:
    """Return terms of 1 to 8 words; word frequencies follow Zipf's law."""
    rng = np.random.default_rng([seed, 1])
    lengths = rng.integers(1, _MOST_WORDS + 1, sizes.n_terms)
    starts = np.zeros(sizes.n_terms + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    weights = 1 / np.arange(1, sizes.n_words + 1)
    words = rng.choice(sizes.n_words, starts[-1], p=weights / weights.sum()).astype(np.int32)
    vectors = rng.standard_normal((sizes.n_words, sizes.n_dimensions), np.float32)
    return WordBags(vectors=vectors, words=words, starts=starts)


def invented_points(sizes: Sizes, seed: int = 0) -> TermPoints:
    """Return terms of one vector each."""
    rng = np.random.default_rng([seed, 2])
    return TermPoints(vectors=rng.standard_normal((sizes.n_terms, sizes.n_dimensions), np.float32))


def invented_families(sizes: Sizes, seed: int = 0) -> tuple[Vectors, Ids]:
    """Return vectors of terms near their family, with families near their field.

    Returns:
        float32[n_terms, n_dimensions], and the family of each term, ascending: int32[n_terms].
    """
    rng = np.random.default_rng([seed, 3])
    families = np.arange(sizes.n_terms, dtype=np.int32) // _TERMS_A_FAMILY
    n_families = int(families[-1]) + 1
    n_fields = n_families // _FAMILIES_A_FIELD + 1
    fields = rng.integers(0, n_fields, n_families)
    centres = rng.standard_normal((n_fields, sizes.n_dimensions), np.float32)
    of_families = centres[fields]
    of_families += _OF_FAMILY * rng.standard_normal(of_families.shape, np.float32)
    vectors = of_families[families]
    vectors += _OF_TERM * rng.standard_normal(vectors.shape, np.float32)
    return vectors, families
