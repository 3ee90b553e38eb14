"""The page of a reproduction: the tables of the paper, with the printed numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.core.errors import counted
from medsim.pages.page import PAPER as SCHULZ
from medsim.pages.page import Page, PageTable, Section, license_notice, report
from medsim.papers.output import laid_out
from medsim.tagging.page import CHIU_2018
from medsim.wic.page import ROUHIZADEH_2024

if TYPE_CHECKING:
    import polars as pl

    from medsim.papers.output import Reproduction

TITLES = {
    "schulz-2020": ("Schulz and Juric (AAAI 2020)", SCHULZ),
    "chiu-2018": ("Chiu et al. (BMC Bioinformatics 2018)", CHIU_2018),
    "rouhizadeh-2024": ("Rouhizadeh et al. (Scientific Data 2024)", ROUHIZADEH_2024),
}
"""The papers by name, and how to cite them."""

_PROSE = (
    "A cell has the computed value, then in brackets the printed one and the difference of their "
    "first numbers. A dash stands for a value that was not computed. Counts such as +5/-2 say how "
    "many others are significantly worse and better."
)


def reproduction_page(reproduction: Reproduction) -> Page:
    """Return the page of a reproduction, a section for each table of the paper."""
    manifest, cells = reproduction.manifest, reproduction.cells()
    title, cited = TITLES[str(manifest.options["paper"])]
    numbers = [cells["computed"].count(), cells["difference"].count()]
    result = (
        f"Of {counted(cells.height, 'cell')}, {numbers[0]:,} were computed, and {numbers[1]:,} of "
        "these are printed as numbers."
    )
    tables = cells.group_by("table", maintain_order=True)
    return report(
        Page(
            title=f"The tables of {title}",
            lead="Computed again, beside the printed numbers.",
            sections=[
                Section(title="Result", result=[result], parts=[_PROSE]),
                *(_section(str(name), rows) for (name,), rows in tables),
            ],
            notice=license_notice(manifest.sources),
        ),
        manifest,
        "reproduction",
        commands="medsim sql OUT/tables \"from cell where table = '5'\"",
        paper=cited,
    )


def _section(name: str, cells: pl.DataFrame) -> Section:
    """Return the section of a table, with the reasons why cells are missing."""
    missing = cells.drop_nulls("missing")
    reasons = [
        f"{counted(n, 'cell')} not computed: {reason}."
        for reason, n in missing.group_by("missing", maintain_order=True).len().iter_rows()
    ]
    heading = (
        f"{name[0].upper()}{name[1:]}" if name.startswith(("text", "figure")) else f"Table {name}"
    )
    frame = laid_out(cells).rename({"row": " "})
    return Section(
        title=heading,
        prose=" ".join([f"{cells['caption'][0]} Section {cells['section'][0]}.", *reasons]),
        parts=[PageTable(caption="computed [printed; difference]", frame=frame)],
    )
