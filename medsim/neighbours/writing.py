"""Writes rows of any number to a single file."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from medsim.core.errors import OptionError, OutputError
from medsim.core.files import new_file
from medsim.core.parquet import write_batches
from medsim.core.places import check_file_free

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl

SUFFIXES = (".parquet", ".csv")


def write_rows(out: Path, batches: Iterator[pl.DataFrame], *, overwrite: bool) -> None:
    """Write batches of rows to a .parquet or .csv file, which appears complete or not at all.

    Raises:
        OptionError: the name of the file has another ending.
        OutputError: the file exists and must stay, or cannot be written.
    """
    if out.suffix.lower() not in SUFFIXES:
        raise OptionError(
            f"`out` takes a file whose name ends in {' or '.join(SUFFIXES)}, not {out}"
        )
    check_file_free(out, overwrite=overwrite)
    try:
        with new_file(out, overwrite=overwrite) as stream:
            first = next(batches)
            if out.suffix.lower() == ".parquet":
                write_batches(stream, first.schema, chain([first], batches))
                return
            stream.write(first.write_csv().encode())
            for batch in batches:
                stream.write(batch.write_csv(include_header=False).encode())
    except OSError as error:
        raise OutputError(f"cannot write {out}: {error.strerror or error}") from error
