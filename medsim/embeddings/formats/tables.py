"""Rows of vectors for words or terms, and tables of both (Parquet, Arrow, CSV, JSON lines)."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from medsim.core.errors import InputError
from medsim.core.parquet import scan_ipc_of_users, scan_of_users
from medsim.core.reading import (
    ARROW,
    PARQUET,
    beginning_of,
    check_file,
    decoded,
    file_kind,
    is_left_behind,
    json_lines,
    open_file,
    parsed_json,
    read_json,
    reading,
    what_it_is,
)
from medsim.core.terms import lowered
from medsim.embeddings import formats
from medsim.embeddings.formats.word2vec import unpacked_start
from medsim.embeddings.options import TOKEN_OPTIONS
from medsim.kernels.types import Numbers, Rows, Vectors

FITTING: dict[str, tuple[str, ...]] = {
    formats.WORDS: ("keys", *TOKEN_OPTIONS),
    formats.TERMS: ("keys", "case", "language"),
}
"""The options that fit rows of words and rows of terms."""

_DESCRIBES = "table of words or terms and their vectors (.parquet, .arrow, .feather, .csv, .jsonl)"
_KEYS = ("word", "token", "term", "index")
_VECTORS = ("vector", "embedding", "vectors", "embeddings")
_JSON_KEYS = ("word", "token", "term", "text")
_JSON_ROW = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{[^\n]*"(vector|embedding)s?"\s*:')
_NUMBER = rb" *+[-+]?+[0-9]++(?:\.[0-9]*+)?+(?:[eE][-+]?+[0-9]++)?+ *+"
_CSV_ROW = re.compile(
    rb'(?:"(?:[^"\n]|"")*+"|[^",;\n]*+)(?P<sign>[,;])%s(?:(?P=sign)%s)++\r?(?=\n|\Z)'
    % (_NUMBER, _NUMBER)
)
_CSV_HEADER = re.compile(rb'(?i)("?)(word|token|term|text|index|)\1[,;]"?(0"?[,;]"?1|1"?[,;]"?2)\b')
_LISTS = (pl.List, pl.Array)
_SUFFIXES = (".txt", ".json", ".parquet", ".csv", ".tsv")
_ACCEPTED = ", ".join(_SUFFIXES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """The words or terms of an embedding's rows, and the file or object that contains them.

    Their ``kind`` is ``WORDS`` or ``TERMS``.
    """

    path: Path | str
    values: Sequence[str]
    kind: str


def look_up(
    keys: Keys, request: formats.Request, take: Callable[[Rows], Numbers]
) -> formats.WordVectors | formats.TermVectors:
    """Return the vectors of the wanted words, or of the terms.

    ``take`` returns the vectors of some rows, int64[n], as numbers[n, n_dimensions].

    A term gets the row with its text, or with ``case=fallback`` the first row with the text in
    another case. With ``case=lower`` case is ignored, with ``case=keep`` it must match. If there is
    no such row, underscores count as spaces. Keys may be named as in ConceptNet.
    """
    prefix = f"/c/{request.options.language}/"
    keys = replace(keys, values=[key.removeprefix(prefix) for key in keys.values])
    if keys.kind == formats.TERMS:
        return _terms(keys, request, take)
    encoded = [key.encode("utf-8", "surrogatepass") for key in keys.values]
    wanted = formats.Wanted(request)
    rows = [row for row, key in enumerate(encoded) if key in wanted]
    first, vectors = _distinct(keys, rows, take)
    return formats.WordVectors(
        words=list(first),
        vectors=vectors[list(first.values())],
        in_vocabulary=np.ones(len(first), np.bool_),
        n_vocabulary=len(keys.values),
        vocabulary=b"\n".join(encoded),
    )


def _terms(
    keys: Keys, request: formats.Request, take: Callable[[Rows], Numbers]
) -> formats.TermVectors:
    terms, case = request.terms, request.options.case
    wanted = frozenset(terms if case != "lower" else ())
    exact_rows = [row for row, key in enumerate(keys.values) if key in wanted]
    exact = {keys.values[row]: row for row in reversed(exact_rows)}
    row_of = np.array([exact.get(term, -1) for term in terms], np.int64)
    fold = list if case == "keep" else lowered
    texts, folded_keys = fold(terms), fold(keys.values)
    for _ in range(2):  # unchanged, and with spaces for underscores
        missing = frozenset(text for text, row in zip(texts, row_of, strict=True) if row < 0)
        folded: dict[str, int] = {}
        for row, key in enumerate(folded_keys):
            if key in missing:
                folded.setdefault(key, row)
        rest = np.array([folded.get(text, -1) for text in texts], np.int64)
        row_of = np.where(row_of < 0, rest, row_of)
        texts = [text.replace("_", " ") for text in texts]
        folded_keys = [key.replace("_", " ") for key in folded_keys]
    covered = row_of >= 0
    rows = sorted({*exact_rows, *row_of[covered].tolist()})
    _, taken = _distinct(keys, rows, take)
    vectors = np.zeros((len(terms), taken.shape[1]), np.float32)
    vectors[covered] = taken[np.searchsorted(rows, row_of[covered])]
    return formats.TermVectors(vectors=vectors, covered=covered, n_vocabulary=len(keys.values))


def _distinct(
    keys: Keys, rows: Sequence[int], take: Callable[[Rows], Numbers]
) -> tuple[dict[str, int], Vectors]:
    """Return the vectors of ascending rows, and the first place of each key among them.

    Raises:
        InputError: a key has several vectors, or one that is not finite.
    """
    with np.errstate(over="ignore"):  # too large values become infinite, which is an error
        vectors = take(np.array(rows, np.int64)).astype(np.float32, copy=False)
    if (at := formats.first_not_finite(vectors)) is not None:
        raise _fault(keys, rows[at], "is not finite as float32")
    first: dict[str, int] = {}
    for at, row in enumerate(rows):
        before = first.setdefault(key := keys.values[row], at)
        if before != at and (vectors[before] != vectors[at]).any():
            places = f"row {rows[before] + 1:,} and again in row {row + 1:,}, with another vector"
            raise InputError(f"{keys.path}: {key!r} is in {places}")
    return first, vectors


def _fault(keys: Keys, row: int, fault: str) -> InputError:
    return InputError(f"{keys.path}: the vector of {keys.values[row]!r}, row {row + 1:,}, {fault}")


def vocabularies_of(array: Path) -> list[Path]:
    """Return the files that may name the rows of an array.

    These are the files with its name and another suffix, or all in its folder if there are none.
    """
    siblings = sorted(
        file
        for file in array.parent.iterdir()
        if file.suffix.lower() in _SUFFIXES and file.is_file() and not is_left_behind(file.name)
    )
    return [file for file in siblings if file.stem == array.stem] or siblings


def find_vocabulary(array: Path, given: Path | None) -> Path:
    """Return the file that names the rows of an array."""
    if given is not None:
        return given
    files = vocabularies_of(array)
    if len(files) == 1:
        return files[0]
    several = ", ".join(file.name for file in files)
    fault = f"several could ({several})" if files else f"its folder has none ({_ACCEPTED})"
    raise InputError(f"{array} needs a file that names its rows; {fault}; add ,vocabulary=FILE")


def read_vocabulary(path: Path, keys: str | None) -> Keys:
    """Return the words or terms of a file, in order of row.

    A text file has one per line; a JSON file is a list of them, or an object with the row of each,
    counted from 0; a table has them in a column with a name in ``_KEYS``, or in its only column of
    text. A column named "term" has terms, any other has words; ``keys`` overrides that.
    """
    with reading(path, "a vocabulary"):
        check_file(path)
        match path.suffix.lower():
            case ".txt":
                return Keys(path=path, values=_lines(path), kind=keys or formats.WORDS)
            case ".json":
                return Keys(path=path, values=_of_json(path), kind=keys or formats.WORDS)
            case ".parquet":
                return _table_keys(path, scan_of_users(path), keys)
            case ".csv" | ".tsv" as suffix:
                table = pl.scan_csv(
                    path.absolute(),
                    glob=False,
                    separator="\t" if suffix == ".tsv" else ",",
                    quote_char=None if suffix == ".tsv" else '"',
                    infer_schema=False,
                    empty_string_is_null=False,
                )
                return _table_keys(path, table, keys)
    raise InputError(f"{path} is not a vocabulary ({_ACCEPTED})")


def _lines(path: Path) -> list[str]:
    with open_file(path) as stream:
        lines = decoded(stream.read(), path).removesuffix("\n").split("\n")
    return [line.removesuffix("\r") for line in lines]


def _of_json(path: Path) -> list[str]:
    values = content = read_json(path)
    if isinstance(content, dict):
        rows = list(content.values())
        if not all(type(row) is int for row in rows) or sorted(rows) != list(range(len(rows))):
            raise InputError(f"{path} does not name each of the rows 0 to {len(rows) - 1:,}")
        values = sorted(content, key=content.__getitem__)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InputError(f"{path} is not a list of words or an object of words and rows")
    return values


def _table_keys(path: Path, table: pl.LazyFrame, keys: str | None) -> Keys:
    """Return the words or terms of a table; see ``read_vocabulary``."""
    schema = table.collect_schema()
    name = _chosen_column(path, schema, _KEYS, "text", lambda dtype: dtype == pl.String)
    n_rows, size = table.select(pl.len()).collect().item(), path.stat().st_size
    if n_rows > size:  # rows without data take no bytes
        raise InputError(f"{path} claims {n_rows:,} rows in {size:,} bytes")
    values = table.select(name).collect().to_series()
    if values.is_empty():
        raise InputError(f"{path} has no rows")
    if values.null_count():
        row = int(values.is_null().arg_max() or 0)
        raise InputError(f"{path}: row {row + 1:,} has no {name}")
    kind = keys or (formats.TERMS if name.lower() == "term" else formats.WORDS)
    return Keys(path=path, values=values.to_list(), kind=kind)


def _chosen_column(
    path: Path, schema: pl.Schema, names: tuple[str, ...], kind: str, fits: Callable[[Any], bool]
) -> str:
    """Return the first column of a type with one of some names, or the only one of that type."""
    fitting = [name for name, dtype in schema.items() if fits(dtype)]
    named = [column for name in names for column in fitting if column.lower() == name]
    chosen = named[:1] or fitting
    if len(chosen) != 1:
        columns = ", ".join(f"{name} ({dtype})" for name, dtype in schema.items())
        expected = f"one column of {kind}, or one named {', '.join(names)}"
        raise InputError(f"{path} has the columns {columns}; expected {expected}")
    return chosen[0]


def _load(path: Path, request: formats.Request) -> formats.WordVectors | formats.TermVectors:
    """Return the vectors of the wanted words or terms; see ``formats.LoadVectors``.

    Vectors are lists of numbers, in a column with a name in ``_VECTORS`` or in the only column of
    lists. If no column has lists, the columns of numbers whose names end in a digit are the
    dimensions. A column of text named "term" has terms, any other has words; the option ``keys``
    overrides that. Only the requested vectors are collected. In JSON lines "text" has terms, too.
    In CSV the first column has the words or terms, and the others are the dimensions.
    """
    beginning = beginning_of(path)
    if (kind := file_kind(beginning)) in {PARQUET, ARROW}:
        table = scan_of_users(path) if kind is PARQUET else scan_ipc_of_users(path)
    elif _is_json(path):
        table = _read_json(path)
    elif row := _csv_row(path):
        table = _read_csv(path, row)
    else:
        raise InputError(f"{path} is not such a table: it {what_it_is(beginning)}")
    keys = _table_keys(path, table, request.options.keys)
    request.options.check_fit(f"{_DESCRIBES}, rows of {keys.kind}", *FITTING[keys.kind])
    schema = table.collect_schema()
    numbered = [name for name, kind in schema.items() if kind.is_numeric() and name[-1:].isdigit()]
    if len(numbered) > 1 and not any(isinstance(kind, _LISTS) for kind in schema.values()):
        vector = pl.concat_list(pl.col(numbered).cast(pl.Float32))
    else:
        column = _chosen_column(
            path,
            schema,
            _VECTORS,
            "lists of numbers",
            lambda kind: isinstance(kind, _LISTS) and kind.inner.is_numeric(),
        )
        vector = pl.col(column).cast(pl.List(pl.Float32))
    vectors = table.select(vector.alias("vector"))
    return look_up(keys, request, lambda rows: _vectors(keys, vectors, rows))


def _is_json(path: Path) -> bool:
    return _JSON_ROW.match(unpacked_start(path)) is not None


def _csv_row(path: Path) -> re.Match[bytes] | None:
    """Return the first row of CSV, in the first or the second line; None if the file has none."""
    data = unpacked_start(path).removeprefix(BOM_UTF8)
    first = None if _CSV_HEADER.match(data) else _CSV_ROW.match(data)
    return first or _CSV_ROW.match(data, data.find(b"\n") + 1)


def _read_csv(path: Path, row: re.Match[bytes]) -> pl.LazyFrame:
    """Return a table of CSV: words or terms, then numbers, with or without a header."""
    data = unpacked_start(path, -1).removeprefix(BOM_UTF8)
    sign, has_header = row["sign"].decode(), row.start() > 0
    table = pl.read_csv(data, separator=sign, has_header=has_header, infer_schema=False)
    key, *columns = table.columns
    numbers = pl.col(columns).str.strip_chars().cast(pl.Float32, strict=False)
    word = pl.col(key).alias((has_header and key) or "word")
    return table.lazy().select(word, vector=pl.concat_list(numbers))


def _read_json(path: Path) -> pl.LazyFrame:
    """Return a table of JSON lines, such as {"term": "heart", "vector": [0.5, 1]}."""
    with reading(path, "JSON lines"):
        data = unpacked_start(path, -1).removeprefix(BOM_UTF8)
        (first,) = json_lines(path, data.lstrip().partition(b"\n")[0])
        key = next((name for name in _JSON_KEYS if name in first), "word")
        vector = next((name for name in _VECTORS if name in first), "vector")
        try:
            rows = pl.read_ndjson(data, schema={key: pl.String, vector: pl.List(pl.Float32)})
        except pl.exceptions.PolarsError:
            _raise_json_fault(path, data, vector)
            raise
    return rows.lazy().rename({"text": "term"}, strict=False)


def _raise_json_fault(path: Path, data: bytes, vector: str) -> None:
    """Raise InputError for the first line without an object whose vector has finite numbers."""
    for number, line in enumerate(data.split(b"\n"), start=1):
        place = f"{path}: line {number:,}"
        row = parsed_json(place, line) if line.strip() else {vector: []}
        numbers = row.get(vector) if isinstance(row, dict) else None
        if not isinstance(numbers, list):
            raise InputError(f"{place} has no list {vector!r}")
        for value in numbers:
            if not isinstance(value, int | float) or not isfinite(value):
                raise InputError(f"{place} has {value!r} instead of a number")


def _vectors(keys: Keys, vectors: pl.LazyFrame, rows: Rows) -> Vectors:
    """Return the vectors of some rows of a table; only these are collected."""
    n_dimensions = vectors.head(1).select(pl.col("vector").list.len()).collect().item() or 0
    formats.check_dimensions(keys.path, n_dimensions)
    is_wanted = pl.col("row").is_in(pl.Series(rows, dtype=pl.UInt32).implode())
    wanted = vectors.with_row_index("row").filter(is_wanted)
    taken = wanted.collect(engine="streaming")["vector"]
    sizes = taken.list.len().fill_null(0).to_numpy()
    if (sizes != n_dimensions).any():
        at = int((sizes != n_dimensions).argmax())
        fault = f"has {sizes[at]:,} numbers; the first row has {n_dimensions:,}"
        raise _fault(keys, rows[at], fault)
    flat = taken.explode()
    if len(rows) and flat.null_count():
        at = int(flat.is_null().arg_max() or 0) // n_dimensions
        raise _fault(keys, rows[at], "has a missing value")
    return flat.to_numpy().reshape(len(rows), n_dimensions)


formats.EmbeddingFormat(
    describes=_DESCRIBES,
    recognises=lambda path: (
        file_kind(beginning_of(path)) in {PARQUET, ARROW}
        or _is_json(path)
        or _csv_row(path) is not None
    ),
    load=_load,
).register("table")
