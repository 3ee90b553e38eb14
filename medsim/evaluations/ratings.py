"""Reads files of rated term pairs in the formats in which they are distributed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from medsim.core.errors import InputError, OptionError, counted, unknown_name
from medsim.core.manifest import Skipped
from medsim.core.reading import Text, json_columns, reading
from medsim.core.tables import (
    SEPARATORS,
    cells_of_lines,
    first_lines,
    is_missing,
    is_parquet,
    lines_of,
    number_in,
    read_table,
    read_text,
)
from medsim.core.terms import MAX_NAME, TOO_LONG, lowered_column
from medsim.evaluations.layouts import HOW_TO_NAME, LAYOUTS, Layout, RatedColumns
from medsim.statistics.ranks import without_rounding_errors
from medsim.statistics.rater_agreement import RaterAgreement, rater_agreement
from medsim.statistics.strata import PAIR_ONLY, PAIR_PROPERTIES, property_in

COLUMNS_AS_NAMED = "columns as named"
"""The name of the layout of a file whose columns the user named."""

_AS_NAMED = Layout(name=COLUMNS_AS_NAMED, source="")
_MIN_COLUMNS = 3  # two terms and a rating

_Columns = Mapping[str, Sequence[Any]]  # those of JSON lines or Parquet
_Rows = Iterator[tuple[int, list[str]]]  # numbers and cells


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedPairs:
    """A file of rated pairs.

    Attributes:
        name: the file's name without its suffix.
        layout: the name of the layout that recognised it, or ``COLUMNS_AS_NAMED``.
        pairs: a row per line, in the file's order: ``term1``, ``term2``, and one Float64 column per
            rating, higher for more similar terms. No value is missing.
        properties: the other properties of each pair in the file, in the same order of rows: a
            column for each of ``PAIR_PROPERTIES`` that it has, Float64 or String; values may be
            missing.
        agreement: the raters' agreement; None if the file has no individual ratings.
        range: the lowest and the highest rating that the layout allows; None if it allows any, and
            for columns that the user named.
        higher_is_similar: whether a higher rating means more similar in the file; if not, ratings
            were reversed, to low + high - rating if the range is known, else to -rating.
    """

    name: str
    layout: str
    pairs: pl.DataFrame
    properties: pl.DataFrame
    agreement: RaterAgreement | None
    range: Sequence[float] | None
    higher_is_similar: bool
    skipped: tuple[Skipped, ...]
    warnings: tuple[str, ...]
    sha256: str


def read_rated(path: Path, columns: RatedColumns | None = None) -> RatedPairs:
    """Return the rated pairs of a file of CSV, TSV, JSON lines, Parquet or a workbook.

    Layouts of published sets are recognised (``medsim.evaluations.layouts``). A pair that occurs
    twice with the same ratings, in either order of its terms, is used once: a second row would
    count the same judgement again. All rows of a pair whose ratings differ are kept, with a
    warning.

    Raises:
        InputError: the file cannot be read, fits no layout, or holds a rating that is not a number
            or is outside the layout's range; the message names the line and the value.
        OptionError: the columns are not in the file.
    """
    with reading(path, "rated pairs"):
        if is_parquet(path):
            table = read_table(path, extra=None)
            named: _Columns = table.frame.to_dict(as_series=False)
            text = Text(path=path, content="", unit=table.unit, sha256=table.sha256)
        else:
            text = read_text(path, fits=lambda cells: sum(map(bool, cells)) >= _MIN_COLUMNS)
            named = json_columns(path, text.content.encode()) if _JSON.match(text.content) else {}
            text = replace(text, unit="row") if named else text
        return _parse_pairs(text, named, columns or RatedColumns())


def _parse_pairs(text: Text, named: _Columns, columns: RatedColumns) -> RatedPairs:
    positions = find_positions(text, named, columns)
    every, properties, raters, left_out = rated_rows(text, named, positions)
    first = _first_of_repeats(every, raters)
    frame = every.filter(first)
    left_out["the pair occurs before with the same ratings"] = len(every) - len(frame)
    skipped = tuple(Skipped(reason=why, n_rows=count) for why, count in left_out.items() if count)
    if frame.is_empty():
        why = ", ".join(f"{skip.reason} ({skip.n_rows})" for skip in skipped)
        raise InputError(f"{text.path} has no rated pair; lines left out: {why}")
    layout = positions.layout
    upward = columns.higher_is_similar is not False
    agreement = None
    if raters.width:
        agreement = rater_agreement(raters.filter(first).to_numpy().T)
    return RatedPairs(
        name=text.path.stem,
        layout=layout.name,
        pairs=_with_mean_rating(frame, layout, upward=upward),
        properties=properties.filter(first) if properties.width else properties,
        agreement=agreement,
        range=layout.scale,
        higher_is_similar=upward,
        skipped=skipped,
        warnings=(*text.warnings, *_warnings(frame, upward=upward)),
        sha256=text.sha256,
    )


def _first_of_repeats(frame: pl.DataFrame, raters: pl.DataFrame) -> pl.Series:
    """Return a mask of the first row with each pair of terms, in either order, and ratings."""
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
        yield "ratings were reversed, since higher means less similar"
    sides = {name: lowered_column(frame[name]) for name in ("term1", "term2")}
    pair = (pl.min_horizontal(*sides).alias("least"), pl.max_horizontal(*sides).alias("greatest"))
    n_ratings = pl.struct(frame.columns[2:]).n_unique().alias("n_ratings")
    same = frame.with_columns(**sides).group_by(pair)
    if n_pairs := same.agg(n_ratings).filter(pl.col("n_ratings") > 1).height:
        yield f"{counted(n_pairs, 'pair has', 'pairs have')} several ratings; all are kept"
    for rating in frame.columns[2:]:
        if len(frame) > 1 and frame[rating].n_unique() == 1:
            yield f"every {rating} is {frame[rating][0]:g}, so its correlations are undefined"


def _with_mean_rating(frame: pl.DataFrame, layout: Layout, *, upward: bool) -> pl.DataFrame:
    """Return the frame with higher ratings for more similar terms, and a layout's mean."""
    ratings = frame.columns[2:]
    if not upward:
        frame = frame.with_columns(pl.col(ratings) * -1 + sum(layout.scale or ()))
    if layout is not _AS_NAMED and len(ratings) > 1:
        means = frame.select(pl.mean_horizontal(ratings)).to_series().to_numpy()
        frame = frame.with_columns(pl.Series("mean", without_rounding_errors(means)))
    return frame


_NAMED = "names"
"""The separator of cells of JSON lines or Parquet, which have names."""

TAB = SEPARATORS["tab"]

_JSON = re.compile(r"""\s*((\[\s*)?\{\s*(["}]|$)|\[\s*$)""", re.MULTILINE)
"""The beginning of JSON; a text may begin with a word in brackets."""


def unquoted_cells(text: Text) -> _Rows:
    """Yield the number and the cells of each line, separated by tabs, with quotes as text."""
    for number, line in enumerate(lines_of(text), start=1):
        if line.strip():
            yield number, [cell.strip() for cell in line.split(TAB)]


def rated_cells(text: Text, separator: str, *, sentences: bool) -> _Rows:
    """Yield the number and the cells of each line that is not blank, the first one included.

    Quotes in the cells of ``sentences`` may be part of the text.
    """
    if not sentences or separator != TAB:
        return cells_of_lines(text, separator)
    # Every line is one row, with or without quotes around cells.
    with suppress(InputError):
        n_rows = sum(1 for _ in cells_of_lines(text, separator))
        if n_rows == sum(1 for _ in unquoted_cells(text)):
            return cells_of_lines(text, separator)
    return unquoted_cells(text)


def _named_cells(path: Path, named: _Columns, used: Iterable[int]) -> _Rows:
    """Yield the names, then the number and the cells of each row of JSON lines or Parquet."""
    yield 0, [*named]
    for number, row in enumerate(zip(*named.values(), strict=True), start=1):
        for at in used:
            if isinstance(row[at], (bool, list, dict)):
                name = [*named][at]
                raise InputError(f"{path}: row {number}: {name!r} is not text or a number")
        yield number, ["" if value is None else str(value).strip() for value in row]


# Columns with these names are recognised without a layout.
_DEFAULT_COLUMNS = RatedColumns(term1="term1", term2="term2", ratings=("rating",))
_NUMBER = re.compile(r"[0-9]{1,9}")
_MAX_SHOWN = 10
_MAX_LENGTH = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnPositions:
    """The positions of the columns that are read from a file, counted from 0.

    Attributes:
        separator: the separator of cells; ``_NAMED`` if they have names.
        n_columns: the number of cells in a line; lines of a layout with ``first`` may have more.
        has_header: whether the first line holds names.
        properties: the column of each of ``PAIR_PROPERTIES`` that the header has once.
        raters: the columns of raters.
        layout: the layout of the file.
    """

    separator: str
    n_columns: int
    term1: int
    term2: int
    ratings: dict[str, int]
    raters: tuple[int, ...]
    has_header: bool
    properties: dict[str, int]
    layout: Layout

    def cells(self) -> tuple[int, ...]:
        """Return the positions of all cells that are read."""
        named = (*self.ratings.values(), *self.raters, *self.properties.values())
        return self.term1, self.term2, *named


def find_positions(text: Text, named: _Columns, columns: RatedColumns) -> ColumnPositions:
    """Return the positions of terms and ratings, as the user or a layout names them."""
    separators = [columns.separator] if columns.separator else list(SEPARATORS.values())
    first = {_NAMED: [*named]} if named else first_lines(text, separators)
    widest = max(first.values(), key=len)
    for named_columns in (columns, _DEFAULT_COLUMNS):
        names = named_columns.names()
        for separator, cells in first.items():
            if names and all(_matches(name, cells) for name in names):
                return _user_positions(text.path, separator, cells, named_columns)
        if names and named_columns is columns:
            missing = next(name for name in names if not _matches(name, widest))
            raise OptionError(f"{text.path}: {_no_column(missing, widest)}")
    _, unquoted = next(unquoted_cells(text), (0, []))
    fitting = [
        (len(layout.header), separator, cells, layout)
        for layout in LAYOUTS
        for separator, cells in ({TAB: unquoted} if layout.first else first).items()
        if _fits(layout, separator, cells)
    ]
    if not fitting:
        raise InputError(f"{text.path} is in no known layout: {_description(widest)}")
    _, separator, cells, layout = max(fitting, key=lambda fit: fit[0])
    names = (layout.term1, layout.term2, *layout.ratings.values(), *layout.raters)
    positions = [_matches(name, cells)[0] for name in names]
    has_header = bool(layout.header)
    return _positions(separator, cells, positions, layout.ratings, layout, has_header=has_header)


def _normalized(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).lower()


def _fits(layout: Layout, separator: str, cells: list[str]) -> bool:
    if layout.header:
        plain = [_normalized(cell) for cell in cells]
        return all(plain.count(name) == 1 for name in layout.header)
    # Any two words and a number would fit, so a file without a header must be as published.
    columns = [int(column) for column in (layout.term1, layout.term2, *layout.ratings.values())]
    as_published = len(cells) == max(columns)
    if layout.first:
        line = "".join(f"{cell}\t" for cell in cells)
        as_published = len(cells) >= max(columns) and bool(re.fullmatch(layout.first, line))
    return (
        separator == TAB
        and as_published
        and all(number_in(cells[int(column) - 1]) is not None for column in layout.ratings.values())
    )


def _user_positions(
    path: Path, separator: str, cells: list[str], columns: RatedColumns
) -> ColumnPositions:
    names = columns.names()
    positions: list[int] = []
    for name in names:
        at = _matches(name, cells)
        if len(at) > 1 or at[0] in positions:
            raise OptionError(
                f"{path}: {name!r} names several columns, or a column that is already named; use "
                "column numbers"
            )
        positions.append(at[0])
    by_number = all(map(_is_number, names))
    is_data = all(is_missing(cells[at]) or number_in(cells[at]) is not None for at in positions[2:])
    ratings = [f"column{name}" if _is_number(name) else name for name in columns.ratings]
    # If all columns are named by number, the first line may be a pair; in JSON it has names.
    has_header = not (by_number and is_data) or separator == _NAMED
    return _positions(separator, cells, positions, ratings, _AS_NAMED, has_header=has_header)


def _positions(
    separator: str,
    cells: list[str],
    positions: list[int],
    ratings: Iterable[str],
    layout: Layout,
    *,
    has_header: bool,
) -> ColumnPositions:
    """Return the positions of terms, then of ratings, then of raters."""
    names = list(ratings)
    n_read = 2 + len(names)
    plain = [_normalized(cell) for cell in cells] if has_header else []
    properties = {name: plain.index(name) for name in PAIR_PROPERTIES if plain.count(name) == 1}
    return ColumnPositions(
        separator=separator,
        n_columns=len(cells),
        term1=positions[0],
        term2=positions[1],
        ratings=dict(zip(names, positions[2:n_read], strict=True)),
        raters=tuple(positions[n_read:]),
        has_header=has_header,
        properties={name: at for name, at in properties.items() if at not in positions},
        layout=layout,
    )


def _matches(name: str, cells: list[str]) -> list[int]:
    """Return the header cells that match a name: exact matches, or else similar ones."""
    if _is_number(name):
        return [int(name) - 1] if 1 <= int(name) <= len(cells) else []
    exact = [at for at, cell in enumerate(cells) if cell == name]
    return exact or [at for at, cell in enumerate(cells) if _normalized(cell) == _normalized(name)]


def _is_number(name: str) -> bool:
    return _NUMBER.fullmatch(name) is not None


def _no_column(name: str, cells: list[str]) -> str:
    if _is_number(name) or _is_data(cells):
        return f"there is no column {name!r}: {_description(cells)}"
    return unknown_name("column", name, _names(cells))


def _description(cells: list[str]) -> str:
    """Return a description of the first line, and how to name its columns."""
    if _is_data(cells):
        return (
            f"its first line has {len(cells)} cells, at least one a number, so it is not a header; "
            "use FILE,term1=1,term2=2,rating=3 with the numbers of its columns"
        )
    more = f" and {len(cells) - _MAX_SHOWN} more" if len(cells) > _MAX_SHOWN else ""
    return f"it has the columns {', '.join(map(repr, _names(cells)))}{more}; use {HOW_TO_NAME}"


def _is_data(cells: list[str]) -> bool:
    return any(number_in(cell) is not None for cell in cells)


def _names(cells: list[str]) -> list[str]:
    return [cell[:_MAX_LENGTH] for cell in cells[:_MAX_SHOWN]]


def rated_rows(
    text: Text, named: _Columns, positions: ColumnPositions
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, dict[str, int]]:
    """Return the lines of a file that have two terms and all ratings, in file order.

    If the file has raters but no rating, the mean over the raters of a pair is its rating.

    Returns:
        The pairs: ``term1``, ``term2`` and a Float64 column per rating, without missing values.
        Their properties, in the same order: a column per property in the file; values may be null.
        Their individual ratings, in the same order: a Float64 column per rater; may be null.
        The number of lines left out, by reason.

    Raises:
        InputError: a line has more or fewer cells than the first, an invalid rating or an invalid
            property; or there is only a header.
    """
    lines = rated_cells(text, positions.separator, sentences=positions.layout.sentences)
    lines = _named_cells(text.path, named, positions.cells()) if named else lines
    every = []
    for number, cells in islice(lines, int(positions.has_header), None):
        try:
            every.append(_values(cells, positions))
        except InputError as error:
            raise InputError(f"{text.path}: {text.unit} {number}: {error}") from error
    if not every:
        raise InputError(f"{text.path} has a header but no pairs")
    rated = [values for values in every if None not in values[1]]
    rows = [values for values in rated if all(values[0])]
    kinds = {name: pl.String if name in PAIR_ONLY else pl.Float64 for name in positions.properties}
    of_ratings = dict.fromkeys(positions.ratings or ("mean",), pl.Float64)
    schema = pl.Schema({"term1": pl.String, "term2": pl.String, **of_ratings})
    pairs = pl.DataFrame([(*terms, *values) for terms, values, *_ in rows], schema, orient="row")
    if not positions.ratings:
        means = without_rounding_errors(pairs["mean"].to_numpy())
        pairs = pairs.with_columns(pl.Series("mean", means))
    columns = {f"rater{at}": pl.Float64 for at in range(len(positions.raters))}
    return (
        pairs,
        pl.DataFrame([properties for *_, properties in rows], kinds, orient="row"),
        pl.DataFrame([ratings for *_, ratings, _ in rows], columns, orient="row"),
        {"a rating is missing": len(every) - len(rated), "a term is empty": len(rated) - len(rows)},
    )


def _values(
    cells: list[str], positions: ColumnPositions
) -> tuple[tuple[str | float | None, ...], ...]:
    """Return the terms, the ratings, the ratings by each rater, and the properties of a line.

    A line that is left out has no properties.

    Raises:
        InputError: a cell is invalid; the message does not name the line.
    """
    layout, n_cells = positions.layout, len(cells)
    may_be_longer = bool(layout.first) and n_cells > max(positions.cells())
    if n_cells != positions.n_columns and not may_be_longer:
        raise InputError(
            f"{counted(n_cells, 'cell')}, but the first line has {positions.n_columns}"
        )
    terms = cells[positions.term1], cells[positions.term2]
    if max(map(len, terms)) > MAX_NAME:
        raise InputError(f"a term {TOO_LONG}")
    values = tuple(_rating(cells[at], layout) for at in positions.ratings.values())
    rater_values = tuple(_rating(cells[at], layout) for at in positions.raters)
    if not values:
        rated = [rating for rating in rater_values if rating is not None]
        values = (sum(rated) / len(rated) if rated else None,)
    is_used = None not in values and all(terms)
    named = positions.properties.items() if is_used else ()
    return terms, values, rater_values, tuple(property_in(name, cells[at]) for name, at in named)


def _rating(cell: str, layout: Layout) -> float | None:
    """Return the rating in a cell, None if it is missing.

    Raises:
        InputError: it is not a number, or outside the scale; the message does not name the line.
    """
    if is_missing(cell):
        return None
    value = number_in(cell)
    if value is None:
        raise InputError(f"rating {cell!r} is not a number such as 3.5")
    if (scale := layout.scale) is not None and not scale[0] <= value <= scale[1]:
        raise InputError(
            f"rating {cell!r} is outside {scale[0]:g} to {scale[1]:g}, the scale of {layout.name}; "
            f"if this is another dataset, use {HOW_TO_NAME}"
        )
    return value
