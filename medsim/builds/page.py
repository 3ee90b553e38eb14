"""The report of a build."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.distance_sections import distances, lengths
from medsim.builds.result_section import result
from medsim.builds.words import words_of_sets
from medsim.pages.page import (
    Folded,
    Page,
    PageTable,
    Section,
    closing,
    content_digest,
    distinct,
    facts,
    license_notice,
    passed_on,
    warnings_of,
)

if TYPE_CHECKING:
    from medsim.builds.output import BuildManifest
    from medsim.builds.report_data import BuildReportData


def build_page(manifest: BuildManifest, data: BuildReportData) -> Page:
    """Return the report of a build."""
    source = manifest.source
    name = f"{source.get('name')}@{content_digest(manifest, 'pairs/')}"
    signature = f"medsim {manifest.medsim}, {name}, seed {manifest.options.get('seed')}"
    n_pairs = sum(one.rows for path, one in manifest.outputs.items() if path.startswith("pairs/"))
    kinds, kept = distinct(data.distances["kind"]), data.distances
    sections = [
        result(manifest, data),
        _examples(data.examples),
        _sizes(data.sizes),
        distances(data.distances, kinds),
        lengths(data.lengths),
        _skipped(manifest),
        _terminology(manifest),
        _provenance(manifest, name),
    ]
    return Page(
        title=f"Term-similarity datasets of {source.get('name')}",
        lead=f"{n_pairs:,} pairs of terms, release {source.get('release_date') or 'undated'}, "
        f"built by medsim {manifest.medsim}.",
        notice=license_notice(terms_of_use=str(source.get("terms_of_use") or ""))
        if source.get("redistributable") is False
        else None,
        signature=signature,
        sections=[section for section in sections if section is not None],
        words=words_of_sets(
            {
                "dataset": kept["dataset"].unique(),
                "difficulty": kept["difficulty"].unique(),
                "negatives": [kind.removesuffix(" negatives") for kind in kinds],
            }
        ),
    )


def _terminology(manifest: BuildManifest) -> Section:
    source, options = manifest.source, manifest.options
    rows: list[tuple[str, object]] = [
        ("Terminology", source.get("name")),
        ("Format", str(source.get("source")).upper()),
        ("Release", source.get("release_date")),
        ("Terms", manifest.components.get("n_terms")),
        ("Groups of linked terms, single ones included", manifest.components.get("n_components")),
        ("Terms in the largest group", manifest.components.get("largest")),
        ("Negatives that could not be made", manifest.shortfall),
        ("May be passed on", passed_on(source.get("redistributable"))),
        ("Terms of use", source.get("terms_of_use")),
    ]
    settings = facts("Options", map(_option, options.items()))
    return Section(
        title="Terminology and options",
        prose="What the datasets were built from. Terms that a chain of positives links form a "
        "group; no negative joins two terms of one group.",
        parts=[facts("The build", rows), settings, *warnings_of(manifest.warnings)],
    )


def _option(named: tuple[str, object]) -> tuple[str, object]:
    name, value = named
    if name == "corrections" and isinstance(value, list):
        return name, len(value)
    return name.replace("_", " "), value


def _sizes(sizes: pl.DataFrame) -> Section:
    names = {"distance": "mean distance", "multi_word": "share of terms of several words"}
    for column in sizes.columns:
        strategy = column.removesuffix("_distance")
        if strategy != column:
            names |= {strategy: f"{strategy} negatives", column: f"mean distance, {strategy}"}
    table = sizes.rename(names)
    numbers = PageTable(
        caption="Sizes and mean Levenshtein distances",
        frame=table,
        formats={column: ",.2f" for column in table.columns if table[column].dtype == pl.Float64},
    )
    return Section(
        title="Sizes",
        prose="How many pairs each dataset has, and the mean Levenshtein distance of their "
        "lower-cased terms, as in table 2 of Schulz and Juric (2020). The size is that of the "
        "positives and of one strategy's negatives.",
        parts=[numbers],
    )


def _examples(examples: pl.DataFrame) -> Section | None:
    if examples.is_empty():
        return None
    folded = [
        Folded(
            summary=f"{dataset}, {difficulty}",
            opened=not at,
            tables=[
                PageTable(
                    caption=f"Examples of {dataset}, {difficulty}", frame=_readable_examples(group)
                )
            ],
        )
        for at, ((dataset, difficulty), group) in enumerate(
            examples.group_by("dataset", "difficulty", maintain_order=True)
        )
    ]
    return Section(
        title="Examples",
        prose="The first pairs of each dataset; rows lie in an order drawn from the seed, so they "
        "are a fair sample.",
        parts=folded,
    )


def _readable_examples(group: pl.DataFrame) -> pl.DataFrame:
    """Return examples as they are read, without similarities where there are none."""
    told = group.select(pl.col("kind").alias("pair of"), "term1", "term2", "distance", "similarity")
    return told if told["similarity"].count() else told.drop("similarity")


def _skipped(manifest: BuildManifest) -> Section | None:
    if not manifest.skipped:
        return None
    rows = [(one.get("reason"), one.get("n_rows")) for one in manifest.skipped]
    frame = pl.DataFrame(rows, schema={"reason": pl.String, "rows": pl.Int64}, orient="row")
    return Section(
        title="Skipped",
        prose="What of the source was left out, and why.",
        parts=[PageTable(caption="What was left out", frame=frame)],
    )


def _provenance(manifest: BuildManifest, name: str) -> Section:
    listed = manifest.source.get("files")
    of_files = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    files = pl.DataFrame(
        [(one.get("name"), one.get("size"), one.get("sha256")) for one in of_files],
        schema={"file": pl.String, "bytes": pl.Int64, "SHA-256": pl.String},
        orient="row",
    )
    commands = (
        "medsim sql OUT                # lists the views\n"
        'medsim sql OUT "select term1, term2, distance from pair where label = 0 and '
        "negatives = 'levenshtein' order by distance, pair_id limit 20\"\n"
        "medsim verify OUT             # derives every promise anew"
    )
    return closing(
        manifest,
        [PageTable(caption="Files that were read", frame=files)],
        f"{name}, built by medsim {manifest.medsim}",
        commands,
    )
