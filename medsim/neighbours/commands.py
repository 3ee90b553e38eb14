"""The command that finds nearest names."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from medsim.core.console import app, command
from medsim.core.printing import Format, print_frames, quoted, say_next
from medsim.neighbours.options import NearestOptions


@command(app, NearestOptions)
def nearest(
    options: NearestOptions,
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="The .parquet or .csv file to write; default: print the rows.",
            rich_help_panel="Main options",
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace OUT if it exists.", rich_help_panel="Output"),
    ] = False,
    form: Format = "table",
) -> None:
    """Find the nearest names of each query by Levenshtein distance, exactly.

    Writes rows to OUT, or prints them: the query, the rank of the match from 1, the match, and
    their distance. Without POOL, QUERIES is compared with itself. Names are compared in lower case,
    and equal names count once. --max-distance without --k finds all pairs within the distance.

    Example: medsim nearest queries.txt hpo -k 3 -o nearest.parquet
    """
    from medsim.core.places import check_not_input
    from medsim.neighbours.nearest import batches_of, schema_of
    from medsim.neighbours.writing import write_rows

    with closing(batches_of(options)) as batches:  # so that its stages end
        if out is None:
            print_frames(batches, form)
            return
        check_not_input(out, options.paths_read())
        write_rows(out, schema_of(options), batches, overwrite=overwrite)
    say_next(options.progress, f"read {quoted(out)} with any tool for tables")
