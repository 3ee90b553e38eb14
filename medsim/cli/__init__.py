"""The command line: each command parses, calls one function, prints."""

from __future__ import annotations

from typing import Annotated

import typer

from medsim.builds import commands as datasets
from medsim.cli import commands as outputs
from medsim.core.console import app
from medsim.evaluations import commands as evaluation
from medsim.exports import commands as exports
from medsim.splits import commands as splits
from medsim.studies import commands as studies
from medsim.tagging import commands as tagging
from medsim.terminologies import commands as releases
from medsim.wic import commands as wic

__all__ = [
    "app",
    "datasets",
    "evaluation",
    "exports",
    "outputs",
    "releases",
    "splits",
    "studies",
    "tagging",
    "wic",
]


def _print_version(wanted: bool) -> None:
    if wanted:
        from medsim.core.manifest import medsim_version

        typer.echo(f"medsim {medsim_version()}")
        raise typer.Exit


@app.callback()
def _root(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Term-similarity datasets from medical terminologies."""
