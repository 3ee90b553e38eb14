"""Samples of the pairs of a build."""

from __future__ import annotations

import numpy as np
import polars as pl

from medsim.builds.spelling import spelling_of, strata_of_spelling
from medsim.core.terms import content_hashes
from medsim.evaluations.sets import ALL_KINDS, HEADLINE_NEGATIVES, IN_HEADLINE
from medsim.kernels.packing import tie_hashes

_DRAW = np.uint64(0x5A4D504C45)  # tells these hashes from others of the same seed

_MIN_MATCHES = 5  # negatives of a stratum; with more the matched AUC is hardly more precise


def sampled(frame: pl.DataFrame, n_positives: int, seed: int) -> pl.DataFrame:
    """Return the pairs of a sample of each dataset, easy and hard in their proportions.

    First terms are drawn, each with all its positives and all their negatives, until a dataset has
    ``n_positives`` positives or no more. The draw orders first terms by a hash of their text and
    the seed, so it does not depend on the machine, the order of pairs or the other datasets, and a
    larger sample contains the smaller ones.

    Rows with difficulty "all" are further negatives, for strata of equal spelling. Without them the
    estimate would be biased, since a drawn positive is rarely matched by a drawn negative.

    Args:
        frame: labelled pairs, with the columns of ``SET_PAIRS``.
        n_positives: the number of positives of each dataset.
        seed: random seed.
    """
    terms = frame["term1"].unique().sort()
    hashes = tie_hashes(np.uint64(seed), _DRAW, content_hashes(terms))
    draws = pl.DataFrame({"term1": terms, "draw": hashes})
    positives = frame.filter(label=1).unique(["dataset", "pair_id"])
    drawn = (
        positives.group_by("dataset", "term1")
        .len("n")
        .join(draws, on="term1")
        .sort("dataset", "draw", "term1")
    )
    n_before = pl.col("n").cum_sum().over("dataset") - pl.col("n")
    chosen = drawn.filter(n_before < n_positives)
    sample = frame.join(chosen, on=["dataset", "term1"], how="semi", maintain_order="left")
    return pl.concat([sample, _matches(frame, sample, draws)])


def _matches(frame: pl.DataFrame, sample: pl.DataFrame, draws: pl.DataFrame) -> pl.DataFrame:
    """Return negatives of the strata of sampled positives, the first of each in order of draw."""
    pairs = frame.filter(IN_HEADLINE)
    drawn = pl.col("pair_id").is_in(sample.filter(IN_HEADLINE)["pair_id"].unique().implode())
    if pairs["negatives"].n_unique() < len(HEADLINE_NEGATIVES) or pairs.select(drawn.all()).item():
        return frame.clear()
    pairs = pairs.unique("pair_id").join(draws, on="term1").sort("draw", "pair_id")
    pairs = pairs.with_columns(matched=strata_of_spelling(spelling_of(pairs)))
    negatives = pairs.filter(label=0)
    first = negatives.filter(pl.int_range(pl.len()).over("matched") < _MIN_MATCHES).filter(~drawn)
    matching = first.join(pairs.filter(drawn, label=1), on="matched", how="semi")
    every = pl.lit(ALL_KINDS)
    return matching.with_columns(difficulty=every, negatives=every).select(frame.columns)
