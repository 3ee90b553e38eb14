"""Commands of words in context."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from medsim.core.console import Format, Threads, VectorCache, app, command, print_table
from medsim.core.formats import TableFormat
from medsim.wic.options import WicBuildOptions

wic = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Terms in sentences: benchmarks that ask whether two have the same meaning.",
)
app.add_typer(wic, name="wic")


@command(wic, WicBuildOptions)
def build(options: WicBuildOptions, *, form: Format = TableFormat.table) -> None:
    """Build a benchmark of words in context from corpora, and print how many instances it has.

    Writes OUT with train.json, dev.json and test.json in the layout of BioWiC, the same with its
    provenance as Parquet, and manifest.json.

    Example: medsim wic build BC5CDR.txt NCBI.txt --terminology mesh -o wic
    """
    from medsim.wic.build import build_wic
    from medsim.wic.statistics import shown_statistics

    made = build_wic(**options.given())
    print_table(shown_statistics(made.statistics(), "splits"), form)


@wic.command()
def stats(
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="The folder of a benchmark of medsim wic build.")
    ],
    table: Annotated[str, typer.Option(help="What to print: splits, terms or corpora.")] = "splits",
    form: Format = TableFormat.table,
) -> None:
    """Print what a benchmark of words in context is made of.

    Writes nothing. The tables are those in which BioWiC is described: instances by group, split
    and label; terms, sentences and concepts by split; and where they come from.

    Example: medsim wic stats wic --table terms --format latex
    """
    from medsim.wic.benchmark import Benchmark
    from medsim.wic.statistics import shown_statistics

    print_table(shown_statistics(Benchmark(out).statistics(), table), form)


@wic.command(name="eval")
def evaluate(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="A folder with train.json, dev.json and test.json as BioWiC is published; or one "
            "such file, which is cross-fitted.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of results to write.")],
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME=PATH",
            help="random; or an embedding, with options behind its path: input=target or "
            "input=sentence of word vectors, input=target or input=quoted of encoders; tune=yes "
            "and epochs=N of sentence-transformers.",
        ),
    ] = None,
    predictions: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PATH",
            help="What any other model said: CSV, TSV, JSON lines or Parquet with a column "
            "prediction, or score and behind the path ,dev=PATH for those of the dev split.",
        ),
    ] = None,
    train: Annotated[
        Path | None, typer.Option(help="A file to fit on, in place of the folder's train.json.")
    ] = None,
    dev: Annotated[
        Path | None,
        typer.Option(help="A file to choose thresholds on, in place of the folder's dev.json."),
    ] = None,
    table: Annotated[
        str,
        typer.Option(help="accuracy, a row a model; or comparisons, McNemar's test of every two."),
    ] = "accuracy",
    seed: Annotated[int, typer.Option(help="Of folds, of the coin and of what is fitted.")] = 0,
    threads: Threads = None,
    cache: VectorCache = None,
    overwrite: Annotated[bool, typer.Option(help="Replace earlier results.")] = False,
    form: Format = TableFormat.table,
) -> None:
    """Score models on words in context, and print accuracies overall and by group.

    Writes a folder with results, comparisons and predictions as Parquet, and manifest.json. As
    table, md and latex it prints a table to be read; json and csv have a row per value.

    Example: medsim wic eval biowic -o scores -m random -m minilm=model.onnx,input=quoted
    """
    from medsim.core.progress import Progress
    from medsim.embeddings.vector_cache import users_cache
    from medsim.wic.evaluate import evaluate_wic
    from medsim.wic.tables import check_table, readable

    check_table(table)  # before what takes long
    found = evaluate_wic(
        data,
        out,
        models=model or (),
        predictions=predictions or (),
        train=train,
        dev=dev,
        seed=seed,
        threads=threads,
        cache=cache or users_cache(),
        overwrite=overwrite,
        progress=Progress.to_stderr(),
    )
    frame = found.results if table == "accuracy" else found.comparisons
    machine = form in {TableFormat.json, TableFormat.csv}
    print_table(frame if machine else readable(frame, table), form)


@wic.command()
def verify(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA", help="A folder with train.json, dev.json, test.json, or one such file."
        ),
    ],
    split: Annotated[
        str | None, typer.Option(help="What one file is, test, dev or train; else its name says.")
    ] = None,
    train: Annotated[Path | None, typer.Option(help="A file that belongs to DATA.")] = None,
    dev: Annotated[Path | None, typer.Option(help="A file that belongs to DATA.")] = None,
    test: Annotated[Path | None, typer.Option(help="A file that belongs to DATA.")] = None,
    terminology: Annotated[
        str | None,
        typer.Option(
            "--terminology",
            "-t",
            metavar="SOURCE",
            help="Whose names decide what synonyms are: a file, folder or built-in name. A folder "
            "of medsim wic build keeps them, and is compared with it.",
        ),
    ] = None,
    list_all: Annotated[
        bool, typer.Option("--list", help="Print every violation instead of their numbers.")
    ] = False,
    form: Format = TableFormat.table,
) -> None:
    """Check every rule of words in context on a benchmark, whoever made it, and print what holds.

    Writes nothing. Exit code 3 says that a rule does not hold.

    Example: medsim wic verify biowic/dev.json --test biowic/test.json --list --format csv
    """
    from medsim.core.errors import BrokenPromiseError
    from medsim.core.progress import Progress
    from medsim.wic.verify import verify as run

    found = run(
        data,
        split=split,
        train=train,
        dev=dev,
        test=test,
        terminology=terminology,
        progress=Progress.to_stderr(),
    )
    print_table(found.breaches if list_all else found.findings, form)
    if not found.holds:
        raise BrokenPromiseError(f"{data}: {', '.join(found.broken)} do not hold")
