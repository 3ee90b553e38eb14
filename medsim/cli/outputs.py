"""Commands that read what medsim wrote, builds and evaluations alike."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from medsim.core.console import Format, Threads, app, print_table
from medsim.core.formats import TableFormat


@app.command()
def sql(
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT", help="The folder of a build, an evaluation, or of words in context."
        ),
    ],
    statement: Annotated[
        str | None, typer.Argument(help="One select; read from standard input if piped.")
    ] = None,
    threads: Threads = None,
    form: Format = TableFormat.table,
) -> None:
    """Run one read-only SQL statement over what medsim wrote, or list what it can see.

    Writes nothing: the statement sees the views that are listed without one, and no other file.

    Example: medsim sql hpo "select dataset, count(*) from pair group by dataset"
    """
    from medsim.core.opened import Opened, open_output

    opened: Opened[Any] = open_output(out)
    if statement is None and sys.stdin is not None and not sys.stdin.isatty():
        statement = sys.stdin.read().strip()
    if statement:
        print_table(opened.sql(statement, threads=threads), form)
    else:
        print_table(opened.views(), form)


@app.command()
def report(
    output: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="The folder of a build or of an evaluation."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The .html file to write.")],
) -> None:
    """Make a page to look at of a build or an evaluation, with charts and tables.

    Writes one .html file that needs no network, and replaces an earlier report there.

    Example: medsim report results -o report.html
    """
    from medsim.cli.report import write_report

    written = write_report(output, out)
    typer.echo(f"{written}: {written.stat().st_size / 1e6:.1f} MB", err=True)
