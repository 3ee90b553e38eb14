"""Reads the local names and the names of the standard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from medsim.builds.build import fill_tables, is_output
from medsim.core.errors import InputError, OptionError, counted
from medsim.core.progress import Progress
from medsim.terminologies.options import ReadingOptions

if TYPE_CHECKING:
    from medsim.core.options import PathOrOutput
    from medsim.core.store import Store
    from medsim.mapping.options import MapOptions

_CHOSEN = {"category": pl.String}
_LOCAL_ROW = pl.Schema({"concept_id": pl.String, "frequency": pl.Int64, "kept": pl.String})


class _LocalReading(ReadingOptions):
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


def read_codes(
    options: MapOptions, store: Store, progress: Progress
) -> tuple[dict[str, Any], pl.DataFrame]:
    """Return the facts about LOCAL, and a row per code with its names; see ``read_names``."""
    language = options.local_language or options.language
    reading = _LocalReading(language=language, columns=options.columns)
    facts, names = read_names(options.local, reading, store, progress)
    rows = pl.DataFrame(schema=_LOCAL_ROW)
    if not is_output(options.local) and facts["source"] == "table":
        rows = store.table("local_row").select(*_LOCAL_ROW).cast(_LOCAL_ROW)
    codes = main_names(names).join(
        names.group_by("concept_id").agg(pl.col("term").alias("names"), pl.first("category")),
        on="concept_id",
    )
    if n_unnamed := int(store.table("concept")["active"].sum()) - len(codes):
        lost = f"{counted(n_unnamed, 'code')} of LOCAL without a name in {language!r}"
        progress.warn(f"left out {lost}; `local_language` chooses another language")
    codes = codes.join(rows, on="concept_id", how="left").rename({"concept_id": "code"})
    codes = codes.rename({"main_name": "name"}).sort(
        pl.col("frequency"), "code", descending=[True, False], nulls_last=True
    )
    return facts, codes


def main_names(names: pl.DataFrame) -> pl.DataFrame:
    """Return the main or else first name of each concept: concept_id and main_name."""
    first = names.sort("concept_id", ~pl.col("is_main"), maintain_order=True)
    first = first.unique("concept_id", keep="first", maintain_order=True)
    return first.select("concept_id", main_name="term")
