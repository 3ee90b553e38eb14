"""Makes invented concepts, and the parts that all their components have: fates and ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.terminologies import sctid
from medsim.terminologies.sctid import sctids
from medsim.terminologies.synthetic.history import Fate
from medsim.terminologies.synthetic.outline import Model

if TYPE_CHECKING:
    from medsim.terminologies.sctid import Component
    from medsim.terminologies.synthetic.draws import Draws, Ints, Reals, Weights
    from medsim.terminologies.synthetic.outline import Outline

USUAL_FATES: Weights = {
    Fate.KEPT: 80,
    Fate.CHANGED: 9,
    Fate.RETIRED: 7,
    Fate.CHANGED_THEN_RETIRED: 2,
    Fate.REVIVED: 2,
}
"""The weight of each fate for a component that no rule needs."""

_ACTIVE_FATES: Weights = {Fate.KEPT: 78, Fate.CHANGED: 19, Fate.REVIVED: 3}
_RETIRED_FATES: Weights = {Fate.RETIRED: 85, Fate.CHANGED_THEN_RETIRED: 15}
_DEFINED = 0.3  # of the concepts


def components(label: str, concepts: Ints, shares: Reals, draws: Draws) -> pl.DataFrame:
    """Return components of concepts, int64[n]: in each slot one, in that share of the concepts.

    There is a row per component: its number as ``item``, its ``concept``, its ``slot``.
    """
    n_slots = len(shares)
    concept, slot = np.repeat(concepts, n_slots), np.tile(np.arange(n_slots), len(concepts))
    item = concept * n_slots + slot
    exists = draws.chance(label, item, shares[slot])
    return pl.DataFrame({"item": item, "concept": concept, "slot": slot}).filter(exists)


def fates(
    label: str, parts: pl.DataFrame, outline: Outline, *, active: Weights, retired: Weights
) -> Ints:
    """Return the fate of each component; those of the model's concepts are kept.

    A component of an active concept and one of a retired concept have weights of their own.
    """
    draws, item, concept = outline.draws, parts["item"].to_numpy(), parts["concept"].to_numpy()
    return np.select(
        [concept < outline.n_active, concept < outline.n_clinical],
        [draws.weigh(label, item, active), draws.weigh(label, item, retired)],
        Fate.KEPT,
    )


def ids(numbers: pl.Series, component: Component) -> pl.Series:
    """Return the identifiers of components or concepts by their numbers, which begin at 0."""
    return pl.Series(sctids(numbers.to_numpy() + 1, component))


def concept_components(numbers: Ints, outline: Outline) -> pl.DataFrame:
    """Return the concepts with those numbers, each with its fate."""
    parts = pl.DataFrame({"item": numbers, "concept": numbers})
    fate = fates("concept", parts, outline, active=_ACTIVE_FATES, retired=_RETIRED_FATES)
    # The model's concepts were in the clinical module once.
    fate = np.where(numbers >= outline.n_clinical, Fate.CHANGED, fate)
    return parts.with_columns(fate=pl.Series(fate))


def concept_rows(rows: pl.DataFrame, outline: Outline) -> pl.DataFrame:
    """Return dated concepts with RF2's columns."""
    is_defined = outline.draws.chance("defined", rows["concept"].to_numpy(), _DEFINED)
    is_model = (pl.col("concept") >= outline.n_clinical) & ~pl.col("changes_later")
    return rows.with_columns(
        id=ids(rows["concept"], "concept"),
        moduleId=pl.when(is_model)
        .then(sctid.MODEL_COMPONENT_MODULE)
        .otherwise(outline.model_id(Model.MODULE)),
        definitionStatusId=pl.when(pl.Series(is_defined) ^ pl.col("changes_later"))
        .then(sctid.DEFINED)
        .otherwise(sctid.PRIMITIVE),
    )
