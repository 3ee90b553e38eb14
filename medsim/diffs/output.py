"""The output of ``medsim diff``: its kind, tables and manifest.

``tables.toml`` declares the tables with their columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from medsim.builds.output import PAIR
from medsim.core.data import toml_of
from medsim.core.errors import check_known, counted
from medsim.core.kinds import Column, Kind, Table, declared_columns, declared_table
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.core.shown import Summary

_DECLARED = toml_of(__package__, "tables.toml")
_GROUPS = {
    "pair": {
        name: PAIR.columns[name]
        for name in (*PAIR.folder_columns(), *PAIR.columns)
        if name not in ("label", "similarity")
    },
    **{name: declared_columns(entries, {}) for name, entries in _DECLARED["groups"].items()},
}


def _table_of_changes(name: str, *, title: str, kinds: Mapping[str, str], **entry: Any) -> Table:
    """Return the table of an entry under ``changes`` of ``tables.toml``."""
    del title  # only pages and the changelog have it
    meanings = "; ".join(f"{kind}: {meaning}" for kind, meaning in kinds.items())
    groups = {**_GROUPS, "change": {"change": Column(pl.String, f"{meanings}.")}}
    return declared_table(entry, groups, files=f"{name}.parquet")


SUMMARY = declared_table(_DECLARED["tables"]["summary"], {})

CHANGES: Mapping[str, Mapping[str, Any]] = _DECLARED["changes"]
"""The title of each table of changes, and the meaning of its kinds in the order of counts."""

DIFF_TABLES = {name: _table_of_changes(name, **entry) for name, entry in CHANGES.items()}
"""The tables of changes, by name; the query ``diffs/NAME`` makes each."""

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
)


class Diff(Opened[DiffManifest]):
    """A finished comparison of two releases; its tables are read when needed."""

    kind = DIFF

    def _summary(self) -> Summary:
        rows = [counted(self._rows_below(f"{name}.parquet"), name) for name in DIFF_TABLES]
        return Summary(rows, [".summary()", '.table("concept")'], self.summary)

    def summary(self) -> pl.DataFrame:
        """Return the number of changes of each kind, the rows of ``SUMMARY``."""
        return self.read_checked(SUMMARY.files)

    def table(self, name: str) -> pl.DataFrame:
        """Return a table of changes: concept, name, association, is_a or pair."""
        check_known("table", DIFF_TABLES, name)
        return self.read_checked(DIFF_TABLES[name].files)


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
