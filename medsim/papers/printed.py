"""The numbers that papers print."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from operator import attrgetter
from typing import Any

_NUMBER = re.compile(r"[-\u2212]?\d[\d,']*(?:\.\d+)?(?=$|[ %/])")

Cells = dict[tuple[str, str], str]
"""Texts by the labels of their row and column."""


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
        blank: what an empty cell of the paper means; empty if the paper prints nothing there.
        same: by row, the table, row and column of the same number in another table; an empty
            column is the same one.
        missing: why cells are missing, by row or column; that of "" is for all others.
    """

    name: str
    section: str
    caption: str
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Sequence[Sequence[str | None]]
    note: str = ""
    blank: str = ""
    same: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)

    @property
    def printed(self) -> Cells:
        """The cells that are not empty, by their labels."""
        return {
            (row, column): text or self.blank
            for row, texts in zip(self.rows, self.cells, strict=True)
            for column, text in zip(self.columns, texts, strict=True)
            if text or self.blank
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedPaper:
    """A paper as it is printed, and what its reproduction needs.

    Attributes:
        title: its authors, journal and year, for the heading of the page.
        about: what it is about, for the list of papers: a phrase with a full stop.
        inputs: the inputs that are needed, for help.
        options: the options of ``medsim reproduce`` that only this paper has.
        steps: what will be done, a line each.
        needs_embeddings: whether embeddings are needed; else models may have other options.
        input_options: how its inputs are used, by their kinds.
        counted: the cells that count distinct rows of inputs, by kind of input: by the table, row
            and perhaps column of a cell, the file, its columns, and the values that the rows have.
        labels: the labels that the paper prints for names of medsim, by what they name.
        remarks: what the printed numbers are from and what medsim does otherwise, by subject.
        tables: in the order in which they are printed.
    """

    title: str
    about: str
    inputs: str
    options: Sequence[str] = ()
    steps: Sequence[str]
    needs_embeddings: bool = True
    input_options: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    counted: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    remarks: Mapping[str, str] = field(default_factory=dict)
    tables: Sequence[PrintedTable]

    @property
    def authors(self) -> str:
        """The authors, without the journal and the year."""
        return self.title.rpartition(" (")[0]


@cache
def printed_papers() -> dict[str, PrintedPaper]:
    """Return the papers by name, sorted by name, from ``printed/NAME.json``."""
    papers = {}
    for path in sorted((files("medsim.papers") / "printed").iterdir(), key=attrgetter("name")):
        content = json.loads(path.read_text("utf-8"))
        tables = [PrintedTable(**table) for table in content.pop("tables")]
        papers[path.name.removesuffix(".json")] = PrintedPaper(**content, tables=tables)
    return papers


def first_number(text: str | None) -> float | None:
    """Return the number that a text begins with; None if it begins with none."""
    found = _NUMBER.match(text or "")
    return float(re.sub("[,']", "", found[0]).replace("\u2212", "-")) if found else None
