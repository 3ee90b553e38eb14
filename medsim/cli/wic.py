"""Commands of words in context."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from medsim.cli.application import Format, app, print_table
from medsim.report.formats import TableFormat

wic = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Terms in sentences: benchmarks that ask whether two have the same meaning.",
)
app.add_typer(wic, name="wic")


@wic.command()
def verify(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA", help="A folder with train.json, dev.json, test.json, or one such file."
        ),
    ],
    split: Annotated[
        str | None, typer.Option(help="What one file is, test, dev or train; else its name says.")
    ] = None,
    train: Annotated[Path | None, typer.Option(help="A file that belongs to DATA.")] = None,
    dev: Annotated[Path | None, typer.Option(help="A file that belongs to DATA.")] = None,
    test: Annotated[Path | None, typer.Option(help="A file that belongs to DATA.")] = None,
    terminology: Annotated[
        str | None,
        typer.Option(
            help="Whose names decide what synonyms are: a file, folder or built-in name. A folder "
            "of medsim wic build has its own."
        ),
    ] = None,
    list_all: Annotated[
        bool, typer.Option("--list", help="Print every violation instead of their numbers.")
    ] = False,
    form: Format = TableFormat.table,
) -> None:
    """Check every rule of words in context on a benchmark, whoever made it, and print what holds.

    Writes nothing. Exit code 3 says that a rule does not hold.

    Example: medsim wic verify biowic/dev.json --test biowic/test.json --list --format csv
    """
    from medsim.errors import BrokenPromiseError
    from medsim.progress import Progress
    from medsim.workflow.wic.verify import verify as run

    found = run(
        data,
        split=split,
        train=train,
        dev=dev,
        test=test,
        terminology=terminology,
        progress=Progress.to_stderr(),
    )
    print_table(found.breaches if list_all else found.findings, form)
    if not found.holds:
        raise BrokenPromiseError(f"{data}: {', '.join(found.broken)} do not hold")
