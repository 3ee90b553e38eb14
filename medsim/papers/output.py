"""The output of ``medsim reproduce``: its kind, its table and its manifest."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from medsim.core.kinds import Kind, declared_tables
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.core.shown import MISSING, Summary
from medsim.papers.printed import first_number

CELL = declared_tables(__package__)["cell"]
"""The cells of a paper's tables."""

CELLS_CSV, LATEX = "cells.csv", "tables.tex"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReproductionManifest(RunManifest):
    """The manifest of a reproduction.

    Attributes:
        sources: the facts about the terminologies behind it, by name.
        inputs: the facts about the builds, files, corpora and models behind it, by name, with
            their fingerprints, ``options`` and ``input``: what it is, or what a model is given.
        remarks: what the inputs are and what differs from the paper, by subject.
    """

    kind: ClassVar[str] = "reproduction"
    sources: dict[str, dict[str, object]]
    inputs: dict[str, dict[str, object]]
    remarks: dict[str, str]


REPRODUCTION = Kind(
    noun="reproduction",
    command="medsim reproduce",
    manifest=ReproductionManifest,
    views={"cell": CELL},
)


class Reproduction(Opened[ReproductionManifest]):
    """The tables of a paper; they are read when needed."""

    kind = REPRODUCTION

    def _summary(self) -> Summary:
        facts = [str(self.manifest.options["paper"])]
        return Summary(facts, [".cells()", ".table(name)"], self.counts)

    def cells(self) -> pl.DataFrame:
        """Return all cells, the rows of ``CELL``."""
        return self.read(CELL.files)

    def table(self, name: str) -> pl.DataFrame:
        """Return a table in the layout of the paper, see ``laid_out``."""
        return laid_out(self.cells().filter(table=name))

    def counts(self) -> pl.DataFrame:
        """Return the number of cells of each table.

        Returns:
            Rows in the paper's order: table, cells, computed, and compared (computed and printed as
            a number).
        """
        return (
            self.cells()
            .group_by("table", maintain_order=True)
            .agg(
                pl.len().cast(pl.Int64).alias("cells"),
                pl.col("computed").count().cast(pl.Int64),
                pl.col("difference").count().cast(pl.Int64).alias("compared"),
            )
        )


def laid_out(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the cells of one table in the layout of the paper.

    Returns:
        A row per row of the paper, with its label in the first column, and a column per column of
        the paper. A cell has the computed value, then in brackets the printed one and the
        difference.
    """
    both = pl.struct("computed", "printed", "difference")
    cell = both.map_elements(lambda values: _cell(**values), pl.String)
    shown = cells.select("row", "column", cell=cell)
    return shown.pivot("column", index="row", values="cell", maintain_order=True)


def _cell(computed: str | None, printed: str | None, difference: float | None) -> str:
    """Return a computed cell with the printed one and the difference in brackets."""
    if printed is None:
        return str(computed)
    decimals = len(re.split("[ %/]", printed)[0].partition(".")[2])
    if decimals == 1 and abs(first_number(printed) or 0) <= 1:  # the paper drops zeros: 0.6 is 0.60
        decimals = 2
    shown = "" if difference is None else f"{round(difference, decimals) + 0.0:+.{decimals}f}"
    inner = f"{printed}; {shown}" if shown else printed
    return f"{computed or MISSING} [{inner}]"
