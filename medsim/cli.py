"""The command line: parses, calls one function, prints."""

from __future__ import annotations

import signal
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from medsim.errors import BrokenPromiseError, MedsimError, OutputError
from medsim.report.formats import TableFormat

if TYPE_CHECKING:
    import polars as pl


_INTERRUPTED = 130  # as shells have it for SIGINT


class _Commands(TyperGroup):
    """Commands whose known failures end in one line and their exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except MedsimError as error:
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(error.exit_code) from error
        except KeyboardInterrupt as error:
            typer.echo("interrupted", err=True)
            raise typer.Exit(_INTERRUPTED) from error


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Term-similarity datasets from medical terminologies.",
)

Format = Annotated[TableFormat, typer.Option("--format", help="How to print the table.")]
Threads = Annotated[
    int | None, typer.Option(help="Threads to use; all by default. Never changes the result.")
]
SourceLocation = Annotated[
    str, typer.Argument(help="An RF2 zip or folder, an .obo file, or a built-in name such as hpo.")
]
BuildFolder = Annotated[Path, typer.Argument(metavar="OUT", help="The folder of a build.")]


def main() -> None:
    """Run the command line; SIGTERM ends it as an interrupt does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        app()
    except KeyboardInterrupt:  # before the command began
        typer.echo("interrupted", err=True)
        sys.exit(_INTERRUPTED)


def _print_version(wanted: bool) -> None:
    if wanted:
        from medsim.manifest import medsim_version

        typer.echo(f"medsim {medsim_version()}")
        raise typer.Exit


@app.callback()
def _root(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Term-similarity datasets from medical terminologies."""


@app.command()
def build(
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")],
    source: SourceLocation = "hpo",
    language: Annotated[str, typer.Option(help="Language code of the names.")] = "en",
    as_of: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d", "%Y%m%d"], help="State of this day, from Full history."),
    ] = None,
    synonyms: Annotated[
        str, typer.Option(help="OBO synonym scopes that count, such as exact,narrow.")
    ] = "exact",
    pool: Annotated[
        str,
        typer.Option(help="What negatives are drawn from: their own set, or the terminology."),
    ] = "set",
    seed: Annotated[int, typer.Option(help="Of random draws, ties and the order of rows.")] = 0,
    threads: Threads = None,
    shard: Annotated[
        str | None,
        typer.Option(metavar="I/N", help="Search one share; medsim merge does the rest."),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Search on a Dask cluster; local starts one here."),
    ] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace an earlier build at OUT.")] = False,
    form: Format = TableFormat.table,
) -> None:
    """Build the twenty datasets of a terminology and print their sizes.

    Writes OUT with pairs/, terminology/, stats.parquet and manifest.json. An interrupted build
    leaves nothing at OUT; the same command goes on where it stopped. With --shard it writes one
    file of the folder OUT.shards instead, and prints the size of that.

    Example: medsim build hpo -o hpo
    """
    from medsim.config import BuildConfig, SourceOptions, checked_threads, parse_shard
    from medsim.progress import Progress
    from medsim.workflow.build import run_build
    from medsim.workflow.shards import run_shard
    from medsim.workflow.stats import table_2

    config = BuildConfig(
        source=source,
        out=out,
        reading=SourceOptions(
            language=language,
            as_of=as_of.date() if as_of else None,
            synonym_scopes=tuple(scope.strip().lower() for scope in synonyms.split(",")),
        ),
        pool=pool.strip().lower(),
        seed=seed,
        threads=checked_threads(threads),
        overwrite=overwrite,
        dask=dask,
    )
    progress = Progress.to_stderr()
    if shard is None:
        _print(table_2(run_build(config, progress).stats()), form)
    else:
        _print(run_shard(config, parse_shard(shard), progress), form)


@app.command()
def merge(
    out: BuildFolder,
    source: Annotated[
        str | None, typer.Option(help="Where the source lies now, if it was moved.")
    ] = None,
    threads: Threads = None,
    overwrite: Annotated[bool, typer.Option(help="Replace an earlier build at OUT.")] = False,
    form: Format = TableFormat.table,
) -> None:
    """Complete a build of which all shards are done, and print the sizes of its datasets.

    Writes OUT as medsim build does, with the same rows as a build in one piece, and then removes
    the folder OUT.shards.

    Example: medsim merge hpo
    """
    from medsim.progress import Progress
    from medsim.workflow.shards import merge as run
    from medsim.workflow.stats import table_2

    progress = Progress.to_stderr()
    built = run(out, source=source, threads=threads, overwrite=overwrite, progress=progress)
    _print(table_2(built.stats()), form)


@app.command()
def stats(out: BuildFolder, form: Format = TableFormat.table) -> None:
    """Print the sizes and mean Levenshtein distances of a build's datasets.

    Writes nothing. It is table 2 of Schulz and Juric (2020) for this build; the view stats of
    medsim sql has more columns.

    Example: medsim stats hpo --format latex
    """
    from medsim.workflow.opened import open_build
    from medsim.workflow.stats import table_2

    _print(table_2(open_build(out).stats()), form)


@app.command()
def sql(
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="The folder of a build or of an evaluation.")
    ],
    statement: Annotated[
        str | None, typer.Argument(help="One select; read from standard input if piped.")
    ] = None,
    threads: Threads = None,
    form: Format = TableFormat.table,
) -> None:
    """Run one read-only SQL statement over a build or an evaluation, or list what it can see.

    Writes nothing: the statement sees the views that are listed without one, and no other file.

    Example: medsim sql hpo "select dataset, count(*) from pair group by dataset"
    """
    from medsim.workflow.opened import open_output

    opened = open_output(out)
    if statement is None and sys.stdin is not None and not sys.stdin.isatty():
        statement = sys.stdin.read().strip()
    if statement:
        _print(opened.sql(statement, threads=threads), form)
    else:
        _print(opened.views(), form)


@app.command()
def verify(
    out: BuildFolder,
    sample: Annotated[
        int, typer.Option(help="First terms of each set that are compared by brute force.")
    ] = 100,
    threads: Threads = None,
    form: Format = TableFormat.table,
) -> None:
    """Derive a build's promises anew from what lies on disk, and print what holds.

    Writes nothing. Exit code 3 says that a promise does not hold.

    Example: medsim verify hpo --sample 500
    """
    from medsim.progress import Progress
    from medsim.workflow.verify import verify as run

    found = run(out, sample=sample, threads=threads, progress=Progress.to_stderr())
    _print(found.findings, form)
    if not found.holds:
        raise BrokenPromiseError(f"{out}: {', '.join(found.broken)} do not hold")


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
    from medsim.workflow.releases import synth as run

    _print(run(out, concepts=concepts, seed=seed), form)


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
    from medsim.progress import Progress
    from medsim.workflow.releases import convert as run

    _print(run(source, out, language=language, progress=Progress.to_stderr()), form)


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
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder that keeps what encoders made; ~/.cache/medsim/vectors by default."
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option(help="Replace earlier results at OUT instead of adding to them.")
    ] = False,
    form: Format = TableFormat.table,
) -> None:
    """Score embeddings on builds and rated files, and print each at its best metric.

    Writes OUT with results, comparisons, coverage and overlap as Parquet, the similarity of every
    pair, and manifest.json. Where OUT is there already, what it has is not computed again. An
    interrupted run leaves OUT as it was; the same command goes on where it stopped.

    Example: medsim eval hpo -e glove=glove.6B.300d.txt -o results
    """
    from medsim.config import checked_threads
    from medsim.embeddings.options import parse_embedding
    from medsim.progress import Progress
    from medsim.workflow.compare import compare as table_of
    from medsim.workflow.evaluate import run_evaluation, users_cache
    from medsim.workflow.evaluation_job import EvaluationConfig

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
    )
    run_evaluation(config, Progress.to_stderr())
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
            "coverage, overlap, or the number of the paper's table of that shape."
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
    from medsim.workflow.compare import compare as table_of

    found = table_of(results, table, subset=subset, correction=correction)
    _print_comparison(found, form)


def _print_comparison(frame: pl.DataFrame, form: TableFormat) -> None:
    from medsim.report.comparison import readable

    if form in {TableFormat.json, TableFormat.csv}:
        _print(frame, form)
        return
    for at, table in enumerate(readable(frame)):
        if at:
            typer.echo("")
        _print(table, form)


def _print(frame: pl.DataFrame, form: TableFormat) -> None:
    from medsim.report.tables import rendered

    text = rendered(frame, form)
    if sys.stdout is None:
        raise OutputError("cannot write the table: standard output is closed")
    try:
        typer.echo(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write the table: {error.strerror}") from error


if __name__ == "__main__":
    main()
