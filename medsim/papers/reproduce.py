"""Computes the tables of a published paper, and compares them with the printed numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import cast

import polars as pl

from medsim.builds.build import is_output
from medsim.core import manifest
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
from medsim.papers.published import NOT_COMPUTED, PAPERS, Computed


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
            inputs=made.inputs,
            remarks={**printed_papers()[options.paper].remarks, **made.remarks},
            options=options.recorded(),
            **manifest.run_facts(progress, folder.outputs, threads),
        ).write(folder.folder)
        folder.publish()
    tables = Reproduction(out / "tables")
    page = partial(reproduction_page, tables)
    write_page(out / "tables.html", tables.folder, page, options.progress, charts=False)
    return tables


def cells_of(paper: str, computed: Mapping[str, Computed]) -> pl.DataFrame:
    """Return the cells of a paper's tables, the rows of ``CELL``."""
    rows: list[Mapping[str, object]] = []
    for table in printed_papers()[paper].tables:
        rows += _rows(table, computed.get(table.name) or _same(table, computed))
    return pl.DataFrame(rows, output.CELL.dtypes)


def _same(table: PrintedTable, computed: Mapping[str, Computed]) -> Computed:
    """Return the computed cells of other tables that a table of the text repeats."""
    cells, missing, other = {}, {}, ""
    for row, (name, *place) in table.same.items():
        source = computed[name]
        missing[row] = source.why(place[0], place[1])
        if text := source.cells.get((place[0], place[1])):
            cells[row, "Value"], other = text, source.other
    return Computed(cells, lambda row, _: missing.get(row, NOT_COMPUTED), other)


def _rows(table: PrintedTable, computed: Computed) -> Iterator[Mapping[str, object]]:
    """Yield a row for each cell that is printed or computed, the rows of ``CELL``."""
    printed = table.printed
    rows = dict.fromkeys([*table.rows, *(row for row, _ in computed.cells)])
    columns = dict.fromkeys([*table.columns, *(column for _, column in computed.cells)])
    for row in rows:
        for column in columns:
            ours, theirs = computed.cells.get((row, column)), printed.get((row, column))
            ours = None if ours is None else ours.replace("\u2212", "-")  # as printed
            number, reference = first_number(ours), first_number(theirs)
            if ours is None and theirs is None:
                continue
            difference = None
            if not (computed.other or number is None or reference is None):
                difference = round(number - reference, 6)  # no cell has more decimals
            yield {
                "table": table.name,
                "section": table.section,
                "caption": f"{table.caption} {table.note}".rstrip(),
                "row": row,
                "column": column,
                "computed": ours,
                "printed": theirs,
                "difference": difference,
                "other": None if ours is None else computed.other or None,
                "missing": None if ours is not None else computed.why(row, column),
            }


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
    "terminology, release or split than the paper's are not compared."
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
        Page(
            title=f"The tables of {printed_papers()[paper].title}",
            lead="Computed again, beside the printed numbers.",
            sections=[
                Section(title="Result", result=[result], parts=[_PROSE]),
                _inputs(manifest),
                *(_section(str(name), rows) for (name,), rows in tables),
            ],
            notice=license_notice(manifest.sources),
        ),
        manifest,
        "reproduction",
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
        options = format_value(input_.get("options"))
        rows.append([name, "/".join(path.parts[-2:]), version, options, digest[:12]])
    columns = ["input", "file", "version", "options", "SHA-256"]
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
