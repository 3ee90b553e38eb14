"""Reads tables with a row per model and a column of scores per set or task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError
from medsim.core.kinds import columns
from medsim.core.opened import read_rows
from medsim.core.tables import is_parquet, read_table
from medsim.evaluations.ratings.properties import is_missing, number_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from medsim.core.progress import Progress
    from medsim.core.tables import Table

SCORE_COLUMNS = columns(pl.String, "set", "statistic", "model") | columns(pl.Float64, "value")
"""The columns of scores of models: a row per set and model; a missing value is null."""

MODEL = "model"
"""The name of the column of models; a table without it has them in its first column of text."""


def read_model_scores(table: str | Path | pl.DataFrame, progress: Progress) -> pl.DataFrame:
    """Return the scores of a table, column by column in its order.

    Args:
        table: a frame, or a .parquet, .csv or .tsv file.
        progress: warned of columns that are left out since they have no number.

    Returns:
        ``SCORE_COLUMNS`` without statistics.
    """
    if isinstance(table, pl.DataFrame):
        return _scores("the table", table, progress)
    path = Path(table)
    if is_parquet(path):
        return _scores(str(path), read_rows(path), progress)
    text = read_table(path, known=None)
    for warning in text.warnings:
        progress.warn(warning)
    models = _model_column(text.frame, _has_text)
    typed = [one if one.name == models else _column(text, one) for one in text.frame]
    return _scores(str(path), pl.DataFrame(typed), progress)


def _scores(where: str, frame: pl.DataFrame, progress: Progress) -> pl.DataFrame:
    """Return the scores of a table whose columns are of their kinds."""
    model = _model_column(frame, lambda column: column.dtype == pl.String)
    if model is None:
        raise InputError(f"{where} has no column of models; name it {MODEL!r}")
    models = frame[model].cast(pl.String).str.strip_chars()
    _check_models(where, models)
    names = [c for c in frame.columns if c != model and frame[c].dtype.is_numeric()]
    if not names:
        raise InputError(f"{where} has no column of numbers beside {model!r}")
    for column in frame.columns:
        if column not in {model, *names}:
            progress.warn(f"{where}: column {column!r} has no number and is left out")
    long = pl.concat(
        pl.DataFrame(
            {
                "set": [name] * frame.height,
                "statistic": None,
                "model": models,
                "value": frame[name].cast(pl.Float64).fill_nan(None),
            },
            SCORE_COLUMNS,
        )
        for name in names
    )
    if (infinite := long.filter(pl.col("value").is_infinite())).height:
        name, of_model = infinite.select("set", "model").row(0)
        raise InputError(f"{where}: column {name!r} of model {of_model!r} is infinite")
    return long


def _model_column(frame: pl.DataFrame, is_text: Callable[[pl.Series], bool]) -> str | None:
    """Return the name of the column of models: ``MODEL`` in any case, or the first with text."""
    named = [name for name in frame.columns if name.strip().lower() == MODEL]
    return next(iter(named or [column.name for column in frame if is_text(column)]), None)


def _check_models(where: str, models: pl.Series) -> None:
    nameless = models.is_null() | (models == "")
    if nameless.any():
        raise InputError(f"{where}: row {nameless.arg_true()[0] + 1} has no model")
    if models.is_duplicated().any():
        twice = models.filter(models.is_duplicated())[0]
        raise InputError(f"{where} has model {twice!r} twice; each must have one row")


def _has_text(cells: pl.Series) -> bool:
    return any(not is_missing(cell) and number_in(cell) is None for cell in cells)


def _column(table: Table, cells: pl.Series) -> pl.Series:
    """Return a column as numbers where there are any, else as text."""
    values = [None if is_missing(cell) else number_in(cell) for cell in cells]
    wrong = [
        value is None and not is_missing(cell) for value, cell in zip(values, cells, strict=True)
    ]
    if any(wrong) and all(value is None for value in values):
        return cells
    table.refuse(
        pl.Series(wrong, dtype=pl.Boolean),
        cells.name,
        "is no number such as 0.85, as others of the column are; where there is no score, write "
        "nothing",
    )
    return pl.Series(cells.name, values, pl.Float64)
