"""Writes findings for other programs: CSV for spreadsheets, and mappings in the format SSSOM."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.audits.addresses import identifiers, prefixes_of
from medsim.audits.kinds import KINDS, PAIRS
from medsim.core.manifest import medsim_version
from medsim.core.tables import guarded

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_JUSTIFICATIONS = {
    "same": "semapv:LexicalMatching",
    "near": "semapv:LexicalSimilarityThresholdMatching",
    "model": "semapv:SemanticSimilarityThresholdMatching",
}


def write_csv(findings: pl.DataFrame, path: Path) -> int:
    """Write findings as CSV that is safe in spreadsheets; return the number of rows."""
    texts = [name for name, kind in findings.schema.items() if kind == pl.String]
    cells = {cell for name in texts for cell in findings[name].unique().drop_nulls()}
    unsafe = {cell: safe for cell in cells if (safe := guarded(cell)) != cell}
    findings.with_columns(pl.col(texts).replace(unsafe)).write_csv(path)
    return findings.height


def write_sssom(findings: pl.DataFrame, source: Mapping[str, object], path: Path) -> int:
    """Write the pairs that probably mean the same as mappings; return the number of rows.

    Pairs of severity "note" usually mean different things, so they are left out.
    """
    mapped = {
        name: _JUSTIFICATIONS[kind.group]
        for name, kind in KINDS.items()
        if kind.group in PAIRS and kind.severity != "note"
    }
    pairs = findings.filter(pl.col("kind").is_in(list(mapped)))
    longer = pl.max_horizontal(pl.col("term1", "term2").str.len_chars())
    means = {name: kind.means for name, kind in KINDS.items()}
    mappings = pairs.select(
        subject_id=identifiers(source, "concept1"),
        subject_label="main_name1",
        predicate_id=pl.lit("skos:closeMatch"),
        object_id=identifiers(source, "concept2"),
        object_label="main_name2",
        mapping_justification=pl.col("kind").replace_strict(mapped, return_dtype=pl.String),
        confidence=(1 - pl.col("distance") / longer).round(3),
        comment=pl.format(
            "{} ({} / {})",
            pl.col("kind").replace_strict(means, return_dtype=pl.String),
            "term1",
            "term2",
        ),
    )
    concepts = pl.concat([pairs["concept1"], pairs["concept2"]])
    prefixes = {
        "semapv": "https://w3id.org/semapv/vocab/",
        "skos": "http://www.w3.org/2004/02/skos/core#",
        **prefixes_of(source, concepts),
    }
    head = [
        "curie_map:",
        *(f"  {name}: {address}" for name, address in prefixes.items()),
        "license: https://w3id.org/sssom/license/unspecified",
        "mapping_set_id: https://w3id.org/sssom/mappings/medsim-audit",
        "mapping_tool: medsim",
        f"mapping_tool_version: {medsim_version()}",
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(f"#{line}\n" for line in head)
        mappings.write_csv(file, separator="\t")
    return mappings.height
