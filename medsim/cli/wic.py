"""Commands of words in context."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from medsim.cli.application import Format, Threads, app, print_table
from medsim.report.formats import TableFormat

wic = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Terms in sentences: benchmarks that ask whether two have the same meaning.",
)
app.add_typer(wic, name="wic")


@wic.command()
def build(
    corpora: Annotated[
        list[Path],
        typer.Argument(metavar="CORPUS...", help="Files in PubTator format, such as MedMentions."),
    ],
    terminology: Annotated[
        str,
        typer.Option(
            "--terminology",
            "-t",
            metavar="SOURCE",
            help="What mentions are linked to: a source as of medsim build, such as MeSH or UMLS.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")],
    language: Annotated[str, typer.Option(help="Language code of the names.")] = "en",
    synonyms: Annotated[
        str, typer.Option(help="OBO and MeSH synonym scopes that count, such as exact,narrow.")
    ] = "exact",
    vocabularies: Annotated[
        str, typer.Option(help="UMLS vocabularies whose names count, such as MSH; all by default.")
    ] = "",
    broader: Annotated[
        str,
        typer.Option(
            help="Which concepts are broader than another, and so in no instance with it: its "
            "parents, direct, or any ancestor."
        ),
    ] = "direct",
    most_train: Annotated[
        int | None,
        typer.Option(help="Instances of either label of a group in train, at most."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of all draws.")] = 0,
    threads: Threads = None,
    overwrite: Annotated[bool, typer.Option(help="Replace an earlier benchmark at OUT.")] = False,
    form: Format = TableFormat.table,
) -> None:
    """Build a benchmark of words in context from corpora, and print how many instances it has.

    Writes OUT with train.json, dev.json and test.json in the layout of BioWiC, the same with its
    provenance as Parquet, and manifest.json.

    Example: medsim wic build BC5CDR.txt NCBI.txt --terminology mesh -o wic
    """
    from medsim.progress import Progress
    from medsim.workflow.wic.build import build_wic
    from medsim.workflow.wic.statistics import shown_statistics

    made = build_wic(
        corpora,
        terminology,
        out,
        language=language,
        synonym_scopes=tuple(scope.strip().lower() for scope in synonyms.split(",")),
        vocabularies=tuple(name.strip() for name in vocabularies.split(",") if name.strip()),
        broader=broader.strip().lower(),
        most_train=most_train,
        seed=seed,
        threads=threads,
        overwrite=overwrite,
        progress=Progress.to_stderr(),
    )
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
    from medsim.workflow.wic.benchmark import Benchmark
    from medsim.workflow.wic.statistics import shown_statistics

    print_table(shown_statistics(Benchmark(out).statistics(), table), form)


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
            help="Whose names decide what synonyms are: a file, folder or built-in name. A folder "
            "of medsim wic build has its own."
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
    from medsim.errors import BrokenPromiseError
    from medsim.progress import Progress
    from medsim.workflow.wic.verify import verify as run

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
