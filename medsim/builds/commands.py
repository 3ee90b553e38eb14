"""Commands that make datasets, and tell of them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from medsim.core.console import (
    BuildFolder,
    Format,
    SourceLocation,
    Threads,
    VectorCache,
    app,
    print_table,
)
from medsim.core.errors import BrokenPromiseError
from medsim.core.formats import TableFormat


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
        str, typer.Option(help="OBO or MeSH synonym scopes that count, such as exact,narrow.")
    ] = "exact",
    vocabularies: Annotated[
        str, typer.Option(help="UMLS vocabularies whose names count, such as MSH,SNOMEDCT_US.")
    ] = "",
    pool: Annotated[
        str,
        typer.Option(help="What negatives are drawn from: their own set, or the terminology."),
    ] = "set",
    negatives: Annotated[
        str, typer.Option(help="Strategies of negatives: random, levenshtein, embedding.")
    ] = "random,levenshtein",
    embedding: Annotated[
        str | None,
        typer.Option(
            "--embedding",
            "-e",
            metavar="NAME=PATH",
            help="What embedding negatives are near by; options follow the path as in medsim eval.",
        ),
    ] = None,
    cache: VectorCache = None,
    corrections: Annotated[
        Path | None,
        typer.Option(help="Table of pairs judged otherwise, as medsim study score writes it."),
    ] = None,
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
    """Build the datasets of a terminology, twenty by default, and print their sizes.

    Writes OUT with pairs/, terminology/, stats.parquet and manifest.json. An interrupted build
    leaves nothing at OUT; the same command goes on where it stopped. With --shard it writes one
    file of the folder OUT.shards instead, and prints the size of that.

    Example: medsim build hpo -o hpo
    """
    from medsim.builds.build import run_build
    from medsim.builds.corrections import read_corrections
    from medsim.builds.shards import run_shard
    from medsim.builds.stats import table_2
    from medsim.core.config import BuildConfig, SourceOptions, checked_threads, parse_shard
    from medsim.core.progress import Progress
    from medsim.embeddings.vector_cache import users_cache

    config = BuildConfig(
        source=source,
        out=out,
        reading=SourceOptions(
            language=language,
            as_of=as_of.date() if as_of else None,
            synonym_scopes=tuple(scope.strip().lower() for scope in synonyms.split(",")),
            vocabularies=tuple(name for part in vocabularies.split(",") if (name := part.strip())),
        ),
        pool=pool.strip().lower(),
        negatives=tuple(name.strip().lower() for name in negatives.split(",")),
        embedding=embedding,
        cache=cache or (users_cache() if embedding else None),
        corrections=read_corrections(corrections) if corrections else (),
        seed=seed,
        threads=checked_threads(threads),
        overwrite=overwrite,
        dask=dask,
    )
    progress = Progress.to_stderr()
    if shard is None:
        print_table(table_2(run_build(config, progress).stats()), form)
    else:
        print_table(run_shard(config, parse_shard(shard), progress), form)


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
    from medsim.builds.shards import merge as run
    from medsim.builds.stats import table_2
    from medsim.core.progress import Progress

    progress = Progress.to_stderr()
    built = run(out, source=source, threads=threads, overwrite=overwrite, progress=progress)
    print_table(table_2(built.stats()), form)


@app.command()
def stats(out: BuildFolder, form: Format = TableFormat.table) -> None:
    """Print the sizes and mean Levenshtein distances of a build's datasets.

    Writes nothing. It is table 2 of Schulz and Juric (2020) for this build; the view stats of
    medsim sql has more columns.

    Example: medsim stats hpo --format latex
    """
    from medsim.builds.stats import table_2
    from medsim.core.opened import open_build

    print_table(table_2(open_build(out).stats()), form)


@app.command()
def verify(
    out: BuildFolder,
    sample: Annotated[
        int, typer.Option(help="First terms of each set that are compared by brute force.")
    ] = 100,
    embedding: Annotated[
        str | None,
        typer.Option(
            "--embedding",
            "-e",
            metavar="NAME=PATH",
            help="Where the embedding of embedding negatives lies now, if it was moved.",
        ),
    ] = None,
    cache: VectorCache = None,
    threads: Threads = None,
    form: Format = TableFormat.table,
) -> None:
    """Derive a build's promises anew from what lies on disk, and print what holds.

    Writes nothing. Exit code 3 says that a promise does not hold.

    Example: medsim verify hpo --sample 500
    """
    from medsim.builds.verify import verify as run
    from medsim.core.progress import Progress
    from medsim.embeddings.vector_cache import users_cache

    found = run(
        out,
        sample=sample,
        embedding=embedding,
        cache=cache or users_cache(),
        threads=threads,
        progress=Progress.to_stderr(),
    )
    print_table(found.findings, form)
    if not found.holds:
        raise BrokenPromiseError(f"{out}: {', '.join(found.broken)} do not hold")
