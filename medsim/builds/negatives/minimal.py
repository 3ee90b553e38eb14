"""Minimal negatives: the second term is the first with one changed word, such as another side."""

from __future__ import annotations

import numpy as np
import polars as pl

from medsim.builds.negatives import SAMPLERS, NegativeSampler, PositiveSet, Sampling, TermIndex
from medsim.core.progress import Stage
from medsim.kernels.types import Ids, Ranks, Rows
from medsim.neighbours.difference import minimal_pairs


def minimal_negatives(index: TermIndex, sampling: Sampling) -> NegativeSampler:
    """Return a sampler of all terms that differ by one word, see ``minimal_pairs``.

    They are names of any eligible concept, or terms of positives. A set has all there are, whatever
    other sets have, so a first term may have several or none. See
    ``medsim.builds.negatives.SamplerFactory``.
    """
    changed: list[pl.DataFrame] = []  # found once, for the first set

    def find() -> pl.DataFrame:
        """Return each pair in both directions: term1_id and term2_id, the first of equal terms."""
        of_sets = (ids for each in sampling.sets for ids in (each.term1_ids, each.term2_ids))
        pool = np.unique(np.concatenate([index.names, *of_sets]))
        terms = _with_lower(index, pool).unique("lower", keep="first").sort("term_id")
        ids = terms["term_id"]
        pairs = minimal_pairs(terms["lower"], index.components[ids.to_numpy()], sampling.threads)
        ends = {"first": ids.gather(pairs["row1"]), "second": ids.gather(pairs["row2"])}
        both = [ends, {"first": ends["second"], "second": ends["first"]}]
        return pl.concat(map(pl.DataFrame, both)).with_columns(
            lower=index.lower.gather(pl.concat([ends["first"], ends["second"]]))
        )

    def sample(positives: PositiveSet, used: Ranks, stage: Stage) -> tuple[Rows, Ids]:
        del used
        if not changed:
            changed.append(find())
        firsts = _with_lower(index, positives.term1_ids).with_row_index("row")
        firsts = firsts.unique("lower", keep="first", maintain_order=True)
        found = firsts.join(changed[0], on="lower", maintain_order="left_right")
        is_first = pl.col("second").is_in(firsts.join(changed[0], on="lower")["first"].implode())
        once = found.filter(~is_first | (pl.col("first") < pl.col("second")))
        stage.advance(len(positives.term1_ids))
        return once["row"].to_numpy().astype(np.int64), once["second"].to_numpy()

    return sample


def _with_lower(index: TermIndex, term_ids: Ids) -> pl.DataFrame:
    return pl.DataFrame({"term_id": term_ids, "lower": index.lower.gather(term_ids)})


SAMPLERS.register("minimal", minimal_negatives)
