"""Writes candidates and mappings for spreadsheets and other programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.data import toml_of
from medsim.core.manifest import medsim_version
from medsim.core.tables import write_csv
from medsim.core.workbooks import write_workbook
from medsim.decisions import PREDICATES
from medsim.decisions.files import mappings_of, write_sssom
from medsim.mapping.decided import NO_MATCH
from medsim.terminologies.sources import curie_prefix, prefixes_of

if TYPE_CHECKING:
    from medsim.core.output import OutputFolder

MAX_IN_WORKBOOK = 10_000
"""The maximum number of codes in the workbook; the most frequent ones are written."""

_SYSTEMS: Mapping[str, str] = toml_of(__package__, "systems.toml")
_EQUIVALENCE = {
    "exact": "equivalent",
    "broader": "wider",
    "narrower": "narrower",
    "related": "relatedto",
}
_TO_FILL_IN = ("decision", "comment", "reviewer", "date")
_SHOWN = (
    "rank",
    "local_name",
    "matched_name",
    "difference",
    "probability",
    "category",
    "frequency",
)
_OMOP_DATES = ("1970-01-01", "2099-12-31")


def write_files(
    output: OutputFolder,
    tables: Mapping[str, pl.DataFrame],
    standard: Mapping[str, Any],
    prefix: tuple[str, str],
) -> None:
    """Write the files of a mapping that are not tables of medsim.

    Args:
        output: the folder.
        tables: the tables of the output, by name.
        standard: the facts about the standard.
        prefix: the prefix of local codes, and the address that it stands for.
    """
    codes, mappings = tables["local"], tables["mapping"]
    asked = codes.filter(~pl.col("status").is_in(["decided", NO_MATCH]))
    to_decide = _to_decide(asked, tables["candidate"])
    in_workbook = pl.col("subject_id").is_in(asked["code"].head(MAX_IN_WORKBOOK).implode())
    for name, write in {
        "candidates.csv": partial(write_csv, to_decide),
        "candidates.xlsx": partial(_write_workbook, to_decide.filter(in_workbook)),
        "mappings.csv": partial(write_csv, _with_kept(mappings, codes, "code")),
        "mappings.sssom.tsv": partial(_write_sssom, mappings, standard, prefix),
        "source_to_concept_map.csv": partial(_write_omop, mappings, standard, prefix[0]),
        "ConceptMap.json": partial(_write_fhir, mappings, standard, prefix),
    }.items():
        output.write_file(name, write)


def _to_decide(codes: pl.DataFrame, candidates: pl.DataFrame) -> pl.DataFrame:
    """Return the candidates of codes as decisions that are still to be made.

    The last row of each code has no object, for the decision that the standard has none.
    """
    order = codes.select("code", "name", "category", "frequency", at=pl.int_range(pl.len()))
    rows = pl.concat([order.join(candidates, on="code"), order], how="diagonal")
    rows = rows.sort("at", "rank", nulls_last=True)
    to_fill_in = rows.select(
        subject_id="code",
        subject_label="name",
        object_id=pl.col("concept_id").fill_null(""),
        object_label=pl.col("main_name").fill_null(""),
        **dict.fromkeys(_TO_FILL_IN, pl.lit("")),
    )
    return _with_kept(to_fill_in.hstack(rows.select(_SHOWN)), codes, "subject_id")


def _write_workbook(rows: pl.DataFrame, path: Path) -> int:
    write_workbook(path, {"candidates": rows}, {"decision": [*PREDICATES, "different", NO_MATCH]})
    return rows.height


def _with_kept(rows: pl.DataFrame, codes: pl.DataFrame, on: str) -> pl.DataFrame:
    """Return rows with the columns of LOCAL that have no role, by the column of the code."""
    kept = codes.select("code", "kept").drop_nulls()
    columns = pl.DataFrame([json.loads(row) for row in kept["kept"]], infer_schema_length=None)
    columns = columns.rename(lambda name: f"local_{name}" if name in rows.columns else name)
    kept = kept.select(pl.col("code").alias(on)).hstack(columns)
    return rows.join(kept, on=on, how="left", maintain_order="left")


def _write_sssom(
    mappings: pl.DataFrame, standard: Mapping[str, Any], prefix: tuple[str, str], path: Path
) -> int:
    rows = mappings.filter(pl.col("decision") != NO_MATCH).with_columns(
        subject_id=pl.format("{}:{}", pl.lit(prefix[0]), "code"),
        subject_label="name",
        object_id=pl.lit(curie_prefix(standard)) + pl.col("concept_id"),
        object_label="concept_name",
    )
    taken = pl.when(rows["probability"].is_not_null()).then(pl.lit("semapv:LexicalMatching"))
    rows = mappings_of(rows).with_columns(
        confidence=(rows["probability"] * 1000).floor() / 1000,
        mapping_justification=taken.otherwise("mapping_justification"),
    )
    prefixes = {prefix[0]: prefix[1]} | prefixes_of(standard, rows["object_id"])
    return write_sssom(rows, prefixes, "medsim-map", path)


def _write_omop(
    mappings: pl.DataFrame, standard: Mapping[str, Any], vocabulary: str, path: Path
) -> int:
    """Write exact and broader concepts, to which OMOP maps; its identifier is 0 for all others."""
    is_target = pl.col("decision").is_in(["exact", "broader"])
    ids = pl.col("concept_id") if standard["source"] == "omop" else pl.lit("0")
    rows = mappings.filter(is_target | (pl.col("decision") == NO_MATCH)).select(
        source_code="code",
        source_concept_id=0,
        source_vocabulary_id=pl.lit(vocabulary),
        source_code_description="name",
        target_concept_id=pl.when(is_target).then(ids).otherwise(pl.lit("0")),
        target_vocabulary_id=pl.lit(standard["vocabulary"] or standard["name"]),
        valid_start_date=pl.lit(_OMOP_DATES[0]),
        valid_end_date=pl.lit(_OMOP_DATES[1]),
        invalid_reason=pl.lit(""),
    )
    rows.write_csv(path)
    return rows.height


def _write_fhir(
    mappings: pl.DataFrame, standard: Mapping[str, Any], prefix: tuple[str, str], path: Path
) -> int:
    """Write a ConceptMap of FHIR R4."""
    elements: dict[str, dict[str, Any]] = {}
    for row in mappings.iter_rows(named=True):
        element = {"code": row["code"], "display": row["name"], "target": []}
        target = {"code": row["concept_id"], "display": row["concept_name"]}
        target["equivalence"] = _EQUIVALENCE.get(row["decision"], "unmatched")
        target["comment"] = row["comment"]
        present = {key: value for key, value in target.items() if value}
        elements.setdefault(row["code"], element)["target"].append(present)
    known = str(standard["vocabulary"])
    system = _SYSTEMS.get(known) or (known if "/" in known else f"urn:medsim:{standard['name']}")
    group = {"source": prefix[1], "target": system, "element": [*elements.values()]}
    resource = {
        "resourceType": "ConceptMap",
        "url": f"{prefix[1]}concept-map",
        "status": "draft",
        "experimental": False,
        "description": f"Made by medsim {medsim_version()}",
        "group": [group] if elements else [],
    }
    present = {key: value for key, value in resource.items() if value != []}
    path.write_text(json.dumps(present, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return len(elements)
