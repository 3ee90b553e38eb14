"""The partition of a build: what of it goes to which split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.corrections import corrections_in
from medsim.builds.embedded import check_same, embedding_of, paired_terms
from medsim.builds.term_index import reload
from medsim.core.errors import InputError, OptionError, counted
from medsim.core.manifest import Skipped
from medsim.core.store import Store
from medsim.core.terms import lowered
from medsim.embeddings.embedded_terms import settled
from medsim.splits.groups import find_groups, find_left_out, place_groups
from medsim.splits.options import shares_of
from medsim.splits.rules import apply_rule

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from medsim.builds.options import Correction
    from medsim.builds.output import Build
    from medsim.core.progress import Progress
    from medsim.embeddings.embedded_terms import NamedEmbedding
    from medsim.splits.options import SplitOptions
    from medsim.splits.rules import Assignment

_SET = ["dataset", "difficulty"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """The parts of a build that go to each split.

    Attributes:
        concepts: a row per concept: ``CONCEPT_SPLIT_COLUMNS``.
        left_out: descriptions that no split has: description_id, concept_id, split.
        positives: a row per split and set that has positives: split, dataset, difficulty,
            n_positives.
        severed: how many associations of each split have their other end in another one.
        corrections: those of the build by split.
        named: the embedding that made the build's negatives; None if none did.
        assignment: the outcome of the rule.
    """

    concepts: pl.DataFrame
    left_out: pl.DataFrame
    positives: pl.DataFrame
    severed: dict[str, int]
    corrections: dict[str, tuple[Correction, ...]]
    named: NamedEmbedding | None
    assignment: Assignment

    def skipped(self, name: str) -> tuple[Skipped, ...]:
        """Return the rows of its concepts that one split lacks, counted by reason."""
        return (
            Skipped(
                reason="association has its other end in another split",
                n_rows=self.severed.get(name, 0),
            ),
            Skipped(
                reason="description makes no term and has the text of one of another split",
                n_rows=self.left_out.filter(split=name).height,
            ),
        )


def find_partition(
    build: Build, options: SplitOptions, spill: Path | None, threads: int, progress: Progress
) -> Partition:
    """Return the parts of a build that go to each split.

    Raises:
        InputError: the build does not hold the rows that its manifest tells of.
        OptionError: a split would be empty, or the rule does not fit the build.
    """
    shares = shares_of(options.ratios)
    language = str(build.manifest.options["language"])
    named = embedding_of(build, options.embedding, progress)
    with Store(threads=threads, spill=spill) as store:
        with progress.stage("derive positives anew") as stage:
            derived = reload(build, store, threads)
            derived_pairs = derived.positives.pairs
            first = derived.positives.concepts.gather(derived_pairs["concept1"])
            pairs = derived_pairs.select(pl.col(_SET).cast(pl.String), concept1=first)
            _check_positives(build, pairs)
            stage.found(f"{pairs.height:,} pairs")
        if named is not None and not named.fingerprint:
            terms = paired_terms(derived)
            check_same(build, settled(named, terms, progress, threads=threads))
        del derived, derived_pairs
        with progress.stage("share out the concepts") as stage:
            groups = find_groups(store, build, language)
            assignment = apply_rule(store, build, options, shares, threads)
            concepts = place_groups(store, assignment.shares, assignment.assigned, options.seed)
            stage.found(
                f"{counted(concepts.height, 'concept')} in "
                f"{counted(groups['group_id'].n_unique(), 'group')} {assignment.about}".rstrip()
            )
            left_out = find_left_out(store, language)
            positives = _by_split(pairs, concepts)
            _refuse_empty(positives, list(shares), build, options)
            severed = store.frame("splits/severed")
            return Partition(
                concepts=concepts,
                left_out=left_out,
                positives=positives,
                severed=dict(severed.iter_rows()),
                corrections=_corrections(build, store, list(shares)),
                named=named,
                assignment=assignment,
            )


def _check_positives(build: Build, pairs: pl.DataFrame) -> None:
    """Raise InputError unless a build has as many positives as its tables give."""
    found = pairs.group_by(_SET).agg(found=pl.len())
    known = build.stats().group_by(_SET).agg(pl.col("n_positives").max())
    both = known.join(found, on=_SET, how="full", coalesce=True).fill_null(0)
    if not both.filter(pl.col("found") != pl.col("n_positives")).is_empty():
        raise InputError(
            f"{build.folder} does not hold the positives that its terminology gives; see medsim "
            "verify, and make it anew"
        )


def _by_split(pairs: pl.DataFrame, concepts: pl.DataFrame) -> pl.DataFrame:
    own = concepts.select("split", concept1="concept_id")
    counts = pairs.join(own, on="concept1").group_by("split", *_SET)
    return counts.agg(n_positives=pl.len()).sort("split", *_SET)


def _refuse_empty(
    positives: pl.DataFrame, names: Sequence[str], build: Build, options: SplitOptions
) -> None:
    """Raise OptionError for a split without a positive."""
    has = set(positives["split"])
    if empty := [name for name in names if name not in has]:
        n_pairs = int(positives["n_positives"].sum())
        mended = {
            "hash": "other `ratios`, another `seed` or a larger build",
            "category": "other `ratios`, or others as `test_categories`",
            "release": "other `ratios`, or an older build as `since`",
        }
        raise OptionError(
            f"the {' and '.join(empty)} split would have none of the "
            f"{counted(n_pairs, 'positive')} of {build.folder}; choose {mended[options.by]}"
        )


def _corrections(
    build: Build, store: Store, names: Sequence[str]
) -> dict[str, tuple[Correction, ...]]:
    """Return the corrections of each split: those of which it has both terms."""
    of_split: dict[str, list[Correction]] = {name: [] for name in names}
    corrections = corrections_in(build.manifest.options)
    if corrections:
        split_of = dict(store.table("term_split").select("lower_term", "split").iter_rows())
        for one in corrections:
            ends = {split_of.get(term) for term in lowered((one.term1, one.term2))}
            name = ends.pop()
            if not ends and name is not None:
                of_split[name].append(one)
    return {name: tuple(found) for name, found in of_split.items()}
