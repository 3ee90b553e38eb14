"""Pairs of terms that people rated, read from files as they are passed around."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError
from medsim.core.manifest import Skipped
from medsim.core.reading import reading
from medsim.core.terms import lowered
from medsim.evaluations.ratings.columns import RatedColumns
from medsim.evaluations.ratings.lines import rated_text
from medsim.evaluations.ratings.positions import find_positions
from medsim.evaluations.ratings.rows import read_rows
from medsim.statistics.ranks import without_rounding_errors
from medsim.statistics.rater_agreement import rater_agreement

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from medsim.core.tables import Text
    from medsim.evaluations.ratings.layouts import Layout

OWN_COLUMNS = "columns as named"
"""The layout, in results, of a file whose columns the user named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The agreement of the raters of a file (Chiu et al. 2018); see ``rater_agreement``.

    Attributes:
        n_raters: how many there are; not all need to have rated every pair.
        iaa1: the mean of Spearman's correlations of every two raters; NaN where there is none.
        iaa2: the mean of each rater's correlation with the mean of the others: how well people do
            what an embedding is asked to do.
    """

    n_raters: int
    iaa1: float
    iaa2: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedPairs:
    """A file of rated pairs, as it was read.

    Attributes:
        name: the file's name without its suffix.
        layout: the name of the layout that recognised it, or ``OWN_COLUMNS``.
        pairs: a row a line, in the file's order: ``term1``, ``term2``, and one Float64 column for
            each rating, higher where the terms are more similar. No value is missing.
        properties: row for row, what the file tells of a pair beside its ratings: a column for each
            of ``properties.PAIR_PROPERTIES`` that it has, Float64 or String; values may be missing.
        agreement: of the raters of the file; None where it does not tell single raters' ratings.
        range: the lowest and the highest rating that the layout allows; None where it allows any,
            and for a user's own.
        higher_is_similar: whether a higher rating means more similar in the file; where it does
            not, ratings were turned round, to low + high - rating where the range is known, else to
            -rating.
    """

    name: str
    layout: str
    pairs: pl.DataFrame
    properties: pl.DataFrame
    agreement: Agreement | None
    range: tuple[float, float] | None
    higher_is_similar: bool
    skipped: tuple[Skipped, ...]
    warnings: tuple[str, ...]
    sha256: str


def read_rated(path: Path, columns: RatedColumns | None = None) -> RatedPairs:
    """Return the rated pairs of a file of CSV, TSV, JSON lines or Parquet.

    Layouts of published sets are recognised (``medsim.evaluations.ratings.layouts``). A pair that
    stands twice with the same ratings, in either direction, is taken once: a second row would count
    the same judgement again. A pair whose ratings differ is kept as often as it stands, with a
    warning.

    Raises:
        InputError: the file cannot be read, fits no layout, or holds a rating that is no number or
            outside the layout's range; the message names the line and the value.
        OptionError: the columns are not in the file.
    """
    with reading(path, "rated pairs"):
        return _rated(rated_text(path), columns or RatedColumns())


def _rated(text: Text, columns: RatedColumns) -> RatedPairs:
    path = text.path
    positions = find_positions(text, columns)
    rows = read_rows(text, positions)
    every, properties, left_out = rows.pairs, rows.properties, rows.left_out
    first = _first_of_repeats(every, rows.raters)
    frame = every.filter(first)
    left_out["the pair stands there already, with the same ratings"] = len(every) - len(frame)
    skipped = tuple(Skipped(reason=why, n_rows=count) for why, count in left_out.items() if count)
    if frame.is_empty():
        why = ", ".join(f"{one.reason} ({one.n_rows})" for one in skipped)
        raise InputError(f"{path} has no rated pair; lines left out: {why}")
    layout = positions.layout
    upward = columns.higher_is_similar
    if upward is None:
        upward = layout.higher_is_similar if layout else True
    return RatedPairs(
        name=path.stem,
        layout=layout.name if layout else OWN_COLUMNS,
        pairs=_finished(frame, layout, upward=upward),
        properties=properties.filter(first) if properties.width else properties,
        agreement=_agreement(rows.raters.filter(first)) if rows.raters.width else None,
        range=layout.scale if layout else None,
        higher_is_similar=upward,
        skipped=skipped,
        warnings=(*text.warnings, *_warnings(frame, upward=upward)),
        sha256=text.sha256,
    )


def _first_of_repeats(frame: pl.DataFrame, raters: pl.DataFrame) -> pl.Series:
    """Return which rows are the first with their terms, in either order, and ratings."""
    sides = ("term1", "term2")
    ratings = [frame[name] for name in frame.columns[2:]] + raters.get_columns()
    alike = pl.struct(
        *(rating.alias(f"rating{at}") for at, rating in enumerate(ratings)),
        least=pl.min_horizontal(sides),
        greatest=pl.max_horizontal(sides),
    )
    return frame.select(alike.is_first_distinct()).to_series()


def _warnings(frame: pl.DataFrame, *, upward: bool) -> Iterator[str]:
    if not upward:
        yield "a higher rating means less similar in the file; ratings were turned round"
    if n_pairs := _n_contradictory(frame):
        yield f"pairs that have several ratings, which differ: {n_pairs}; all are kept"
    for rating in frame.columns[2:]:
        if len(frame) > 1 and frame[rating].n_unique() == 1:
            yield f"every {rating} is {frame[rating][0]:g}, so no correlation with it is defined"


def _n_contradictory(frame: pl.DataFrame) -> int:
    """Return how many pairs, ignoring direction and letter case, have ratings that differ."""
    sides = {"term1": lowered(frame["term1"].to_list()), "term2": lowered(frame["term2"].to_list())}
    pair = (pl.min_horizontal(*sides).alias("least"), pl.max_horizontal(*sides).alias("greatest"))
    n_ratings = pl.struct(frame.columns[2:]).n_unique().alias("n_ratings")
    same = frame.with_columns(pl.Series(*side, pl.String) for side in sides.items()).group_by(pair)
    return same.agg(n_ratings).filter(pl.col("n_ratings") > 1).height


def _finished(frame: pl.DataFrame, layout: Layout | None, *, upward: bool) -> pl.DataFrame:
    """Return the frame with higher ratings for more similar terms, and a layout's mean."""
    ratings = frame.columns[2:]
    if not upward:
        turn = sum(layout.scale or ()) if layout else 0.0
        frame = frame.with_columns(pl.col(ratings) * -1 + turn)
    if layout and len(ratings) > 1:
        means = frame.select(pl.mean_horizontal(ratings)).to_series().to_numpy()
        frame = frame.with_columns(pl.Series("mean", without_rounding_errors(means)))
    return frame


def _agreement(raters: pl.DataFrame) -> Agreement:
    """Return the agreement of raters, each a column of their ratings."""
    given = raters.to_numpy().T
    found = rater_agreement(given, resamples=0)
    return Agreement(n_raters=len(given), iaa1=found.iaa1.value, iaa2=found.iaa2.value)
