"""Commands that write RF2 releases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from medsim.core.console import Format, SourceLocation, app, print_table
from medsim.core.formats import TableFormat


@app.command()
def synth(
    out: Annotated[Path, typer.Option("--out", "-o", help="The zip to write.")],
    concepts: Annotated[int, typer.Option(min=1, help="Active clinical concepts.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Of all that is invented.")] = 0,
    form: Format = TableFormat.table,
) -> None:
    """Invent an RF2 release of any size, with history and associations, and print its size.

    Writes a zip with Full and Snapshot files. Nothing in it is of SNOMED CT.

    Example: medsim synth -o invented.zip --concepts 10000 --seed 1
    """
    from medsim.terminologies.releases import synth as run

    print_table(run(out, concepts=concepts, seed=seed), form)


@app.command()
def convert(
    source: SourceLocation,
    out: Annotated[Path, typer.Option("--out", "-o", help="The zip to write.")],
    language: Annotated[str, typer.Option(help="Language code of the names.")] = "en",
    form: Format = TableFormat.table,
) -> None:
    """Write any terminology as an RF2 release, and print its size.

    Writes a zip with Snapshot files. Identifiers that are no SNOMED CT identifiers are replaced by
    new ones, and a map to the old ones lies in the zip.

    Example: medsim convert hpo -o hpo-rf2.zip
    """
    from medsim.core.progress import Progress
    from medsim.terminologies.releases import convert as run

    print_table(run(source, out, language=language, progress=Progress.to_stderr()), form)
