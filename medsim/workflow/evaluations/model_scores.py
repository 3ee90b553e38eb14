"""Reads tables with a row per model and a column of scores per set or task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.errors import InputError
from medsim.ratings.columns import SEPARATORS
from medsim.ratings.lines import cells_of_lines, read_content
from medsim.ratings.values import is_missing, number_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.progress import Progress

SCORE_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "set": pl.String,
    "statistic": pl.String,
    "model": pl.String,
    "value": pl.Float64,
}
"""The columns of scores of models: a row per set and model; a missing value is null."""

MODEL = "model"
"""The name of the column of models; a table without it has them in its first column of text."""

_LONGEST_SHOWN = 40


def read_model_scores(table: str | Path | pl.DataFrame, progress: Progress) -> pl.DataFrame:
    """Return the scores of a table, column by column in its order.

    Args:
        table: a frame, or a .parquet, .csv or .tsv file.
        progress: warned of columns that are left out since they have no number.

    Returns:
        ``SCORE_COLUMNS`` without statistics.

    Raises:
        InputError: the file cannot be read, a model is missing or there twice, a column of numbers
            holds something else, or there is no column of models or of numbers.
    """
    if isinstance(table, pl.DataFrame):
        return _scores("the table", table, progress)
    path = Path(table)
    if path.suffix.lower() != ".parquet":
        return _scores(str(path), _text_table(path), progress)
    try:
        frame = pl.read_parquet(path, hive_partitioning=False, glob=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise InputError(f"{path} cannot be read ({said[0]})") from error
    return _scores(str(path), frame, progress)


def _scores(where: str, frame: pl.DataFrame, progress: Progress) -> pl.DataFrame:
    """Return the scores of a table whose columns are of their kinds."""
    model = _model_column(where, frame)
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


def _model_column(where: str, frame: pl.DataFrame) -> str:
    for column in frame.columns:
        if column.strip().lower() == MODEL:
            return column
    for column in frame.columns:
        if frame[column].dtype == pl.String:
            return column
    raise InputError(f"{where} has no column of models; name it {MODEL!r}")


def _check_models(where: str, models: pl.Series) -> None:
    nameless = models.is_null() | (models == "")
    if nameless.any():
        raise InputError(f"{where}: row {nameless.arg_true()[0] + 1} has no model")
    if models.is_duplicated().any():
        twice = models.filter(models.is_duplicated())[0]
        raise InputError(f"{where} has model {twice!r} twice; each must have one row")


def _text_table(path: Path) -> pl.DataFrame:
    """Return the table of a text file: numbers where a column has them, else text."""
    content = read_content(path)
    first = content.data.decode(content.encoding).lstrip().splitlines()[0]
    separator = max(SEPARATORS.values(), key=first.count)
    (_, header), *lines = cells_of_lines(content, separator)
    for number, cells in lines:
        if len(cells) != len(header):
            raise InputError(
                f"{path}: line {number} has {len(cells)} cells, and the first {len(header)}"
            )
    names = [name or f"column{at}" for at, name in enumerate(header, start=1)]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{path} has two columns {name!r}; each needs a name of its own")
    columns = {name: [cells[at] for _, cells in lines] for at, name in enumerate(names)}
    models = _models_of_text(columns)
    numbers = [number for number, _ in lines]
    return pl.DataFrame(
        [
            pl.Series(name, cells, pl.String)
            if name == models
            else _column(f"{path}: column {name!r}", name, cells, numbers)
            for name, cells in columns.items()
        ]
    )


def _models_of_text(columns: dict[str, list[str]]) -> str | None:
    """Return which column has the models: that of the name, or the first with any text."""
    for name in columns:
        if name.lower() == MODEL:
            return name
    for name, cells in columns.items():
        if any(not is_missing(cell) and number_in(cell) is None for cell in cells):
            return name
    return None


def _column(where: str, name: str, cells: Sequence[str], numbers: Sequence[int]) -> pl.Series:
    """Return a column as numbers, or as text where none of it is a number."""
    values = [None if is_missing(cell) else number_in(cell) for cell in cells]
    wrong = [at for at, v in enumerate(values) if v is None and not is_missing(cells[at])]
    if not wrong:
        return pl.Series(name, values, pl.Float64)
    if all(value is None for value in values):
        return pl.Series(name, cells, pl.String)
    at = wrong[0]
    raise InputError(
        f"{where} has numbers, and {cells[at][:_LONGEST_SHOWN]!r} in line {numbers[at]}; write a "
        "number such as 0.85, or nothing where there is no score"
    )
