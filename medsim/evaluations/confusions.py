"""What a model confuses: how the terms of negatives differ, and how they are related.

Also the names with which a name is compared on the ladder from synonyms to unrelated names.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from medsim.builds.output import PAIR, Build
from medsim.builds.positives import relations_in, reload_names
from medsim.core.config import MINIMAL
from medsim.core.errors import listed
from medsim.core.store import Store
from medsim.core.terms import lowered_column
from medsim.evaluations.sets import FEW, NEGATIVE_KINDS
from medsim.neighbours.difference import DifferenceClassifier

if TYPE_CHECKING:
    import polars as pl


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
    counts = Counter[str]()
    for column in NEGATIVE_KINDS:
        of_kinds = unlike.drop_nulls(column).group_by("negatives", column).len().rows()
        for strategy, kind, n_pairs in of_kinds:
            if strategy != MINIMAL or column == NEGATIVE_KINDS[0]:
                counts[kind] = max(counts[kind], n_pairs)
    rare = [f"{kind} ({n_pairs})" for kind, n_pairs in sorted(counts.items()) if n_pairs < FEW]
    return [f"Left out, with fewer than {FEW} negatives: {listed(rare)}."] if rare else []


def ladder_of(build: Build) -> pl.DataFrame:
    """Return the pairs of the rungs of a build with parent_child: the rows of ``ladder.sql``."""
    with Store(threads=1) as store:
        reload_names(build, store)
        store.view_files(build.folder, {"pair": PAIR.files})
        store.run("builds/pairs/described_concept")
        store.run("builds/terms/ancestor")
        return store.frame("evaluations/ladder")
