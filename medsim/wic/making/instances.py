"""Instances as a benchmark's files have them, and hashes of them to draw by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.terms import pack
from medsim.kernels.hashing import term_hashes, tie_hashes
from medsim.wic import GROUPS
from medsim.wic.output import WIC_INSTANCE_COLUMNS, WIC_MENTION_COLUMNS

if TYPE_CHECKING:
    from medsim.kernels.types import Flags, Hashes
    from medsim.wic.making.splits import Split

IDENTITY = ("sentence1", "sentence2", "start1", "start2")
"""The columns that tell an instance from others."""

_COINS, _ORDER, _SIDES = np.uint64(0), np.uint64(1), np.uint64(2)
_ONE = np.uint64(1)


def instance_rows(name: str, split: Split, mentions: pl.DataFrame) -> pl.DataFrame:
    """Return the instances of one split: ``WIC_INSTANCE_COLUMNS``.

    The order of the two mentions is drawn, so that it carries no information.
    """
    turned = (tie_hashes(_SIDES, _SIDES, split.drawn.draws) & _ONE).astype(bool)
    places = split.drawn.mentions
    rows = np.where(turned[:, None], places[:, ::-1], places)
    own = benchmark_mentions(mentions).rename(lambda name: name.removesuffix("_id"))
    sides = [own[rows[:, side]].select(pl.all().name.suffix(f"{side + 1}")) for side in (0, 1)]
    cats = pl.Series(GROUPS, dtype=pl.String)
    instances = pl.concat(sides, how="horizontal").with_columns(
        split=pl.lit(name),
        cat=cats.gather(split.groups),
        label=pl.Series(split.labels, dtype=pl.Int8),
    )
    return instances.select(list(WIC_INSTANCE_COLUMNS)).cast(pl.Schema(WIC_INSTANCE_COLUMNS))


def benchmark_mentions(mentions: pl.DataFrame) -> pl.DataFrame:
    """Return mentions as they are written: ``WIC_MENTION_COLUMNS``."""
    place = pl.col("place").struct
    return mentions.select(
        corpus=place.field("c"),
        document_id=place.field("d"),
        sentence_start=place.field("s"),
        sentence="sentence",
        start="start_at",
        end="end_at",
        term="term",
        concept_id="concept_id",
    ).cast(pl.Schema(WIC_MENTION_COLUMNS))


def coin_flips(instances: pl.DataFrame, seed: int) -> Flags:
    """Return a fair coin's answer to each instance, ``WIC_COLUMNS``: bool[n_instances]."""
    flips: Flags = tie_hashes(np.uint64(seed), _COINS, _hashes(instances)) & _ONE == 1
    return flips


def drawn_order(instances: pl.DataFrame, seed: int) -> Hashes:
    """Return a hash of each instance to order instances by: uint64[n_instances]."""
    return tie_hashes(np.uint64(seed), _ORDER, _hashes(instances))


def _hashes(instances: pl.DataFrame) -> Hashes:
    packed = pack(instances.select(pl.concat_str(IDENTITY, separator="\n")).to_series().to_list())
    return term_hashes(packed.codes, packed.starts)
