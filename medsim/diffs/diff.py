"""Compares two releases of a terminology and their datasets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.build import opened_or_built, paths_of
from medsim.builds.output import PAIR, Build
from medsim.builds.positives import pair_distances
from medsim.core import manifest, queries
from medsim.core.config import checked_threads
from medsim.core.errors import OptionError
from medsim.core.kinds import CANONICAL_TABLES
from medsim.core.options import public
from medsim.core.output import claimed
from medsim.core.progress import progress_of
from medsim.core.store import Store
from medsim.core.table_formats import TABLE_FORMATS
from medsim.core.terms import lowered_column
from medsim.diffs.options import DiffOptions
from medsim.diffs.output import (
    CHANGELOG,
    CHANGES,
    DIFF,
    DIFF_TABLES,
    SUMMARY,
    Diff,
    DiffManifest,
    label,
    readable,
)
from medsim.splits.split import build_digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from medsim.core.options import OpenedFolder
    from medsim.core.progress import Progress

_LARGEST_SHARE = 0.5  # of the longer name, in the distance of a changed name
_LISTED_ROWS = 1_000  # of each table in the changelog
_LISTED = {"concept": "Concepts", "name": "Names", "association": "Associations"}


@public(DiffOptions)
def diff(options: DiffOptions) -> Diff:
    """Write a comparison of two releases, and return it.

    A source is built into a temporary folder with default options, so that its datasets are those
    that ``build`` would write. A folder of a build is used as it is, and comes before a built-in
    source of the same name.

    Raises:
        InputError: a release is missing or damaged, or in an unknown format.
        OptionError: the releases are not of the same terminology and language.
        OutputError: ``out`` exists or cannot be written.
    """
    progress, threads = progress_of(options.progress), checked_threads(options.threads)
    places = (options.old, options.new)
    read = [path for place in places for path in paths_of(place)]
    with (
        claimed(Path(options.out), DIFF, overwrite=options.overwrite, input_folders=read) as output,
        opened_or_built(options.old, output.spill, threads, progress) as old,
        opened_or_built(options.new, output.spill, threads, progress) as new,
        Store(threads=threads, spill=output.spill) as store,
    ):
        _check_comparable(old, new, progress)
        with progress.stage("compare the releases") as stage:
            tables = compared(old, new, store, threads)
            stage.note(f"{sum(table.height for table in tables.values()):,} changes")
        if not store.table("release_concept")["kept"].any():
            progress.warn(
                "no concept is active in both releases; are they of the same terminology?"
            )
        facts = [_facts(options.old, old), _facts(options.new, new)]
        redistributable = [build.manifest.source["redistributable"] for build in (old, new)]
        key = {"medsim": manifest.medsim_version(), "redistributable": str(redistributable)}
        summary = summarised(tables, _strategies(old, new))
        for name, table in tables.items():
            output.write(DIFF_TABLES[name].files, table, key)
        output.write(SUMMARY.files, summary, key)
        output.write_text(CHANGELOG, changelog([label(one) for one in facts], summary, tables), 0)
        DiffManifest(
            old=facts[0],
            new=facts[1],
            options=options.recorded(),
            **manifest.run_facts(progress, output.outputs, threads),
        ).write(output.folder)
        output.publish()
    return Diff(options.out)


def _facts(place: str | Path | OpenedFolder, build: Build) -> dict[str, object]:
    path = str(place if isinstance(place, (str, Path)) else place.folder)
    return {"place": path, "source": build.manifest.source, "build": build_digest(build)}


def _check_comparable(old: Build, new: Build, progress: Progress) -> None:
    """Raise OptionError for builds of different terminologies; warn if their options differ."""
    facts = [
        (build.manifest.source.get("vocabulary"), build.manifest.options.get("language"))
        for build in (old, new)
    ]
    if any(None not in both and both[0] != both[1] for both in zip(*facts, strict=True)):
        raise OptionError("`old` and `new` are not of the same terminology and language")
    records = [build.manifest.options for build in (old, new)]
    keys = sorted({*records[0], *records[1]} - {"as_of"})
    if differing := [key for key in keys if records[0].get(key) != records[1].get(key)]:
        progress.warn(
            f"the builds have different options ({', '.join(differing)}), so some changes may not "
            "be changes of the terminology"
        )


def _strategies(old: Build, new: Build) -> list[str]:
    """Return the strategies of negatives that both builds have."""
    return [name for name in old.strategies if name in new.strategies]


def compared(old: Build, new: Build, store: Store, threads: int) -> dict[str, pl.DataFrame]:
    """Return the changes between two builds, by the name of their table."""
    for prefix, build in (("old", old), ("new", new)):
        views = {**CANONICAL_TABLES, "pair": PAIR}
        files = {f"{prefix}_{name}": table.files for name, table in views.items()}
        store.view_files(build.folder, files)
    language = str(new.manifest.options["language"])
    store.put("strategy", pl.DataFrame({"negatives": _strategies(old, new)}))
    store.run("diffs/release_concept", language=language)
    store.run("diffs/release_name", language=language)
    tables = {name: store.frame(f"diffs/{name}") for name in DIFF_TABLES}
    tables["name"] = with_changed(tables["name"], threads)
    return {name: table.select(*DIFF_TABLES[name].dtypes) for name, table in tables.items()}


def with_changed(names: pl.DataFrame, threads: int) -> pl.DataFrame:
    """Return changes of names, with removed and added names of a concept paired, and distances.

    A removed and an added name are paired if their distance is at most half of the length of the
    longer one. The nearest are paired first, then in order of their texts, and each name once.
    """
    removed = names.filter(change="removed").drop("new_term")
    added = names.filter(change="added").select("concept_id", "new_term")
    pairs = removed.join(added, on="concept_id").with_columns(change=pl.lit("changed"))
    longer = pl.max_horizontal(pl.col("old_term", "new_term").str.len_chars())
    pairs = with_distances(pairs, threads).filter(pl.col("distance") <= _LARGEST_SHARE * longer)
    used, chosen = set[tuple[str, str, bool]](), []
    for row in pairs.sort("concept_id", "distance", "old_term", "new_term").iter_rows(named=True):
        both = {
            (row["concept_id"], row["old_term"], False),
            (row["concept_id"], row["new_term"], True),
        }
        if used.isdisjoint(both):
            used |= both
            chosen.append(row)
    changed = pl.DataFrame(chosen, pairs.schema)
    others = with_distances(names, threads)
    for side in ("old_term", "new_term"):
        others = others.join(changed, on=["concept_id", side], how="anti")
    every = pl.concat([others, changed.select(others.columns)])
    return every.sort("concept_id", "change", "old_term", "new_term")


def with_distances(names: pl.DataFrame, threads: int) -> pl.DataFrame:
    """Return names with the distance of both lower-cased terms; null if one is missing."""
    both = names.filter(pl.col("old_term").is_not_null() & pl.col("new_term").is_not_null())
    lower = pl.concat([lowered_column(both[side]) for side in ("old_term", "new_term")])
    ids = pl.int_range(both.height, eager=True)
    distance = pair_distances(lower, ids, ids + both.height, threads)
    key = ["concept_id", "old_term", "new_term"]
    return names.join(both.select(key).with_columns(distance), on=key, how="left")


def summarised(tables: Mapping[str, pl.DataFrame], strategies: Sequence[str]) -> pl.DataFrame:
    """Return the number of changes of each kind, the rows of ``SUMMARY``."""
    datasets = sorted(dataset.name for dataset in queries.datasets())
    kinds: list[tuple[str, str | None, str | None]] = [
        *((name, None, None) for name in tables if name != "pair"),
        *(("positive", dataset, None) for dataset in datasets),
        *(("negative", dataset, name) for dataset in datasets for name in strategies),
    ]
    key = ["subject", "dataset", "negatives", "change"]
    of_kinds = [
        (*kind, change) for kind in kinds for change in CHANGES.get(kind[0], CHANGES["pair"])
    ]
    rows = pl.DataFrame(of_kinds, dict.fromkeys(key, pl.String), orient="row")
    subject = pl.when(pl.col("negatives").is_null()).then(pl.lit("positive"))
    parts = [
        table.with_columns(subject=pl.lit(name), dataset=None, negatives=None)
        if name != "pair"
        else table.with_columns(subject=subject.otherwise(pl.lit("negative")))
        for name, table in tables.items()
    ]
    texts = [part.select(pl.col(key).cast(pl.String), "kept") for part in parts]
    counts = pl.concat(texts).group_by(key).agg(n=pl.len(), n_kept=pl.col("kept").sum())
    joined = rows.join(counts, on=key, how="left", nulls_equal=True, maintain_order="left")
    return joined.with_columns(pl.col("n", "n_kept").fill_null(0).cast(pl.Int64))


def changelog(
    labels: Sequence[str], summary: pl.DataFrame, tables: Mapping[str, pl.DataFrame]
) -> str:
    """Return the number of changes, and the changes without pairs, as Markdown."""
    markdown = TABLE_FORMATS["md"].render
    parts = [f"# Changes from {labels[0]} to {labels[1]}", *map(markdown, readable(summary))]
    for name, title in _LISTED.items():
        table = tables[name].drop("kept")
        if not table.is_empty():
            parts += [f"## {title}", markdown(table.head(_LISTED_ROWS))]
        if table.height > _LISTED_ROWS:
            parts.append(f"The first {_LISTED_ROWS:,} of {table.height:,} rows.")
    return "\n\n".join(parts) + "\n"
