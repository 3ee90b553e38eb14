"""Commands that score embeddings and compare them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from medsim.core.console import Format, app, command, print_table
from medsim.core.formats import TableFormat
from medsim.evaluations.options import CompareOptions, EvaluateOptions

if TYPE_CHECKING:
    import polars as pl


@command(app, EvaluateOptions, name="eval")
def evaluate(options: EvaluateOptions, *, form: Format = TableFormat.table) -> None:
    """Score embeddings on builds and rated files, and print each at its best metric.

    Writes OUT with results, comparisons, coverage, overlap, retrieval and separation as Parquet,
    the similarity of every pair, and manifest.json. Where OUT is there already, what it has is not
    computed again. An interrupted run leaves OUT as it was; the same command goes on where it
    stopped.

    Example: medsim eval hpo -e glove=glove.6B.300d.txt -o results
    """
    from medsim.core.progress import Progress
    from medsim.evaluations.compare import compare as table_of
    from medsim.evaluations.evaluate import evaluate as run

    made = run(**options.given())
    progress = options.progress or Progress()
    for asked, tables in (
        (options.retrieval, "retrieval"),
        (options.separates, "separation, and --table categories"),
        (options.words, "parts"),
    ):
        if asked:
            progress.say(f"see medsim compare {options.out} --table {tables}")
    _print_comparison(table_of(made), form)


@command(app, CompareOptions)
def compare(options: CompareOptions, *, form: Format = TableFormat.table) -> None:
    """Print a table of an evaluation: which embedding, under which metric, and how surely.

    Writes nothing. As table, md and latex it is to be read; json and csv have a row per value.
    A cell has a value, a metric, how many others it is significantly better (+) and worse (\u2212)
    than, and a star for the best and those that cannot be told from it.

    Example: medsim compare results --table all-auc --format latex
    """
    from medsim.evaluations.compare import compare as table_of

    _print_comparison(table_of(**options.given()), form)


def _print_comparison(frame: pl.DataFrame, form: TableFormat) -> None:
    from medsim.evaluations.tables.readable import readable

    if form in {TableFormat.json, TableFormat.csv}:
        print_table(frame, form)
        return
    for at, table in enumerate(readable(frame)):
        if at:
            typer.echo("")
        print_table(table, form)
