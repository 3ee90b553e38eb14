"""Reads the local names and the names of the standard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from medsim.builds.build import fill_tables
from medsim.core.errors import InputError, OptionError
from medsim.core.progress import Progress
from medsim.terminologies.options import ReadingOptions

if TYPE_CHECKING:
    from medsim.core.options import PathOrOutput
    from medsim.core.store import Store

_CHOSEN = {"category": pl.String}
_LOCAL_ROW = pl.Schema({"concept_id": pl.String, "frequency": pl.Int64, "kept": pl.String})


class LocalReading(ReadingOptions):
    """How local names are read: with the columns that have no role."""

    keeps_columns: ClassVar[bool] = True


def read_names(
    source: PathOrOutput,
    reading: ReadingOptions,
    store: Store,
    progress: Progress,
    categories: Sequence[str] = (),
) -> tuple[dict[str, Any], pl.DataFrame]:
    """Fill the canonical tables of a source or build, and return its facts and names.

    Returns:
        The facts, and the names of active concepts: concept_id, term, is_main and category.

    Raises:
        InputError: the source cannot be read, or has no names in the language.
        OptionError: a category is unknown, or an option does not fit the source.
    """
    facts = fill_tables(source, reading, store, progress)
    store.put("chosen", pl.DataFrame({"category": categories}, _CHOSEN))
    names = store.frame("mapping/name", language=reading.language)
    if names.is_empty() and categories:
        raise OptionError(
            f"`categories`: {facts['name']} has no concept of {', '.join(categories)}"
        )
    if names.is_empty():
        raise InputError(f"{facts['name']} has no names in `language` {reading.language}")
    return facts, names


def local_codes(names: pl.DataFrame, store: Store, *, with_columns: bool) -> pl.DataFrame:
    """Return a row per local code with its names, without status and probabilities.

    Args:
        names: the rows of ``read_names`` for LOCAL.
        store: the store of LOCAL.
        with_columns: whether the store has the columns without a role.
    """
    rows = pl.DataFrame(schema=_LOCAL_ROW)
    if with_columns:
        rows = store.table("local_row").select(*_LOCAL_ROW).cast(_LOCAL_ROW)
    codes = main_names(names).join(
        names.group_by("concept_id").agg(pl.col("term").alias("names"), pl.first("category")),
        on="concept_id",
    )
    codes = codes.join(rows, on="concept_id", how="left").rename({"concept_id": "code"})
    return codes.rename({"main_name": "name"}).sort(
        pl.col("frequency"), "code", descending=[True, False], nulls_last=True
    )


def main_names(names: pl.DataFrame) -> pl.DataFrame:
    """Return the main or else first name of each concept: concept_id and main_name."""
    first = names.sort("concept_id", ~pl.col("is_main"), maintain_order=True)
    first = first.unique("concept_id", keep="first", maintain_order=True)
    return first.select("concept_id", main_name="term")
