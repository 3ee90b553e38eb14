"""The command line: each command parses, calls one function, prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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


class _Commands(Mapping[str, Any]):
    """The commands by name; a command's package is imported when the command is needed."""

    def __init__(self, loaded: Mapping[str, Any], packages: Mapping[str, str]) -> None:
        self.loaded, self._packages = loaded, packages

    def __getitem__(self, name: str) -> Any:
        if name not in self.loaded:
            import_module(f"medsim.{self._packages[name]}.commands")
            self.loaded = get_group(app).commands.loaded  # type: ignore[attr-defined]
        return self.loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._packages)

    def __len__(self) -> int:
        return len(self._packages)


class _Medsim(Program):
    """The commands by task; each panel lists them in the order of use."""

    panels = toml_of(__package__, "panels.toml")

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        packages = {
            name: package for panel in self.panels.values() for name, package in panel.items()
        }
        self.commands: Any = _Commands(self.commands, packages)


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
