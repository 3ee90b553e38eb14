"""Splits a build by rules and groups, so that nothing in one split is linked to another."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.builds.build import (
    BuildRun,
    derive,
    opened_or_built,
    paths_of,
    write_build,
    write_terminology,
)
from medsim.builds.cards import splits_card
from medsim.builds.embedded import embedding_of, with_checked_fingerprint
from medsim.builds.output import BUILD, CARD, STATS, Build
from medsim.builds.positives import reload, reload_names
from medsim.core import manifest
from medsim.core.canonical import canonical_digest
from medsim.core.config import PARENT_CHILD
from medsim.core.errors import InputError, OptionError, check_known, counted, with_addresses
from medsim.core.files import digest_of
from medsim.core.kinds import CANONICAL_TABLES, read_manifest
from medsim.core.manifest import MANIFEST, Output, Skipped
from medsim.core.opened import reading_output
from medsim.core.options import PathOrOutput, folder_of, public
from medsim.core.output import OutputFolder, claimed_by
from medsim.core.parquet import read_parquet
from medsim.core.progress import Progress, progress_of
from medsim.core.store import Store
from medsim.core.terms import lowered, lowered_column
from medsim.embeddings.encoders import cache_folder
from medsim.kernels.components import components
from medsim.splits.options import SplitOptions, shares_of
from medsim.splits.output import CONCEPT_SPLIT, SPLIT_STATS, SPLITS, Splits, SplitsManifest
from medsim.terminologies.sources import Terminology
from medsim.terminologies.sources.archive import SourceFile

if TYPE_CHECKING:
    from medsim.builds.options import Correction
    from medsim.embeddings.embedded_terms import NamedEmbedding


_SET = ["dataset", "difficulty"]
_ENDS = ("concept1", "concept2")


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """The parts of a build that go to each split.

    Attributes:
        concepts: a row per concept: ``CONCEPT_SPLIT``.
        left_out: descriptions that no split has: description_id, concept_id, split.
        positives: a row per split and set with positives: split, dataset, difficulty,
            n_positives.
        severed: number of associations from each split to another split.
        corrections: corrections of the build by split.
        embedding: embedding of the embedding negatives; None if the build has none.
        assignment: result of the rule.
    """

    concepts: pl.DataFrame
    left_out: pl.DataFrame
    positives: pl.DataFrame
    severed: dict[str, int]
    corrections: dict[str, tuple[Correction, ...]]
    embedding: NamedEmbedding | None
    assignment: Assignment

    def skipped(self, name: str) -> tuple[Skipped, ...]:
        """Return how many rows of its concepts a split leaves out, by reason."""
        other_text = "description is not a term, but has the text of a term in another split"
        counts = {
            "association has an end in another split": self.severed.get(name, 0),
            other_text: self.left_out.filter(split=name).height,
        }
        return tuple(Skipped(reason=reason, n_rows=n) for reason, n in counts.items())


def find_partition(
    build: Build, options: SplitOptions, spill: Path | None, threads: int, progress: Progress
) -> Partition:
    """Return the parts of a build that go to each split.

    Raises:
        InputError: the build does not have the rows in its manifest.
        OptionError: a split would be empty, or the rule does not fit the build.
    """
    shares = shares_of(options.ratios)
    embedding = embedding_of(build, options.embedding, progress)
    since = options.since
    earlier = nullcontext() if since is None else opened_or_built(since, spill, threads, progress)
    with earlier as earlier_build, Store(threads=threads, spill=spill) as store:
        with progress.stage("derive positives again") as stage:
            derived = reload(build, store, threads)
            positives, concept_ids = derived.positives, derived.positives.concepts
            derived_pairs = pl.concat([positives.pairs, positives.parent_child])
            ends = {side: concept_ids.gather(derived_pairs[side]) for side in _ENDS}
            pairs = derived_pairs.select(pl.col(_SET).cast(pl.String), **ends)
            in_build = build.stats()["dataset"].unique()  # no translations with minimal negatives
            pairs = pairs.filter(pl.col("dataset").is_in(in_build.implode()))
            _check_positives(build, pairs)
            stage.note(f"{pairs.height:,} pairs")
        if embedding is not None:
            with_checked_fingerprint(build, embedding, derived, progress, threads)
        del derived, derived_pairs, positives
        with progress.stage("split the concepts") as stage:
            groups = find_groups(store)
            if options.by == "category":
                assignment = _by_category(store, build, options, shares)
            elif since is not None and earlier_build is not None:
                assignment = _by_release(store, build, since, earlier_build, shares, threads)
            else:
                assignment = Assignment(shares=shares)
            concepts = place_groups(store, assignment.shares, assignment.assigned, options.seed)
            stage.note(
                f"{counted(concepts.height, 'concept')} in "
                f"{counted(groups['group_id'].n_unique(), 'group')} {assignment.about}".rstrip()
            )
            left_out = find_left_out(store)
            of_splits = within_splits(pairs, concepts).group_by("split", *_SET)
            counts = of_splits.agg(n_positives=pl.len()).sort("split", *_SET)
            synonyms = counts.filter(pl.col("dataset") != PARENT_CHILD)
            if empty := [name for name in shares if name not in set(synonyms["split"])]:
                raise OptionError(
                    f"the {' and '.join(empty)} split would have none of the {pairs.height:,} "
                    "positives; choose other `ratios`, another rule or a larger build"
                )
            return Partition(
                concepts=concepts,
                left_out=left_out,
                positives=counts,
                severed=dict(store.frame("splits/severed").iter_rows()),
                corrections=_corrections(build, store, list(shares)),
                embedding=embedding,
                assignment=assignment,
            )


def within_splits(pairs: pl.DataFrame, concepts: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs whose concepts are in one split, with the column split.

    Only pairs of a child and its parent can be in two splits.
    """
    first, second = (
        concepts.select("split", "concept_id").rename({"concept_id": side}) for side in _ENDS
    )
    return pairs.join(first, on="concept1").join(second, on=["concept2", "split"])


def _check_positives(build: Build, pairs: pl.DataFrame) -> None:
    """Raise InputError unless a build has the numbers of positives that follow from its tables."""
    counts = pairs.group_by(_SET).agg(n_derived=pl.len())
    known = build.stats().group_by(_SET).agg(pl.col("n_positives").max())
    both = known.join(counts, on=_SET, how="full", coalesce=True).fill_null(0)
    if not both.filter(pl.col("n_derived") != pl.col("n_positives")).is_empty():
        raise InputError(f"{build.folder} has other positives than its terminology; rebuild it")


def _corrections(
    build: Build, store: Store, names: Sequence[str]
) -> dict[str, tuple[Correction, ...]]:
    """Return the corrections of each split that has both terms."""
    corrections = build.options.loaded_corrections
    if not corrections:
        return dict.fromkeys(names, ())
    split_of = dict(store.table("term_split").select("lower_term", "split").iter_rows())
    sides = ([getattr(one, side) for one in corrections] for side in ("term1", "term2"))
    ends = [[split_of.get(term) for term in lowered(terms)] for terms in sides]
    rows = list(zip(corrections, *ends, strict=True))
    return {
        name: tuple(one for one, first, second in rows if first == second == name) for name in names
    }


_NUMBERS = 1 << 32  # of hashes of 8 hexadecimal digits

ASSIGNED_COLUMNS = {"group_id": pl.String, "split": pl.String}
"""The columns of groups that a rule assigns to a split."""


def find_groups(store: Store) -> pl.DataFrame:
    """Return the group of each concept: concept_id, group_id, in order of concept_id.

    A group is a connected component of concepts, linked by shared terms (ignoring case), positives,
    corrections and synonymy; its id is its smallest concept id. The tables concept_group,
    numbered_concept and concept_term remain in the store.

    Args:
        store: store with the canonical tables and the tables of ``index_terms``.
    """
    store.run_each("splits", "numbered_concept", "concept_term")
    links = store.frame("splits/link")
    concept_ids = store.table("numbered_concept").sort("concept_number")["concept_id"]
    n_nodes = store.n_rows("term")
    roots = components(
        len(concept_ids) + n_nodes, links["left_id"].to_numpy(), links["right_id"].to_numpy()
    )
    group_ids = concept_ids.gather(roots[: len(concept_ids)])  # concepts come before components
    groups = pl.DataFrame({"concept_id": concept_ids, "group_id": group_ids})
    store.put("concept_group", groups)
    return groups


def place_groups(
    store: Store, shares: Mapping[str, Fraction], assigned: pl.DataFrame, seed: int
) -> pl.DataFrame:
    """Return the split of each concept, ``CONCEPT_SPLIT``, and keep it as table concept_split.

    Args:
        store: store with the table concept_group.
        shares: shares of the splits for groups that are split by hash, with sum 1.
        assigned: groups that a rule assigns to a split, ``ASSIGNED_COLUMNS``.
        seed: random seed of the hash.
    """
    rows, low, reached, total = [], 0, Fraction(0), sum(shares.values())
    for name, share in shares.items():  # a split has the hashes from ``low`` to below ``high``
        reached += share
        high = math.ceil(_NUMBERS * reached / total)
        rows.append((name, low, high))
        low = high
    bounds = {"split": pl.String, "low": pl.Int64, "high": pl.Int64}
    store.put("split_bound", pl.DataFrame(rows, schema=bounds, orient="row"))
    store.put("assigned_group", assigned)
    store.run("splits/concept_split", seed=str(seed))
    return store.table("concept_split").sort("concept_id")


def other_texts(store: Store) -> pl.DataFrame:
    """Return the texts of descriptions that are not terms: term, lower_term."""
    texts = store.frame("splits/other_text")["term"]
    return pl.DataFrame([texts, lowered_column(texts)])


def find_left_out(store: Store) -> pl.DataFrame:
    """Return the descriptions that would leak a term of one split into another.

    They are not terms: they are inactive, or in another language.

    Args:
        store: store with the tables of ``find_groups`` and ``place_groups``; the table term_split
            is added.

    Returns:
        description_id, concept_id, split.
    """
    store.put("other_text", other_texts(store))
    store.run_each("splits", "term_split", "left_out")
    store.drop("other_text")
    return store.table("left_out")


_TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The result of a rule: groups assigned to splits, and shares for the other groups.

    Attributes:
        shares: shares of the splits for groups that are split by hash.
        assigned: groups that the rule assigns to a split: ``ASSIGNED_COLUMNS``.
        facts: facts about the rule, for the manifest.
        about: the facts in a few words.
    """

    shares: Mapping[str, Fraction]
    assigned: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=ASSIGNED_COLUMNS))
    facts: Mapping[str, object] = field(default_factory=dict)
    about: str = ""


def _by_category(
    store: Store, build: Build, options: SplitOptions, shares: Mapping[str, Fraction]
) -> Assignment:
    groups = store.frame("splits/group_category")
    sizes = groups.group_by("category").agg(pl.col("n_concepts").sum())
    if sizes.filter(pl.col("category") != "").is_empty():
        raise OptionError(f"{build.folder} has no categories (semantic tags) to split `by`")
    dealt = deal_categories(
        dict(sizes.iter_rows()), shares, options.test_categories, seed=options.seed
    )
    splits = pl.DataFrame({"split": list(dealt), "category": list(dealt.values())})
    return Assignment(
        shares=shares,
        assigned=groups.join(splits.explode("category"), on="category").select(*ASSIGNED_COLUMNS),
        facts={"categories": dealt},
        about=f"of {counted(sizes.height, 'category', 'categories')}",
    )


def deal_categories(
    sizes: Mapping[str, int], shares: Mapping[str, Fraction], of_test: Sequence[str], *, seed: int
) -> dict[str, list[str]]:
    """Return the categories of each split, in order of name.

    Categories are assigned by decreasing size, with ties broken by the hash of seed and name. Each
    goes to the split that is furthest below its share; ties go to the smallest split.

    Args:
        sizes: number of concepts of each category.
        shares: shares of the splits.
        of_test: categories of the test split; if given, the other splits get all other categories.
        seed: random seed of the hash.

    Raises:
        OptionError: a category is unknown.
    """
    check_known("category", sorted(filter(None, sizes)), *of_test)
    dealt: dict[str, list[str]] = {name: [] for name in shares}
    dealt[_TEST] += set(of_test)
    rest = {name: size for name, size in sizes.items() if name not in of_test}
    open_to = {name: share for name, share in shares.items() if name != _TEST or not of_test}
    total = sum(rest.values())
    lacks = {name: total * share / sum(open_to.values()) for name, share in open_to.items()}

    def order(name: str) -> tuple[int, str, str]:
        name_hash = hashlib.md5(f"{seed} {name}".encode(), usedforsecurity=False).hexdigest()
        return -rest[name], name_hash, name

    for category in sorted(rest, key=order):
        neediest = max(lacks, key=lambda name: (lacks[name], lacks[name] / open_to[name]))
        dealt[neediest].append(category)
        lacks[neediest] -= rest[category]
    return {name: sorted(categories) for name, categories in dealt.items()}


def _by_release(
    store: Store,
    build: Build,
    since: PathOrOutput,
    earlier: Build,
    shares: Mapping[str, Fraction],
    threads: int,
) -> Assignment:
    _check_earlier(since, earlier, build)
    with Store(threads=threads) as earlier_store:
        terms = reload_names(earlier, earlier_store)
        earlier_store.run("splits/numbered_concept")
        store.put("earlier_concept", earlier_store.table("numbered_concept").select("concept_id"))
        store.put("earlier_term", terms.select("lower_term").unique(maintain_order=True))
    known = [store.table(f"earlier_{table}").sort(pl.all()) for table in ("concept", "term")]
    ages = store.frame("splits/group_age")
    store.drop("earlier_concept", "earlier_term")
    new = ages.filter("is_new").select("group_id", split=pl.lit(_TEST))
    n_mixed = int(ages["is_mixed"].sum())
    path = next((path.absolute() for path in paths_of(since)), since)
    return Assignment(
        shares={name: share for name, share in shares.items() if name != _TEST},
        assigned=new,
        facts={
            "since": with_addresses(str(path)),
            "release_date": earlier.manifest.source.get("release_date"),
            "fingerprint": canonical_digest([*map(manifest.fingerprint, known)]),
            "n_new_groups": new.height,
            "n_mixed_groups": n_mixed,
        },
        about=f"{new.height:,} of them new, {n_mixed:,} with both old and new",
    )


def _check_earlier(since: PathOrOutput, earlier: Build, build: Build) -> None:
    """Raise OptionError unless a build has an earlier release of the same terminology."""
    days = [each.manifest.source.get("release_date") for each in (earlier, build)]
    fits = build.manifest.may_match(earlier.manifest)
    if not fits or (None not in days and str(days[0]) >= str(days[1])):
        raise OptionError(
            f"`since` {next(iter(paths_of(since)), since)} is not an earlier release of the "
            f"terminology and language of {build.folder}"
        )


@public(SplitOptions)
def split(options: SplitOptions) -> Splits:
    """Write the splits of a build, each itself a build, and return them.

    Groups of concepts linked by shared names, positives and corrections stay together. A split has
    the build's positives between its concepts; its negatives are made again from the split's terms,
    in the same way as the build's.

    Raises:
        InputError: the folder is not a finished build, or its embedding is missing or differs.
        OptionError: an option is out of range, or a split would be empty.
        OutputError: ``out`` exists or cannot be written.
    """
    build = Build(folder_of(options.build))
    progress = progress_of(options.progress)
    threads = options.n_threads
    folders = [build.folder, *(paths_of(options.since) if options.since else ())]
    with reading_output(build), claimed_by(options, SPLITS, folders) as output:
        partition = find_partition(build, options, output.spill, threads, progress)
        _warn_of_large_group(partition, options, progress)
        others = () if partition.embedding is None else manifest.ENCODERS
        job: dict[str, Any] = {  # everything that affects the rows
            "medsim": manifest.medsim_version(),
            "libraries": manifest.library_versions(*others),
            "build": build.manifest.digest,
            "options": options.recorded(),
            "rule": dict(partition.assignment.facts),
        }
        output.resume(job)
        parts = {
            name: _write_split(build, name, partition, options, output, progress)
            for name in shares_of(options.ratios)
        }
        _write_tables(build, parts, partition, output)
        manifests = {name: read_manifest(part.folder, BUILD) for name, part in parts.items()}
        output.write_text(CARD, splits_card(manifests, options.recorded()), 0)
        SplitsManifest(
            **{**output.run_facts(options.recorded(), progress, threads), **job},
            source=build.manifest.source,
            splits={name: _facts(name, partition, output) for name in parts},
        ).write(output.folder)
    return Splits(options.out)


def _warn_of_large_group(partition: Partition, options: SplitOptions, progress: Progress) -> None:
    """Warn about a group that is larger than the share of a split."""
    concepts = partition.concepts
    sizes = concepts.group_by("group_id", "split").len("n").sort("n", "group_id")
    group, split_name, largest = sizes.row(-1)
    smallest, share = min(shares_of(options.ratios).items(), key=lambda item: item[1])
    if largest > share * concepts.height:
        progress.warn(
            f"the group of {group} has {largest:,} of {concepts.height:,} concepts, more than the "
            f"share of {smallest} ({float(share):.1%}); it is all in {split_name}, so the splits "
            "do not have the sizes of `ratios`"
        )


class OutputPart(OutputFolder):
    """An output inside an unfinished output, such as the build of a split.

    Its files are written, recorded and resumed as files of the outer output.
    """

    def __init__(self, whole: OutputFolder, name: str) -> None:
        self._whole_output, self._prefix = whole, f"{name}/"
        self.folder, self.spill = whole.folder / name, whole.spill
        self.outputs = {}
        self._job, self._digests = whole._job, whole._digests  # noqa: SLF001 — one note

    def _note_job(self) -> None:
        self._whole_output._note_job()  # noqa: SLF001 — one note


def _write_split(
    build: Build,
    name: str,
    partition: Partition,
    options: SplitOptions,
    output: OutputFolder,
    progress: Progress,
) -> OutputPart:
    """Write the build of one split."""
    part, split_progress = OutputPart(output, name), progress.part(name)
    with Store(threads=options.n_threads, spill=output.spill) as store:
        with split_progress.stage("select its rows") as stage:
            whole = {f"whole_{name}": table.files for name, table in CANONICAL_TABLES.items()}
            store.view_files(build.folder, whole)
            store.put("concept_split", partition.concepts.filter(split=name))
            store.put("left_out", partition.left_out.filter(split=name))
            store.run_each("splits/tables", *CANONICAL_TABLES)
            stage.note(f"{store.n_rows('concept'):,} concepts")
        facts = {"name": name, **options.recorded(), "build": build.manifest.digest}
        if "split" in build.manifest.options:
            facts["of"] = build.manifest.options["split"]
        run = BuildRun(
            options=replace(build.options, corrections=partition.corrections[name]),
            terminology=replace(terminology_of(build), skipped=partition.skipped(name)),
            embedding=partition.embedding,
            cache=cache_folder(options.cache),
            store=store,
            threads=options.n_threads,
            progress=split_progress,
            split=facts,
        )
        derived = derive(run)
        run = run.with_fingerprint(derived)
        write_terminology(run, part)
        write_build(run, derived, part)
    manifest_file = Output(rows=1, fingerprint=digest_of(part.folder / MANIFEST))
    files = {**part.outputs, MANIFEST: manifest_file}
    output.outputs |= {f"{name}/{path}": file for path, file in files.items()}
    progress.warnings += [f"{name}: {line}" for line in split_progress.warnings]
    progress.records += [replace(r, name=f"{name}: {r.name}") for r in split_progress.records]
    return part


def terminology_of(build: Build) -> Terminology:
    """Return the facts about a build's terminology from its manifest."""
    source: dict[str, Any] = dict(build.manifest.source)
    day = source["release_date"]
    return Terminology(
        **{
            **source,
            "release_date": day and date.fromisoformat(day),
            "files": tuple(SourceFile(**facts) for facts in source["files"]),
            "skipped": (),
        }
    )


def _write_tables(
    build: Build, parts: Mapping[str, OutputPart], partition: Partition, output: OutputFolder
) -> None:
    """Write the tables of all splits together."""
    metadata = {"redistributable": str(build.manifest.source["redistributable"])}
    stats = pl.concat(
        read_parquet(part.folder / STATS.files)
        .with_columns(split=pl.lit(name))
        .select(*SPLIT_STATS.dtypes)
        for name, part in parts.items()
    )
    output.write(CONCEPT_SPLIT.files, partition.concepts, metadata)
    output.write(SPLIT_STATS.files, stats, metadata)


def _facts(name: str, partition: Partition, output: OutputFolder) -> dict[str, object]:
    """Return the sizes of one split, and its number of positives of each dataset."""
    concepts = partition.concepts.filter(split=name)
    n_positives = pl.col("n_positives").filter(split=name).sum()
    positives = partition.positives.group_by("dataset").agg(n_positives).sort("dataset")
    return {
        "n_groups": concepts["group_id"].n_unique(),
        "n_concepts": concepts.height,
        "n_terms": output.outputs[f"{name}/terminology/term.parquet"].rows,
        "positives": dict(positives.iter_rows()),
    }
