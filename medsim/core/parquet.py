"""Parquet files by their paths, which are never patterns, addresses or homes of users."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import polars as pl
from polars.io.plugins import register_io_source

from medsim.core.reading import open_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

_BATCH_ROWS = 1 << 14
_COMPARED_ROWS = 1 << 18
_COMPRESSION = 1  # of Zstandard: a third less time than its usual level takes, for 7% more bytes


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the rows of a file, without the columns that folders name."""
    rows = scan_parquet(path)
    return (rows if columns is None else rows.select(columns)).collect()


def scan_parquet(path: Path) -> pl.LazyFrame:
    """Return the rows of a file, read when they are asked for, without columns of folders."""
    # Without its options, Polars has Python make them, and panics if an interrupt comes meanwhile.
    options = pl.ScanCastOptions()
    return pl.scan_parquet(
        path.absolute(), hive_partitioning=False, glob=False, cast_options=options
    )


def checked_frame(rows: Any) -> pl.DataFrame:
    """Return a table or a batch of Arrow after looking at all its values.

    Polars takes it for granted that text is UTF-8 and that lists lie within their values.

    Raises:
        pyarrow.ArrowInvalid: a value is not as it must be.
    """
    rows.validate(full=True)
    return pl.DataFrame(rows)


def scan_of_users(path: Path) -> pl.LazyFrame:
    """Return the rows of a user's Parquet file, read when they are asked for.

    Arrow reads them, some at a time, since Polars ends the process at some damaged pages.
    """
    return _scan_by_arrow(path, _parquet_batches)


def scan_ipc_of_users(path: Path) -> pl.LazyFrame:
    """Return the rows of a user's Arrow or Feather file, as ``scan_of_users`` does of Parquet."""
    return _scan_by_arrow(path, _ipc_batches)


def _scan_by_arrow(
    path: Path, batches: Callable[[IO[bytes], list[str] | None], Iterator[Any]]
) -> pl.LazyFrame:
    """Return the rows of a file that Arrow reads in batches, the first of which is empty."""

    def rows(
        columns: list[str] | None,
        predicate: pl.Expr | None,
        most: int | None,
        _batch_rows: int | None,
    ) -> Iterator[pl.DataFrame]:
        with open_file(path) as stream:
            for batch in batches(stream, columns):
                frame = checked_frame(batch)
                if most is not None:
                    frame = frame.head(most)
                    most -= frame.height
                yield frame if predicate is None else frame.filter(predicate)
                if most == 0:
                    return

    with open_file(path) as stream:
        schema = pl.DataFrame(next(batches(stream, None))).schema
    return register_io_source(rows, schema=schema)


def _parquet_batches(stream: IO[bytes], columns: list[str] | None) -> Iterator[Any]:
    """Yield the rows of a Parquet file in batches, an empty one first."""
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 — few files of users are Parquet

    with ParquetFile(stream) as file:
        empty = file.schema_arrow.empty_table()
        yield empty if columns is None else empty.select(columns)
        yield from file.iter_batches(_BATCH_ROWS, columns=columns)


def _ipc_batches(stream: IO[bytes], columns: list[str] | None) -> Iterator[Any]:
    """Yield the rows of an Arrow file in its batches, an empty one first."""
    from pyarrow import ipc  # noqa: PLC0415 — few files of users are Arrow

    with ipc.open_file(stream) as file:
        empty = file.schema.empty_table()
        yield empty if columns is None else empty.select(columns)
        for number in range(file.num_record_batches):
            batch = file.get_batch(number)
            yield batch if columns is None else batch.select(columns)


def scan_files(folder: Path, pattern: str) -> pl.LazyFrame:
    """Return the rows of all files of a pattern below a folder, in order of path.

    Columns that folders of the pattern name, as in ``dataset=fsn_syn``, come last. A column that
    the first file has and others lack is null in these.

    Raises:
        FileNotFoundError: there is no such file.
    """
    found = sorted(folder.glob(pattern), key=str)
    if not found:
        raise FileNotFoundError(f"no files {pattern}")
    scans = []
    for path in found:
        parts = (part.partition("=") for part in path.relative_to(folder).parent.parts)
        named = [pl.lit(value, pl.String).alias(name) for name, equals, value in parts if equals]
        scans.append(scan_parquet(path).with_columns(named))
    return pl.concat(scans, how="diagonal")


def write_parquet(
    rows: pl.DataFrame | pl.LazyFrame, path: Path, metadata: Mapping[str, str]
) -> None:
    """Write rows to a file, lazy ones as they come."""
    known = dict(metadata)
    rows.lazy().sink_parquet(path.absolute(), metadata=known, compression_level=_COMPRESSION)


def holds(path: Path, rows: pl.DataFrame | pl.LazyFrame) -> bool:
    """Return whether a file holds rows; lazy ones are compared some at a time."""
    if isinstance(rows, pl.DataFrame):
        return read_parquet(path).equals(rows)
    found, n_rows = scan_parquet(path), 0
    for part in rows.collect_batches(chunk_size=_COMPARED_ROWS, maintain_order=True):
        if not found.slice(n_rows, part.height).collect().equals(part):
            return False
        n_rows += part.height
    return n_rows == int(found.select(pl.len()).collect().item())


def write_lazily(rows: pl.LazyFrame, path: Path, metadata: Mapping[str, str]) -> int:
    """Write rows to a file as they come, and return their number."""
    write_parquet(rows, path, metadata)
    return int(scan_parquet(path).select(pl.len()).collect().item())


def write_batches(
    path: Path, schema: Mapping[str, pl.DataType], batches: Iterable[pl.DataFrame]
) -> int:
    """Write rows to a file as they come, and return how many there are.

    Text is of Arrow's type string, which every reader has, where Polars writes large strings.

    Args:
        path: of the file.
        schema: its columns; batches may have others.
        batches: the rows, some at a time.
    """
    import pyarrow as pa  # noqa: PLC0415 — few files are written so
    from pyarrow.parquet import ParquetWriter  # noqa: PLC0415 — as above

    known = {pl.String(): pa.string(), pl.Int64(): pa.int64()}
    columns = pa.schema([(name, known[dtype]) for name, dtype in schema.items()])
    n_rows = 0
    with ParquetWriter(path.absolute(), columns, compression="zstd") as file:
        for batch in batches:
            file.write_table(batch.select(list(schema)).to_arrow().cast(columns))
            n_rows += batch.height
    return n_rows
