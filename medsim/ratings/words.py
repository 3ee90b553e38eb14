"""Tables of words: how often each occurs, in how many topics, in which domain."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from medsim.errors import InputError
from medsim.ratings.columns import SEPARATORS
from medsim.ratings.lines import cells_of_lines, read_content
from medsim.ratings.properties import WORD_PROPERTIES, property_in, topic_names
from medsim.terms import lowered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_EXPECTED = "a table of words has word and count, and may have topics and domain"


@dataclass(frozen=True, slots=True, kw_only=True)
class WordTable:
    """What a file tells of words.

    Attributes:
        name: of the file.
        digest: SHA-256 of its bytes.
        frame: a row per word, in lower case: ``word``, and what the file has of ``count``
            (Float64), ``topics`` (Float64, how many) and ``domain`` (String).
    """

    name: str
    digest: str
    frame: pl.DataFrame


@dataclass(slots=True)
class _Word:
    """What all rows of a word together tell."""

    count: float | None = None
    n_topics: float | None = None
    topics: set[str] = field(default_factory=set)
    domains: set[str] = field(default_factory=set)

    def add(self, cells: Mapping[str, str]) -> None:
        """Add a row.

        Raises:
            InputError: a cell holds something else than it should.
        """
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

    def told(self) -> tuple[float | None, float | None, str | None]:
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
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})") from error
    rows = _of_parquet(path) if path.suffix == ".parquet" else _of_text(path)
    _, header = next(rows)
    plain = [name.strip().lower() for name in header]
    told = [name for name in WORD_PROPERTIES if name in plain]
    if plain.count("word") != 1 or not told or any(plain.count(name) > 1 for name in told):
        raise InputError(f"{path} has the columns {', '.join(header[:20])}; {_EXPECTED}")
    places = {name: plain.index(name) for name in told}
    words = _gathered(path, rows, plain.index("word"), places)
    schema = {"word": pl.String, "count": pl.Float64, "topics": pl.Float64, "domain": pl.String}
    frame = pl.DataFrame([(word, *one.told()) for word, one in words.items()], schema, orient="row")
    return WordTable(name=path.name, digest=digest, frame=frame.select("word", *told))


def _gathered(
    path: Path, rows: Iterable[tuple[int, list[str]]], at: int, places: Mapping[str, int]
) -> dict[str, _Word]:
    """Return what all rows tell of each word."""
    words: dict[str, _Word] = {}
    n_columns = max(at, *places.values()) + 1
    for number, cells in rows:
        if len(cells) < n_columns:
            raise InputError(f"{path}: line {number} has {len(cells)} cells; {_EXPECTED}")
        (word,) = lowered([cells[at].strip()])
        try:
            words.setdefault(word, _Word()).add({name: cells[n] for name, n in places.items()})
        except InputError as error:
            raise InputError(f"{path}: line {number}: {error}") from error
    return words


def _of_text(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line, the header first."""
    content = read_content(path)
    for separator in SEPARATORS.values():
        lines = cells_of_lines(content, separator)
        number, header = next(lines)
        if "word" in (name.lower() for name in header):
            yield number, header
            yield from lines
            return
    _, header = next(cells_of_lines(content, SEPARATORS["comma"]))
    raise InputError(f"{path} has the columns {', '.join(header[:20])}; {_EXPECTED}")


def _of_parquet(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the number, that of the header being 1, and the cells of each row."""
    try:
        frame = pl.read_parquet(path, hive_partitioning=False, glob=False)
        told = [name for name in frame.columns if name.lower() in {"word", *WORD_PROPERTIES}]
        frame = frame.select(
            frame[name].list.join(";") if frame[name].dtype == pl.List else frame[name]
            for name in told
        ).select(pl.all().cast(pl.String).fill_null(""))
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{path} cannot be read ({str(error).splitlines()[0]})") from error
    yield 1, frame.columns
    for number, cells in enumerate(frame.iter_rows(), 2):
        yield number, list(cells)
