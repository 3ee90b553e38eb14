"""Verifies builds and splits by deriving everything again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import polars as pl

from medsim.builds.options import VerifyOptions
from medsim.builds.output import CARD, Build
from medsim.builds.positives import reload
from medsim.builds.verify import verify_build, with_seed
from medsim.core.checks import Finding, Verification, findings_table
from medsim.core.config import checked_threads
from medsim.core.errors import OptionError
from medsim.core.manifest import MANIFEST, Output
from medsim.core.opened import file_fingerprint, open_output, reading_output
from medsim.core.options import folder_of, public
from medsim.core.output import own_files, unknown_files
from medsim.core.progress import Progress, progress_of
from medsim.core.store import Store
from medsim.splits.options import AnyVerifyOptions, SplitOptions, shares_of
from medsim.splits.output import CONCEPT_SPLIT, SPLIT_STATS, SPLITS, Splits
from medsim.splits.split import (
    ASSIGNED_COLUMNS,
    find_groups,
    find_partition,
    other_texts,
    place_groups,
    within_splits,
)


@public(AnyVerifyOptions)
def verify(options: AnyVerifyOptions) -> Verification:
    """Verify that a build or splits on disk keep medsim's guarantees.

    Files and rows are compared with the manifest. Positives are derived again from the canonical
    tables, rules are checked in SQL, and distances, statistics, ids, the order of rows and random
    negatives are computed again. An independent library compares first terms, a random sample or
    all, with every term of the set, and cosines are computed again from the embedding. A sample can
    miss errors: ``n_compared`` and ``n_first_terms`` of the result give its size. First terms with
    fewer negatives than positives are always compared. Each split is verified as a build, and no
    concept, term or pair may be linked to another split; findings then have the column split.

    Raises:
        InputError: the folder is not a finished build or splits, or its embedding is missing or
            differs.
        OptionError: the sample is negative, or ``embedding`` or ``build`` does not fit the folder.
    """
    opened: Any = open_output(folder_of(options.folder), Build, Splits)
    if isinstance(opened, Splits):
        return _verify_splits(opened, options)
    if options.build is not None:
        raise OptionError(f"`build` is for splits; {opened.folder} is a build")
    return verify_build(options)


def _verify_splits(splits: Splits, options: AnyVerifyOptions) -> Verification:
    progress, threads = progress_of(options.progress), checked_threads(options.threads)
    options = replace(options, seed=with_seed(options).seed)
    with reading_output(splits):
        with progress.stage("compare files with the manifest"):
            whole = check_files(splits)
        if any(finding.violations for finding in whole):
            return _findings(whole, {})
        of_splits = {
            name: verify_build(replace(options, folder=build.folder, progress=progress.part(name)))
            for name, build in splits.builds.items()
        }
        if any(not verification.holds for verification in of_splits.values()):
            return _findings(whole, of_splits)
        with progress.stage("derive groups again"):
            whole += check_separation(splits, threads)
        if options.build is not None:
            build = Build(folder_of(options.build))
            whole += check_against_build(splits, build, options, threads, progress)
    return _findings(whole, of_splits)


def _findings(whole: Sequence[Finding], of_splits: dict[str, Verification]) -> Verification:
    tables = {name: verification.findings for name, verification in of_splits.items()}
    tables[""] = findings_table(whole)
    rows = [table.select(pl.lit(name).alias("split"), pl.all()) for name, table in tables.items()]
    return Verification(
        findings=pl.concat(rows),
        n_compared=sum(verification.n_compared for verification in of_splits.values()),
        n_first_terms=sum(verification.n_first_terms for verification in of_splits.values()),
        seed=next((verification.seed for verification in of_splits.values()), 0),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Contents:
    """The groups and terms of one split, derived again from its tables.

    Attributes:
        groups: concept_id, group_id.
        terms: lower_term of the names in the build's language.
        other_texts: lower_term of the descriptions that are not terms.
        n_foreign: number of terms in pairs that are not terms of the split.
    """

    groups: pl.DataFrame
    terms: pl.DataFrame
    other_texts: pl.DataFrame
    n_foreign: int


def check_files(splits: Splits) -> list[Finding]:
    """Check the files of splits against their manifests."""
    promised = splits.manifest.outputs
    wrong = list(unknown_files(splits.folder, own_files(splits.folder, SPLITS)))
    changed = []
    tables = (CONCEPT_SPLIT.files, SPLIT_STATS.files)
    for path in (*tables, CARD, *(f"{name}/{MANIFEST}" for name in splits.names)):
        if path not in promised or not (splits.folder / path).is_file():
            wrong.append(path)
            continue
        if file_fingerprint(splits.folder / path) != promised[path].fingerprint:
            changed.append(path)
    for name in splits.names:
        if f"{name}/{MANIFEST}" not in (*wrong, *changed):
            outputs: dict[str, Output] = splits[name].manifest.outputs
            changed += [f"{name}/{p}" for p in outputs if promised.get(f"{name}/{p}") != outputs[p]]
    return [
        Finding("files", "The folder holds exactly the files of the splits.", sorted(set(wrong))),
        Finding("fingerprint", "Every file matches its fingerprint in the manifest.", changed),
    ]


def check_separation(splits: Splits, threads: int) -> list[Finding]:
    """Check that splits share nothing and follow from the hashes of their groups."""
    concepts = splits.read("concepts.parquet")
    contents = {name: _contents(build, threads) for name, build in splits.builds.items()}
    return [
        _check_concepts(concepts, contents),
        _check_terms(contents),
        Finding(
            "pair",
            "Both terms of every pair belong to the pair's split.",
            [name for name, split in contents.items() if split.n_foreign],
        ),
        _check_groups(concepts, contents),
        _check_rule(splits, concepts, threads),
        _check_stats(splits),
    ]


def _contents(build: Build, threads: int) -> _Contents:
    with Store(threads=threads) as store:
        derived = reload(build, store, threads)
        groups = find_groups(store)
        texts = other_texts(store)
    terms = derived.positives.terms
    pairs = build.pairs(lazy=True)
    ends = [pairs.select(term=column) for column in ("term1", "term2")]
    of_pairs = pl.concat(ends).unique().collect()
    return _Contents(
        groups=groups,
        terms=terms.select("lower_term").unique(),
        other_texts=texts,
        n_foreign=of_pairs.join(terms, on="term", how="anti").height,
    )


def _check_concepts(concepts: pl.DataFrame, contents: dict[str, _Contents]) -> Finding:
    wrong = concepts.filter(pl.col("concept_id").is_duplicated())["concept_id"].to_list()
    for name, split in contents.items():
        in_split = concepts.filter(split=name)
        wrong += split.groups.join(in_split, on="concept_id", how="anti")["concept_id"].to_list()
    return Finding("concept", "No concept is in two splits.", wrong)


def _check_terms(contents: dict[str, _Contents]) -> Finding:
    wrong: list[str] = []
    for first, second in combinations(contents.values(), 2):
        for left, right in (
            (first.terms, second.terms),
            (first.other_texts, second.terms),
            (first.terms, second.other_texts),
        ):
            wrong += left.join(right, on="lower_term", how="semi")["lower_term"].to_list()
    return Finding("term", "No term is in two splits, ignoring case.", wrong)


def _check_groups(concepts: pl.DataFrame, contents: dict[str, _Contents]) -> Finding:
    """Check that groups are not divided; a concept without links is a group."""
    per_group = concepts.group_by("group_id").agg(pl.col("split").n_unique())
    wrong = per_group.filter(pl.col("split") > 1)["group_id"].to_list()
    derived = pl.concat(split.groups for split in contents.values())
    both = concepts.join(derived, on="concept_id", how="left", suffix="_found")
    group = pl.coalesce("group_id_found", "concept_id")
    wrong += both.filter(pl.col("group_id") != group)["group_id"].to_list()
    return Finding("group", "No name, positive or correction links two splits.", wrong)


def _check_rule(splits: Splits, concepts: pl.DataFrame, threads: int) -> Finding:
    """Check that each group is in the split of its hash."""
    options, promise = splits.manifest.options, "The split of each group follows from the rule."
    if options.get("by") != "hash":
        return Finding("rule", promise, note="checked only with the `build` that was split")
    with Store(threads=threads) as store:
        store.put("concept_group", concepts.select("concept_id", "group_id"))
        assigned = pl.DataFrame(schema=ASSIGNED_COLUMNS)
        shares, seed = shares_of(str(options["ratios"])), int(str(options["seed"]))
        expected = place_groups(store, shares, assigned, seed)
    differs = concepts["split"] != expected["split"]
    return Finding("rule", promise, concepts.filter(differs)["group_id"].to_list())


def _check_stats(splits: Splits) -> Finding:
    """Check the statistics against the splits, and the positives against the manifest."""
    expected = pl.concat(
        build.stats().with_columns(split=pl.lit(name)).select(*SPLIT_STATS.dtypes)
        for name, build in splits.builds.items()
    )
    wrong = [] if splits.read("stats.parquet").equals(expected) else ["stats.parquet"]
    for name in splits.names:
        expected_counts: Any = splits.manifest.splits[name]["positives"]
        sets = expected.filter(split=name).group_by("dataset", "difficulty")
        per_set = sets.agg(pl.col("n_positives").max())
        counts = dict(per_set.group_by("dataset").agg(pl.col("n_positives").sum()).iter_rows())
        wrong += [name for dataset, n in expected_counts.items() if counts.get(dataset, 0) != n]
    return Finding("stats", "The statistics match the splits.", wrong)


def check_against_build(
    splits: Splits, build: Build, options: VerifyOptions, threads: int, progress: Progress
) -> list[Finding]:
    """Check that splits have the concepts of a build, and each of its positives once.

    Raises:
        OptionError: another build was split.
    """
    if build.manifest.digest != splits.manifest.build:
        raise OptionError(f"`build` {build.folder} is not the build that was split: it differs")
    options_again = SplitOptions.from_record(
        splits.manifest.options,
        build=build.folder,
        out=splits.folder,
        since=splits.manifest.rule.get("since"),
        embedding=options.embedding,
        cache=options.cache,
    )
    partition = find_partition(build, options_again, None, threads, progress)
    concepts = splits.read("concepts.parquet")
    moved = [] if concepts.equals(partition.concepts) else ["concepts.parquet"]
    expected = within_splits(_positives(build), partition.concepts).drop("split")
    actual = pl.concat(_positives(split) for split in splits.builds.values())
    wrong = [
        *expected.join(actual, on=expected.columns, how="anti")["term1"],
        *actual.join(expected, on=expected.columns, how="anti")["term1"],
        *actual.filter(actual.is_duplicated())["term1"],
    ]
    return [
        Finding("build", "The concepts of the build are split as the rule requires.", moved),
        Finding("positives", "The splits have each positive of the build exactly once.", wrong),
    ]


def _positives(build: Build) -> pl.DataFrame:
    """Return the positives of every set with the set's name, once for all strategies."""
    rows = build.pairs(negatives=build.strategies[0], lazy=True).filter(pl.col("label") == 1)
    return rows.select(
        "dataset", "difficulty", "term1", "term2", "distance", "concept1", "concept2"
    ).collect()
