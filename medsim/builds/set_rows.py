"""The rows of a set as numbers in the order of its file, and the texts that they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from polars.io.plugins import register_io_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from medsim.core.store import Store
    from medsim.kernels.types import Hashes, Ids, Rows

_BATCH_ROWS = 1 << 18  # whose texts are in memory at once
_DIGITS = np.array([f"{byte:02x}".encode() for byte in range(256)]).view(np.uint16)
_ID_DIGITS = 16


class PairKeys(NamedTuple):
    """The ids of pairs and their order.

    Attributes:
        ids: uint64[n_pairs], each the number that its id is in hexadecimal digits.
        order: int64[n_pairs], the rows of pairs in the order that is drawn from a seed.
    """

    ids: Hashes
    order: Rows


def pair_keys(
    term1_ids: Ids, term2_ids: Ids, terms: pl.Series, store: Store, seed: int
) -> PairKeys:
    """Return the ids and the order of pairs, made of some texts at a time.

    Args:
        term1_ids: int32[n_pairs], rows of ``terms``.
        term2_ids: int32[n_pairs], likewise.
        terms: the texts.
        store: where they are hashed.
        seed: of the order.
    """
    n_pairs = len(term1_ids)
    ids, places = np.empty(n_pairs, np.uint64), np.empty((2, n_pairs), np.uint64)
    for begin in range(0, n_pairs, _BATCH_ROWS):
        rows = slice(begin, begin + _BATCH_ROWS)
        texts = {
            "row": np.arange(begin, min(rows.stop, n_pairs)),
            "term1": terms.gather(term1_ids[rows]),
            "term2": terms.gather(term2_ids[rows]),
        }
        with store.lent("pair_text", pl.DataFrame(texts)):
            found = store.frame("builds/pairs/pair_key", seed=str(seed))
        at = found["row"].to_numpy()
        ids[at] = _number(found["pair_id"])
        for half, name in enumerate(("place", "second_place")):
            places[half, at] = found[name].to_numpy().byteswap()  # DuckDB begins at the last byte
    return PairKeys(ids, _order(places, ids, term1_ids, term2_ids))


def _order(places: Hashes, ids: Hashes, term1_ids: Ids, term2_ids: Ids) -> Rows:
    """Return the rows by both halves of their places, id and terms: int64[n_pairs].

    The first half alone decides, unless two pairs have the same.
    """
    order = np.argsort(places[0], kind="stable")
    first = places[0][order]
    if (first[1:] == first[:-1]).any():
        return np.lexsort((term2_ids, term1_ids, ids, places[1], places[0]))
    return order


def _number(pair_ids: pl.Series) -> Hashes:
    """Return the numbers that ids of pairs write: uint64[n_pairs]."""
    decoded = pair_ids.str.decode("hex").bin.reinterpret(dtype=pl.UInt64, endianness="big")
    return decoded.to_numpy()


def pair_id(ids: Hashes) -> pl.Series:
    """Return the column of ids of pairs, the numbers in hexadecimal digits."""
    digits = _DIGITS[ids.byteswap().view(np.uint8)]
    bounds = np.arange(len(ids) + 1) * _ID_DIGITS
    buffers = (pa.py_buffer(bounds), pa.py_buffer(digits))
    return pl.Series("pair_id", pa.LargeStringArray.from_buffers(len(ids), *buffers))


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRows:
    """The rows of one set.

    Attributes:
        numbers: a row per pair: pair (its id as a number), term1_id, term2_id, label, distance and
            positive_row, the positive that it is or stands against; maybe others, as they are in
            its file.
        positives: those of all sets.
        terms: the texts of term ids.
        bearers: the concepts of the terms of negatives, by term id.
        named: the values that are the same in every row, by column.
        schema: of its file.
    """

    numbers: pl.DataFrame
    positives: pl.DataFrame
    terms: pl.Series
    bearers: pl.Series
    named: Mapping[str, str]
    schema: pl.Schema

    def lazy(self) -> pl.LazyFrame:
        """Return the rows of its file, made some at a time when they are asked for."""

        def batches(
            columns: list[str] | None,
            predicate: pl.Expr | None,
            most: int | None,
            _batch_rows: int | None,
        ) -> Iterator[pl.DataFrame]:
            numbers = self.numbers if most is None else self.numbers.head(most)
            for begin in range(0, max(numbers.height, 1), _BATCH_ROWS):
                part = numbers.slice(begin, _BATCH_ROWS)
                made = [self._column(name, part) for name in columns or self.schema]
                frame = pl.DataFrame(made)
                yield frame if predicate is None else frame.filter(predicate)

        return register_io_source(batches, schema=self.schema)

    def with_concepts(self) -> pl.DataFrame:
        """Return the numbers and, as in its file, both concepts."""
        concepts = (self._column(name, self.numbers) for name in ("concept1", "concept2"))
        return self.numbers.with_columns(*concepts)

    def _column(self, name: str, part: pl.DataFrame) -> pl.Series:
        """Return a column of the file, of some rows."""
        made: dict[str, Callable[[], pl.Series]] = {
            "pair_id": lambda: pair_id(part["pair"].to_numpy()),
            "term1": lambda: self.terms.gather(part["term1_id"]),
            "term2": lambda: self.terms.gather(part["term2_id"]),
            "concept1": lambda: self.positives["concept1"].gather(part["positive_row"]),
            "concept2": lambda: self._second_concept(part),
        }
        if name in self.named:
            return pl.repeat(self.named[name], part.height, dtype=pl.String, eager=True).alias(name)
        return made[name]().alias(name) if name in made else part[name]

    def _second_concept(self, part: pl.DataFrame) -> pl.Series:
        own = self.positives["concept2"].gather(part["positive_row"])
        return own.zip_with(part["label"] == 1, self.bearers.gather(part["term2_id"]))
