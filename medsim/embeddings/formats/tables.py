"""Reads tables of words or terms and their vectors: Parquet, Arrow, Feather."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError
from medsim.core.parquet import scan_ipc_of_users, scan_of_users
from medsim.core.reading import ARROW, PARQUET, beginning_of, kind_of, reading, what_it_is
from medsim.embeddings import FORMATS, Format
from medsim.embeddings.formats.files import check_dimensions, itself, signature
from medsim.embeddings.formats.rows import FITTING, keyed
from medsim.embeddings.vocabulary import chosen_column, table_keys

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.embeddings import Request, TermVectors, WordVectors
    from medsim.embeddings.formats.rows import Keys
    from medsim.kernels.types import Rows, Vectors

_DESCRIBES = "table of words or terms and their vectors (.parquet, .arrow, .feather)"
_COLUMNS = ("vector", "embedding", "vectors", "embeddings")


def _recognises(path: Path) -> bool:
    return kind_of(signature(path)) in {PARQUET, ARROW}


def _load(path: Path, request: Request) -> WordVectors | TermVectors:
    """Return the vectors of the wanted words or terms; see ``medsim.embeddings.Load``.

    Its vectors are lists of numbers, in a column of one of the names ``_COLUMNS`` or in its only
    column of lists. A column of text named "term" has terms, any other has words; the option
    ``keys`` overrules that. Only the vectors that are wanted are collected.
    """
    with reading(path, _DESCRIBES):
        table = _scan(path)
        keys = table_keys(path, table, request.options.keys)
        request.options.check_fit(f"{_DESCRIBES}, rows of {keys.kind}", *FITTING[keys.kind])
        schema = table.collect_schema()
        column = chosen_column(path, schema, _COLUMNS, "lists of numbers", _is_vector)
        vectors = table.select(pl.col(column).cast(pl.List(pl.Float32)).alias("vector"))
        return keyed(keys, request, lambda rows: _taken(keys, vectors, rows))


def _taken(keys: Keys, vectors: pl.LazyFrame, rows: Rows) -> Vectors:
    n_dimensions = vectors.head(1).select(pl.col("vector").list.len()).collect().item() or 0
    check_dimensions(keys.path, n_dimensions)
    wanted = pl.LazyFrame({"row": rows}, schema={"row": pl.UInt32})
    taken = (
        vectors.with_row_index("row")
        .join(wanted, on="row", how="semi")
        .sort("row")
        .collect(engine="streaming")
    )["vector"]
    sizes = taken.list.len().fill_null(0).to_numpy()
    if (sizes != n_dimensions).any():
        at = int((sizes != n_dimensions).argmax())
        raise _fault(keys, rows[at], f"{sizes[at]:,} numbers; the first row has {n_dimensions:,}")
    flat = taken.explode()
    if len(rows) and flat.null_count():
        at = int(flat.is_null().arg_max() or 0) // n_dimensions
        raise _fault(keys, rows[at], "a value that is null")
    return flat.to_numpy().reshape(len(rows), n_dimensions)


def _fault(keys: Keys, row: int, has: str) -> InputError:
    key = keys.values[row]
    return InputError(f"{keys.path}: the vector of {key!r}, row {row + 1:,}, has {has}")


def _is_vector(kind: pl.DataType) -> bool:
    return isinstance(kind, (pl.List, pl.Array)) and kind.inner.is_numeric()


def _scan(path: Path) -> pl.LazyFrame:
    beginning = beginning_of(path)
    if (kind := kind_of(beginning)) is PARQUET:
        return scan_of_users(path)
    if kind is ARROW:
        return scan_ipc_of_users(path)
    raise InputError(f"{path} is not a Parquet or Arrow file: it {what_it_is(beginning)}")


FORMATS.register(
    "table", Format(describes=_DESCRIBES, recognises=_recognises, files=itself, load=_load)
)
