"""Parquet files by their paths, which are never patterns, addresses or homes of users."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the rows of a file, without the columns that folders name."""
    chosen = None if columns is None else list(columns)
    return pl.read_parquet(path.absolute(), columns=chosen, hive_partitioning=False, glob=False)


def scan_parquet(path: Path) -> pl.LazyFrame:
    """Return the rows of a file, read when they are asked for, without columns of folders."""
    return pl.scan_parquet(path.absolute(), hive_partitioning=False, glob=False)


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
    return pl.concat([_with_folders(folder, path) for path in found], how="diagonal")


def _with_folders(folder: Path, path: Path) -> pl.LazyFrame:
    named = (part.partition("=") for part in path.relative_to(folder).parent.parts if "=" in part)
    return scan_parquet(path).with_columns(
        pl.lit(value, pl.String).alias(name) for name, _, value in named
    )


def write_parquet(frame: pl.DataFrame, path: Path, metadata: Mapping[str, str]) -> None:
    """Write rows to a file."""
    frame.write_parquet(path.absolute(), metadata=dict(metadata))
