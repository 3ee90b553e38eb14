"""What a model confuses: how the terms of negatives differ, and how they are related."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.positives import reload_names
from medsim.builds.relations import relations_in
from medsim.core.store import Store
from medsim.core.terms import lowered_column
from medsim.neighbours.difference import DifferenceClassifier

if TYPE_CHECKING:
    from medsim.builds.output import Build


def kinds_of(negatives: pl.DataFrame, build: Build) -> pl.DataFrame:
    """Return how the terms of negatives differ, and how their concepts are related.

    Args:
        negatives: distinct pairs, with pair_id, term1 and term2.
        build: the build of the pairs.

    Returns:
        pair_id, difference (a kind of ``DifferenceClassifier``) and relation (see
        ``sql/builds/pairs/relation.sql``; null without a hierarchy).
    """
    lower = negatives.select(
        "pair_id", **{f"lower{side}": lowered_column(negatives[f"term{side}"]) for side in "12"}
    )
    with Store(threads=1) as store:
        names = reload_names(build, store)["lower_term"]
        relations = relations_in(store, lower)
    classifier = DifferenceClassifier(names.unique())
    kinds = [classifier.between(*pair).kind for pair in lower.select("lower1", "lower2").rows()]
    differences = lower.select("pair_id", difference=pl.Series(kinds, dtype=pl.String))
    return differences.join(relations, on="pair_id", how="left", maintain_order="left")
