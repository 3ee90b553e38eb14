"""What a model confuses: how the terms of negatives differ, and how they are related.

Also the names with which a name is compared on the ladder from synonyms to unrelated names.
"""

from __future__ import annotations

import polars as pl

from medsim.builds.output import PAIR, Build
from medsim.builds.positives import relations_in, reload_names
from medsim.core.config import MINIMAL
from medsim.core.errors import listed
from medsim.core.store import Store
from medsim.core.terms import lowered_column
from medsim.evaluations.sets import FEW, NEGATIVE_KINDS
from medsim.neighbours.difference import DifferenceClassifier


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
    kinds = DifferenceClassifier(names.unique()).kinds(lower["lower1"], lower["lower2"])
    differences = lower.select("pair_id", kinds)
    return differences.join(relations, on="pair_id", how="left", maintain_order="left")


def rare_kinds(pairs: pl.LazyFrame) -> list[str]:
    """Return a sentence on the kinds of negatives that too few pairs have, if there are any.

    Args:
        pairs: ``SET_PAIRS``.
    """
    columns = ("pair_id", "negatives", *NEGATIVE_KINDS)
    unlike = pairs.filter(label=0).select(columns).unique(columns[:2]).collect()
    kinds = unlike.unpivot(NEGATIVE_KINDS, index="negatives", variable_name="of").drop_nulls()
    exact = (pl.col("negatives") == MINIMAL) & (pl.col("of") != NEGATIVE_KINDS[0])
    counts = kinds.filter(~exact).group_by("negatives", "of", kind="value").len()
    counts = counts.group_by("kind").agg(pl.max("len")).filter(pl.col("len") < FEW).sort("kind")
    rare = [f"{kind} ({n_pairs})" for kind, n_pairs in counts.iter_rows()]
    return [f"Left out, with fewer than {FEW} negatives: {listed(rare)}."] if rare else []


def ladder_of(build: Build) -> pl.DataFrame:
    """Return the pairs of the rungs of a build with parent_child: the rows of ``ladder.sql``."""
    with Store(threads=1) as store:
        reload_names(build, store)
        store.view_files(build.folder, {"pair": PAIR.files})
        store.run("builds/pairs/described_concept")
        store.run("builds/terms/ancestor")
        return store.frame("evaluations/ladder")
