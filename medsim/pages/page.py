"""The parts of a report: sections with charts, tables and text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

NUMBER = ",.3f"
"""The format of a number that is not whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTable:
    """A table that can be sorted by each of its columns.

    Attributes:
        frame: its rows; column names are the headings, a missing value is an empty cell.
        formats: the formats of columns of numbers, where they are not ``NUMBER``.
        headed: whether it has headings, to sort by; else its first column names the rows.
    """

    caption: str
    frame: pl.DataFrame
    formats: Mapping[str, str] = field(default_factory=dict)
    headed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart with its numbers.

    Attributes:
        says: how it is to be read and how it was computed.
        spec: its specification in Vega-Lite, without data; it draws the data set named "rows".
        rows: the data that it draws.
        narrow: whether it is drawn no wider than it is high.
        least: the least width, in pixels, at which its texts have room; where the page is narrower,
            it scrolls within its own box.
    """

    title: str
    says: str
    spec: Mapping[str, object]
    rows: pl.DataFrame
    table: PageTable
    narrow: bool = False
    least: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """Tables that are shown when their summary is clicked."""

    summary: str
    tables: Sequence[PageTable]
    opened: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Commands that a reader may run."""

    text: str


Part: TypeAlias = Chart | PageTable | Folded | Code | str
"""A part of a section; a text is a paragraph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of a page under its own heading."""

    title: str
    prose: str
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A report.

    Attributes:
        lead: the outputs that it reports on.
        notice: a warning before the page is passed on; None where there is none.
        signature: the version, rows and options behind its numbers, a line under every chart.
    """

    title: str
    lead: str
    notice: str | None
    signature: str
    sections: Sequence[Section]


def distinct(values: pl.Series) -> list[str]:
    """Return the different texts in order of their first row."""
    return list(values.unique(maintain_order=True))
