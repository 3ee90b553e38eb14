"""The commands that define outputs, and make them again."""

from __future__ import annotations

import typer

from medsim.core.console import EXIT_CODES, app, command
from medsim.core.errors import BrokenPromiseError
from medsim.core.options import call
from medsim.core.printing import Format, print_table, say_next
from medsim.definitions.options import DefineOptions, RebuildOptions

_CODES = {**EXIT_CODES, BrokenPromiseError.exit_code: "a table differs from the definition"}


@command(app, DefineOptions, then=("rebuild",))
def define(options: DefineOptions) -> None:
    """Write the definition of a build, splits or an export: what is needed to repeat it, no terms.

    Writes a JSON file of less than 10 kB with hashes of the source, options, versions, and rows and
    fingerprints of tables. Files that options name are in it as hashes.

    Example: medsim define hpo hpo-splits -o hpo-splits.json
    """
    from medsim.definitions.definition import define as run

    call(run, options)
    say_next(options, "medsim rebuild {out} SOURCE -o FOLDER repeats it")


@command(app, RebuildOptions, then=("eval", "split", "verify"), exit_codes=_CODES)
def rebuild(options: RebuildOptions, *, form: Format = "table") -> None:
    """Make what a definition describes from its source, and print whether it is equal.

    Writes OUT. Prints "equal" if all tables have the same rows, else a row for every part of
    source, versions, options and tables that differs.

    Example: medsim rebuild hpo-splits hpo -o hpo-splits
    """
    from medsim.definitions.definition import rebuild as run
    from medsim.definitions.definition import verdict

    rows = call(run, options)
    sentence, differing = verdict(rows)
    shown = [differing] if differing.height else []
    print_table(rows, form, readable=lambda _: shown, opening=[sentence])
    if not sentence.startswith("equal"):
        typer.echo(f"{options.out or options.source}: {sentence}", err=True)
        raise typer.Exit(BrokenPromiseError.exit_code)
