"""The output of ``medsim diff``: its kind, tables, columns and manifest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from medsim.builds.output import PAIR
from medsim.core.errors import OptionError, counted, unknown_name
from medsim.core.kinds import CANONICAL_TABLES, Column, Kind, Table
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from medsim.core.shown import Summary


def _text(about: str) -> Column:
    return Column(pl.String, about)


_KEPT = Column(pl.Boolean, "Whether all concepts of the row are active in both releases.")
_CONCEPT = CANONICAL_TABLES["concept"].columns
_CATEGORY = _text("The concept's semantic tag or type; empty if there is none.")
_NAME = "{} main name, of the later release if it has one; null if neither has one."
_ONE_SIDE = _text("added or removed.")
_PAIR = PAIR.columns

CHANGES = {
    "concept": ("added", "retired", "reactivated", "moved"),
    "name": ("added", "removed", "changed", "preferred"),
    "association": ("added", "removed"),
    "is_a": ("added", "removed"),
    "pair": ("gained", "lost"),
}
"""The kinds of change of each table, in the order in which they are counted."""

SUMMARY = Table(
    "summary.parquet",
    "A row per kind of change, also if there are none: the number of changes.",
    {
        "subject": _text("What changed: concept, name, association, is_a, positive or negative."),
        "dataset": _text("Dataset of positives and negatives; null for others."),
        "negatives": _text("Strategy of negatives; null for others."),
        "change": _text("How it changed; the other tables explain the values."),
        "n": Column(pl.Int64, "Number of changes."),
        "n_kept": Column(
            pl.Int64, "Changes whose concepts are all active in both releases, among n."
        ),
    },
    key=("subject", "dataset", "negatives", "change"),
    order="By subject as listed, dataset, strategy and change.",
)

DIFF_TABLES = {
    "concept": Table(
        "concept.parquet",
        "A row per concept that changed.",
        {
            "change": _text(
                "added: active now, and not in the earlier release; retired: active only in the "
                "earlier release; reactivated: active now, and inactive in the earlier release; "
                "moved: active in both, with other parents."
            ),
            "concept_id": _CONCEPT["concept_id"],
            "term": _text(_NAME.format("The concept's")),
            "category": _CATEGORY,
            "old_parents": _text("Parents in the earlier release; null without parents."),
            "new_parents": _text("Parents in the later release; null without parents."),
            "kept": _KEPT,
        },
        key=("concept_id",),
        order="By change and concept_id.",
    ),
    "name": Table(
        "name.parquet",
        "A row per name of an active concept that changed. A name is a text in the language of the "
        "builds; case counts.",
        {
            "change": _text(
                "preferred: the main name was replaced; changed: a removed and an added name of "
                "the concept, paired by edit distance; added or removed: any other name."
            ),
            "concept_id": _text("Concept that has the name."),
            "old_term": _text("Name in the earlier release; null if it was added."),
            "new_term": _text("Name in the later release; null if it was removed."),
            "distance": Column(
                pl.Int32, "Levenshtein distance of the lower-cased names; null unless both are set."
            ),
            "concept_term": _text(_NAME.format("The concept's")),
            "category": _CATEGORY,
            "concept_change": _text("How the concept changed; null if it did not."),
            "kept": _KEPT,
        },
        key=("concept_id", "old_term", "new_term"),
        order="By concept_id, change, old_term and new_term.",
    ),
    "association": Table(
        "association.parquet",
        "A row per active association that only one release has.",
        {
            "change": _ONE_SIDE,
            "kind": _text("Kind of the association, such as replaced_by."),
            "source_id": _text("Concept that the association starts from."),
            "source_term": _text(_NAME.format("Its")),
            "target_id": _text("Concept that the association points to."),
            "target_term": _text(_NAME.format("Its")),
            "kept": _KEPT,
        },
        key=("source_id", "target_id", "kind"),
        order="By change, source_id, target_id and kind.",
    ),
    "is_a": Table(
        "is_a.parquet",
        "A row per is-a relationship that only one release has.",
        {
            "change": _ONE_SIDE,
            "child_id": _text("The more specific concept."),
            "child_term": _text(_NAME.format("Its")),
            "parent_id": _text("The more general concept, a direct parent."),
            "parent_term": _text(_NAME.format("Its")),
            "kept": _KEPT,
        },
        key=("child_id", "parent_id"),
        order="By change, child_id and parent_id.",
    ),
    "pair": Table(
        "pair.parquet",
        "A row per dataset and pair that only one build has, for positives, and for negatives of "
        "the strategies that both builds have. A pair in the other direction is the same pair.",
        {
            "change": _text("gained or lost."),
            "dataset": _PAIR["dataset"],
            "difficulty": _PAIR["difficulty"],
            "negatives": _text("Strategy of a negative; null for a positive."),
            **{
                name: _PAIR[name]
                for name in ("pair_id", "term1", "term2", "distance", "concept1", "concept2")
            },
            "kept": _KEPT,
        },
        key=("dataset", "negatives", "pair_id"),
        order="By dataset, strategy (positives last), change and pair_id.",
    ),
}
"""The tables of changes, by name; the query ``diffs/NAME`` makes each."""

CHANGELOG = "CHANGES.md"
"""The file with the number of changes, and the changes of concepts, names and associations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffManifest(RunManifest):
    """The manifest of a comparison of two releases.

    Attributes:
        old: the earlier release: its place, its source, and the SHA-256 of the fingerprints of its
            build's Parquet files.
        new: the later release, likewise.
    """

    kind: ClassVar[str] = "diff"
    old: dict[str, object]
    new: dict[str, object]


DIFF = Kind(
    noun="comparison of releases",
    command="medsim diff",
    manifest=DiffManifest,
    views={"summary": SUMMARY, **DIFF_TABLES},
    others={CHANGELOG: "The number of changes, and the changes without pairs, as Markdown."},
)


class Diff(Opened[DiffManifest]):
    """A finished comparison of two releases; its tables are read when needed."""

    kind = DIFF

    def _summary(self) -> Summary:
        rows = [counted(self._rows_below(f"{name}.parquet"), name) for name in DIFF_TABLES]
        return self._summarized(rows, [".summary()", '.table("concept")'], self.summary)

    def summary(self) -> pl.DataFrame:
        """Return the number of changes of each kind, the rows of ``SUMMARY``."""
        return self._checked(SUMMARY.files)

    def table(self, name: str) -> pl.DataFrame:
        """Return a table of changes: concept, name, association, is_a or pair."""
        if name not in DIFF_TABLES:
            raise OptionError(unknown_name("table", name, list(DIFF_TABLES)))
        return self._checked(DIFF_TABLES[name].files)


def label(facts: Mapping[str, Any]) -> str:
    """Return the name of a release, with its date if that is known."""
    source = facts["source"]
    return " ".join(filter(None, (source["name"], source["release_date"])))


def readable(summary: pl.DataFrame) -> Sequence[pl.DataFrame]:
    """Return the numbers of changes as two tables: of the terminology, and of the datasets."""
    is_pair = pl.col("subject").is_in(["positive", "negative"])
    columns = {"n": "changes", "n_kept": "of_kept_concepts"}
    terminology = summary.filter(~is_pair).select("subject", "change", *columns).rename(columns)
    pairs = summary.filter(is_pair).with_columns(
        heading=pl.concat_str(pl.col("negatives").fill_null("positives"), "change", separator="_")
    )
    return [terminology, pairs.pivot("heading", index="dataset", values="n")]
