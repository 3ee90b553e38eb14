"""Compares two releases of a terminology and their datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import polars as pl

from medsim.builds.build import opened_or_built, paths_of
from medsim.builds.output import PAIR, Build, BuildManifest
from medsim.builds.positives import pair_distances
from medsim.core import queries
from medsim.core.config import checked_threads
from medsim.core.errors import OptionError
from medsim.core.kinds import CANONICAL_TABLES
from medsim.core.options import PathOrOutput, public
from medsim.core.output import claimed_by
from medsim.core.progress import Progress, progress_of
from medsim.core.store import Store
from medsim.core.table_formats import markdown, plain_markdown
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
    readable_changes,
)

_LARGEST_SHARE = 0.5  # of the longer name, in the distance of a changed name
_LISTED_ROWS = 1_000  # of each table in the changelog
_LISTED = ("concept", "name", "association")
_SIDES = ("old_term", "new_term")


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
    with (
        claimed_by(options, DIFF, [*paths_of(options.old), *paths_of(options.new)]) as output,
        opened_or_built(options.old, output.spill, threads, progress) as old,
        opened_or_built(options.new, output.spill, threads, progress, options.extensions) as new,
        Store(threads=threads, spill=output.spill) as store,
    ):
        _check_comparable(old.manifest, new.manifest, progress)
        strategies = [name for name in old.strategies if name in new.strategies]
        store.put("strategy", pl.DataFrame({"negatives": strategies}))
        with progress.stage("compare the releases") as stage:
            tables = changes_between(old, new, store, threads)
            stage.note(f"{sum(table.height for table in tables.values()):,} changes")
        if not store.table("release_concept")["kept"].any():
            progress.warn(
                "no concept is active in both releases; are they of the same terminology?"
            )
        summary = summarised(tables, strategies, len(new.options.languages))
        sources = [build.manifest.source for build in (old, new)]
        metadata = {"redistributable": str([source["redistributable"] for source in sources])}
        for name, table in {**tables, "summary": summary}.items():
            output.write(DIFF.views[name].files, table, metadata)
        output.write_text(CHANGELOG, changelog(list(map(label, sources)), summary, tables), 0)
        DiffManifest(
            old=_facts(options.old, old),
            new=_facts(options.new, new),
            **output.run_facts(options.recorded(), progress, threads),
        ).write(output.folder)
    return Diff(options.out)


def _facts(release: PathOrOutput, build: Build) -> dict[str, object]:
    path = str(next(iter(paths_of(release)), release))
    return {"place": path, "source": build.manifest.source, "build": build.manifest.digest}


def _check_comparable(old: BuildManifest, new: BuildManifest, progress: Progress) -> None:
    """Raise OptionError for different terminologies; warn of different options or wrong order."""
    if not old.may_match(new):
        raise OptionError("`old` and `new` are not of the same terminology and language")
    keys = sorted({*old.options, *new.options} - {"as_of"})
    if differing := [key for key in keys if old.options.get(key) != new.options.get(key)]:
        progress.warn(
            f"the builds have different options ({', '.join(differing)}), so some changes may not "
            "be changes of the terminology"
        )
    days = old.source["release_date"], new.source["release_date"]
    if all(days) and str(days[0]) > str(days[1]):
        progress.warn(f"`old` is of {days[0]}, which is later than `new`, of {days[1]}")


def changes_between(old: Build, new: Build, store: Store, threads: int) -> dict[str, pl.DataFrame]:
    """Return the changes between two builds, by the name of their table."""
    for prefix, build in (("old", old), ("new", new)):
        views = {**CANONICAL_TABLES, "pair": PAIR}
        files = {f"{prefix}_{name}": table.files for name, table in views.items()}
        store.view_files(build.folder, files)
    language = new.options.languages[0]
    store.run_each("diffs", "release_concept", "release_name", language=language)
    tables = {name: store.frame(f"diffs/{name}") for name in DIFF_TABLES}
    tables["name"] = with_changed(tables["name"], threads)
    return {name: table.select(*DIFF_TABLES[name].dtypes) for name, table in tables.items()}


def with_changed(names: pl.DataFrame, threads: int) -> pl.DataFrame:
    """Return changes of names, with removed and added names of a concept paired, and distances.

    A removed and an added name are paired if their distance is at most half of the length of the
    longer one. The nearest are paired first, then in order of their texts, and each name once.
    """
    added = names.filter(change="added").select("concept_id", "new_term")
    pairs = names.filter(change="removed").drop("new_term").join(added, on="concept_id")
    pairs = pairs.with_columns(change=pl.lit("changed")).select(names.columns)
    pairs = pl.concat([names.filter(change="preferred"), pairs])
    lower = pl.concat([lowered_column(pairs[side]) for side in _SIDES])
    ids = pl.int_range(pairs.height, eager=True)
    pairs = pairs.with_columns(pair_distances(lower, ids, ids + pairs.height, threads))
    longer = pl.max_horizontal(pl.col(_SIDES).str.len_chars())
    is_near = pl.col("distance") <= _LARGEST_SHARE * longer
    pairs = pairs.filter(is_near | (pl.col("change") == "preferred"))
    used, chosen = set[tuple[str, str, str]](), []
    for row in pairs.sort("concept_id", "distance", *_SIDES).iter_rows(named=True):
        both = {(row["concept_id"], side, row[side]) for side in _SIDES}
        if used.isdisjoint(both):
            used |= both
            chosen.append(row)
    paired = pl.DataFrame(chosen, pairs.schema)
    for side in _SIDES:
        names = names.join(paired, on=["concept_id", side], how="anti")
    return pl.concat([names, paired], how="diagonal").sort("concept_id", "change", *_SIDES)


def summarised(
    tables: Mapping[str, pl.DataFrame], strategies: Sequence[str], n_languages: int
) -> pl.DataFrame:
    """Return the number of changes of each kind, the rows of ``SUMMARY``."""
    datasets = sorted(each.name for each in queries.datasets(n_languages, hierarchy=False))
    subjects = [
        *((name, None, None) for name in tables if name != "pair"),
        *product(["positive"], datasets, [None]),
        *product(["negative"], datasets, strategies),
    ]
    rows = []
    for subject, dataset, strategy in subjects:
        name = "pair" if dataset else subject
        changed = tables[name]
        if dataset:
            changed = changed.filter(pl.col("negatives").eq_missing(strategy), dataset=dataset)
        for kind in CHANGES[name]["kinds"]:
            kept = changed.filter(change=kind)["kept"]
            rows.append((subject, dataset, strategy, kind, kept.len(), kept.sum()))
    return pl.DataFrame(rows, SUMMARY.dtypes, orient="row")


def changelog(
    labels: Sequence[str], summary: pl.DataFrame, tables: Mapping[str, pl.DataFrame]
) -> str:
    """Return the number of changes, and the changes without pairs, as Markdown."""
    heading = f"# Changes from {plain_markdown(labels[0])} to {plain_markdown(labels[1])}"
    parts = [heading, *map(markdown, readable_changes(summary))]
    for name in _LISTED:
        table = tables[name].drop("kept")
        if not table.is_empty():
            parts += [f"## {CHANGES[name]['title']}", markdown(table.head(_LISTED_ROWS))]
        if table.height > _LISTED_ROWS:
            parts.append(f"The first {_LISTED_ROWS:,} of {table.height:,} rows.")
    return "\n\n".join(parts) + "\n"
