"""The numbers that papers print, and computed ones beside them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_NUMBER = re.compile(r"[-\u2212]?\d[\d,']*(?:\.\d+)?(?=$|[ %/])")

Cells = dict[tuple[str, str], str]
"""Texts by the labels of their row and column."""


Facts = dict[str, dict[str, object]]
"""Facts about terminologies by their name, as in manifests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedTable:
    """A table of a paper as it is printed.

    Attributes:
        name: its number, such as "C.1", or "figure 3".
        section: the section of the paper.
        caption: what it shows.
        rows: the labels of its rows, in order.
        columns: the labels of its columns, in order.
        cells: the text of each cell, null where it is empty.
        note: what a reader should know about the printed numbers.
    """

    name: str
    section: str
    caption: str
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Sequence[Sequence[str | None]]
    note: str = ""

    @property
    def printed(self) -> Cells:
        """The cells that are not empty, by their labels."""
        return {
            (row, column): text
            for row, texts in zip(self.rows, self.cells, strict=True)
            for column, text in zip(self.columns, texts, strict=True)
            if text is not None
        }


@dataclass(frozen=True, slots=True)
class Computed:
    """The cells of a table that were computed.

    Attributes:
        cells: their texts, with the labels of the paper where it has them.
        missing: why the whole table or some of its rows and columns are missing.
    """

    cells: Cells = field(default_factory=dict)
    missing: str = ""


def printed_tables(paper: str) -> list[PrintedTable]:
    """Return the tables of a paper in the order in which they are printed."""
    path = files("medsim.papers") / "printed" / f"{paper}.json"
    return [PrintedTable(**table) for table in json.loads(path.read_text("utf-8"))["tables"]]


def number_in(text: str | None) -> float | None:
    """Return the number that a text begins with; None if it begins with none."""
    found = _NUMBER.match(text or "")
    return float(re.sub("[,']", "", found[0]).replace("\u2212", "-")) if found else None


def joined(table: PrintedTable, computed: Computed) -> Iterator[Mapping[str, object]]:
    """Yield a row for each cell that is printed or computed, the rows of ``CELL``."""
    printed = table.printed
    rows = dict.fromkeys([*table.rows, *(row for row, _ in computed.cells)])
    columns = dict.fromkeys([*table.columns, *(column for _, column in computed.cells)])
    for row in rows:
        for column in columns:
            ours, theirs = computed.cells.get((row, column)), printed.get((row, column))
            number, reference = number_in(ours), number_in(theirs)
            if ours is None and theirs is None:
                continue
            yield {
                "table": table.name,
                "section": table.section,
                "caption": f"{table.caption} {table.note}".rstrip(),
                "row": row,
                "column": column,
                "computed": ours,
                "printed": theirs,
                "difference": None if number is None or reference is None else number - reference,
                "missing": None if ours is not None else computed.missing,
            }
