"""The page of a comparison of two releases."""

from __future__ import annotations

from typing import Any

import polars as pl

from medsim.core.errors import listed
from medsim.diffs.output import CHANGES, DIFF_TABLES, Diff, label, readable_changes
from medsim.pages.page import LongTable, Page, PageTable, Section, license_notice, report

_FILTERS = ("change", "dataset", "difficulty", "category", "concept_change", "kind", "kept")
_LEFT_OUT = ("pair_id", "negatives", "concept_term")


def diff_page(diff: Diff) -> Page:
    """Return the page of a comparison: the numbers of changes, then the changes."""
    manifest, summary = diff.manifest, diff.summary()
    sources: list[Any] = [manifest.old["source"], manifest.new["source"]]
    labels = list(map(label, sources))
    counts = summary.filter(subject="concept").select("n", "change").iter_rows()
    concepts = listed([f"{n:,} {change}" for n, change in counts])
    names = summary.filter(subject="name")["n"].sum()
    terminology, pairs = readable_changes(summary)
    result = Section(
        title="Result",
        prose="Random negatives are not counted: nearly all change with every release.",
        result=[f"Concepts: {concepts}. {names:,} names changed."],
        parts=[
            PageTable(caption="Changes of the terminology", frame=terminology),
            PageTable(caption="Changes of the pairs of each dataset", frame=pairs),
        ],
    )
    return report(
        manifest,
        "diff",
        title=f"What changed from {labels[0]} to {labels[1]}",
        lead="The changes between two releases of a terminology, and in the datasets that are "
        "built from them.",
        sections=[result, *(_section(name, diff.table(name)) for name in DIFF_TABLES)],
        notice=license_notice(dict(zip(labels, sources, strict=True))),
        words={
            "of_kept_concepts": "Changes whose concepts are all active in both releases.",
            "kept": "Yes if all concepts of the row are active in both releases.",
        },
        commands="medsim sql OUT \"from name where change = 'changed' order by distance\"\n"
        "medsim sql OUT \"from pair where negatives = 'levenshtein'\"",
    )


def _section(name: str, rows: pl.DataFrame) -> Section:
    title, table = CHANGES[name]["title"], DIFF_TABLES[name]
    if name == "pair":
        title, rows = "Positives", rows.filter(pl.col("negatives").is_null())
    kinds = table.notes["change"]
    is_kept = pl.when("kept").then(pl.lit("yes")).otherwise(pl.lit("no"))
    shown = rows.drop(_LEFT_OUT, strict=False).with_columns(kept=is_kept)
    if "category" in shown and not shown["category"].str.len_bytes().sum():
        shown = shown.drop("category")
    filters = [column for column in _FILTERS if column in shown]
    listing = LongTable(caption=f"{title} that changed", frame=shown, filters=filters, view=name)
    return Section(
        title=title, prose=f"{table.about} {kinds[0].upper()}{kinds[1:]}", parts=[listing]
    )
