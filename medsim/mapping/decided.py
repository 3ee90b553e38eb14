"""What people have decided on local codes, and what of it still holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.terms import lowered_column
from medsim.decisions import PREDICATES
from medsim.decisions.files import read_decisions

if TYPE_CHECKING:
    from medsim.core.store import Store

NO_MATCH = "no_match"
"""The decision that the standard has no concept for a code."""

_ANSWER = ["code", "answer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """Decisions on local codes, with code, concept_id, concept_name and the columns of decisions.

    Attributes:
        held: the decisions that hold; concept_id is null for no_match.
        open: those that do not, with status, why and replacement_id.
        rejected: code and concept_id of candidates that are wrong.
        unknown: codes that LOCAL lacks.
    """

    held: pl.DataFrame
    open: pl.DataFrame
    rejected: pl.DataFrame
    unknown: list[str]


def decided_of(files: Sequence[str | Path], codes: pl.DataFrame, store: Store) -> Decided:
    """Return what is decided on local codes.

    Of one reviewer's decisions on a code, those of the last date count. None counts whose concept
    was retired or renamed, or whose code has other names now, if there is a later one. The answer
    of more than half of the reviewers holds. A code is in conflict without such an answer, and if
    the answer has two exact concepts, a concept beside no_match, or a concept that was rejected.

    Args:
        files: files of decisions.
        codes: the local codes with their names: code and names.
        store: the store of the standard, which knows what became of its concepts.
    """
    every, code = read_decisions(files), codes["code"]
    known_as = dict(zip(_in_one_line(code), code, strict=True)) | dict(zip(code, code, strict=True))
    every = every.with_columns(pl.col("subject_id").replace(known_as))
    is_known = every["subject_id"].is_in(codes["code"].implode())
    columns = {"subject_id": "code", "object_id": "concept_id", "object_label": "concept_name"}
    known, pair = every.filter(is_known).rename(columns), ["code", "concept_id"]
    known = known.sort("date", maintain_order=True).unique(
        [*pair, "reviewer"], keep="last", maintain_order=True
    )
    rejected = known.filter(decision="different").select(pair).unique(maintain_order=True)
    rows = known.filter(pl.col("decision").is_in([*PREDICATES, NO_MATCH]))
    rows = rows.filter(pl.col("date") == pl.col("date").max().over("code", "reviewer"))
    rows = _with_changes(rows, codes, store)
    rows = rows.join(
        rejected.with_columns(is_rejected=True), on=pair, how="left", maintain_order="left"
    )
    is_none, is_exact = pl.col("decision") == NO_MATCH, pl.col("decision") == "exact"
    is_other = (pl.col("subject_label") != "") & pl.col("is_named").is_null()
    is_changed = is_other | (~is_none & pl.col("change").is_not_null())
    renewed = pl.col("date").filter(~is_changed).max().over("code")
    rows = rows.filter(~is_changed | renewed.is_null() | (pl.col("date") > renewed))
    answer = pl.format("{} {}", "decision", "concept_id").sort().str.join("\n")
    is_odd = (is_exact.sum() > 1) | (is_none.any() & ~is_none.all()) | pl.col("is_rejected").any()
    by = ["code", "reviewer"]
    rows = rows.with_columns(answer=answer.over(by), is_odd=is_odd.over(by))
    n_votes, n_reviewers = (pl.col("reviewer").n_unique().over(of) for of in (_ANSWER, "code"))
    rows = rows.with_columns(is_settled=(2 * n_votes > n_reviewers) & ~pl.col("is_odd"))
    is_conflict = ~pl.col("is_settled").any().over("code")
    rows = rows.filter(pl.col("is_settled") | is_conflict)
    status = pl.when(is_conflict).then(pl.lit("conflict"))
    rows = rows.with_columns(
        status=status.when(is_changed.any().over("code")).then(pl.lit("changed")),
        why=status.when(is_other).then(pl.lit("other_code")).otherwise("change"),
        concept_id=pl.when(~is_none).then("concept_id"),
        concept_name=pl.when(~is_none).then("concept_name"),
    )
    holds = pl.col("status").is_null()
    return Decided(
        held=rows.filter(holds).unique(pair, keep="last", maintain_order=True),
        open=rows.filter(~holds),
        rejected=rejected,
        unknown=every.filter(~is_known)["subject_id"].unique(maintain_order=True).to_list(),
    )


def _with_changes(rows: pl.DataFrame, codes: pl.DataFrame, store: Store) -> pl.DataFrame:
    """Return decisions with the change of each concept, and whether the code has the name."""
    with store.frame_as("decided", rows.select("concept_id", "concept_name").unique()):
        changes = store.frame("mapping/target")
    rows = rows.join(changes, on=["concept_id", "concept_name"], how="left", maintain_order="left")
    names = codes.select("code", "names").explode("names")
    label = lowered_column(_in_one_line(names["names"])).alias("label")
    named = names.select("code", label, is_named=True)
    rows = rows.with_columns(lowered_column(_in_one_line(rows["subject_label"])).alias("label"))
    return rows.join(named.unique(), on=["code", "label"], how="left", maintain_order="left")


def _in_one_line(texts: pl.Series) -> pl.Series:
    """Return texts as workbooks give them back, with a space in place of line breaks."""
    return texts.str.replace_all(r"\s*[\r\n]\s*", " ")
