"""Describes benchmarks of words in context by the tables and figures of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.core.config import checked_threads
from medsim.core.options import folder_of, public
from medsim.wic import paper_tables
from medsim.wic.checks.benchmark_files import read_benchmark
from medsim.wic.options import WicStatsOptions
from medsim.wic.paper_tables import Described

if TYPE_CHECKING:
    import polars as pl

    from medsim.wic.checks.benchmark_files import BenchmarkFiles

_TABLES = {
    "1": paper_tables.corpora,
    "3": paper_tables.splits,
    "4": paper_tables.tokens,
    "5": paper_tables.seen,
    "figure-4": paper_tables.types,
}


@public(WicStatsOptions)
def describe_wic(options: WicStatsOptions) -> pl.DataFrame:
    """Return a table or the numbers of a figure of Rouhizadeh et al. (2024) for a benchmark.

    A folder of ``medsim wic build`` has all of them. Of published files only their instances are
    known, so columns on concepts are left out.

    Raises:
        InputError: a file cannot be read or has another layout.
        OptionError: the table needs what the benchmark does not say.
    """
    benchmark = read_benchmark(options)
    with benchmark.being_read():
        found = described(folder_of(options.data).name, benchmark)
        if options.table == "figure-3":
            from medsim.wic.repeats import curve  # noqa: PLC0415 — compiles kernels

            return curve(found, benchmark.language, checked_threads(options.threads))
        return _TABLES[options.table](found)


def described(name: str, benchmark: BenchmarkFiles) -> Described:
    """Return the instances and semantic types of a benchmark, as far as it has them."""
    made = benchmark.made
    instances = made.instances() if made else None
    return Described(
        name=name,
        splits={
            split: frame if instances is None else instances.filter(split=split)
            for split, frame in benchmark.splits.items()
        },
        types=made.semantic_types() if made else None,
        made=made,
    )
