"""Finds names that an embedding model judges differently from the terminology."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.audits import KINDS
from medsim.builds.embedded import embed_pair_terms, pair_cosines
from medsim.builds.positives import pair_distances
from medsim.embeddings.embedded_terms import identify
from medsim.embeddings.encoders import cache_folder
from medsim.embeddings.lookup import CosineSearch
from medsim.embeddings.options import EmbeddingLike, embedding_spec
from medsim.neighbours.difference import DifferenceClassifier

if TYPE_CHECKING:
    from medsim.audits.near import Audited

_SAME = 0.9  # share of synonyms that are less similar than names that are taken for the same
_SIDES, _CONCEPTS = ("1", "2"), ("concept1", "concept2")


def model_names(audited: Audited, model: EmbeddingLike, cache: str | Path | None) -> pl.DataFrame:
    """Return unlinked names that a model takes for the same, and synonyms for unrelated.

    It takes a name and its nearest unlinked name for the same if they are more similar than nine
    tenths of all synonyms. Pairs that differ in a number, side, negation, opposite or letter are
    left out, since models overlook these, and so are pairs of a concept and its parent. It takes
    two synonyms for unrelated if they are less similar than half of the pairs of names that are far
    apart in order of text.
    """
    names = audited.store.frame("audits/audited_name").sort("term_id")
    ids = names["term_id"].to_numpy()
    derived = replace(audited.derived, index=replace(audited.derived.index, pool=ids))
    embedding = embed_pair_terms(
        identify(embedding_spec(model), audited.progress),
        derived,
        audited.progress,
        threads=audited.threads,
        cache=cache_folder(cache),
    )
    cosines = partial(pair_cosines, embedding, threads=audited.threads)
    positives, index = derived.positives, derived.index
    covered = ids[embedding.rows[ids] >= 0]
    groups, hashes = index.components[covered], index.hashes[covered]
    search = CosineSearch(embedding.vectors, groups, hashes, threads=audited.threads)
    every = np.arange(len(covered), dtype=np.int32)
    with audited.progress.stage(f"compare {len(every):,} names with each other") as stage:
        stage.total(len(every))
        stage.say(f"{len(every) ** 2:,} cosines to compute at most")
        nearest = search.nearest(every, np.ones_like(every), stage.advance)
    ends = covered[[np.repeat(every, np.diff(nearest.starts)), nearest.ids]]
    lower, upper = np.sort(ends, axis=0)
    unlinked = pl.DataFrame({"term1_id": lower, "term2_id": upper}).unique(maintain_order=True)
    synonyms = positives.pairs.filter(pl.col("dataset") == "syn_syn").select("term1_id", "term2_id")
    random = cosines(covered, np.roll(covered, len(covered) // 2)).median()
    unlinked, synonyms = (
        pairs.with_columns(
            cosines(*(pairs[f"term{side}_id"].to_numpy() for side in _SIDES)),
            pair_distances(index.lower, pairs["term1_id"], pairs["term2_id"], audited.threads),
        ).drop_nulls("similarity")
        for pairs in (unlinked, synonyms)
    )
    same = synonyms["similarity"].quantile(_SAME)
    unlinked = unlinked.filter(pl.col("similarity") > same)
    texts = [index.lower.gather(unlinked[f"term{side}_id"]) for side in _SIDES]
    kinds = DifferenceClassifier(()).kinds(*texts)
    is_plain = [kind == "other" or KINDS[kind]["severity"] != "note" for kind in kinds]
    unlinked = unlinked.filter(pl.Series(is_plain, dtype=pl.Boolean))
    synonyms = synonyms.filter(pl.col("similarity") < random)
    found = pl.concat(
        [
            unlinked.with_columns(kind=pl.lit("missing_synonym")),
            synonyms.with_columns(kind=pl.lit("unrelated_synonym")),
        ]
    )
    return _of_concepts(found, names, audited.store.table("is_a"))


def _of_concepts(found: pl.DataFrame, names: pl.DataFrame, is_a: pl.DataFrame) -> pl.DataFrame:
    """Return pairs of names with their concepts, without those of a concept and its parent."""
    for side in _SIDES:
        parts = {f"term{side}_id": "term_id", f"concept{side}": "concept_id", f"term{side}": "term"}
        found = found.join(names.select(**parts), on=f"term{side}_id")
    both = [is_a.rename({"child_id": a, "parent_id": b}) for a, b in permutations(_CONCEPTS, 2)]
    parents = pl.concat([pairs.select(_CONCEPTS) for pairs in both])
    found = found.join(parents, on=_CONCEPTS, how="anti")
    return found.sort("kind", "distance", "term1", "term2", *_CONCEPTS)
