"""The output of ``medsim diff``: its kind, tables, columns and manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from medsim.builds.output import PAIR
from medsim.core.errors import OptionError, counted, listed, unknown_name
from medsim.core.kinds import CANONICAL_TABLES, Column, Kind, Table
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.core.shown import Summary


def _text(about: str) -> Column:
    return Column(pl.String, about)


_CONCEPT = CANONICAL_TABLES["concept"].columns
_CATEGORY = _text("The concept's semantic tag or type; empty if there is none.")
_NAME = "{} main name, of the later release if it has one; null if neither has one."
_ONE_SIDE = {"added": "only in the later release", "removed": "only in the earlier release"}

SUMMARY = Table(
    "summary.parquet",
    "A row per kind of change, also if there are none: the number of changes.",
    {
        "subject": _text("What changed: concept, name, association, is_a, positive or negative."),
        "dataset": _text("Dataset of positives and negatives; null for others."),
        "negatives": _text("Strategy of negatives; null for others."),
        "change": _text("How it changed; the other tables explain the values."),
        "n": Column(pl.Int64, "Number of changes."),
        "n_kept": Column(pl.Int64, "Changes whose concepts are all active in both releases."),
    },
    key=("subject", "dataset", "negatives", "change"),
    order="By subject as listed, dataset, strategy and change.",
)


@dataclass(frozen=True, slots=True)
class Changes:
    """The declaration of a table of changes.

    Attributes:
        title: title of the table on the page and in the changelog.
        about: description of a row.
        kinds: meaning of each kind of change, in the order in which they are counted.
        columns: the columns of the table, without change and kept.
        order: columns by which the rows are ordered; all but change identify a row.
    """

    title: str
    about: str
    kinds: Mapping[str, str]
    columns: Mapping[str, Column]
    order: tuple[str, ...]

    def table(self, name: str) -> Table:
        """Return the table."""
        kinds = "; ".join(f"{kind}: {meaning}" for kind, meaning in self.kinds.items())
        kept = Column(pl.Boolean, "Whether all concepts of the row are active in both releases.")
        return Table(
            f"{name}.parquet",
            self.about,
            {"change": _text(f"{kinds}."), **self.columns, "kept": kept},
            key=tuple(column for column in self.order if column != "change"),
            order=f"By {listed(self.order)}.",
        )


def _end(name: str, about: str) -> dict[str, Column]:
    return {f"{name}_id": _text(about), f"{name}_term": _text(_NAME.format("Its"))}


CHANGES = {
    "concept": Changes(
        "Concepts",
        "A row per concept that changed.",
        {
            "added": "active now, and not in the earlier release",
            "removed": "active in the earlier release, and not in the later one",
            "retired": "active in the earlier release, and inactive now",
            "reactivated": "inactive in the earlier release, and active now",
            "moved": "active in both, with other parents",
        },
        {
            "concept_id": _CONCEPT["concept_id"],
            "term": _text(_NAME.format("The concept's")),
            "category": _CATEGORY,
            "old_parents": _text("Parents in the earlier release; null without parents."),
            "new_parents": _text("Parents in the later release; null without parents."),
        },
        ("change", "concept_id"),
    ),
    "name": Changes(
        "Names",
        "A row per name of an active concept that changed. A name is a text in the language of the "
        "builds; case counts.",
        {
            **_ONE_SIDE,
            "changed": "a removed and an added name of the concept, paired by edit distance",
            "preferred": "the main name was replaced",
        },
        {
            "concept_id": _text("Concept that has the name."),
            "old_term": _text("Name in the earlier release; null if it was added."),
            "new_term": _text("Name in the later release; null if it was removed."),
            "distance": Column(
                pl.Int32, "Levenshtein distance of the lower-cased names; null unless both are set."
            ),
            "concept_term": _text(_NAME.format("The concept's")),
            "category": _CATEGORY,
            "concept_change": _text("How the concept changed; null if it did not."),
        },
        ("concept_id", "change", "old_term", "new_term"),
    ),
    "association": Changes(
        "Associations",
        "A row per active association that only one release has.",
        _ONE_SIDE,
        {
            "kind": _text("Kind of the association, such as replaced_by."),
            **_end("source", "Concept that the association starts from."),
            **_end("target", "Concept that the association points to."),
        },
        ("change", "source_id", "target_id", "kind"),
    ),
    "is_a": Changes(
        "Is-a relationships",
        "A row per is-a relationship that only one release has.",
        _ONE_SIDE,
        {
            **_end("child", "The more specific concept."),
            **_end("parent", "The more general concept, a direct parent."),
        },
        ("change", "child_id", "parent_id"),
    ),
    "pair": Changes(
        "Pairs",
        "A row per dataset and pair that only one build has, for positives, and for negatives of "
        "the strategies that both builds have. A pair in the other direction is the same pair.",
        {"gained": "only in the later build", "lost": "only in the earlier build"},
        {
            name: PAIR.columns[name]
            for name in (*PAIR.folder_columns(), *PAIR.columns)
            if name not in ("label", "similarity")
        }
        | {"negatives": _text("Strategy of a negative; null for a positive.")},
        ("dataset", "negatives", "change", "pair_id"),
    ),
}
"""The tables of changes, by name; the query ``diffs/NAME`` makes each."""

DIFF_TABLES = {name: changes.table(name) for name, changes in CHANGES.items()}

CHANGELOG = "CHANGES.md"
"""The file with the number of changes, and the changes of concepts, names and associations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffManifest(RunManifest):
    """The manifest of a comparison of two releases.

    Attributes:
        old: the earlier release: its place, its source, and the SHA-256 of the fingerprints of its
            build's Parquet files.
        new: the later release, in the same form.
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


def label(source: Mapping[str, Any]) -> str:
    """Return the name of a release, with its date if that is known."""
    return " ".join(filter(None, (source["name"], source["release_date"])))


def readable_changes(summary: pl.DataFrame) -> Sequence[pl.DataFrame]:
    """Return the numbers of changes as two tables: of the terminology, and of the datasets.

    Random negatives are left out: nearly all change with every release.
    """
    columns = {"n": "changes", "n_kept": "of_kept_concepts"}
    is_pair = pl.col("dataset").is_not_null()
    terminology = summary.filter(~is_pair).select("subject", "change", *columns).rename(columns)
    pairs = summary.filter(is_pair, pl.col("negatives").ne_missing("random"))
    heading = pl.concat_str(pl.col("negatives").fill_null("positives"), "change", separator="_")
    pairs = pairs.with_columns(heading=heading)
    return [terminology, pairs.pivot("heading", index="dataset", values="n")]
