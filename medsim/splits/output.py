"""The output of ``medsim split``: its kind, its tables and their columns, its manifest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from medsim.builds.notes import NOTES
from medsim.builds.output import STATS_COLUMNS, Build
from medsim.core.errors import OptionError, unknown_name
from medsim.core.kinds import Columns, Kind, View, columns
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from medsim.core.shown import Summary

SPLIT_NAMES = ("train", "validation", "test")
"""The names of splits, in this order; a set of splits may lack validation."""

SIDE_COLUMNS: Columns = columns(pl.String, "concept_id", "group_id", "split")
"""The columns of ``concepts.parquet``: a row per concept.

The group is all that positives, shared names and corrections link, named by its smallest concept.
"""

SPLIT_STATS_COLUMNS: Columns = {"split": pl.String, **STATS_COLUMNS}
"""The columns of ``stats.parquet``: those of a build's, by split."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitsManifest(RunManifest):
    """The manifest of a set of splits.

    Attributes:
        source: see ``medsim.builds.output.BuildManifest``.
        build: the fingerprint of the rows of the build that was split.
        splits: by name: how many groups, concepts, terms and positives it has, and its share.
    """

    kind: ClassVar[str] = "splits"
    source: dict[str, object]
    build: str
    splits: dict[str, dict[str, object]]


_SPLIT_NOTE = f"Name of the split: {', '.join(SPLIT_NAMES[:-1])} or {SPLIT_NAMES[-1]}."

SPLITS = Kind(
    noun="set of splits",
    command="medsim split",
    manifest=SplitsManifest,
    views={
        "concept_split": View(
            "concepts.parquet",
            SIDE_COLUMNS,
            about="A row per concept: its group and its split.",
            notes={
                "concept_id": "Identifier of the concept in its terminology.",
                "group_id": (
                    "Smallest identifier in the concept's group: all concepts that positives, "
                    "shared names or corrections link, directly or through others."
                ),
                "split": _SPLIT_NOTE,
            },
        ),
        "stats": View(
            "stats.parquet",
            SPLIT_STATS_COLUMNS,
            about="A row per split and set: its size and the Levenshtein distances of its pairs.",
            notes={"split": _SPLIT_NOTE, **NOTES["stats"]},
        ),
    },
)


class Splits(Opened[SplitsManifest]):
    """A finished set of splits, each of them a build in a folder of its own."""

    kind = SPLITS

    def _summary(self) -> Summary:
        return self._summarized([", ".join(self.names)], ['["test"]', ".stats()"], self.stats)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its splits, in the order of ``SPLIT_NAMES``."""
        return tuple(name for name in SPLIT_NAMES if name in self.manifest.splits)

    @property
    def builds(self) -> Mapping[str, Build]:
        """The build of each split by its name."""
        return {name: self[name] for name in self.names}

    def __getitem__(self, name: str) -> Build:
        """Return the build of one split."""
        if name not in self.names:
            raise OptionError(unknown_name("split", name, list(self.names)))
        return Build(self.folder / name)

    def stats(self) -> pl.DataFrame:
        """Return a row per split and set: ``SPLIT_STATS_COLUMNS``."""
        return self._checked("stats.parquet")
