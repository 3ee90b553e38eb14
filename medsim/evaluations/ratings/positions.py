"""Finds the columns of a file that hold terms and ratings."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from medsim.core.errors import InputError, OptionError, unknown_name
from medsim.core.tables import SEPARATORS
from medsim.evaluations.ratings.columns import HOW_TO_NAME, RatedColumns
from medsim.evaluations.ratings.layouts import LAYOUTS
from medsim.evaluations.ratings.lines import JSON, TAB, first_cells, unquoted_cells
from medsim.evaluations.ratings.properties import PAIR_PROPERTIES, is_missing, number_in

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from medsim.core.tables import Text
    from medsim.evaluations.ratings.layouts import Layout

_OWN = RatedColumns(term1="term1", term2="term2", ratings=("rating",))  # names that say all
_NUMBER = re.compile(r"[0-9]{1,9}")
_MOST_SHOWN = 10
_LONGEST_SHOWN = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnPositions:
    """The positions of the columns that are read from a file, counted from 0.

    Attributes:
        separator: of cells; ``lines.JSON`` for lines that are objects.
        n_columns: how many each line has; a line of a layout that names first cells may have more.
        has_header: whether the first line holds names.
        properties: the column of each of ``PAIR_PROPERTIES`` that the header has once.
        raters: the columns of raters.
        layout: the one that recognised the file; None where the user named the columns.
    """

    separator: str
    n_columns: int
    term1: int
    term2: int
    ratings: dict[str, int]
    raters: tuple[int, ...]
    has_header: bool
    properties: dict[str, int]
    layout: Layout | None

    def used(self) -> tuple[int, ...]:
        """Return the positions of all cells that are read."""
        named = (*self.ratings.values(), *self.raters, *self.properties.values())
        return self.term1, self.term2, *named


def find_positions(text: Text, columns: RatedColumns) -> ColumnPositions:
    """Return the positions of terms and ratings: as the user says, else as a layout does."""
    separators = [columns.separator] if columns.separator else list(SEPARATORS.values())
    first = first_cells(text, separators)
    widest = max(first.values(), key=len)
    if not columns.named() and any(map(_says_all, first.values())):
        columns = replace(columns, term1="term1", term2="term2", ratings=("rating",))
    names = columns.named()
    if names:
        for separator, cells in first.items():
            if all(_matches(name, cells) for name in names):
                return _named(text.path, separator, cells, columns)
        missing = next(name for name in names if not _matches(name, widest))
        raise OptionError(f"{text.path}: {_no_column(missing, widest)}")
    fitting = [
        (len(layout.header), separator, cells, layout)
        for layout in LAYOUTS
        for separator, cells in (_unquoted_first(text) if layout.first else first).items()
        if _fits(layout, separator, cells)
    ]
    if not fitting:
        raise InputError(f"{text.path} is in no known layout: {_description(widest)}")
    _, separator, cells, layout = max(fitting, key=lambda one: one[0])
    names = (layout.term1, layout.term2, *layout.ratings.values(), *layout.raters)
    found = [_matches(name, cells)[0] for name in names]
    return _positions(
        separator, cells, found, layout.ratings, layout=layout, has_header=bool(layout.header)
    )


def _says_all(cells: list[str]) -> bool:
    """Return whether a header names terms and rating, so that nobody has to."""
    return all(_matches(name, cells) for name in _OWN.named())


def _unquoted_first(text: Text) -> dict[str, list[str]]:
    _, cells = next(unquoted_cells(text), (0, []))
    return {TAB: cells}


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).lower()


def _fits(layout: Layout, separator: str, cells: list[str]) -> bool:
    if layout.header:
        plain = [_plain(cell) for cell in cells]
        return all(plain.count(name) == 1 for name in layout.header)
    # Any two words with a number would do, so a file without a header must be as was published.
    columns = [int(one) for one in (layout.term1, layout.term2, *layout.ratings.values())]
    as_published = len(cells) == max(columns)
    if layout.first:
        as_published = len(cells) >= max(columns) and cells[0] in layout.first
    return (
        separator == TAB
        and as_published
        and all(number_in(cells[int(one) - 1]) is not None for one in layout.ratings.values())
    )


def _named(path: Path, separator: str, cells: list[str], columns: RatedColumns) -> ColumnPositions:
    names = columns.named()
    found: list[int] = []
    for name in names:
        at = _matches(name, cells)
        if len(at) > 1:
            raise OptionError(f"{path}: several columns are named {name!r}; give the number of one")
        if at[0] in found:
            raise OptionError(f"{path}: {name!r} names a column that another option names, too")
        found.append(at[0])
    by_number = all(_is_number(name) for name in names)
    without_names = by_number and separator != JSON  # where the first line may be a pair
    has_header = not (without_names and all(_is_rating(cells[at]) for at in found[2:]))
    ratings = [_rating_name(name) for name in columns.ratings]
    return _positions(separator, cells, found, ratings, layout=None, has_header=has_header)


def _positions(
    separator: str,
    cells: list[str],
    found: list[int],
    ratings: Iterable[str],
    *,
    layout: Layout | None,
    has_header: bool,
) -> ColumnPositions:
    """Return positions of which those of terms, then of ratings, then of raters are found."""
    names = list(ratings)
    n_read = 2 + len(names)
    plain = [_plain(cell) for cell in cells] if has_header else []
    properties = {name: plain.index(name) for name in PAIR_PROPERTIES if plain.count(name) == 1}
    return ColumnPositions(
        separator=separator,
        n_columns=len(cells),
        term1=found[0],
        term2=found[1],
        ratings=dict(zip(names, found[2:n_read], strict=True)),
        raters=tuple(found[n_read:]),
        has_header=has_header,
        properties={name: at for name, at in properties.items() if at not in found},
        layout=layout,
    )


def _matches(name: str, cells: list[str]) -> list[int]:
    """Return which cells of a header a name can mean; exact ones come before those alike."""
    if _is_number(name):
        return [int(name) - 1] if 1 <= int(name) <= len(cells) else []
    exact = [at for at, cell in enumerate(cells) if cell == name]
    return exact or [at for at, cell in enumerate(cells) if _plain(cell) == _plain(name)]


def _is_number(name: str) -> bool:
    return _NUMBER.fullmatch(name) is not None


def _rating_name(name: str) -> str:
    """Return the name that a rating has in the result."""
    if _is_number(name):
        return f"column{name}"
    if name in {"term1", "term2"}:
        raise OptionError(f"a rating cannot be named {name!r}; give the number of its column")
    return name


def _is_rating(cell: str) -> bool:
    return is_missing(cell) or number_in(cell) is not None


def _no_column(name: str, cells: list[str]) -> str:
    if _is_number(name):
        return f"there is no column {name}; the first line has {len(cells)}"
    if _is_data(cells):
        return f"there is no column {name!r}: {_description(cells)}"
    return unknown_name("column", name, _shown(cells))


def _description(cells: list[str]) -> str:
    """Return a description of the first line, with how to name its columns."""
    if _is_data(cells):
        says = f"its first line has {len(cells)} cells with a number among them, so is no header"
        return f"{says}; say FILE,term1=1,term2=2,rating=3 with the numbers of its columns"
    more = f" and {len(cells) - _MOST_SHOWN} more" if len(cells) > _MOST_SHOWN else ""
    return f"it has the columns {', '.join(map(repr, _shown(cells)))}{more}; say {HOW_TO_NAME}"


def _is_data(cells: list[str]) -> bool:
    return any(number_in(cell) is not None for cell in cells)


def _shown(cells: list[str]) -> list[str]:
    return [cell[:_LONGEST_SHOWN] for cell in cells[:_MOST_SHOWN]]
