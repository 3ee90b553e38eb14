"""What people have decided on local codes, and what of it still holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from medsim.core.store import Store
from medsim.decisions import PREDICATES
from medsim.decisions.files import read_decisions

NO_MATCH = "no_match"
"""The decision that the standard has no concept for a code."""

_OPEN = {"status": pl.String, "why": pl.String, "replacement_id": pl.String}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """Decisions on local codes, with code, concept_id, concept_name and the columns of decisions.

    Attributes:
        held: the decisions that hold; concept_id is null for no_match.
        open: those that do not, with status, why and replacement_id.
        rejected: code and concept_id of candidates that are wrong.
        unknown: number of decisions on codes that LOCAL lacks.
    """

    held: pl.DataFrame
    open: pl.DataFrame
    rejected: pl.DataFrame
    unknown: int


def decided_of(files: Sequence[str | Path], codes: pl.Series, store: Store) -> Decided:
    """Return what is decided on local codes.

    Of one reviewer's decisions on a code, those of the last date count. A code is in conflict if
    reviewers answer differently, or if one answer has two exact concepts, or has none and another.

    Args:
        files: files of decisions.
        codes: the local codes.
        store: the store of the standard, which knows what became of its concepts.
    """
    every = read_decisions(files)
    rows = every.filter(pl.col("subject_id").is_in(codes.implode())).rename(
        {"subject_id": "code", "object_id": "concept_id", "object_label": "concept_name"}
    )
    pair = ["code", "concept_id"]
    rejected = rows.filter(decision="different").unique(pair, maintain_order=True)
    rows = rows.filter(pl.col("decision").is_in([*PREDICATES, NO_MATCH]))
    rows = rows.filter(pl.col("date") == pl.col("date").max().over("code", "reviewer"))
    rows = rows.unique([*pair, "reviewer"], keep="last", maintain_order=True)
    chosen, by = pl.format("{} {}", "decision", "concept_id"), ["code", "reviewer"]
    answer, exact = chosen.sort().str.join("\n").over(by), pl.col("decision") == "exact"
    is_none = pl.col("decision") == NO_MATCH
    rows = rows.with_columns(
        answer=answer,
        is_odd=(exact.sum().over(by) > 1) | (is_none.any().over(by) & ~is_none.all().over(by)),
    )
    is_conflict = (pl.col("answer").n_unique() > 1) | pl.col("is_odd").any()
    with store.frame_as("decided", rows.filter(~is_none).select(object_id="concept_id", object_label="concept_name").unique()):
        changes = store.frame("mapping/target")
    rows = rows.join(rejected.select(*pair, is_rejected=True), on=pair, how="left").join(
        changes, left_on=["concept_id", "concept_name"], right_on=["object_id", "object_label"], how="left"
    )
    is_conflict |= pl.col("is_rejected").any()
    status = pl.when(is_conflict.over("code")).then(pl.lit("conflict"))
    is_changed = pl.col("change").is_not_null().any().over("code")
    rows = rows.with_columns(
        status=status.when(is_changed).then(pl.lit("changed")),
        why=status.otherwise("change"),
        concept_id=pl.when(~is_none).then("concept_id"),
        concept_name=pl.when(~is_none).then("concept_name"),
    )
    accepted = rows.filter(pl.col("status").is_null())
    return Decided(
        held=accepted.unique(pair, keep="last", maintain_order=True),
        open=rows.filter(pl.col("status").is_not_null()),
        rejected=rejected.select(pair),
        unknown=every.height - every["subject_id"].is_in(codes.implode()).sum(),
    )
