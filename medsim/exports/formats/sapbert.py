"""Pairs of names of one concept, for training with SapBERT's script."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from medsim.core.manifest import Skipped
from medsim.exports.formats import Export, ExportFormat
from medsim.exports.output import TRAINING_TABLES
from medsim.exports.pairs import check_some, exported_pairs

_SEPARATOR = "||"


def write_sapbert(run: Export) -> None:
    """Write a file of lines ``concept_id||name||name`` per split.

    This is the format of SapBERT's pairwise training (Liu et al. 2021, NAACL): it splits a line at
    "||", and names are not escaped. See ``medsim.exports.formats.ExportFormat``.
    """
    line = pl.concat_str("concept1", "name1", "name2", separator=_SEPARATOR)
    parts = pl.concat_list("concept1", "name1", "name2")
    # Readers split a line at two bars and must get the same parts; a name that ends in a bar would
    # give other parts.
    is_read_as_written = (line.str.split(_SEPARATOR) == parts) & ~line.str.contains(r"[\r\n]")
    n_two_concepts = n_unreadable = n_positives = 0
    for name, build in run.splits.items():
        terms = build.terms()
        pairs = exported_pairs(run, build, terms)
        pairs = pairs.select(
            "concept1",
            "concept2",
            *(terms["term"].gather(pairs[f"term{n}_id"]).alias(f"name{n}") for n in (1, 2)),
        )
        n_positives += pairs.height
        with run.progress.stage(f"write {name}.txt") as stage:
            same = pairs.filter(pl.col("concept1") == pl.col("concept2"))
            lines = same.filter(is_read_as_written)
            n_two_concepts += pairs.height - same.height
            n_unreadable += same.height - lines.height

            def write(path: Path, lines: pl.DataFrame = lines) -> int:
                lines.select(line).write_csv(path, include_header=False, quote_style="never")
                return lines.height

            run.output.write_file(f"{name}.txt", write)
            stage.note(f"{lines.height:,} pairs")
    check_some(run, n_positives)
    reasons = {
        "names of two concepts": n_two_concepts,
        f"a name or an id with {_SEPARATOR} or a line break": n_unreadable,
    }
    run.skipped.extend(Skipped(reason=reason, n_rows=n) for reason, n in reasons.items() if n)


ExportFormat(
    write=write_sapbert,
    next="{file} is the train_dir of SapBERT's train.py",
    accepts=frozenset(("datasets", "difficulty", "seed")),
    tables={"names": TRAINING_TABLES["names"]},
).register("sapbert")
