"""Commands that make, merge and describe builds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from medsim.builds.options import (
    BuildOptions,
    MergeOptions,
    ShardOptions,
    StatsOptions,
    WarmOptions,
)
from medsim.core.console import MAKING_EXIT_CODES, app, command
from medsim.core.errors import OptionError
from medsim.core.options import call
from medsim.core.printing import Format, print_table, quoted, say_next

if TYPE_CHECKING:
    from medsim.builds.output import Build


@command(
    app,
    BuildOptions,
    then=("sql", "eval", "split", "verify", "define", "study sample", "merge"),
    exit_codes=MAKING_EXIT_CODES,
)
def build(
    options: BuildOptions,
    *,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="Search only shard I of N; join shards with medsim merge.",
            rich_help_panel="Machine",
        ),
    ] = None,
    known: Annotated[
        bool, typer.Option("--list", help="List built-in names and formats, and exit.")
    ] = False,
    form: Format = "table",
) -> None:
    """Build sets of term pairs from a terminology, twenty by default, and print their sizes.

    Writes OUT with pairs/, terminology/, stats.parquet and manifest.json. An interrupted build
    leaves OUT as it was; the same command resumes it from .OUT.unfinished. With --shard, it makes
    only a part of the build, in OUT.shards, and prints its size. --list prints the built-in
    terminologies and the supported formats, how medsim recognises each, and where to get it.

    Example: medsim build hpo -o hpo
    """
    if known:
        from medsim.terminologies.sources import known_sources

        print_table(known_sources(), form)
        return
    if shard is None:
        from medsim.builds.build import build as run

        _show(call(run, options), form, options)
        return
    from medsim.builds.shards import build_shard

    if options.dask is not None:
        raise OptionError("--shard and --dask exclude each other: both distribute the search")
    print_table(build_shard(**options.values_for(ShardOptions), shard=shard), form)
    n_shards = shard.partition("/")[2]
    say_next(options, f"medsim merge {{out}}, when all {n_shards} shards are done")


@command(app, MergeOptions, then=("sql", "eval", "split", "verify"), exit_codes=MAKING_EXIT_CODES)
def merge(options: MergeOptions, *, form: Format = "table") -> None:
    """Join the shards of a build, and print the sizes of its sets.

    Writes OUT with the same rows as medsim build without shards, then removes the folder
    OUT.shards.

    Example: medsim merge hpo
    """
    from medsim.builds.shards import merge as run

    _show(call(run, options), form, options)


@command(app, WarmOptions, then=("build",))
def warm(options: WarmOptions) -> None:
    """Compile the search, so that the first build on a machine does not wait for it.

    Writes to the folder of compiled kernels, ~/.cache/medsim; use it to prepare a container image.
    Does nothing if the search is already compiled.

    Example: medsim warm
    """
    from medsim.builds.compiling import warm as run

    call(run, options)


@command(app, StatsOptions, then=("sql", "eval"))
def stats(options: StatsOptions, *, form: Format = "table") -> None:
    """Print the sizes and mean Levenshtein distances of a build's datasets.

    Writes nothing. It prints table 2 of Schulz and Juric (2020) for this build: each dataset, then
    its easy and hard parts. The size counts the positives and one strategy's negatives; multi_word
    is the share of terms with more than one word, in the last row for all datasets together. The
    view stats of medsim sql has more columns.

    Example: medsim stats hpo --format latex
    """
    from medsim.builds.output import open_build

    _show(open_build(options.out), form)


def _show(build: Build, form: str, options: BuildOptions | MergeOptions | None = None) -> None:
    from medsim.builds.stats import readable_table_2, table_2
    from medsim.core.opened import reading_output

    with reading_output(build):
        table = table_2(build)
    print_table(table, form, readable=readable_table_2)
    if options is not None:
        say_next(
            options,
            f"medsim sql {quoted(build.folder)} shows what can be queried",
            f"medsim eval {quoted(build.folder)} -e NAME=PATH -o RESULTS scores an embedding",
        )
