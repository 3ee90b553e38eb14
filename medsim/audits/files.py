"""Writes findings for other programs, and gives concepts their addresses on the web."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from medsim.audits import KINDS
from medsim.core.manifest import medsim_version
from medsim.core.tables import harmless
from medsim.terminologies.sources import vocabularies

_OBO = "http://purl.obolibrary.org/obo/"
_OBO_ID = r"^([A-Za-z][A-Za-z0-9_]*):([A-Za-z0-9_]+)$"
_JUSTIFICATIONS = {
    "names": "semapv:LexicalMatching",
    "near": "semapv:LexicalSimilarityThresholdMatching",
    "model": "semapv:SemanticSimilarityThresholdMatching",
}


def prefixes_of(source: Mapping[str, object], concepts: pl.Series) -> dict[str, str]:
    """Return the address that each prefix of an identifier stands for."""
    if known := vocabularies().get(str(source.get("vocabulary"))):
        return {known.prefix: known.address}
    names = concepts.str.extract(_OBO_ID, 1).drop_nulls().unique().sort()
    return {name: f"{_OBO}{name}_" for name in names}


def curie_prefix(source: Mapping[str, object]) -> str:
    """Return what precedes the identifiers of concepts in mappings; empty if they have a prefix."""
    known = vocabularies().get(str(source.get("vocabulary")))
    return f"{known.prefix}:" if known else ""


def links_of(source: Mapping[str, object], concepts: pl.Series) -> dict[str, str]:
    """Return the beginnings of addresses by the beginning of the concepts that they are for."""
    prefixes, has_prefix = prefixes_of(source, concepts), not curie_prefix(source)
    return {f"{name}:" if has_prefix else "": address for name, address in prefixes.items()}


def write_mappings(findings: pl.DataFrame, source: Mapping[str, object], path: Path) -> int:
    """Write the pairs that probably mean the same as mappings; return the number of rows.

    Only pairs of severity "warning" are written: those of severity "note" usually mean different
    things, and so do concepts with the same name, which is often an abbreviation.
    """
    pairs = findings.filter(pl.col("concept1") != pl.col("concept2"), severity="warning")
    by_kind = {name: _JUSTIFICATIONS.get(kind.group) for name, kind in KINDS.items()}
    means = {name: kind.means for name, kind in KINDS.items()}
    kind, longer = pl.col("kind"), pl.max_horizontal(pl.col("term1", "term2").str.len_chars())
    prefix = pl.lit(curie_prefix(source))
    mappings = pairs.select(
        subject_id=prefix + pl.col("concept1"),
        subject_label="main_name1",
        predicate_id=pl.lit("skos:closeMatch"),
        object_id=prefix + pl.col("concept2"),
        object_label="main_name2",
        mapping_justification=kind.replace_strict(by_kind, return_dtype=pl.String),
        similarity_score=pl.coalesce("similarity", 1 - pl.col("distance") / longer).round(3),
        comment=pl.format("{} ({} / {})", kind.replace_strict(means), "term1", "term2"),
    )
    head = [
        "curie_map:",
        "  semapv: https://w3id.org/semapv/vocab/",
        "  skos: http://www.w3.org/2004/02/skos/core#",
        *(
            f"  {name}: {address}"
            for name, address in prefixes_of(
                source, pl.concat([pairs["concept1"], pairs["concept2"]])
            ).items()
        ),
        "license: https://w3id.org/sssom/license/unspecified",
        "mapping_set_id: https://w3id.org/sssom/mappings/medsim-audit",
        "mapping_tool: medsim",
        f"mapping_tool_version: {medsim_version()}",
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(f"#{line}\n" for line in head)
        harmless(mappings).write_csv(file, separator="\t")
    return mappings.height
