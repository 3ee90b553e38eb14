"""The page of a comparison of two releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.errors import listed
from medsim.diffs.output import DIFF_TABLES, label, readable
from medsim.pages.page import (
    LongTable,
    Page,
    PageTable,
    Section,
    closing,
    content_digest,
    license_notice,
    warned,
    warnings_of,
)

if TYPE_CHECKING:
    from medsim.diffs.output import Diff

_SECTIONS = {
    "concept": (
        "Concepts",
        "Concepts that were added, retired or reactivated, or have other parents.",
    ),
    "name": (
        "Names",
        "Names of active concepts that were added, removed, changed, or replaced as main names.",
    ),
    "association": ("Associations", "Active associations that only one release has."),
    "is_a": ("Is-a relationships", "Is-a relationships that only one release has."),
    "pair": ("Positives", "Positives that a dataset gained or lost."),
}
_FILTERS = {
    "concept": ("change", "category"),
    "name": ("change", "concept_change"),
    "association": ("change", "kind"),
    "is_a": ("change", "kept"),
    "pair": ("change", "dataset", "difficulty"),
}
_LEFT_OUT = ("pair_id", "negatives", "concept_term")  # columns


def diff_page(diff: Diff) -> Page:
    """Return the page of a comparison: the numbers of changes, then the changes."""
    manifest, summary = diff.manifest, diff.summary()
    sources: list[Any] = [manifest.old["source"], manifest.new["source"]]
    labels = [label(facts) for facts in (manifest.old, manifest.new)]
    counts = summary.filter(subject="concept").select("n", "change").iter_rows()
    concepts = listed([f"{n:,} {change}" for n, change in counts])
    names = summary.filter(subject="name")["n"].sum()
    result = [
        f"Concepts: {concepts}. {names:,} names changed.",
        *warned(manifest.warnings, "Provenance"),
    ]
    captions = ("Changes of the terminology", "Changes of the pairs of each dataset")
    tables = [
        PageTable(caption=caption, frame=frame)
        for caption, frame in zip(captions, readable(summary), strict=True)
    ]
    sections = [
        Section(title="Result", parts=tables, result=result),
        *(_section(name, diff.table(name)) for name in DIFF_TABLES),
        closing(
            manifest,
            warnings_of(manifest.warnings),
            f"{' and '.join(labels)}, compared by medsim {manifest.medsim}",
            "medsim sql OUT \"from name where change = 'changed' order by distance\"\n"
            "medsim sql OUT \"from pair where negatives = 'levenshtein'\"  # the changed negatives",
        ),
    ]
    return Page(
        title=f"What changed from {labels[0]} to {labels[1]}",
        lead="The changes between two releases of a terminology, and in the datasets that are "
        "built from them.",
        notice=license_notice(dict(zip(labels, sources, strict=True))),
        signature=f"medsim {manifest.medsim}, diff@{content_digest(manifest)}",
        sections=sections,
        words={
            "of_kept_concepts": "Changes whose concepts are all active in both releases.",
            "kept": "Yes if all concepts of the row are active in both releases.",
        },
    )


def _section(name: str, rows: pl.DataFrame) -> Section:
    if name == "pair":
        rows = rows.filter(pl.col("negatives").is_null())
    is_kept = pl.when("kept").then(pl.lit("yes")).otherwise(pl.lit("no"))
    shown = rows.drop(_LEFT_OUT, strict=False).with_columns(kept=is_kept)
    if "category" in shown.columns and not shown["category"].str.len_bytes().sum():
        shown = shown.drop("category")
    title, prose = _SECTIONS[name]
    filters = [column for column in _FILTERS[name] if column in shown.columns]
    table = LongTable(caption=f"{title} that changed", frame=shown, filters=filters, view=name)
    return Section(title=title, prose=prose, parts=[table])
