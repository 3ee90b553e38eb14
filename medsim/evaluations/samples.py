"""Samples of the pairs of a build."""

from __future__ import annotations

import numpy as np
import polars as pl

from medsim.core.terms import pack
from medsim.kernels.packing import term_hashes, tie_hashes

_DRAW = np.uint64(0x5A4D504C45)  # tells these hashes from others of the same seed


def sampled(frame: pl.DataFrame, n_positives: int, seed: int) -> pl.DataFrame:
    """Return the pairs of a sample of each dataset, easy and hard in their proportions.

    First terms are drawn, each with all its positives and all their negatives, until a dataset has
    ``n_positives`` positives or no more. The draw orders first terms by a hash of their text and
    the seed, so it does not depend on the machine, the order of pairs or the other datasets, and a
    larger sample contains the smaller ones.

    Args:
        frame: labelled pairs, with the columns of ``PAIRS``.
        n_positives: the number of positives of each dataset.
        seed: random seed.
    """
    packed = pack(terms := frame["term1"].unique().sort())
    draws = tie_hashes(np.uint64(seed), _DRAW, term_hashes(packed.codes, packed.starts))
    positives = frame.filter(label=1).unique(["dataset", "pair_id"])
    drawn = (
        positives.group_by("dataset", "term1")
        .len("n")
        .join(pl.DataFrame({"term1": terms, "draw": draws}), on="term1")
        .sort("dataset", "draw", "term1")
    )
    n_before = pl.col("n").cum_sum().over("dataset") - pl.col("n")
    chosen = drawn.filter(n_before < n_positives)
    return frame.join(chosen, on=["dataset", "term1"], how="semi", maintain_order="left")
