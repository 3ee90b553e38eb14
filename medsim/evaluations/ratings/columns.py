"""The columns of a user's own file that hold terms and ratings, and the text that names them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from medsim.core.errors import OptionError, unknown_name
from medsim.core.tables import SEPARATORS

DIRECTIONS = {"similar": True, "different": False}
"""The directions of ratings: whether a higher one means more similar."""

HOW_TO_NAME = "FILE,term1=NAME,term2=NAME,rating=NAME, with names or numbers of columns"
"""The text by which a user names the columns of a file, for messages."""

T = TypeVar("T")

_OPTIONS = ("term1", "term2", "rating", "rater", "separator", "higher")
_COMMA_BEFORE_OPTION = re.compile(r",(?=[a-z][a-z0-9_]*=)")


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedColumns:
    """A user's description of a file of rated pairs.

    A column is named as in the file's header, where letter case and spaces may differ, or by its
    number from 1. Where all are named by numbers the file may lack a header; its first line is one
    if what stands there for a rating is neither a number nor a mark for a missing one.

    Attributes:
        term1: the column of first terms; None, and so are the others, leaves columns to the layout
            that recognises the file.
        separator: the character between columns, one of ``medsim.core.tables.SEPARATORS``;
            None lets the file tell.
        higher_is_similar: whether a higher rating means more similar; None takes what the layout
            says, and True where there is none.
        raters: the columns of raters whose agreement is told; some may not have rated a pair. Where
            no rating is named, the mean of theirs is one.
    """

    term1: str | None = None
    term2: str | None = None
    ratings: tuple[str, ...] = ()
    separator: str | None = None
    higher_is_similar: bool | None = None
    raters: tuple[str, ...] = field(default=(), repr=False)  # old fingerprints are of the others

    def named(self) -> tuple[str, ...]:
        """Return the names of all columns; none where they are left to a layout.

        Raises:
            OptionError: a column is missing or given twice, or the separator is unknown.
        """
        if self.separator is not None and self.separator not in SEPARATORS.values():
            known = ", ".join(repr(one) for one in SEPARATORS.values())
            raise OptionError(f"unknown separator {self.separator!r}; known: {known}")
        rated = (*self.ratings, *self.raters)
        if self.term1 is None and self.term2 is None and not rated:
            return ()
        if not (self.term1 and self.term2 and rated and all(rated)):
            raise OptionError(f"columns need two terms and a rating: {HOW_TO_NAME}")
        if len(self.raters) == 1:
            raise OptionError("one rater has nobody to agree with; name it as a rating")
        names = (self.term1, self.term2, *rated)
        for name in names:
            if names.count(name) > 1:
                raise OptionError(f"column {name!r} is named twice; a term or a rating is one each")
        return names


def parse_rated(text: str) -> tuple[Path, RatedColumns | None]:
    """Return the file that a text names, and its columns where the text names them.

    Columns begin at the first comma before one of the options of ``parse_columns``; a comma before
    anything else is of the path.
    """
    path, *rest = re.split(rf",(?=(?:{'|'.join(_OPTIONS)})=)", text, maxsplit=1)
    return Path(path), parse_columns(rest[0]) if rest else None


def parse_columns(text: str) -> RatedColumns:
    """Return the columns in a text such as "term1=Name A,term2=Name B,rating=score".

    ``rating`` and ``rater`` may be given several times. ``separator`` is tab, bar, semicolon or
    comma, ``higher`` is similar or different. A comma that no option follows is of a name.

    Raises:
        OptionError: an option is unknown, missing, given twice or has a wrong value.
    """
    given: dict[str, str] = {}
    several: dict[str, list[str]] = {"rating": [], "rater": []}
    for part in _COMMA_BEFORE_OPTION.split(text):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            raise OptionError(f"{text!r}: {part!r} is not NAME=VALUE; say {HOW_TO_NAME}")
        if name not in _OPTIONS:
            raise OptionError(f"{text!r}: {unknown_name('option', name, list(_OPTIONS))}")
        if name in given:
            raise OptionError(f"{text!r} gives {name} twice")
        if name in several:
            several[name].append(value)
        else:
            given[name] = value
    columns = RatedColumns(
        term1=given.get("term1"),
        term2=given.get("term2"),
        ratings=tuple(several["rating"]),
        raters=tuple(several["rater"]),
        separator=_choice("separator", given.get("separator"), SEPARATORS),
        higher_is_similar=_choice("higher", given.get("higher"), DIRECTIONS),
    )
    columns.named()
    return columns


def _choice(option: str, value: str | None, choices: dict[str, T]) -> T | None:
    """Return the value of a choice, None for none."""
    if value is None:
        return None
    if value not in choices:
        raise OptionError(unknown_name(option, value, list(choices)))
    return choices[value]
