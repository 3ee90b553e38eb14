"""The properties of words and pairs: cells beside ratings, and tables of words."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError
from medsim.core.tables import read_table
from medsim.core.terms import lowered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from medsim.core.tables import Table

PARTS = ("count", "topics", "domain", "associated")
"""The properties by which a set of rated pairs is divided."""

OF_PAIRS = ("domain", "associated")
"""Those that a file may tell of a pair as a whole."""

PAIR_PROPERTIES = ("count1", "count2", "topics1", "topics2", "domain", "associated")
"""The columns of a file of rated pairs with properties of a pair, or of its words."""

WORD_PROPERTIES = ("count", "topics", "domain")
"""The columns of a table of words with properties of a word."""

_TRUTHS = {"yes": "yes", "true": "yes", "1": "yes", "no": "no", "false": "no", "0": "no"}
_NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_MISSING = frozenset({"", "-", "na", "n/a", "nan", "none", "null"})


def is_missing(cell: str) -> bool:
    """Return whether a cell stands for a missing value."""
    return cell.lower() in _MISSING


def number_in(cell: str) -> float | None:
    """Return the number in a cell, with a decimal point; None where it is no finite one."""
    if _NUMBER.fullmatch(cell) is None:
        return None
    number = float(cell)
    return number if math.isfinite(number) else None


def property_in(column: str, cell: str) -> float | str | None:
    """Return the value of a property; None where it is missing.

    Args:
        column: one of ``PAIR_PROPERTIES`` or ``WORD_PROPERTIES``.
        cell: its text.

    Returns:
        A count, a number of topics, the name of a domain, or "yes" or "no".

    Raises:
        InputError: the cell holds something else; the message does not say where it stands.
    """
    if is_missing(cell):
        return None
    kind, text = column.rstrip("12"), cell.strip()
    if kind == "domain":
        return text
    if kind == "associated":
        if text.lower() not in _TRUTHS:
            raise _refused(column, cell, "neither yes nor no")
        return _TRUTHS[text.lower()]
    topics = topic_names(cell) if kind == "topics" else None
    count = number_in(cell) if topics is None else len(topics)
    if count is None or count < 0:
        raise _refused(column, cell, "no count such as 120")
    return count


def topic_names(cell: str) -> frozenset[str] | None:
    """Return the topics that a cell names between semicolons; None if it has their number."""
    if number_in(cell) is not None:
        return None
    return frozenset(name for name in map(str.strip, cell.split(";")) if name)


def _refused(column: str, cell: str, why: str) -> InputError:
    return InputError(f"{column} {cell!r} is {why}")


@dataclass(frozen=True, slots=True, kw_only=True)
class WordTable:
    """A table of words, as it was read.

    Attributes:
        digest: SHA-256 of its bytes as they were read.
        frame: a row per word, in lower case: ``word``, and those of ``count`` (Float64),
            ``topics`` (Float64, their number) and ``domain`` (String) that the file has.
        warnings: what a reader of results should know, a sentence each.
    """

    name: str
    digest: str
    frame: pl.DataFrame
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Word:
    """The properties of a word, from all its rows."""

    count: float | None = None
    n_topics: float | None = None
    topics: set[str] = field(default_factory=set)
    domains: set[str] = field(default_factory=set)

    def add(self, cells: Mapping[str, str]) -> None:
        """Add a row."""
        for name, cell in cells.items():
            found = property_in(name, cell)
            if found is None:
                continue
            if name == "count":
                self.count = (self.count or 0) + float(found)
            elif name == "domain":
                self.domains.add(str(found))
            else:
                self.topics |= topic_names(cell) or set()
                self.n_topics = max(self.n_topics or 0, float(found), len(self.topics))

    def values(self) -> tuple[float | None, float | None, str | None]:
        """Return count, number of topics, and the domain if there is one only."""
        domain = next(iter(self.domains)) if len(self.domains) == 1 else None
        return self.count, self.n_topics, domain


def read_words(path: Path) -> WordTable:
    """Return the table of words in a CSV, TSV or Parquet file, letter case ignored.

    Where a word has several rows, as one a class, its counts are added up; topics that are named
    are counted once, of numbers of topics the highest counts; a word of two domains has none.

    Args:
        path: of the file, with a column ``word`` and at least one of ``count``, ``topics`` (how
            many, or their names joined by semicolons) and ``domain``.

    Raises:
        InputError: the file cannot be read or has no such columns, or a cell holds something else;
            the message names the line and the value.
    """
    table = read_table(path, ("word",), WORD_PROPERTIES)
    names = table.frame.columns[1:]
    if not names:
        raise InputError(
            f"{path} has none of the columns {', '.join(WORD_PROPERTIES)}; a table of words has "
            "word and count, and may have topics and domain"
        )
    words = _gathered(table, names)
    schema = {"word": pl.String, "count": pl.Float64, "topics": pl.Float64, "domain": pl.String}
    frame = pl.DataFrame(
        [(word, *one.values()) for word, one in words.items()], schema, orient="row"
    )
    return WordTable(
        name=path.name,
        digest=table.sha256,
        frame=frame.select("word", *names),
        warnings=table.warnings,
    )


def _gathered(table: Table, names: Sequence[str]) -> dict[str, _Word]:
    """Return the properties of each word, from all its rows."""
    words: dict[str, _Word] = {}
    for place, (cell, *cells) in table.rows():
        (word,) = lowered([cell])
        try:
            words.setdefault(word, _Word()).add(dict(zip(names, cells, strict=True)))
        except InputError as error:
            raise InputError(f"{table.path}: {place}: {error}") from error
    return words
