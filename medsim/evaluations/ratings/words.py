"""Tables of words: how often each occurs, in how many topics, in which domain."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError
from medsim.core.tables import read_table
from medsim.core.terms import lowered
from medsim.evaluations.ratings.properties import WORD_PROPERTIES, property_in, topic_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from medsim.core.tables import Table


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
