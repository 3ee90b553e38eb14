"""Commands that score embeddings and compare them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from medsim.core.console import Format, Threads, VectorCache, app, print_table
from medsim.core.formats import TableFormat

if TYPE_CHECKING:
    import polars as pl


@app.command(name="eval")
def evaluate(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...",
            help="Folders of builds and files of rated pairs; columns of a file follow its path "
            "where they are in no known layout, as in rated.csv,term1=A,term2=B,rating=score.",
        ),
    ],
    embedding: Annotated[
        list[str],
        typer.Option(
            "--embedding",
            "-e",
            metavar="NAME=PATH",
            help="An embedding; options follow the path, as in bert=model.onnx,pooling=cls.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write, or to add to.")],
    metric: Annotated[
        list[str] | None, typer.Option(help="A metric, such as avg_cos; all that fit by default.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the bootstrap and of the held-out half.")] = 0,
    resamples: Annotated[
        int, typer.Option(help="Of the bootstrap, for intervals of Spearman's correlation.")
    ] = 10_000,
    threads: Threads = None,
    cache: VectorCache = None,
    retrieval: Annotated[
        bool,
        typer.Option("--retrieval", help="Find the synonyms of every term among all of a build."),
    ] = False,
    index: Annotated[
        str,
        typer.Option(help="For retrieval: flat, which is exact; or ivf, approximate and faster."),
    ] = "flat",
    separation: Annotated[
        bool,
        typer.Option("--separation", help="Measure how far categories of concepts are apart."),
    ] = False,
    category: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]CONCEPT_ID",
            help="A category: the concepts below this one; two or more. For SNOMED CT diagnostic "
            "procedures, therapeutic procedures and organisms by default.",
        ),
    ] = None,
    words: Annotated[
        Path | None,
        typer.Option(
            help="For rated files: a table (CSV, TSV, Parquet) of word, count, and if known topics "
            "and domain, by which they are cut into parts."
        ),
    ] = None,
    bins: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,…",
            help="Counts at which bins of word frequency begin: 1,10,100,… if unsaid.",
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option(help="Replace earlier results at OUT instead of adding to them.")
    ] = False,
    form: Format = TableFormat.table,
) -> None:
    """Score embeddings on builds and rated files, and print each at its best metric.

    Writes OUT with results, comparisons, coverage, overlap, retrieval and separation as Parquet,
    the similarity of every pair, and manifest.json. Where OUT is there already, what it has is not
    computed again. An interrupted run leaves OUT as it was; the same command goes on where it
    stopped.

    Example: medsim eval hpo -e glove=glove.6B.300d.txt -o results
    """
    from medsim.core.config import checked_threads
    from medsim.core.progress import Progress
    from medsim.embeddings.options import parse_embedding
    from medsim.embeddings.vector_cache import users_cache
    from medsim.evaluations.compare import compare as table_of
    from medsim.evaluations.evaluate import run_evaluation
    from medsim.evaluations.run_key import EvaluationConfig
    from medsim.evaluations.strata import parse_bins

    config = EvaluationConfig(
        inputs=tuple(inputs),
        embeddings=tuple(map(parse_embedding, embedding)),
        out=out,
        metrics=tuple(metric) if metric else None,
        seed=seed,
        resamples=resamples,
        threads=checked_threads(threads),
        overwrite=overwrite,
        cache=cache or users_cache(),
        retrieval=retrieval,
        index=index,
        separation=separation or bool(category),
        categories=tuple(category or ()),
        words=words,
        bins=parse_bins(bins or ""),
    )
    progress = Progress.to_stderr()
    run_evaluation(config, progress)
    if config.retrieval:
        progress.say(f"see medsim compare {out} --table retrieval")
    if config.separation:
        progress.say(f"see medsim compare {out} --table separation, and --table categories")
    if config.words:
        progress.say(f"see medsim compare {out} --table parts")
    _print_comparison(table_of(out), form)


@app.command()
def compare(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="The folder of an evaluation.")
    ],
    table: Annotated[
        str,
        typer.Option(
            help="best, auc, accuracy, spearman, all-auc, all-accuracy, all-spearman, metrics, "
            "parts, coverage, overlap, retrieval, separation, categories, or the number of the "
            "paper's table of that shape."
        ),
    ] = "best",
    subset: Annotated[
        str, typer.Option(help="Pairs that all embeddings cover (common), or each its own (own).")
    ] = "common",
    correction: Annotated[
        str, typer.Option(help="Of p-values, for the number of comparisons: bonferroni or holm.")
    ] = "bonferroni",
    form: Format = TableFormat.table,
) -> None:
    """Print a table of an evaluation: which embedding, under which metric, and how surely.

    Writes nothing. As table, md and latex it is to be read; json and csv have a row per value.
    A cell has a value, a metric, how many others it is significantly better (+) and worse (\u2212)
    than, and a star for the best and what cannot be told from it.

    Example: medsim compare results --table all-auc --format latex
    """
    from medsim.evaluations.compare import compare as table_of

    found = table_of(results, table, subset=subset, correction=correction)
    _print_comparison(found, form)


def _print_comparison(frame: pl.DataFrame, form: TableFormat) -> None:
    from medsim.evaluations.tables.readable import readable

    if form in {TableFormat.json, TableFormat.csv}:
        print_table(frame, form)
        return
    for at, table in enumerate(readable(frame)):
        if at:
            typer.echo("")
        print_table(table, form)
