"""Computes the tables of a published paper, and compares them with the printed numbers."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.build import is_output
from medsim.core import manifest
from medsim.core.config import checked_threads
from medsim.core.errors import OptionError
from medsim.core.options import public
from medsim.core.output import claimed
from medsim.core.progress import progress_of
from medsim.core.table_formats import TABLE_FORMATS
from medsim.core.tables import write_csv
from medsim.pages.writing import write_page
from medsim.papers import chiu, rouhizadeh, schulz
from medsim.papers.options import ReproduceOptions
from medsim.papers.output import (
    CELL,
    CSV,
    LATEX,
    REPRODUCTION,
    Reproduction,
    ReproductionManifest,
    laid_out,
)
from medsim.papers.page import reproduction_page
from medsim.papers.printed import Computed, joined, printed_tables

if TYPE_CHECKING:
    from collections.abc import Mapping

_PAPERS = {"schulz-2020": schulz, "chiu-2018": chiu, "rouhizadeh-2024": rouhizadeh}
_SHOWN = "text "  # tables of numbers in the running text begin so


@public(ReproduceOptions)
def reproduce(options: ReproduceOptions) -> Reproduction:
    """Compute the tables of a paper beside the printed numbers, and return them.

    The folder ``out`` gets the build, the study and the evaluation behind the tables, each in a
    folder of its own, and the tables in the folder ``tables``. What an earlier run has finished is
    used again, and the tables are written again.

    Raises:
        InputError: an input is missing, damaged or in an unknown format.
        OptionError: an option is missing or does not fit the paper, or ``out`` has the build of
            another release.
        OutputError: ``out`` cannot be written.
    """
    progress, threads = progress_of(options.progress), checked_threads(options.threads)
    paper, out = _PAPERS[options.paper], Path(options.out)
    if is_output(out):
        raise OptionError(f"{out} is another output; name a folder of its own as `out`")
    for at, step in enumerate(paper.steps(options), 1):
        progress.say(f"step {at}: {step}")
    computed, sources = paper.computed(options, out)
    with claimed(out / "tables", REPRODUCTION, overwrite=True) as output:
        cells = cells_of(options.paper, computed)
        key = {"medsim": manifest.medsim_version()}
        output.write(CELL.files, cells, key)
        output.write_file(CSV, partial(write_csv, cells))
        output.write_text(LATEX, latex(cells), 0)
        ReproductionManifest(
            sources=sources,
            options=options.recorded(),
            **manifest.run_facts(progress, output.outputs, threads),
        ).write(output.folder)
        output.publish()
    made = Reproduction(out / "tables")
    page = partial(reproduction_page, made)
    write_page(out / "tables.html", made.folder, page, options.progress, charts=False)
    return made


def cells_of(paper: str, computed: Mapping[str, Computed]) -> pl.DataFrame:
    """Return the cells of a paper's tables, the rows of ``CELL``.

    Numbers of the running text are left out if they were not computed.
    """
    rows = [
        row
        for table in printed_tables(paper)
        if table.name in computed or not table.name.startswith(_SHOWN)
        for row in joined(table, computed.get(table.name, Computed(missing=_NOT_COMPUTED)))
    ]
    return pl.DataFrame(rows, CELL.dtypes)


_NOT_COMPUTED = "this command does not compute the table"


def latex(cells: pl.DataFrame) -> str:
    """Return all tables in LaTeX, each after a comment with its number and caption."""
    parts = []
    for (name, caption), rows in cells.group_by("table", "caption", maintain_order=True):
        parts += [f"% {name}: {caption}", TABLE_FORMATS["latex"].render(laid_out(rows)), ""]
    return "\n".join(parts)
