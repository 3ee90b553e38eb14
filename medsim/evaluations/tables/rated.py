"""The table of rated sets: their sizes, scales and origin (table 1 of Schulz and Juric 2020)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError
from medsim.core.kinds import Columns, columns
from medsim.core.terms import is_multi_word
from medsim.evaluations.ratings.layouts import LAYOUTS
from medsim.evaluations.sets import whole_sets

if TYPE_CHECKING:
    from medsim.evaluations.output import Evaluation

RATED_COLUMNS: Columns = (
    columns(pl.String, "input")
    | columns(pl.Int64, "size")
    | columns(pl.Float64, "low", "high")
    | columns(pl.String, "terminology")
    | columns(pl.Float64, "multi_word")
    | columns(pl.Int64, "raters")
    | columns(pl.Float64, "iaa1", "iaa2")
)
"""The columns of the table of rated sets; low and high are the ends of the scale of ratings.

iaa1 is the mean of Spearman's correlations of every two raters, iaa2 that of each rater with the
mean of the others, beside which an embedding's correlation with the mean of all can be held.
"""


def rated_sets(evaluation: Evaluation) -> pl.DataFrame:
    """Return ``RATED_COLUMNS``, a row per rated file.

    The size is that of the rating that most pairs have; multi_word the share of terms that have
    white space inside, of both terms of every pair. What a file's layout does not tell is null.

    Raises:
        InputError: no input is a rated file.
    """
    terminologies = {one.name: one.terminology for one in LAYOUTS}
    pairs = whole_sets(evaluation.pairs().filter(pl.col("rating").is_not_null()).collect())
    rows = []
    for (name,), of_input in pairs.group_by("input", maintain_order=True):
        ratings = of_input.partition_by("dataset", maintain_order=True)
        largest = max(ratings, key=len)
        terms = pl.concat([largest["term1"], largest["term2"].alias("term1")]).to_frame("term")
        about = evaluation.manifest.inputs[str(name)]
        scale = about.get("range")
        low, high = scale if isinstance(scale, list) else (None, None)
        rows.append(
            {
                "input": name,
                "size": largest.height,
                "low": low,
                "high": high,
                "terminology": terminologies.get(str(about.get("layout"))),
                **_agreement(about.get("agreement")),
                "multi_word": terms.select(is_multi_word(pl.col("term")).mean()).item(),
            }
        )
    if not rows:
        raise InputError(f"{evaluation.folder} has no rated file among its inputs")
    return pl.DataFrame(rows, schema=RATED_COLUMNS)


def _agreement(found: object) -> dict[str, object]:
    """Return the agreement of raters, as manifests have it."""
    known = found if isinstance(found, dict) else {}
    return {name: known.get(name) for name in ("raters", "iaa1", "iaa2")}
