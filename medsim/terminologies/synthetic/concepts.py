"""Makes the concept rows of an invented release."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.terminologies import sctid
from medsim.terminologies.synthetic.components import fates, ids
from medsim.terminologies.synthetic.history import Fate
from medsim.terminologies.synthetic.outline import Model

if TYPE_CHECKING:
    from medsim.terminologies.synthetic.draws import Ints, Weights
    from medsim.terminologies.synthetic.outline import Outline

_ACTIVE_FATES: Weights = {Fate.KEPT: 78, Fate.CHANGED: 19, Fate.REVIVED: 3}
_RETIRED_FATES: Weights = {Fate.RETIRED: 85, Fate.CHANGED_THEN_RETIRED: 15}
_DEFINED = 0.3  # of the concepts


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
