"""The options of ``medsim correlate``."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from medsim.core.options import Option, Options, Reporting
from medsim.evaluations.options import SUBSET, OpenedFolder

if TYPE_CHECKING:
    import polars as pl

    ModelScores = str | Path | pl.DataFrame
else:  # the command line takes paths alone, and its help does not wait for Polars
    ModelScores = str | Path | Any


@dataclass(frozen=True, slots=True)
class CorrelateOptions(Options):
    """The options of ``medsim correlate``."""

    intrinsic: Annotated[
        ModelScores | OpenedFolder,
        Option(
            "The folder of an evaluation, whose embeddings are the models; or a .csv, .tsv or "
            ".parquet table with a row per model and a column per set.",
            argument=True,
        ),
    ]
    extrinsic: Annotated[
        ModelScores,
        Option(
            "A table with a row per model and a column per task. Models are in the column model, "
            "or in the first that has text.",
            argument=True,
        ),
    ]
    _: KW_ONLY
    metric: Annotated[
        str | None, Option("Of an evaluation; each embedding's best on each set by default.")
    ] = None
    statistic: Annotated[
        str | None, Option("Of an evaluation; auc or, for ratings, spearman by default.")
    ] = None
    subset: Annotated[str, SUBSET] = "common"
    progress: Reporting = None
