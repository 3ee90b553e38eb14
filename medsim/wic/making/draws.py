"""Hashes of instances, by which draws depend on what an instance says and on nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.terms import pack
from medsim.kernels.hashing import term_hashes, tie_hashes

if TYPE_CHECKING:
    from medsim.kernels.types import Flags, Hashes

IDENTITY = ("sentence1", "sentence2", "start1", "start2")
"""The columns that tell an instance from others."""

_COINS, _ORDER = np.uint64(0), np.uint64(1)


def coin_flips(instances: pl.DataFrame, seed: int) -> Flags:
    """Return a fair coin's answer to each instance: bool[n_instances].

    Args:
        instances: ``WIC_COLUMNS``.
        seed: of the coin.
    """
    flips: Flags = tie_hashes(np.uint64(seed), _COINS, _hashes(instances)) & np.uint64(1) == 1
    return flips


def drawn_order(instances: pl.DataFrame, seed: int) -> Hashes:
    """Return a hash of each instance to order instances by: uint64[n_instances]."""
    return tie_hashes(np.uint64(seed), _ORDER, _hashes(instances))


def _hashes(instances: pl.DataFrame) -> Hashes:
    packed = pack(instances.select(pl.concat_str(IDENTITY, separator="\n")).to_series().to_list())
    return term_hashes(packed.codes, packed.starts)
