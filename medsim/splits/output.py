"""The output of ``medsim split``: its kind, tables and manifest.

``tables.toml`` declares the table of concepts with its columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import polars as pl
import polars.selectors as cs

from medsim.builds.output import STATS, Build
from medsim.core import queries
from medsim.core.errors import check_known, listed
from medsim.core.kinds import Column, Kind, declared_tables
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.core.shown import Summary
from medsim.pages.readable import percent
from medsim.splits.options import SPLIT_NAMES

_SPLIT = {"split": Column(pl.String, f"Name of the split: {listed(SPLIT_NAMES, word='or')}.")}
CONCEPT_SPLIT = declared_tables(__package__, split=_SPLIT)["concept_split"]
"""The split of each concept."""

SPLIT_STATS = replace(
    STATS,
    about="A row per split and set: its size and the Levenshtein distances of its pairs.",
    columns={**_SPLIT, **STATS.columns},
    key=("split", *STATS.key),
    order="By split (train, validation, test), dataset, difficulty and negatives.",
)
"""The statistics of the builds of all splits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitsManifest(RunManifest):
    """The manifest of a set of splits.

    Attributes:
        source: the terminology of the build that was split.
        build: SHA-256 of the fingerprints of the build's Parquet files.
        rule: inputs of the splitting rule, in addition to the options.
        splits: for each split, numbers of groups, concepts and terms, and of positives of each
            dataset.
    """

    kind: ClassVar[str] = "splits"
    source: dict[str, object]
    build: str
    rule: dict[str, object]
    splits: dict[str, dict[str, Any]]


SPLITS = Kind(
    noun="set of splits",
    command="medsim split",
    manifest=SplitsManifest,
    resumed_by="train/pairs",
    views={"concept_split": CONCEPT_SPLIT, "stats": SPLIT_STATS},
)


class Splits(Opened[SplitsManifest]):
    """A finished set of splits; each is a build in its own folder."""

    kind = SPLITS

    def _summary(self) -> Summary:
        return Summary([", ".join(self.names)], ['["test"]', ".sizes()"], self.sizes)

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
        check_known("split", self.names, name)
        return Build(self.folder / name)

    def stats(self) -> pl.DataFrame:
        """Return the rows of ``SPLIT_STATS``."""
        return self.read_checked(SPLIT_STATS.files)

    def sizes(self) -> pl.DataFrame:
        """Return the sizes of the splits and their shares.

        Returns:
            Rows for groups, concepts and terms, then one per dataset for its positives: count_of,
            the number in each split, and the share of each split, null if the total is zero.
        """
        options, kinds = self[self.names[0]].options, ("groups", "concepts", "terms")
        datasets = queries.datasets(len(options.languages), hierarchy=options.hierarchy)
        numbers = {
            name: [
                *(facts[f"n_{kind}"] for kind in kinds),
                *(facts["positives"].get(dataset.name, 0) for dataset in datasets),
            ]
            for name, facts in self.manifest.splits.items()
        }
        rows = [*kinds, *(dataset.name for dataset in datasets)]
        sizes = pl.DataFrame({"count_of": rows, **numbers})
        total = pl.sum_horizontal(self.names)
        return sizes.with_columns(
            pl.when(total > 0).then(pl.col(name) / total).alias(f"{name}_share")
            for name in self.names
        )


def readable_sizes(sizes: pl.DataFrame) -> list[pl.DataFrame]:
    """Return the sizes of splits in a readable form, with shares in per cent."""
    return [sizes.with_columns(map(percent, sizes.select(cs.ends_with("_share")).columns))]
