"""Parts of pairs of words, by counts in a corpus, topics, domains and association."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from medsim.core.errors import InputError
from medsim.core.tables import is_missing, number_in
from medsim.kernels.types import Values

PROPERTIES = ("count", "topics", "domain", "associated")
"""The properties by which a set of pairs is divided."""

PAIR_ONLY = ("domain", "associated")
"""The properties that a file may have for a pair as a whole."""

PAIR_PROPERTIES = ("count1", "count2", "topics1", "topics2", "domain", "associated")
"""The columns of a file of rated pairs with properties of a pair, or of its words."""

WORD_PROPERTIES = ("count", "topics", "domain")
"""The columns of a table of words with properties of a word."""

_YES_NO = {"yes": "yes", "true": "yes", "1": "yes", "no": "no", "false": "no", "0": "no"}


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


_POWERS_OF_TEN = tuple(10**power for power in range(16))
"""The counts at which bins begin by default: 1-9, 10-99, 100-999 and so on."""

_TOPIC_BINS = (1, 2, 5)
"""The numbers of topics at which bins begin: 1, 2-4, 5+."""

MEMBERS = {"row": pl.UInt32, "part": pl.String, "part_value": pl.String}
"""The columns of the pairs of parts: the row of the pair, the property and its value."""


@dataclass(frozen=True, slots=True)
class Stratification:
    """The properties by which sets of rated pairs are divided into parts.

    Attributes:
        bins: the counts at which bins of frequency begin, ascending; powers of ten if empty.
        topic_bins: the numbers of topics at which bins of topics begin; 1, 2 and 5 if empty.
        equal_parts: the number of parts of about equally many pairs to make instead of bins; None
            makes bins.
    """

    bins: Sequence[int] = ()
    topic_bins: Sequence[int] = ()
    equal_parts: int | None = None

    def provenance(self) -> dict[str, object]:
        """Return the bins as plain JSON values."""
        optional = {"topic_bins": list(self.topic_bins), "equal_parts": self.equal_parts}
        return {
            "bins": list(self.bins) or None,
            **{name: value for name, value in optional.items() if value},
        }

    def bin_starts(self, name: str, first: pl.Series, second: pl.Series) -> Sequence[float]:
        """Return the numbers at which a property's bins begin, given its values for all pairs."""
        if self.equal_parts is not None:
            return equal_part_starts(first, second, self.equal_parts)
        return (self.topic_bins or _TOPIC_BINS) if name == "topics" else self.bins or _POWERS_OF_TEN


def parts_of(properties: pl.DataFrame, stratification: Stratification) -> dict[str, pl.DataFrame]:
    """Return the parts that pairs belong to by each property that divides them.

    A pair belongs to a bin of counts, a bin of topics or a domain if both of its words do, as in
    Chiu et al. (BMC Bioinformatics 2018).

    Args:
        properties: of each pair, such as count1 and count2 (Float64); for a pair as a whole,
            domain1 or associated1 (String). Rows are in the order of pairs.
        stratification: the bins.

    Returns:
        By property, ``MEMBERS`` with a row per pair that belongs to a part, such as row 3, "count"
        and "10-99".
    """
    parts = {}
    for name in PROPERTIES:
        columns = [column for column in (f"{name}1", f"{name}2") if column in properties.columns]
        sides = [properties[column] for column in columns]
        if not sides or (len(sides) == 1 and name not in PAIR_ONLY):
            continue
        first, second = sides[0], sides[-1]
        if first.dtype != pl.String:
            starts = stratification.bin_starts(name, first, second)
            first, second = (_bin_names(values, starts) for values in (first, second))
        part = pl.DataFrame({"part": pl.repeat(name, len(first), eager=True), "part_value": first})
        members = part.with_row_index("row").filter(first == second)
        parts[name] = members.cast(MEMBERS)  # type: ignore[arg-type]  # names and types
    return parts


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
    """Return the starts of parts of at least ``min_pairs`` pairs each; none if impossible."""
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
