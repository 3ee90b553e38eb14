"""The partition of a build into splits."""

from __future__ import annotations

import hashlib
import math
from contextlib import nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.build import opened_or_built, paths_of
from medsim.builds.embedded import embedding_of, with_checked_fingerprint
from medsim.builds.positives import reload, reload_names
from medsim.core.errors import InputError, OptionError, counted, unknown_name
from medsim.core.manifest import Skipped
from medsim.core.store import Store
from medsim.core.terms import lowered
from medsim.kernels.components import components
from medsim.splits.options import shares_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from medsim.builds.options import Correction
    from medsim.builds.output import Build
    from medsim.core.options import OpenedFolder
    from medsim.core.progress import Progress
    from medsim.embeddings.embedded_terms import NamedEmbedding
    from medsim.splits.options import SplitOptions


_SET = ["dataset", "difficulty"]


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
        return (
            Skipped(
                reason="association has an end in another split",
                n_rows=self.severed.get(name, 0),
            ),
            Skipped(
                reason="description is not a term, but has the text of a term in another split",
                n_rows=self.left_out.filter(split=name).height,
            ),
        )


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
            derived_pairs = derived.positives.pairs
            first = derived.positives.concepts.gather(derived_pairs["concept1"])
            pairs = derived_pairs.select(pl.col(_SET).cast(pl.String), concept1=first)
            _check_positives(build, pairs)
            stage.note(f"{pairs.height:,} pairs")
        if embedding is not None:
            with_checked_fingerprint(build, embedding, derived, progress, threads)
        del derived, derived_pairs
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
            split_of_concept = concepts.select("split", concept1="concept_id")
            counts = pairs.join(split_of_concept, on="concept1").group_by("split", *_SET)
            positives = counts.agg(n_positives=pl.len()).sort("split", *_SET)
            if empty := [name for name in shares if name not in set(positives["split"])]:
                raise OptionError(
                    f"the {' and '.join(empty)} split would have none of the {pairs.height:,} "
                    "positives; choose other `ratios`, another rule or a larger build"
                )
            severed = store.frame("splits/severed")
            return Partition(
                concepts=concepts,
                left_out=left_out,
                positives=positives,
                severed=dict(severed.iter_rows()),
                corrections=_corrections(build, store, list(shares)),
                embedding=embedding,
                assignment=assignment,
            )


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
    corrections and synonymy; its id is its smallest concept. The tables concept_group,
    numbered_concept and concept_term remain in the store.

    Args:
        store: store with the canonical tables and the tables of ``index_terms``.
    """
    store.run("splits/numbered_concept")
    store.run("splits/concept_term")
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
    return pl.DataFrame([texts, pl.Series("lower_term", lowered(texts.to_list()), pl.String)])


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
    store.run("splits/term_split")
    store.run("splits/left_out")
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
    for category in of_test:
        if category not in sizes:
            raise OptionError(unknown_name("category", category, sorted(filter(None, sizes))))
    dealt: dict[str, list[str]] = {name: [] for name in shares}
    dealt[_TEST] += set(of_test)
    rest = {name: size for name, size in sizes.items() if name not in of_test}
    open_to = {name: share for name, share in shares.items() if name != _TEST or not of_test}
    total = sum(rest.values())
    lacks = {name: total * share / sum(open_to.values()) for name, share in open_to.items()}

    def place(name: str) -> tuple[int, str, str]:
        name_hash = hashlib.md5(f"{seed} {name}".encode(), usedforsecurity=False).hexdigest()
        return -rest[name], name_hash, name

    for category in sorted(rest, key=place):
        neediest = max(lacks, key=lambda name: (lacks[name], lacks[name] / open_to[name]))
        dealt[neediest].append(category)
        lacks[neediest] -= rest[category]
    return {name: sorted(categories) for name, categories in dealt.items()}


def _by_release(
    store: Store,
    build: Build,
    since: str | Path | OpenedFolder,
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
    ages = store.frame("splits/group_age")
    store.drop("earlier_concept", "earlier_term")
    new = ages.filter("is_new").select("group_id", split=pl.lit(_TEST))
    n_mixed = int(ages["is_mixed"].sum())
    return Assignment(
        shares={name: share for name, share in shares.items() if name != _TEST},
        assigned=new,
        facts={
            "since": str(next((path.absolute() for path in paths_of(since)), since)),
            "release_date": earlier.manifest.source.get("release_date"),
            "n_new_groups": new.height,
            "n_mixed_groups": n_mixed,
        },
        about=f"{new.height:,} of them new, {n_mixed:,} with both old and new",
    )


def _check_earlier(since: str | Path | OpenedFolder, earlier: Build, build: Build) -> None:
    """Raise OptionError unless a build has an earlier release of the same terminology."""
    facts = [
        (m.source.get("vocabulary"), m.options.get("language"), m.source.get("release_date"))
        for m in (build.manifest, earlier.manifest)
    ]
    *same, days = zip(*facts, strict=True)
    fits = all(None in both or both[0] == both[1] for both in same)
    if not fits or (None not in days and str(days[1]) >= str(days[0])):
        raise OptionError(
            f"`since` {next(iter(paths_of(since)), since)} is not an earlier release of the "
            f"terminology and language of {build.folder}"
        )
