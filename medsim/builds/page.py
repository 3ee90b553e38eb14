"""The report of a build."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from medsim.builds.datasets import SetKey
from medsim.builds.stats import table_2
from medsim.core import queries
from medsim.core.config import DIFFICULTIES, EASY_DISTANCE, PARENT_CHILD
from medsim.core.data import toml_of
from medsim.core.errors import counted, listed
from medsim.core.manifest import combined
from medsim.pages import charts
from medsim.pages.page import (
    Chart,
    Folded,
    Page,
    PageTable,
    Section,
    distinct,
    facts,
    license_notice,
    report,
)

if TYPE_CHECKING:
    from medsim.builds.output import Build, BuildManifest


_EXAMPLES = 3  # of each kind in a set

_SHOWN = ("term1", "term2", "distance", "similarity")

_COMMANDS = (
    "medsim sql OUT                # lists the views\n"
    'medsim sql OUT "select term1, term2, distance from pair where label = 0 and '
    "negatives = 'levenshtein' order by distance, pair_id limit 20\"\n"
    "medsim verify OUT             # checks the guarantees"
)


def distances_and_examples(build: Build) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the distances and some pairs of a build; only one set of pairs is in memory at a time.

    Returns:
        dataset, difficulty, kind (positives, or negatives of a strategy), distance, n; and dataset,
        difficulty, kind, term1, term2, distance, and similarity (a cosine, if an embedding made the
        negatives).
    """
    rows = build.stats().select("dataset", "difficulty", "negatives").iter_rows(named=True)
    keys = sorted((SetKey(**row) for row in rows), key=lambda key: key.negatives)
    sets = [key for key in keys if key.path in build.manifest.outputs]
    distances, examples = [], []
    seen: set[tuple[str, str]] = set()
    for set_key in sets:
        chosen = [0] if (set_key.dataset, set_key.difficulty) in seen else [1, 0]
        seen.add((set_key.dataset, set_key.difficulty))
        columns = [name for name in ("label", *_SHOWN) if name in set_key.schema()]
        similarity = pl.col("similarity") if "similarity" in columns else pl.lit(None, pl.Float32)
        frame = build.read(set_key.path, columns).with_columns(similarity=similarity)
        for label in chosen:
            pairs = frame.filter(label=label).with_columns(
                dataset=pl.lit(set_key.dataset),
                difficulty=pl.lit(set_key.difficulty),
                kind=pl.lit("positives" if label else f"{set_key.negatives} negatives"),
            )
            key = ["dataset", "difficulty", "kind"]
            counted = pairs.group_by(*key, "distance").agg(pl.len().cast(pl.Int64).alias("n"))
            distances.append(counted.sort("distance"))
            examples.append(pairs.head(_EXAMPLES).select(*key, *_SHOWN))
    return pl.concat(distances), pl.concat(examples)


_MEANINGS = toml_of(__package__, "words.toml")


def words_of_sets(names_by_column: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Return the meanings of the datasets, difficulties and negatives that a page has."""
    datasets = {
        dataset.name: queries.query(dataset.query).sentence for dataset in queries.datasets()
    }
    known = {"dataset": datasets, **_MEANINGS}
    return {
        f"{name} negatives" if column == "negatives" else name: text.format(distance=EASY_DISTANCE)
        for column, texts in known.items()
        for name, text in texts.items()
        if name in {name.partition("/")[0] for name in names_by_column[column]}  # without languages
    }


def build_page(build: Build) -> Page:
    """Return the report of a build."""
    manifest, sizes = build.manifest, table_2(build)
    source = manifest.source
    distances, examples = distances_and_examples(build)
    kinds = distinct(distances["kind"])
    sections = [
        result(manifest, sizes.filter(pl.col("dataset") != PARENT_CHILD), distances),
        _examples(examples),
        _sizes(sizes),
        distance_section(distances, kinds),
        _skipped(manifest),
    ]
    source_files: Any = source["files"]
    names = {"name": "file", "size": "bytes", "sha256": "SHA-256"}
    files = pl.DataFrame(source_files, schema=list(names)).rename(names)
    return report(
        manifest,
        str(source.get("name")),
        title=f"Term-similarity datasets of {source.get('name')}",
        lead=f"{combined(manifest.outputs, 'pairs/').rows:,} pairs of terms, release "
        f"{source.get('release_date') or 'undated'}.",
        sections=[section for section in sections if section is not None],
        notice=license_notice({str(source.get("name")): source}),
        words=words_of_sets(
            {
                "dataset": distances["dataset"].unique(),
                "difficulty": distances["difficulty"].unique(),
                "negatives": [kind.removesuffix(" negatives") for kind in kinds],
            }
        ),
        parts=[_facts(manifest), PageTable(caption="Files that were read", frame=files)],
        commands=_COMMANDS,
        below="pairs/",
    )


def _facts(manifest: BuildManifest) -> PageTable:
    source, components = manifest.source, manifest.components
    rows: dict[str, object] = {
        "Terminology": source.get("name"),
        "Format": str(source.get("source")).upper(),
        "Release": source.get("release_date"),
        "Terms": components.get("n_terms"),
        "Groups of terms linked by positives, with single terms": components.get("n_components"),
        "Terms in the largest group": components.get("largest"),
        "Negatives that could not be made": manifest.shortfall,
        "May be shared": source.get("redistributable"),
        "Terms of use": source.get("terms_of_use"),
    }
    return facts("The build", rows.items())


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
        prose="The number of pairs in each dataset and their mean Levenshtein distance, ignoring "
        "case, as in table 2 of Schulz and Juric (2020). The size counts the positives and the "
        "negatives of one strategy.",
        parts=[numbers],
    )


def _examples(examples: pl.DataFrame) -> Section | None:
    if examples.is_empty():
        return None
    folded: list[Folded] = []
    groups = examples.group_by("dataset", "difficulty", maintain_order=True)
    for (dataset, difficulty), group in groups:
        shown = group.select(pl.col("kind").alias("pair of"), *_SHOWN)
        if not shown["similarity"].count():
            shown = shown.drop("similarity")
        table = PageTable(caption=f"Examples of {dataset}, {difficulty}", frame=shown)
        summary = f"{dataset}, {difficulty}"
        folded.append(Folded(summary=summary, opened=not folded, tables=[table]))
    return Section(
        title="Examples",
        prose="The first pairs of each dataset, whose rows are in random order.",
        parts=folded,
    )


def _skipped(manifest: BuildManifest) -> Section | None:
    if not manifest.skipped:
        return None
    frame = pl.DataFrame(manifest.skipped).select("reason", rows="n_rows")
    return Section(
        title="Skipped",
        parts=[PageTable(caption="Rows of the source that were left out", frame=frame)],
    )


_POSITIVES = "positives"


def result(manifest: BuildManifest, sizes: pl.DataFrame, distances: pl.DataFrame) -> Section:
    """Return the main result: what was built, what spelling alone does, and warnings."""
    parts = sizes.filter(pl.col("difficulty").is_in(DIFFICULTIES) & (pl.col(_POSITIVES) > 0))
    sentences = _size_sentences(manifest, sizes, distances)
    if parts.height:
        sentences.append(_spelling_sentence(parts, distances))
    if manifest.shortfall:
        sentences.append(f"{counted(manifest.shortfall, 'negative')} could not be made.")
    return Section(title="Result", parts=[_chart(parts)] if parts.height else [], result=sentences)


def _size_sentences(
    manifest: BuildManifest, sizes: pl.DataFrame, distances: pl.DataFrame
) -> list[str]:
    """Return what was built, and the size of the largest dataset."""
    name = manifest.source.get("name")
    whole = sizes.filter(pl.col("difficulty") == "all").drop_nulls(_POSITIVES)
    empty = whole.filter(pl.col(_POSITIVES) == 0)["dataset"].to_list()
    if len(empty) == whole.height:
        return [f"{name} has no positives (pairs of synonyms)."]
    largest = whole.sort(_POSITIVES, "dataset", descending=[True, False]).row(0, named=True)
    hard = sizes.filter(dataset=largest["dataset"], difficulty="hard")[_POSITIVES].sum()
    kinds = distances.filter(pl.col("kind") != _POSITIVES)["kind"].unique().sort()
    of_kinds = [_in_prose(kind).removesuffix(" negatives") for kind in kinds]
    negatives = f" and {listed(of_kinds)} negatives" if of_kinds else ""
    n_full = whole.height - len(empty)
    n_datasets = f"{n_full} of {whole.height}" if empty else f"all {whole.height}"
    without = f"; this release has no pairs for {listed(empty)}" if empty else ""
    n_pairs = combined(manifest.outputs, "pairs/").rows
    contents = f"synonyms (positives){negatives} in {n_datasets} datasets"
    numbers = f"{largest[_POSITIVES]:,} positives, {hard:,} of them hard"
    return [
        f"This build of {name} has {n_pairs:,} pairs: {contents}{without}.",
        f"The largest dataset, {largest['dataset']}, has {numbers}.",
    ]


def _in_prose(kind: str) -> str:
    return kind.replace("levenshtein", "Levenshtein")


def _spelling_sentence(parts: pl.DataFrame, distances: pl.DataFrame) -> str:
    """Return what spelling alone does in the largest hard set, or else the largest set."""
    hard = parts.filter(difficulty="hard")
    most = (hard if hard.height else parts).sort(_POSITIVES, "dataset", descending=[True, False])
    dataset, difficulty = most.select("dataset", "difficulty").row(0)
    of_set = distances.filter(dataset=dataset, difficulty=difficulty)
    means = {
        _in_prose(str(kind)): float(np.average(rows["distance"], weights=rows["n"]))
        for (kind,), rows in of_set.group_by("kind", maintain_order=True)
    }
    synonyms = means.pop(_POSITIVES)
    said = f"In {dataset}, {difficulty}, synonyms are {synonyms:.1f} edits apart on average"
    if not means:
        return f"{said}."
    nearer = [kind for kind, mean in means.items() if mean < synonyms]
    others = listed([f"{kind} {mean:.1f}" for kind, mean in means.items()])
    end = (
        f"spelling alone misleads, as {listed(nearer)} are closer than synonyms"
        if nearer
        else "no negatives are closer than synonyms"
    )
    return f"{said}, {others}: {end}."


def _chart(sizes: pl.DataFrame) -> Chart:
    """Return the positives of each dataset, easy and hard."""
    rows = charts.points(sizes, y="dataset", contender="difficulty", value="positives")
    return Chart(
        title="Positives of each dataset",
        says="Positives are pairs of synonyms: easy ones differ by at most 5 edits, hard ones by "
        "more. Each strategy adds as many negatives, if there are enough.",
        spec=charts.dots(
            DIFFICULTIES,
            x=charts.ValueAxis(
                title="positives, on a logarithmic scale", scale={"type": "log"}, digits=",.0f"
            ),
            y=distinct(rows["y"]),
            names=("difficulty", "dataset"),
        ),
        rows=rows,
        table=PageTable(
            caption="Positives", frame=sizes.select("dataset", "difficulty", "positives")
        ),
    )


_COVERED = 0.99  # share of pairs up to whose distance histograms are drawn
_BINS = 60


def distance_section(counts: pl.DataFrame, kinds: Sequence[str]) -> Section | None:
    """Return the section on distances; see ``distances_and_examples``."""
    if counts.is_empty():
        return None
    panel = pl.format("{}, {}", "dataset", "difficulty").alias("panel")
    counted = counts.with_columns(panel).rename({"distance": "x"})
    rows, end = _binned(counted, ["panel", "kind"])
    panels = list(counted["panel"].unique(maintain_order=True))
    table = _quantiles(counted, ["dataset", "difficulty", "kind"]).rename({"kind": "pairs of"})
    spec = charts.histograms(kinds, x="Levenshtein distance", panels=panels, whole=True)
    says = (
        "Share of the pairs at each distance. Where negatives are left of the positives, spelling "
        f"alone misleads. Distances above {end} (at most 1% of pairs) are only in the table."
    )
    chart = Chart(
        title="Distances of positives and negatives",
        says=says,
        spec=spec,
        rows=rows,
        table=PageTable(caption="Levenshtein distances", frame=table, formats={"mean": ",.2f"}),
    )
    return Section(
        title="Distances",
        prose="How many characters must be inserted, deleted or replaced to turn one term of a "
        "pair into the other, ignoring case.",
        parts=[chart],
    )


def _binned(counted: pl.DataFrame, key: Sequence[str]) -> tuple[pl.DataFrame, int]:
    """Return shares in bins, in per cent, and the end of the last bin.

    ``counted`` has the number n of items with the value x, by the key of a histogram.
    """
    by_value = counted.group_by("x").agg(pl.col("n").sum()).sort("x")
    below = by_value["n"].cum_sum() / by_value["n"].sum()
    end = int(by_value.filter(below >= _COVERED)["x"][0])
    width = max(1, -(-end // _BINS))
    end = (end // width + 1) * width - 1  # of a whole bin
    middle = pl.col("x") // width * width + (width - 1) / 2
    rows = (
        counted.with_columns((100 * pl.col("n") / pl.col("n").sum().over(key)).alias("share"))
        .filter(pl.col("x") <= end)
        .group_by(*key, middle.alias("x"), maintain_order=True)
        .agg(pl.col("share").sum())
    )
    middles = pl.DataFrame({"x": [start + (width - 1) / 2 for start in range(0, end + 1, width)]})
    grid = counted.select(key).unique(maintain_order=True).join(middles, how="cross")
    return grid.join(rows, on=[*key, "x"], how="left", maintain_order="left").with_columns(
        pl.col("share").fill_null(0.0)
    ), end


def _quantiles(counted: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """Return numbers, means and quantiles of the values x, which are in order."""
    x, n = pl.col("x"), pl.col("n")
    shares = {"5%": 0.05, "25%": 0.25, "median": 0.5, "75%": 0.75, "95%": 0.95}
    at = {
        title: x.filter(n.cum_sum() >= share * n.sum()).first() for title, share in shares.items()
    }
    groups = counted.group_by(key, maintain_order=True)
    return groups.agg(n.sum(), mean=(x * n).sum() / n.sum(), **at, largest=x.last())
