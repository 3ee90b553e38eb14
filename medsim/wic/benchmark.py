"""A benchmark of words in context as a folder, and the layout of its published JSON files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError, OptionError, counted, unknown_name
from medsim.core.instances import published_instances
from medsim.core.kinds import WIC_COLUMNS
from medsim.core.opened import Opened
from medsim.wic import GROUPS, SPLITS, Split
from medsim.wic.output import WIC, WicManifest

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.core.shown import Summary

INSTANCES, MENTIONS, NAMES, RELATED, SEMANTIC_TYPES = (
    WIC.views[view].files for view in ("instance", "mention", "name", "related", "semantic_type")
)
"""Its Parquet files: instances of all splits with their provenance; the one mention of every
sentence; the concepts whose names are terms of mentions; pairs of concepts that no instance has;
and semantic types of concepts, where the terminology is UMLS."""


class Benchmark(Opened[WicManifest]):
    """A finished benchmark of words in context; its tables are read when they are asked for.

    Args:
        folder: that holds it.

    Raises:
        InputError: the folder holds none.

    Attributes:
        folder: that holds it.
        manifest: of the folder.
    """

    kind = WIC

    def _summary(self) -> Summary:
        facts = [
            f"{counted(self._rows_below(INSTANCES), 'instance')} of words in context",
            counted(self._rows_below(MENTIONS), "sentence"),
            counted(len(self.manifest.corpora), "corpus", "corpora"),
        ]
        calls = ['.instances("test")', "medsim.evaluate_wic(benchmark, …)"]
        return self._summarized(facts, calls, self._sizes)

    def _sizes(self) -> pl.DataFrame:
        """Return how many instances of each label each group of each split has."""
        groups = self.instances().group_by("split", "cat", "label", maintain_order=True)
        return groups.agg(pl.len().alias("instances"))

    def instances(self, split: Split | None = None) -> pl.DataFrame:
        """Return the instances of one split or of all: ``WIC_INSTANCE_COLUMNS``.

        Raises:
            OptionError: there is no such split.
        """
        if split is not None and split not in SPLITS:
            raise OptionError(unknown_name("split", split, list(SPLITS)))
        found = self.read(INSTANCES)
        return found if split is None else found.filter(pl.col("split") == split)

    def mentions(self) -> pl.DataFrame:
        """Return the one mention of every sentence: ``WIC_MENTION_COLUMNS``."""
        return self.read(MENTIONS)

    def semantic_types(self) -> pl.DataFrame | None:
        """Return the types of its concepts, ``SEMANTIC_TYPE_COLUMNS``; None where unknown."""
        return self.read(SEMANTIC_TYPES) if SEMANTIC_TYPES in self.manifest.outputs else None


def read_instances(path: Path) -> pl.DataFrame:
    """Return the instances of a JSON file, whose groups are known: ``WIC_COLUMNS``, in its order.

    Other rules are not checked; ``medsim.wic.verify`` does that.
    """
    instances = published_instances(path)
    for number, group in enumerate(instances["cat"], start=1):
        if group not in GROUPS:
            raise InputError(
                f"{path}: instance {number}: cat is {group!r}, not one of {', '.join(GROUPS)}"
            )
    return instances


def instances_text(instances: pl.DataFrame) -> str:
    """Return instances as the text of a JSON file in the published layout."""
    return json.dumps(instances.select(list(WIC_COLUMNS)).to_dicts(), ensure_ascii=False, indent=1)
