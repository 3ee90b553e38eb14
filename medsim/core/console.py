"""The application that commands belong to, the options that they share, and how they print."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from medsim.core import interrupts
from medsim.core.errors import MedsimError, OutputError
from medsim.core.formats import TableFormat

if TYPE_CHECKING:
    import polars as pl


class _Commands(TyperGroup):
    """Commands whose known failures end in one line and their exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except MedsimError as error:
            if interrupts.came():
                raise
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(error.exit_code) from error


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Term-similarity datasets from medical terminologies.",
)

Format = Annotated[TableFormat, typer.Option("--format", help="How to print the table.")]
Threads = Annotated[
    int | None, typer.Option(help="Threads to use; all by default. Never changes the result.")
]
SourceLocation = Annotated[
    str,
    typer.Argument(
        help="A release of RF2 or UMLS or MeSH's XML, as zip or folder; an .obo or .xml file; or a "
        "built-in name such as hpo."
    ),
]
VectorCache = Annotated[
    Path | None,
    typer.Option(
        "--cache", help="Folder that keeps what encoders made; ~/.cache/medsim/vectors by default."
    ),
]
BuildFolder = Annotated[Path, typer.Argument(metavar="OUT", help="The folder of a build.")]


def print_table(frame: pl.DataFrame, form: TableFormat) -> None:
    """Print a table to standard output."""
    from medsim.core.printing import rendered

    text = rendered(frame, form)
    if sys.stdout is None:
        raise OutputError("cannot write the table: standard output is closed")
    try:
        typer.echo(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write the table: {error.strerror}") from error
