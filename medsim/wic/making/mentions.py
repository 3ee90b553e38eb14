"""The one mention of each sentence that instances are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.terms import lowered, pack
from medsim.kernels.hashing import term_hashes, tie_hashes
from medsim.wic.making.lemmas import lemma_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from medsim.kernels.types import Hashes

_NO_QUERY = np.uint64(0)


def chosen_mentions(linked: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Return one mention of every sentence, drawn by a hash of the seed and its content.

    They have the columns of ``linked`` and lower_term, in whose order they are, then of concept_id
    and sentence.
    """
    draws = tie_hashes(np.uint64(seed), _NO_QUERY, content_hashes(linked))
    drawn = linked.with_columns(draw=pl.Series(draws, dtype=pl.UInt64))
    chosen = drawn.sort("sentence", "draw", "start_at", "end_at").unique(
        "sentence", keep="first", maintain_order=True
    )
    lower = pl.Series("lower_term", lowered(chosen["term"].to_list()), dtype=pl.String)
    return chosen.drop("draw").with_columns(lower).sort("lower_term", "concept_id", "sentence")


def content_hashes(mentions: pl.DataFrame) -> Hashes:
    """Return a hash of each mention's sentence, place in it and concept: uint64[n_mentions]."""
    columns = ("sentence", "start_at", "end_at", "concept_id")
    texts = ["\n".join(map(str, row)) for row in mentions.select(columns).iter_rows()]
    packed = pack(texts)
    return term_hashes(packed.codes, packed.starts)


def forms_of(terms: Iterable[str]) -> pl.DataFrame:
    """Return the forms of distinct terms in lower case, by which two of them are compared.

    These are form_id, lower_term, lemma, lemma_id, initials, in order of lower_term; ids count
    rows, or distinct lemmas in their order. Initials are the first characters of the words.
    """
    lower = sorted(terms)
    lemmas = pl.Series("lemma", [lemma_of(term) for term in lower], dtype=pl.String)
    initials = ["".join(word[0] for word in term.split()) for term in lower]
    return pl.DataFrame(
        {
            "form_id": pl.int_range(len(lower), dtype=pl.Int32, eager=True),
            "lower_term": pl.Series(lower, dtype=pl.String),
            "lemma": lemmas,
            "lemma_id": lemmas.rank("dense").cast(pl.Int32) - 1,
            "initials": pl.Series(initials, dtype=pl.String),
        }
    )
