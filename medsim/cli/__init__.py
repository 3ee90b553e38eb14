"""The command line: each command parses, calls one function, prints."""

from __future__ import annotations

from typing import Annotated

import typer

from medsim.cli import (
    correlation,
    datasets,
    evaluation,
    outputs,
    releases,
    studies,
    wic,
    word_pairs,
)
from medsim.cli.application import app

__all__ = [
    "app",
    "correlation",
    "datasets",
    "evaluation",
    "outputs",
    "releases",
    "studies",
    "wic",
    "word_pairs",
]


def _print_version(wanted: bool) -> None:
    if wanted:
        from medsim.manifest import medsim_version

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
