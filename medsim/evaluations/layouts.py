"""The columns of files of rated pairs, as users name them and in published sets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from medsim.core.data import toml_of
from medsim.core.errors import OptionError, check_known, unknown_name
from medsim.core.tables import SEPARATORS

DIRECTIONS = {"similar": True, "different": False}
"""The directions of ratings: whether a higher rating means more similar."""

HOW_TO_NAME = "FILE,term1=NAME,term2=NAME,rating=NAME, with names or numbers of columns"
"""How a user names the columns of a file, for messages."""

_OPTIONS = ("term1", "term2", "rating", "rater", "separator", "higher")
_CHOICES = {"separator": list(SEPARATORS), "higher": list(DIRECTIONS)}
_COMMA_BEFORE_OPTION = re.compile(r",(?=[a-z][a-z0-9_]*=)")


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedColumns:
    """A user's description of a file of rated pairs.

    A column is named as in the file's header, where letter case and spaces may differ, or by its
    number from 1. If all are named by numbers the file may lack a header; the first line is a
    header if its rating is neither a number nor a marker of a missing value.

    Attributes:
        term1: the column of first terms. If all columns are None, the layout of the file gives
            them.
        separator: the character between columns, one of ``medsim.core.tables.SEPARATORS``;
            None detects it.
        higher_is_similar: whether a higher rating means more similar; None means that it does.
        raters: the columns of individual raters, whose agreement is computed; cells may be empty.
            Without ``ratings``, the mean over raters is the rating.
    """

    term1: str | None = None
    term2: str | None = None
    ratings: tuple[str, ...] = ()
    separator: str | None = None
    higher_is_similar: bool | None = None
    raters: tuple[str, ...] = field(default=(), repr=False)  # not in older fingerprints

    def names(self) -> tuple[str, ...]:
        """Return the names of all columns; empty if a layout gives them.

        Raises:
            OptionError: a column is missing.
        """
        rated = (*self.ratings, *self.raters)
        if self.term1 is None and self.term2 is None and not rated:
            return ()
        if not (self.term1 and self.term2 and rated and all(rated)):
            raise OptionError(f"name two terms and a rating: {HOW_TO_NAME}")
        if len(self.raters) == 1:
            raise OptionError("agreement needs two raters; name a single rater as the rating")
        return (self.term1, self.term2, *rated)


def parse_rated(text: str) -> tuple[Path, RatedColumns | None]:
    """Return the path in a text, and the columns that follow it, if any.

    Columns begin at the first comma before one of the options of ``parse_columns``; any other comma
    belongs to the path.
    """
    path, *rest = re.split(rf",(?=(?:{'|'.join(_OPTIONS)})=)", text, maxsplit=1)
    return Path(path), parse_columns(rest[0]) if rest else None


def parse_columns(text: str) -> RatedColumns:
    """Return the columns in a text such as "term1=Name A,term2=Name B,rating=score".

    ``rating`` and ``rater`` may be given several times. ``separator`` is tab, bar, semicolon or
    comma, ``higher`` is similar or different. A comma without an option after it belongs to a name.

    Raises:
        OptionError: an option is unknown, missing, given twice or has a wrong value.
    """
    values_by_name: dict[str, list[str]] = {name: [] for name in _OPTIONS}
    for part in _COMMA_BEFORE_OPTION.split(text):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if not value:
            raise OptionError(f"{text!r}: {part!r} is not NAME=VALUE; use {HOW_TO_NAME}")
        if name not in values_by_name:
            raise OptionError(f"{text!r}: {unknown_name('option', name, list(_OPTIONS))}")
        check_known(name, _CHOICES.get(name, [value]), value)
        if values_by_name[name] and name not in {"rating", "rater"}:
            raise OptionError(f"{text!r} gives {name} twice")
        values_by_name[name].append(value)
    first = {name: values[0] for name, values in values_by_name.items() if values}
    columns = RatedColumns(
        term1=first.get("term1"),
        term2=first.get("term2"),
        ratings=tuple(values_by_name["rating"]),
        raters=tuple(values_by_name["rater"]),
        separator=SEPARATORS.get(first.get("separator", "")),
        higher_is_similar=DIRECTIONS.get(first.get("higher", "")),
    )
    columns.names()
    return columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The layout of the files of one published set.

    Column names are in lower case without spaces; those of files are compared in the same form.

    Attributes:
        header: the columns that identify its files; a file may have more. Empty if files have no
            header: then the file has only the columns below, numbered from 1.
        first: for files without a header, the pattern of the cells of the first line, with a tab
            after each; lines may then have additional cells. Empty if any line with the columns
            below fits.
        ratings: name of each rating, and its column. All are on one scale; if there are several,
            their mean is added as a rating.
        raters: the columns of individual raters, whose agreement is computed; cells may be empty.
            Without ``ratings``, the mean over raters is the rating.
        scale: the lowest and the highest rating; None if files of the layout differ.
        sentences: whether the terms are sentences; files with tabs between them quote no cells.
        terminology: the terminology or corpus of the terms; None if files differ.
        source: the paper that made the ratings.
    """

    name: str
    header: Sequence[str] = ()
    term1: str = "term1"
    term2: str = "term2"
    first: str = ""
    ratings: dict[str, str] = field(default_factory=lambda: {"mean": "mean"})
    raters: Sequence[str] = ()
    scale: Sequence[float] | None = None
    sentences: bool = False
    terminology: str | None = None
    source: str


LAYOUTS = tuple(Layout(**entry) for entry in toml_of(__package__, "layouts.toml")["layout"])
"""The known layouts; if several fit a file, the one that names the most columns is used."""
