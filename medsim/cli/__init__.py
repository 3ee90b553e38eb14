"""The command line: each command parses, calls one function, prints."""

from __future__ import annotations

from collections import UserDict
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.main import get_group

from medsim.core.console import Program, app, read_option_file
from medsim.core.data import toml_of

__all__ = ["app"]

_FIRST_STEPS = """\
medsim builds datasets of term pairs from medical terminologies, and measures
how well embeddings separate synonyms from terms that only look alike.

First steps:
  medsim build hpo -o hpo                      build the datasets of an ontology
  medsim sql hpo "select * from pair limit 9"  look at some pairs
  medsim eval hpo -e NAME=PATH -o results      score an embedding on them, such
                                               as glove=glove.6B.300d.txt
  medsim report results -o report.html         see the results as a page

medsim build --list shows what can be built, medsim --help all commands, and
medsim COMMAND --help the options of one, with an example."""


class _Commands(UserDict[str, Any]):
    """The commands by name; of those not needed so far, the package that has them."""

    def __getitem__(self, name: str) -> Any:
        if isinstance(package := self.data[name], str):
            import_module(f"medsim.{package}.commands")
            self.data = get_group(app).commands.data  # type: ignore[attr-defined]
        return self.data[name]


class _Medsim(Program):
    """The commands by task; each panel lists them in the order of use."""

    panels = toml_of(__package__, "panels.toml")

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        packages = {
            name: package for panel in self.panels.values() for name, package in panel.items()
        }
        self.commands: Any = _Commands(packages | self.commands)


def _print_version(requested: bool) -> None:
    if requested:
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

    You can also put options in medsim.toml or pyproject.toml, in a table for each command: for
    example the line threads = 2 below [build], or below [tool.medsim.build].
    """
    if context.invoked_subcommand is None:
        typer.echo(_FIRST_STEPS)
        return
    file = read_option_file(context.command)
    context.obj, context.default_map = file, dict(file.values)
