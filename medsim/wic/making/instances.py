"""Rows of instances and of mentions, as a benchmark's files have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.kernels.hashing import tie_hashes
from medsim.wic import GROUPS
from medsim.wic.output import WIC_INSTANCE_COLUMNS, WIC_MENTION_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from medsim.wic.making.splits import Split

_SIDES = np.uint64(2)
_ONE = np.uint64(1)
_RENAMED = {
    "document_id1": "document1",
    "document_id2": "document2",
    "concept_id1": "concept1",
    "concept_id2": "concept2",
}


def instance_rows(name: str, split: Split, mentions: pl.DataFrame) -> pl.DataFrame:
    """Return the instances of one split: ``WIC_INSTANCE_COLUMNS``.

    Which mention of an instance comes first is drawn, so that it tells nothing.

    Args:
        name: of the split.
        split: rows of mentions.
        mentions: see ``medsim.wic.making.mentions.chosen_mentions``.
    """
    turned = (tie_hashes(_SIDES, _SIDES, split.drawn.draws) & _ONE).astype(bool)
    places = split.drawn.mentions
    rows = np.where(turned[:, None], places[:, ::-1], places)
    own = benchmark_mentions(mentions)
    sides = [
        own[rows[:, side]].rename({column: f"{column}{side + 1}" for column in own.columns})
        for side in (0, 1)
    ]
    cats = pl.Series(GROUPS, dtype=pl.String)
    instances = pl.concat(sides, how="horizontal").with_columns(
        split=pl.lit(name),
        cat=cats.gather(split.groups),
        label=pl.Series(split.labels, dtype=pl.Int8),
    )
    return _typed(instances.rename(_RENAMED), WIC_INSTANCE_COLUMNS)


def benchmark_mentions(mentions: pl.DataFrame) -> pl.DataFrame:
    """Return mentions as they are written: ``WIC_MENTION_COLUMNS``."""
    place = pl.col("place").struct
    found = mentions.select(
        corpus=place.field("c"),
        document_id=place.field("d"),
        sentence_start=place.field("s"),
        sentence="sentence",
        start="start_at",
        end="end_at",
        term="term",
        concept_id="concept_id",
    )
    return _typed(found, WIC_MENTION_COLUMNS)


def _typed(
    frame: pl.DataFrame, columns: Mapping[str, pl.DataType | type[pl.DataType]]
) -> pl.DataFrame:
    return frame.select(pl.col(name).cast(kind) for name, kind in columns.items())
