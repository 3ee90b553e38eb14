"""Computes the tables of a published paper, and compares them with the printed numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from typing import cast

import polars as pl

from medsim.builds.build import is_output
from medsim.core.config import checked_threads
from medsim.core.errors import OptionError, counted
from medsim.core.options import public
from medsim.core.output import claimed
from medsim.core.progress import progress_of
from medsim.core.table_formats import TABLE_FORMATS
from medsim.core.tables import write_csv
from medsim.pages.markup import write_page
from medsim.pages.page import Page, PageTable, Section, facts, format_value, license_notice, report
from medsim.papers import output
from medsim.papers.options import ReproduceOptions
from medsim.papers.output import Reproduction, laid_out
from medsim.papers.printed import PrintedTable, first_number, printed_papers
from medsim.papers.published import PAPERS, Computed, Facts, files_of


@public(ReproduceOptions)
def reproduce(options: ReproduceOptions) -> Reproduction:
    """Compute the tables of a paper beside the printed numbers, and return them.

    The folder ``out`` gets the build, the study and the evaluation behind the tables, each in a
    folder of its own, and the tables in the folder ``tables``. What an earlier run has finished is
    used again, and the tables are written again.

    Raises:
        InputError: an input is missing, damaged or in an unknown format.
        OptionError: an option is missing or does not fit the paper, or ``out`` was made with other
            inputs.
        OutputError: ``out`` cannot be written.
    """
    progress, threads = progress_of(options.progress), checked_threads(options.threads)
    paper, out = PAPERS.get(options.paper), Path(options.out)
    if is_output(out):
        raise OptionError(f"{out} is another output; name a folder of its own as `out`")
    for at, step in enumerate(printed_papers()[options.paper].steps, 1):
        progress.say(f"step {at}: {step}")
    made = paper.computed(options, out)
    with claimed(out / "tables", output.REPRODUCTION, overwrite=True) as folder:
        cells = cells_of(options.paper, made.tables)
        folder.write(output.CELL.files, cells)
        folder.write_file(output.CELLS_CSV, partial(write_csv, cells))
        folder.write_text(output.LATEX, latex(cells), 0)
        output.ReproductionManifest(
            sources=made.sources,
            inputs=_described(options, made.inputs),
            remarks={**printed_papers()[options.paper].remarks, **made.remarks},
            **folder.run_facts(options.recorded(), progress, threads),
        ).write(folder.folder)
    tables = Reproduction(out / "tables")
    page = partial(reproduction_page, tables)
    write_page(out / "tables.html", tables.folder, page, options.progress, charts=False)
    return tables


def _described(options: ReproduceOptions, inputs: Facts) -> Facts:
    """Return the facts about all inputs, with ``input``, what they are, and their ``options``."""
    kinds = {"answers": [options.answers], "tasks": [options.tasks], "words": [options.words]}
    for kind, paths in {**kinds, "pairs": options.pairs, "people": options.people}.items():
        inputs = inputs | files_of(kind, *paths)
    known = printed_papers()[options.paper].input_options
    return {
        name: {"input": kind, "options": known.get(kind, {}), **about}
        for name, about in inputs.items()
        for kind in [str(about.get("kind", "embedding"))]
    }


_SIGNED_NUMBER = re.compile(r"^\u2212(?=[\d.,]+$)")
"""A minus sign that becomes a hyphen; with it, other cells would be formulas in spreadsheets."""


def cells_of(paper: str, computed: Mapping[str, Computed]) -> pl.DataFrame:
    """Return the cells of a paper's tables, the rows of ``CELL``."""
    tables = {table.name: table for table in printed_papers()[paper].tables}
    rows = [row for name in tables for row in _rows(name, tables, computed)]
    columns = [name for name in output.CELL.dtypes if name != "difference"]
    cells = pl.DataFrame(rows, dict.fromkeys(columns, pl.String), orient="row")
    ours, theirs = (pl.col(of).map_elements(first_number, pl.Float64) for of in columns[5:7])
    difference = pl.when(pl.col("other").is_null()).then((ours - theirs).round(6))  # no float noise
    return cells.with_columns(difference=difference).select(*output.CELL.dtypes)


def _rows(
    name: str, tables: Mapping[str, PrintedTable], computed: Mapping[str, Computed]
) -> Iterator[tuple[str | None, ...]]:
    """Yield a row for each cell that is printed or computed: those of ``CELL`` less difference."""
    table, own = tables[name], computed.get(name, Computed()).cells
    printed, about = table.printed, (name, table.section, f"{table.caption} {table.note}".rstrip())
    rows = dict.fromkeys([*table.rows, *(row for row, _ in own)])
    columns = dict.fromkeys([*table.columns, *(column for _, column in own)])
    for row, column in product(rows, columns):
        of, *place = table.same.get(row, (name, row, column))
        at, source = (place[0], place[1] or column), computed.get(of, Computed())
        theirs = printed.get((row, column))
        if ours := source.cells.get(at):
            ours, other = _SIGNED_NUMBER.sub("-", ours), source.other or None
            yield *about, row, column, ours, theirs, other, None
        elif theirs is not None:
            why = _why(tables[of], source, *at) or table.missing[""]
            yield *about, row, column, None, theirs, None, why


def _why(table: PrintedTable, computed: Computed, row: str, column: str) -> str:
    """Return why a cell is missing; empty if that does not depend on what was given."""
    known, why = table.missing.get(row) or table.missing.get(column), computed.missing
    return known or (why if isinstance(why, str) else why(row, column)) or table.missing.get("", "")


def latex(cells: pl.DataFrame) -> str:
    """Return all tables in LaTeX, each after a comment with its number and caption."""
    parts = []
    for (name, caption), rows in cells.group_by("table", "caption", maintain_order=True):
        parts += [f"% {name}: {caption}", TABLE_FORMATS["latex"].render(laid_out(rows)), ""]
    return "\n".join(parts)


_PROSE = (
    "A cell has the computed value, then in brackets the printed one and the difference of their "
    "first numbers. A dash stands for a value that was not computed. Counts such as +5/-2 say how "
    "many others are significantly worse and better. A row with a name of the paper stands beside "
    "its numbers, whichever model was given under that name. Cells that are computed on another "
    "terminology, release, benchmark or split than the paper's are not compared."
)


def reproduction_page(reproduction: Reproduction) -> Page:
    """Return the page of a reproduction, a section for each table of the paper."""
    manifest, cells = reproduction.manifest, reproduction.cells()
    paper = str(manifest.options["paper"])
    numbers = [cells["computed"].count(), cells["difference"].count()]
    result = (
        f"Of {counted(cells.height, 'cell')}, {numbers[0]:,} were computed, and {numbers[1]:,} of "
        "these are compared with a printed number."
    )
    tables = cells.group_by("table", maintain_order=True)
    return report(
        manifest,
        "reproduction",
        title=f"The tables of {printed_papers()[paper].title}",
        lead="Computed again, beside the printed numbers.",
        sections=[
            Section(title="Result", result=[result], parts=[_PROSE]),
            _inputs(manifest),
            *(_section(str(name), rows) for (name,), rows in tables),
        ],
        notice=license_notice(manifest.sources),
        commands="medsim sql OUT/tables \"from cell where table = '5'\"",
        paper=PAPERS.get(paper).citation,
    )


_VERSION: tuple[str, ...] = ("vocabulary", "release_date", "layout", "range", "format", "way")
_VERSION += ("n_vocabulary", "n_dimensions", "n_documents")


def _inputs(manifest: output.ReproductionManifest) -> Section:
    """Return the section of the inputs and of what differs from the paper."""
    rows: list[list[str]] = []
    for name, input_ in manifest.inputs.items():
        known = {**input_, **cast("Mapping[str, object]", input_.get("source") or {})}
        path = Path(str(known.get("path") or known.get("file") or ""))
        digest = str(known.get("fingerprint") or known.get("sha256") or "")
        version = format_value({key: known.get(key) for key in _VERSION})
        options, of = format_value(input_["options"]), str(input_["input"])
        rows.append([name, of, "/".join(path.parts[-2:]), version, options, digest[:12]])
    columns = ["name", "input", "file", "version", "options", "SHA-256"]
    return Section(
        title="Inputs and differences from the paper",
        parts=[
            PageTable(caption="Inputs", frame=pl.DataFrame(rows, columns, orient="row")),
            facts("Differences", manifest.remarks.items()),
        ],
    )


def _section(name: str, cells: pl.DataFrame) -> Section:
    """Return the section of a table, with the reasons why cells are missing."""
    missing = cells.drop_nulls("missing")
    reasons = [f"The computed cells are of {of}." for of in cells["other"].drop_nulls().unique()]
    reasons += [
        f"{counted(n, 'cell')} not computed: {reason}."
        for reason, n in missing.group_by("missing", maintain_order=True).len().iter_rows()
    ]
    is_table = not name.startswith(("text", "figure"))
    frame = laid_out(cells).rename({"row": " "})
    return Section(
        title=f"Table {name}" if is_table else name[0].upper() + name[1:],
        prose=" ".join([f"{cells['caption'][0]} Section {cells['section'][0]}.", *reasons]),
        parts=[PageTable(caption="computed [printed; difference]", frame=frame)],
    )
