"""Baselines without a model: how similar two terms are by their spelling alone.

They show how much of a score needs no meaning. In results they are metrics of the embedding
"baseline".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from medsim.builds.spelling import Parts, Spelling
from medsim.kernels.types import Singles


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """A baseline.

    Attributes:
        describes: its similarity in a few words, for help and reports.
        similarities: returns float32[n_pairs], larger for more similar terms.
    """

    describes: str
    similarities: Callable[[Spelling], Singles]


def _jaccard(parts: Parts, spelling: Spelling, *, rare: bool = False) -> Singles:
    return parts.jaccard(spelling.first, spelling.second, rare=rare).astype(np.float32)


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
        similarities=lambda spelling: _jaccard(Parts.trigrams(spelling.terms), spelling),
    ),
    "rare_trigram_overlap": Baseline(
        describes="Jaccard index of the same sets, in which rarer ones count more",
        similarities=lambda spelling: _jaccard(Parts.trigrams(spelling.terms), spelling, rare=True),
    ),
    "word_overlap": Baseline(
        describes="Jaccard index of the sets of words",
        similarities=lambda spelling: _jaccard(Parts.words(spelling.terms, r"\S+"), spelling),
    ),
}
"""The baselines by name."""
