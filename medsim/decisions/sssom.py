"""Writes mappings in the format SSSOM."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from medsim.core.manifest import medsim_version
from medsim.core.tables import harmless
from medsim.decisions import PREDICATES


def mappings_of(decisions: pl.DataFrame) -> pl.DataFrame:
    """Return the decisions that relate two things as mappings, with the columns of SSSOM."""
    return decisions.filter(pl.col("decision").is_in([*PREDICATES])).select(
        "subject_id",
        "subject_label",
        pl.col("decision").replace_strict(PREDICATES, return_dtype=pl.String).alias("predicate_id"),
        "object_id",
        "object_label",
        mapping_justification=pl.lit("semapv:ManualMappingCuration"),
        author_label="reviewer",
        mapping_date="date",
        comment="comment",
    )


def write_sssom(mappings: pl.DataFrame, prefixes: Mapping[str, str], name: str, path: Path) -> int:
    """Write mappings in the format SSSOM; return the number of rows.

    Args:
        mappings: rows with columns of SSSOM; identifiers are CURIEs.
        prefixes: the address that each prefix stands for.
        name: name of the set of mappings.
        path: the file.
    """
    head = [
        "curie_map:",
        "  semapv: https://w3id.org/semapv/vocab/",
        "  skos: http://www.w3.org/2004/02/skos/core#",
        *(f"  {prefix}: {address}" for prefix, address in prefixes.items()),
        "license: https://w3id.org/sssom/license/unspecified",
        f"mapping_set_id: https://w3id.org/sssom/mappings/{name}",
        "mapping_tool: medsim",
        f"mapping_tool_version: {medsim_version()}",
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(f"#{line}\n" for line in head)
        cells = harmless(mappings).with_columns(pl.col(pl.String).replace("", None))
        cells.write_csv(file, separator="\t")
    return mappings.height
