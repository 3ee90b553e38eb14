"""Commands that tell what intrinsic scores say of extrinsic ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from medsim.core.console import Format, app, print_table
from medsim.core.formats import TableFormat


@app.command()
def correlate(
    intrinsic: Annotated[
        Path,
        typer.Argument(
            metavar="INTRINSIC",
            help="The folder of an evaluation; or a .csv, .tsv or .parquet table with a row per "
            "model and a column per set.",
        ),
    ],
    extrinsic: Annotated[
        Path,
        typer.Argument(
            metavar="EXTRINSIC", help="A table with a row per model and a column per task."
        ),
    ],
    metric: Annotated[
        str | None, typer.Option(help="Of an evaluation; each embedding's best by default.")
    ] = None,
    statistic: Annotated[
        str | None,
        typer.Option(help="Of an evaluation; auc or, for ratings, spearman by default."),
    ] = None,
    subset: Annotated[
        str, typer.Option(help="Pairs that all embeddings cover (common), or each its own (own).")
    ] = "common",
    form: Format = TableFormat.table,
) -> None:
    """Correlate models' intrinsic scores with their scores on other tasks.

    Writes nothing. As table, md and latex it has a row per set and a column per task: Pearson's r
    with * for p below 0.05, ** below 0.01 and *** below 0.001, after Holm's correction for all
    tests; json and csv have a row per correlation, with interval, t-test and what it shows.

    Example: medsim correlate results tasks.csv --format latex
    """
    from medsim.core.progress import Progress
    from medsim.evaluations.correlate import correlate as correlations
    from medsim.evaluations.tables.correlations import readable_correlations

    found = correlations(
        intrinsic,
        extrinsic,
        metric=metric,
        statistic=statistic,
        subset=subset,
        progress=Progress.to_stderr(),
    )
    plain = form in {TableFormat.json, TableFormat.csv}
    print_table(found if plain else readable_correlations(found), form)
