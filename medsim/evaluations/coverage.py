"""The terms and pairs that embeddings cover, and the overlap of their vocabularies."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.evaluations.output import COVERAGE_COLUMNS, OVERLAP_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from medsim.evaluations.inputs import EvaluationInput
    from medsim.kernels.types import Flags


def coverage_of(
    one: EvaluationInput,
    covered: Mapping[str, Flags],
    terms: Mapping[str, pl.DataFrame],
) -> pl.DataFrame:
    """Return ``COVERAGE_COLUMNS``: terms and pairs of each set that embeddings lack (table A.1).

    Pairs in common are those that all embeddings cover. By embedding, ``covered`` has whether both
    terms of each pair have vectors, bool[n_pairs], and ``terms`` has ``TERM_COLUMNS``.
    """
    common = np.logical_and.reduce(list(covered.values()))
    lacking = {
        embedding: frame.filter(~pl.col("covered"))["term"] for embedding, frame in terms.items()
    }
    rows = []
    for pair_set in one.sets():
        of_set = one.pairs[pair_set.rows]
        in_set = pl.concat([of_set["term1"], of_set["term2"]]).unique()
        rows += [
            {
                "input": one.name,
                **pair_set.named(),
                "embedding": embedding,
                "n_terms": len(in_set),
                "n_terms_uncovered": int(in_set.is_in(lacking[embedding].implode()).sum()),
                "n_pairs": len(pair_set.rows),
                "n_pairs_uncovered": int(np.count_nonzero(~has[pair_set.rows])),
                "n_pairs_common": int(np.count_nonzero(common[pair_set.rows])),
            }
            for embedding, has in covered.items()
        ]
    return pl.DataFrame(rows, schema=COVERAGE_COLUMNS, orient="row")


def overlap_of(
    name: str, terms: Mapping[str, pl.DataFrame], words: Mapping[str, pl.DataFrame]
) -> pl.DataFrame:
    """Return the overlap of vocabularies, as far as an input uses them (table A.2).

    Two word embeddings are compared by the words of the input's terms that they know, ignoring
    case, others by the terms that they cover. Returned are ``OVERLAP_COLUMNS``.
    """
    known_words = {one: set(frame["word"].str.to_lowercase()) for one, frame in words.items()}
    known_terms = {one: set(frame.filter("covered")["term"]) for one, frame in terms.items()}
    rows = []
    for left, right in combinations(terms, 2):
        of_words = bool(known_words[left] and known_words[right])
        known = known_words if of_words else known_terms
        n_left, n_right = len(known[left]), len(known[right])
        n_both = len(known[left] & known[right])
        rows.append(
            {
                "input": name,
                "of": "words" if of_words else "terms",
                "embedding1": left,
                "embedding2": right,
                "n1": n_left,
                "n2": n_right,
                "n_both": n_both,
                "share1": n_both / n_left if n_left else None,
                "share2": n_both / n_right if n_right else None,
            }
        )
    return pl.DataFrame(rows, schema=OVERLAP_COLUMNS, orient="row")
