"""The nearest names of a list, as a function, and as rows in a file."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.errors import OptionError
from medsim.core.files import new_file
from medsim.core.options import public
from medsim.core.output import check_file_free
from medsim.core.parquet import write_batches
from medsim.core.progress import progress_of
from medsim.core.tables import read_table
from medsim.neighbours.options import NearestOptions
from medsim.neighbours.pool import NEAREST, PAIRS, Pool, names_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator


@public(NearestOptions)
def nearest(options: NearestOptions) -> pl.DataFrame:
    """Return the nearest names of each query by Levenshtein distance, exactly.

    Without a pool, a list is compared with itself. Names are compared in lower case by default, and
    equal ones count once. ``Pool`` prepares a pool for several calls, and ``Pool.batches`` yields
    rows in batches.

    Returns:
        The columns query, rank (from 1), match and distance, in the order of the queries. With
        max_distance and without k, all pairs: query, match and distance; see ``Pool.pairs``.

    Raises:
        InputError: a file or build cannot be read.
        OptionError: an option is out of range, or a name is not a string.
    """
    return pl.concat(batches_of(options))


def batches_of(options: NearestOptions) -> Generator[pl.DataFrame]:
    """Yield the rows of ``nearest`` in batches, an empty one first."""
    progress = progress_of(options.progress)
    exclude: Any = options.exclude
    with progress.stage("read the names"):
        if isinstance(exclude, (str, Path)):
            exclude = read_table(Path(exclude), ("query", "match")).frame
        names = names_of(options.queries, "queries", options.query_column, progress.warn)
        queries, pool = None if options.pool is None else names, options.pool
        if queries is not None and not isinstance(pool, Pool):
            names = names_of(pool, "pool", options.pool_column, progress.warn)
        if not isinstance(pool, Pool):
            pool = Pool(names, match_case=options.match_case, threads=options.threads)
    limit = options.pairs_within
    yield pl.DataFrame(schema=NEAREST if limit is None else PAIRS)
    if limit is not None:
        with progress.stage(f"find the pairs of {len(pool):,} names"):
            yield pool.pairs(limit, queries, exclude=exclude)
        return
    with progress.stage(f"search {len(pool):,} names") as stage:
        stage.total(len(pool if queries is None else queries))
        yield from pool.batches(
            queries,
            options.k or 1,
            max_distance=options.max_distance,
            ties=options.ties,
            exclude=exclude,
            advance=stage.advance,
        )


_SUFFIXES = (".parquet", ".csv")


def write_rows(out: Path, batches: Iterator[pl.DataFrame], *, overwrite: bool) -> None:
    """Write batches of rows to a .parquet or .csv file, which appears complete or not at all.

    Raises:
        OptionError: the name of the file has another ending.
        OutputError: the file exists and must stay, or cannot be written.
    """
    if out.suffix.lower() not in _SUFFIXES:
        raise OptionError(
            f"`out` takes a file whose name ends in {' or '.join(_SUFFIXES)}, not {out}"
        )
    check_file_free(out, overwrite=overwrite)
    with new_file(out, overwrite=overwrite) as stream:
        first = next(batches)
        if out.suffix.lower() == ".parquet":
            write_batches(stream, first.schema, chain([first], batches))
            return
        stream.write(first.write_csv().encode())
        for batch in batches:
            stream.write(batch.write_csv(include_header=False).encode())
