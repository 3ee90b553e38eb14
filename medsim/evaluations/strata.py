"""Properties of words and pairs in rated files, which divide rated sets into parts."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.errors import InputError, counted
from medsim.core.tables import read_table
from medsim.core.terms import lowered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from medsim.evaluations.ratings import RatedPairs
    from medsim.kernels.types import Values

PARTS = ("count", "topics", "domain", "associated")
"""The properties by which a set of rated pairs is divided."""

PAIR_ONLY = ("domain", "associated")
"""The properties that a file may have for a pair as a whole."""

PAIR_PROPERTIES = ("count1", "count2", "topics1", "topics2", "domain", "associated")
"""The columns of a file of rated pairs with properties of a pair, or of its words."""

WORD_PROPERTIES = ("count", "topics", "domain")
"""The columns of a table of words with properties of a word."""

_YES_NO = {"yes": "yes", "true": "yes", "1": "yes", "no": "no", "false": "no", "0": "no"}
_NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_MISSING = frozenset({"", "-", "na", "n/a", "nan", "none", "null"})


def is_missing(cell: str) -> bool:
    """Return whether a cell is a missing value."""
    return cell.lower() in _MISSING


def number_in(cell: str) -> float | None:
    """Return the number in a cell, with a decimal point; None if it is not finite."""
    if _NUMBER.fullmatch(cell) is None:
        return None
    number = float(cell)
    return number if math.isfinite(number) else None


def property_in(column: str, cell: str) -> float | str | None:
    """Return the value of a property; None if it is missing.

    Args:
        column: one of ``PAIR_PROPERTIES`` or ``WORD_PROPERTIES``.
        cell: its text.

    Returns:
        A count, a number of topics, the name of a domain, or "yes" or "no".

    Raises:
        InputError: the cell has another value; the message does not name the line.
    """
    if is_missing(cell):
        return None
    kind, text = column.rstrip("12"), cell.strip()
    if kind == "domain":
        return text
    if kind == "associated":
        if text.lower() not in _YES_NO:
            raise InputError(f"{column} {cell!r} is not yes or no")
        return _YES_NO[text.lower()]
    topics = topic_names(cell) if kind == "topics" else None
    count = number_in(cell) if topics is None else len(topics)
    if count is None or count < 0:
        raise InputError(f"{column} {cell!r} is not a count such as 120")
    return count


def topic_names(cell: str) -> frozenset[str] | None:
    """Return the topics that a cell names, separated by semicolons; None if it is a number."""
    if number_in(cell) is not None:
        return None
    return frozenset(name for name in map(str.strip, cell.split(";")) if name)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordTable:
    """A table of words.

    Attributes:
        digest: SHA-256 of its bytes as they were read.
        frame: a row per word: ``word`` in lower case, and any of ``count`` (Float64), ``topics``
            (Float64, their number) and ``domain`` (String) that the file has.
        warnings: for readers of the results, a sentence each.
    """

    name: str
    digest: str
    frame: pl.DataFrame
    warnings: tuple[str, ...] = ()


def read_words(path: Path) -> WordTable:
    """Return the table of words in a CSV, TSV or Parquet file, ignoring case.

    If a word has several rows, such as one per word class, its counts are summed, every named topic
    counts once, and the highest number of topics is used. A word with two domains has none.

    Args:
        path: of the file, with a column ``word`` and at least one of ``count``, ``topics`` (how
            many, or their names joined by semicolons) and ``domain``.

    Raises:
        InputError: the file cannot be read or has no such columns, or a cell is invalid; the
            message names the line and the value.
    """
    table = read_table(path, ("word",), WORD_PROPERTIES)
    names = table.frame.columns[1:]
    if not names:
        raise InputError(
            f"{path} has none of the columns {', '.join(WORD_PROPERTIES)} beside word; add one"
        )
    rows = []
    for place, (word, *cells) in table.rows():
        row = dict(zip(names, cells, strict=True))
        try:
            properties = {name: property_in(name, cell) for name, cell in row.items()}
        except InputError as error:
            raise InputError(f"{path}: {place}: {error}") from error
        topics = None if properties.get("topics") is None else topic_names(row["topics"])
        rows.append({"word": word, **properties, "names": None if topics is None else [*topics]})
    schema = {"word": pl.String, "count": pl.Float64, "topics": pl.Float64, "domain": pl.String}
    frame = pl.DataFrame(rows, {**schema, "names": pl.List(pl.String)})
    count, domain = pl.col("count"), pl.col("domain").drop_nulls()
    n_topics = pl.max_horizontal(
        pl.col("topics").max(), pl.col("names").explode().drop_nulls().n_unique()
    )
    frame = (
        frame.with_columns(word=pl.Series(lowered(frame["word"].to_list()), dtype=pl.String))
        .group_by("word", maintain_order=True)
        .agg(
            count=pl.when(count.count() > 0).then(count.sum()),
            topics=pl.when(pl.col("topics").count() > 0).then(n_topics),
            domain=pl.when(domain.n_unique() == 1).then(domain.first()),
        )
    )
    return WordTable(
        name=path.name,
        digest=table.sha256,
        frame=frame.select("word", *names),
        warnings=table.warnings,
    )


POWERS_OF_TEN = tuple(10**power for power in range(16))
"""The counts at which bins begin by default: 1-9, 10-99, 100-999 and so on."""

TOPIC_BINS = (1, 2, 5)
"""The numbers of topics at which bins begin: 1, 2-4, 5+."""

_MEMBER_COLUMNS = {"row": pl.UInt32, "part": pl.String, "part_value": pl.String}
_MAX_DOMAINS = 20  # a column with more values is probably something else


@dataclass(frozen=True, slots=True)
class Stratification:
    """The properties by which sets of rated pairs are divided into parts.

    Attributes:
        bins: the counts at which bins of frequency begin, ascending; powers of ten if empty.
        topic_bins: the numbers of topics at which bins of topics begin; ``TOPIC_BINS`` if empty.
        equal_parts: the number of parts of about equally many pairs to make instead of bins; None
            makes bins.
        words: properties of words; None uses those in the rated files.
    """

    bins: Sequence[int] = ()
    topic_bins: Sequence[int] = ()
    equal_parts: int | None = None
    words: WordTable | None = None

    def provenance(self) -> dict[str, object]:
        """Return the table of words and the bins as plain JSON values."""
        words = self.words
        optional = {"topic_bins": list(self.topic_bins), "equal_parts": self.equal_parts}
        return {
            "words": None if words is None else {"name": words.name, "sha256": words.digest},
            "bins": list(self.bins) or None,
            **{name: value for name, value in optional.items() if value},
        }

    def bin_starts(self, name: str, first: pl.Series, second: pl.Series) -> Sequence[float]:
        """Return the numbers at which a property's bins begin, given its values for all pairs."""
        if self.equal_parts is not None:
            return equal_part_starts(first, second, self.equal_parts)
        return (self.topic_bins or TOPIC_BINS) if name == "topics" else self.bins or POWERS_OF_TEN


def strata_of(
    rated: RatedPairs, stratification: Stratification
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the parts of a rated file: by count, number of topics, domain and association.

    A pair belongs to a bin of counts, a bin of topics or a domain if both of its words do, as in
    Chiu et al. (BMC Bioinformatics 2018). A table of words takes precedence over the columns of the
    file.

    Returns:
        Row (UInt32, of the file's pairs), part and part_value, such as "count" and "10-99", for
        every part that a pair belongs to; and warnings about pairs that belong to none.
    """
    frames = [pl.DataFrame(schema=_MEMBER_COLUMNS)]
    warnings = []
    for name, first, second in _parts(_properties(rated, stratification.words), stratification):
        members = _members(name, first, second)
        n_values = members["part_value"].n_unique()
        if name == "domain" and n_values > _MAX_DOMAINS:
            raise InputError(
                f"{rated.name} has {n_values:,} domains, but at most {_MAX_DOMAINS} are allowed; "
                "if the column holds something else, rename it"
            )
        frames.append(members)
        if n_none := rated.pairs.height - members.height:
            n_pairs = counted(rated.pairs.height, "pair")
            warnings.append(
                f"{n_none:,} of {n_pairs} left out of parts by {name}: a word has no value, or the "
                "two words belong to different parts"
            )
    return pl.concat(frames), tuple(warnings)


def parts_of(properties: pl.DataFrame, stratification: Stratification) -> pl.DataFrame:
    """Return the parts that pairs belong to: see ``strata_of``.

    Args:
        properties: of each pair, such as count1 and count2 (Float64); for a pair as a whole,
            domain1 or associated1 (String). Rows are in the order of pairs.
        stratification: its table of words is not used.
    """
    parts = _parts(properties, stratification)
    members = (_members(name, first, second) for name, first, second in parts)
    return pl.concat([pl.DataFrame(schema=_MEMBER_COLUMNS), *members])


def equal_part_starts(first: pl.Series, second: pl.Series, n_parts: int) -> list[float]:
    """Return the smallest values of parts with about equally many pairs.

    A pair belongs to a part if the values of both words do. The smallest part has as many pairs as
    possible. There are fewer parts if the values allow no more, and none if no pair has two values
    above 0. Time O(n_parts n_pairs log(n_pairs)^2).
    """
    both = pl.DataFrame({"low": first, "high": second}).drop_nulls()
    low = both.select(pl.min_horizontal("low", "high")).to_series().to_numpy()
    high = both.select(pl.max_horizontal("low", "high")).to_series().to_numpy()
    low, high = low[low > 0], high[low > 0]
    values = np.unique(np.concatenate([low, high]))
    while n_parts and not (starts := _cut(low, high, values, n_parts, 1)):
        n_parts -= 1
    if not n_parts:
        return []
    min_pairs, max_pairs = 1, len(low) // n_parts
    while min_pairs < max_pairs:
        middle = (min_pairs + max_pairs + 1) // 2
        if cut := _cut(low, high, values, n_parts, middle):
            min_pairs, starts = middle, cut
        else:
            max_pairs = middle - 1
    return starts


def _cut(low: Values, high: Values, values: Values, n_parts: int, min_pairs: int) -> list[float]:
    """Return the smallest values of parts of at least ``wanted`` pairs each; none if impossible."""
    starts: list[float] = []
    start = 0.0
    for _ in range(n_parts):
        ends = np.sort(high[low >= start])
        if len(ends) < min_pairs:
            return []
        starts.append(float(values[np.searchsorted(values, start)]))
        after = np.searchsorted(values, ends[min_pairs - 1], side="right")
        start = float(values[after]) if after < len(values) else np.inf
    return starts


def _parts(
    properties: pl.DataFrame, stratification: Stratification
) -> Iterator[tuple[str, pl.Series, pl.Series]]:
    """Yield each property, with the part of every first word and of every second word."""
    for name in PARTS:
        columns = [column for column in (f"{name}1", f"{name}2") if column in properties.columns]
        sides = [properties[column] for column in columns]
        if not sides or (len(sides) == 1 and name not in PAIR_ONLY):
            continue
        first, second = sides[0], sides[-1]
        if first.dtype != pl.String:
            starts = stratification.bin_starts(name, first, second)
            first, second = (_bin_names(values, starts) for values in (first, second))
        yield name, first, second


def _members(name: str, first: pl.Series, second: pl.Series) -> pl.DataFrame:
    """Return the pairs whose words are both in one part."""
    parts = {"part": pl.repeat(name, len(first), eager=True), "part_value": first}
    members = pl.DataFrame(parts).with_row_index("row").filter(first == second)
    return members.cast(_MEMBER_COLUMNS)  # type: ignore[arg-type]  # names and types, as asked for


def _properties(rated: RatedPairs, words: WordTable | None) -> pl.DataFrame:
    """Return the properties of all pairs, such as "count1"; those of whole pairs end in 1."""
    properties = rated.properties.rename(
        {"domain": "domain1", "associated": "associated1"}, strict=False
    )
    if words is None:
        return properties
    frames = [properties]
    for side in "12":
        terms = pl.DataFrame(
            {"word": lowered(rated.pairs[f"term{side}"].to_list())}, {"word": pl.String}
        )
        columns = terms.join(words.frame, on="word", how="left", maintain_order="left").drop("word")
        frames.append(columns.rename({name: f"{name}{side}" for name in columns.columns}))
        frames[0] = frames[0].drop(frames[-1].columns, strict=False)
    return pl.concat(frames, how="horizontal")


def _bin_names(values: pl.Series, starts: Sequence[float]) -> pl.Series:
    """Return the name of the bin of each number; null below the first bin, or without a number."""
    labels = [_label(starts, at) for at in range(len(starts))]
    places = np.searchsorted(starts, values.fill_null(0).to_numpy(), side="right") - 1
    return pl.Series([labels[at] if at >= 0 else None for at in places], dtype=pl.String)


def _label(starts: Sequence[float], at: int) -> str:
    """Return the name of a bin: its first and its last number."""
    if at + 1 == len(starts):
        return f"{_text(starts[at])}+"
    first, following = starts[at], starts[at + 1]
    if not float(first).is_integer() or not float(following).is_integer():
        return f"{_text(first)}-<{_text(following)}"
    return _text(first) if following == first + 1 else f"{_text(first)}-{_text(following - 1)}"


def _text(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else str(number)
