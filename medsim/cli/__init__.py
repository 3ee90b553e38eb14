"""The command line: each command parses, calls one function, prints."""

from __future__ import annotations

from typing import Annotated

import typer

from medsim.builds import commands as datasets
from medsim.cli import commands as outputs
from medsim.core.console import Program, app, read_option_file
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

_FIRST_STEPS = """\
medsim builds datasets of term pairs from medical terminologies, and shows how
well embeddings tell terms that mean the same from terms that look alike.

First steps:
  medsim build hpo -o hpo                      build the datasets of an ontology
  medsim sql hpo "select * from pair limit 9"  look at some pairs
  medsim eval hpo -e NAME=PATH -o results      score an embedding on them, such
                                               as glove=glove.6B.300d.txt
  medsim report results -o report.html         see the results as a page

medsim build --list shows what can be built, medsim --help all commands, and
medsim COMMAND --help the options of one, with an example."""


class _Medsim(Program):
    """The commands by what one wants, each panel in the order in which one needs them."""

    panels = {  # noqa: RUF012 — as declared
        "Datasets": (
            "build",
            "stats",
            "sql",
            "report",
            "split",
            "export",
            "verify",
            "merge",
            "warm",
        ),
        "Models": ("eval", "compare", "correlate", "tag"),
        "People": ("study",),
        "Words in context": ("wic",),
        "Releases": ("synth", "convert"),
    }


def _print_version(wanted: bool) -> None:
    if wanted:
        from medsim.core.manifest import medsim_version

        typer.echo(f"medsim {medsim_version()}")
        raise typer.Exit


@app.callback(cls=_Medsim, invoke_without_command=True)
def _root(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Build datasets of term pairs from medical terminologies, and score embeddings on them.

    Options may stand in medsim.toml or in pyproject.toml as well, in a table for each command: the
    line threads = 2 below [build], or below [tool.medsim.build].
    """
    if context.invoked_subcommand is None:
        typer.echo(_FIRST_STEPS)
        return
    file = read_option_file(context.command)
    context.obj, context.default_map = file, dict(file.values)
