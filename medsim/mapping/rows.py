"""Lays the candidates and decisions of local codes out as the tables of a mapping."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.positives import pair_distances
from medsim.core.terms import lowered_column
from medsim.mapping.decided import NO_MATCH, Decided
from medsim.neighbours.difference import DifferenceClassifier

if TYPE_CHECKING:
    from collections.abc import Iterable

    from medsim.mapping.options import MapOptions

_ORDERS = {
    "candidate": ["rank"],
    "mapping": ["concept_id"],
    "open_decision": ["reviewer", "concept_id"],
}


def tables_of(
    codes: pl.DataFrame,
    names: pl.DataFrame,
    every: pl.DataFrame,
    decided: Decided,
    options: MapOptions,
    threads: int,
) -> dict[str, pl.DataFrame]:
    """Return the tables of a mapping by name.

    Args:
        codes: the rows of ``read_codes``.
        names: the names of the standard.
        every: the candidates of each code with their probability, and none as the last.
        decided: what is decided.
        options: of the command.
        threads: number of threads.
    """
    every = every.join(
        decided.rejected, on=["code", "concept_id"], how="anti", maintain_order="left"
    )
    probability = pl.col("probability")
    every = every.with_columns((probability / probability.sum().over("code")).round(6))
    candidates = every.drop_nulls("concept_id")
    rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("code")
    candidates = candidates.with_columns(rank=rank).filter(pl.col("rank") <= options.k)
    main = main_names(names)
    codes = _with_status(codes, candidates, every.filter(pl.col("concept_id").is_null()), decided)
    replaced = main.rename({"concept_id": "replacement_id", "main_name": "replacement_name"})
    taken = _taken(codes, candidates, options.accept)
    accepted = pl.when(pl.col("code").is_in(taken["code"].implode())).then(pl.lit("accepted"))
    codes = codes.with_columns(status=accepted.otherwise("status"))
    mappings = pl.concat([decided.held, taken], how="diagonal_relaxed")
    mappings = mappings.join(main, on="concept_id", how="left")
    mappings = mappings.with_columns(concept_name=pl.coalesce("main_name", "concept_name"))
    described = _described(candidates, [*names["term"], *codes["names"].explode()], threads)
    tables = {
        "candidate": described.join(main, on="concept_id"),
        "mapping": mappings.join(codes.select("code", "name"), on="code"),
        "open_decision": decided.open.join(replaced, on="replacement_id", how="left"),
    }
    order = codes.select("code", at=pl.int_range(pl.len()))
    for name, by in _ORDERS.items():
        tables[name] = tables[name].join(order, on="code").sort("at", *by, nulls_last=True)
    local = codes.with_columns(pl.col("names").list.join(" | "))
    return tables | {"local": local, "standard_name": names}


def _described(rows: pl.DataFrame, every_name: Iterable[str], threads: int) -> pl.DataFrame:
    """Return candidates with how the two names differ, and their distance."""
    lower = [lowered_column(rows[side]) for side in ("local_name", "matched_name")]
    classifier = DifferenceClassifier(lowered_column(pl.Series(every_name, dtype=pl.String)))
    kinds = pl.when(lower[0] == lower[1]).then(pl.lit("case")).otherwise(classifier.kinds(*lower))
    same = pl.when(pl.col("local_name") == pl.col("matched_name")).then(pl.lit("same"))
    first = pl.int_range(rows.height, eager=True)
    distances = pair_distances(pl.concat(lower), first, first + rows.height, threads)
    return rows.with_columns(distances, difference=same.otherwise(kinds))


def _with_status(
    codes: pl.DataFrame, candidates: pl.DataFrame, none: pl.DataFrame, decided: Decided
) -> pl.DataFrame:
    """Return the local codes with the status and the probabilities of each."""
    held = decided.held.select("code", held=pl.col("decision") == NO_MATCH).unique("code")
    others = (
        candidates.filter(rank=1).select("code", "probability"),
        none.select("code", none_probability="probability"),
        decided.open.select("code", "status").unique("code"),
        held.select(
            "code", held=pl.when("held").then(pl.lit(NO_MATCH)).otherwise(pl.lit("decided"))
        ),
    )
    for other in others:
        codes = codes.join(other, on="code", how="left", maintain_order="left")
    return codes.with_columns(status=pl.coalesce("status", "held", pl.lit("undecided")))


def _taken(codes: pl.DataFrame, candidates: pl.DataFrame, accept: float | None) -> pl.DataFrame:
    """Return undecided first candidates that are probable enough, as exact mappings."""
    blank = dict.fromkeys(("comment", "reviewer", "date"), pl.lit(""))
    is_probable = pl.lit(accept is not None) & (pl.col("probability") >= (accept or 0))
    probable = candidates.filter(is_probable, rank=1).with_columns(
        decision=pl.lit("exact"), **blank
    )
    return probable.join(codes.filter(status="undecided"), on="code", how="semi")


def main_names(names: pl.DataFrame) -> pl.DataFrame:
    """Return the main or else first name of each concept: concept_id and main_name."""
    first = names.sort("concept_id", ~pl.col("is_main"), maintain_order=True)
    first = first.unique("concept_id", keep="first", maintain_order=True)
    return first.select("concept_id", main_name="term")
