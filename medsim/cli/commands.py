"""Commands that read outputs of any kind."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from medsim.cli.options import ReportOptions, SqlOptions
from medsim.core.console import app, command
from medsim.core.options import call
from medsim.core.printing import Format, print_frames, print_table, say_next


@command(app, SqlOptions)
def sql(options: SqlOptions, *, form: Format = "table") -> None:
    """Run one read-only SQL statement on an output of medsim, or list the available views.

    Without a statement it lists the views. Writes nothing; a statement can read only the files of
    OUT and of outputs that --with names. A .parquet or .csv file that medsim nearest wrote is the
    view nearest.

    Example: medsim sql hpo "select dataset, count(*) from pair group by dataset"
    """
    import polars as pl

    from medsim.core.opened import Opened, open_output, outputs_of
    from medsim.core.statements import frames_of
    from medsim.core.surroundings import utf8_text
    from medsim.neighbours.output import NEAREST_SUFFIXES, NearestFile

    def opened_at(place: str | Path) -> Opened[Any]:
        is_file = Path(place).suffix.lower() in NEAREST_SUFFIXES
        return NearestFile(place) if is_file and not Path(place).is_dir() else open_output(place)

    opened = opened_at(options.out)
    others = {name: opened_at(path) for name, path in (options.others or {}).items()}
    statement = options.statement
    if statement is None and sys.stdin is not None and not sys.stdin.isatty():
        statement = sys.stdin.read().strip()
    if statement:
        outputs = outputs_of(opened, others)
        print_frames(frames_of(utf8_text(statement), outputs, options), form)
    else:
        listed = [(f"{name}.", other) for name, other in others.items()]
        views = [
            one.views().with_columns(pl.format("{}{}", pl.lit(before), "view").alias("view"))
            for before, one in [("", opened), *listed]
        ]
        print_table(pl.concat(views), form)


@command(app, ReportOptions)
def report(options: ReportOptions) -> None:
    """Write an HTML page of a build, evaluation, comparison, words in context, tagging or scores.

    Writes one .html file that works offline; or for an evaluation, if the file is named .svg or
    .png, a single chart. It replaces an earlier report or image at the same path; any other
    existing file is an error.

    Example: medsim report results -o report.html
    """
    from medsim.cli.report import write_report

    if call(write_report, options).suffix not in {".svg", ".png"}:
        say_next(options, "open {out} in a browser; it works offline")
