"""Words or terms and their vectors in mappings, gensim's keyed vectors, frames and arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from medsim.core.errors import InputError
from medsim.core.reading import reading
from medsim.embeddings import TERMS, WORDS
from medsim.embeddings.formats.files import check_dimensions
from medsim.embeddings.formats.rows import Keys
from medsim.embeddings.numbers import as_matrix, single
from medsim.embeddings.vocabulary import COLUMNS, chosen_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.embeddings.given import Embedding
    from medsim.kernels.types import Vectors

_VECTORS = ("vector", "embedding", "vectors", "embeddings")


def gives_of(given: Embedding, of: str) -> str | None:
    """Return whether an object has vectors of words or of terms, where it says so itself."""
    if given.form != "frame":
        return given.kind
    name = _key_column(_polars(given.source, of), of)
    return TERMS if name.lower() == "term" else WORDS


def table_of(given: Embedding, kind: str, of: str, *, chosen: bool) -> tuple[Keys, Vectors]:
    """Return the words or terms of an object, and their vectors: [n_keys, n_dimensions].

    Raises:
        InputError: they are not, or do not fit each other; the message begins with ``of``.
    """
    with reading(of, "words or terms and their vectors"):
        values, vectors = _parts_of(given, of)
    if given.form == "mapping" and not chosen:
        _check_words(values, of)
    if not values:
        raise InputError(f"{of} has no {kind}")
    found = as_matrix(vectors, of)
    if len(found) != len(values):
        raise InputError(f"{of} has {len(values):,} {kind} for {len(found):,} rows of vectors")
    check_dimensions(of, found.shape[1])
    if wrong := next((key for key in values if not isinstance(key, str)), None):
        raise InputError(f"{of} has {wrong!r} among its {kind}, which is no text")
    return Keys(path=of, values=values, kind=kind), single(found)


def _parts_of(given: Embedding, of: str) -> tuple[list[Any], Any]:
    """Return the words or terms of an object, and its vectors as it has them."""
    match given.form:
        case "mapping":
            return list(given.source), _rows_of_mapping(given.source, of)
        case "keyed vectors":
            index = given.source.key_to_index
            values = sorted(index, key=index.__getitem__)
            if [index[value] for value in values] != list(range(len(values))):
                raise InputError(f"{of} has a key_to_index whose rows are not 0, 1, 2 and so on")
            return values, given.source.vectors
        case "frame":
            return _of_frame(_polars(given.source, of), of)
        case _:
            return list(given.keys or ()), given.source


def _check_words(keys: Sequence[object], of: str) -> None:
    """Raise InputError if words may well be whole terms."""
    for key in keys:
        if isinstance(key, str) and len(key.split()) > 1:
            raise InputError(
                f"{of} has the key {key!r}, and it does not say whether keys are words or terms; "
                "wrap it as medsim.Embedding(mapping, keys='terms'), or keys='words'"
            )


def _rows_of_mapping(mapping: Any, of: str) -> Any:
    """Return the vectors of a mapping; InputError names the first that is not as the others."""
    sizes: dict[tuple[int, ...], object] = {}
    for key, value in mapping.items():
        size = getattr(value, "shape", None)
        if size is None:
            size = (len(value),) if isinstance(value, (list, tuple)) else ()
        sizes.setdefault(tuple(size), key)
        if len(sizes) > 1:
            (one, key1), (other, key2) = list(sizes.items())[:2]
            raise InputError(
                f"{of} has vectors of different shapes: {key1!r} of {one}, {key2!r} of {other}"
            )
    return list(mapping.values())


def _polars(frame: Any, of: str) -> pl.DataFrame:
    """Return a frame as one of Polars; the index of pandas is a column if it has the words.

    That is so if it has texts, and is named as such a column or no column is.
    """
    if isinstance(frame, pl.DataFrame):
        return frame
    with reading(of, "a frame"):
        if isinstance(frame, pl.LazyFrame):
            return frame.collect()
        if frame.index.nlevels > 1:
            raise InputError(f"{of} has an index of several levels; make it columns")
        is_named = frame.index.name in COLUMNS
        is_wanted = is_named or not any(str(name).lower() in COLUMNS for name in frame.columns)
        if is_wanted and any(isinstance(one, str) for one in frame.index):
            frame = frame.reset_index(names=frame.index.name or "word")
        return pl.DataFrame({str(name): _column(frame[name]) for name in frame.columns})


def _column(column: Any) -> pl.Series:
    """Return a column of pandas."""
    values = column.to_numpy()
    if values.dtype.kind in "fiu":
        return pl.Series(values)
    found = [one.tolist() if isinstance(one, np.ndarray) else one for one in column.tolist()]
    missing = column.isna()
    return pl.Series(
        [None if is_null else one for one, is_null in zip(found, missing, strict=True)],
        strict=False,
    )


def _key_column(frame: pl.DataFrame, of: str) -> str:
    return chosen_column(of, frame.schema, COLUMNS, "text", lambda one: one == pl.String)


def _of_frame(frame: pl.DataFrame, of: str) -> tuple[list[str], Any]:
    """Return the words or terms of a frame, and its vectors: a column of them, or of a number each.

    Raises:
        InputError: a value is null, vectors are of different sizes, or there are none.
    """
    name = _key_column(frame, of)
    keys = frame[name]
    if keys.null_count():
        raise InputError(f"{of}: row {int(keys.is_null().arg_max() or 0) + 1:,} has no {name}")
    if keys.is_empty():
        return [], None
    lists = [column for column, kind in frame.schema.items() if _is_vector(kind)]
    if not lists:
        numbers = frame.select(pl.selectors.numeric())
        if nulls := [column for column in numbers.columns if numbers[column].null_count()]:
            raise InputError(f"{of}: column {nulls[0]!r} has a null, where numbers are due")
        return keys.to_list(), numbers.to_numpy()
    column = chosen_column(of, frame.schema, _VECTORS, "lists of numbers", _is_vector)
    vectors = frame[column].cast(pl.List(pl.Float64))
    sizes = vectors.list.len().fill_null(0)
    if (sizes != sizes[0]).any():
        at = int((sizes != sizes[0]).arg_max() or 0)
        raise InputError(
            f"{of}: the vector of {keys[at]!r} has {sizes[at]:,} numbers; the first row has "
            f"{sizes[0]:,}"
        )
    flat = vectors.explode() if sizes[0] else pl.Series([], dtype=pl.Float64)
    if flat.null_count():
        at = int(flat.is_null().arg_max() or 0) // sizes[0]
        raise InputError(f"{of}: the vector of {keys[at]!r} has a value that is null")
    return keys.to_list(), flat.to_numpy().reshape(len(keys), sizes[0])


def _is_vector(kind: Any) -> bool:
    return isinstance(kind, (pl.List, pl.Array)) and kind.inner.is_numeric()
