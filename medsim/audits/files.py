"""Writes findings as mappings for other programs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from medsim.audits import KINDS
from medsim.decisions.sssom import mappings_of, write_sssom
from medsim.terminologies.prefixes import curie_prefix, prefixes_of

_JUSTIFICATIONS = {
    "names": "semapv:LexicalMatching",
    "near": "semapv:LexicalSimilarityThresholdMatching",
    "model": "semapv:SemanticSimilarityThresholdMatching",
}
_BETWEEN = ("subject_id", "predicate_id", "object_id")


def write_mappings(
    candidates: pl.DataFrame, decided: pl.DataFrame, source: Mapping[str, object], path: Path
) -> int:
    """Write pairs of concepts as mappings; return the number of rows.

    Args:
        candidates: undecided findings, whose pairs of severity "warning" are written too. Those of
            severity "note" usually mean different things, and so do concepts with the same name,
            which is often an abbreviation.
        decided: findings with the columns of the decision on each.
        source: facts about the terminology.
        path: the file.
    """
    is_pair = pl.col("concept1") != pl.col("concept2")
    pairs = decided.filter(is_pair).with_columns(
        subject_label="main_name1", object_label="main_name2"
    )
    mappings = mappings_of(pairs).unique(_BETWEEN, maintain_order=True)
    probable = _probable(candidates.filter(is_pair, severity="warning"))
    mappings = pl.concat([mappings, probable], how="diagonal")
    ids, prefix = pl.col("subject_id", "object_id"), curie_prefix(source)
    prefixes = prefixes_of(source, pl.concat([mappings["subject_id"], mappings["object_id"]]))
    mappings = mappings.with_columns(ids.str.replace("^", prefix))
    return write_sssom(mappings, prefixes, "medsim-audit", path)


def _probable(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return undecided pairs as mappings of names that probably mean the same."""
    by_kind = {name: _JUSTIFICATIONS.get(kind.group) for name, kind in KINDS.items()}
    means = {name: kind.means for name, kind in KINDS.items()}
    kind, longer = pl.col("kind"), pl.max_horizontal(pl.col("term1", "term2").str.len_chars())
    return pairs.select(
        subject_id="concept1",
        subject_label="main_name1",
        predicate_id=pl.lit("skos:closeMatch"),
        object_id="concept2",
        object_label="main_name2",
        mapping_justification=kind.replace_strict(by_kind, return_dtype=pl.String),
        comment=pl.format("{} ({} / {})", kind.replace_strict(means), "term1", "term2"),
        similarity_score=pl.coalesce("similarity", 1 - pl.col("distance") / longer).round(3),
    )
