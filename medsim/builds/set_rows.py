"""The rows of a set as numbers in the order of its file, and the texts that they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from polars.io.plugins import register_io_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from medsim.builds.positives import Positives
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
        ids[rows] = _number(found["pair_id"])
        for half, name in enumerate(("place", "second_place")):
            places[half, rows] = found[name].to_numpy().byteswap()  # DuckDB begins at the last byte
    return PairKeys(ids, _order(places, ids, term1_ids, term2_ids))


def _order(places: NDArray[np.uint64], ids: Hashes, term1_ids: Ids, term2_ids: Ids) -> Rows:
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
class Names:
    """The texts and the concepts of a terminology's terms, and numbers of those.

    Attributes:
        terms: the texts, by term id.
        concepts: the concepts that have descriptions, by number.
        bearers: int32[n_terms], the concept of each term in a negative.
    """

    terms: pl.Series
    concepts: pl.Series
    bearers: Ids

    @classmethod
    def of(cls, derived: Positives, store: Store) -> Names:
        """Return those of a terminology; the store has the table bearer."""
        bearers = store.table("bearer").sort("term_id")["concept_id"]
        return cls(
            terms=derived.terms["term"],
            concepts=derived.concepts,
            bearers=numbers_of(bearers, derived.concepts).to_numpy(),
        )


def numbers_of(names: pl.Series, known: pl.Series) -> pl.Series:
    """Return the rows of names among distinct known ones, null for others: int32[n_names]."""
    rows = pl.DataFrame({"name": known, "row": np.arange(len(known), dtype=np.int32)})
    own = pl.DataFrame({"name": names})
    return own.join(rows, on="name", how="left", maintain_order="left")["row"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRows:
    """The rows of one set.

    Attributes:
        numbers: a row per pair: term1_id, term2_id, label, distance, concept1 and concept2 by their
            numbers; pair, its id as a number; and what else its file has.
        names: the texts for numbers.
        schema: of its file.
    """

    numbers: pl.DataFrame
    names: Names
    schema: pl.Schema

    def rows(self) -> pl.DataFrame | pl.LazyFrame:
        """Return the rows of its file; many are made some at a time, whenever they are read."""
        if self.numbers.height <= _BATCH_ROWS:
            return self._texts(self.numbers, list(self.schema))

        def batches(
            columns: list[str] | None,
            predicate: pl.Expr | None,
            most: int | None,
            _batch_rows: int | None,
        ) -> Iterator[pl.DataFrame]:
            numbers = self.numbers if most is None else self.numbers.head(most)
            for part in numbers.iter_slices(_BATCH_ROWS):
                frame = self._texts(part, columns or list(self.schema))
                yield frame if predicate is None else frame.filter(predicate)

        return register_io_source(batches, schema=self.schema)

    def _texts(self, part: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
        """Return columns of the file, of some rows."""
        terms, concepts = self.names.terms, self.names.concepts
        made: dict[str, Callable[[], pl.Series]] = {
            "pair_id": lambda: pair_id(part["pair"].to_numpy()),
            "term1": lambda: terms.gather(part["term1_id"]),
            "term2": lambda: terms.gather(part["term2_id"]),
            "concept1": lambda: concepts.gather(part["concept1"]),
            "concept2": lambda: concepts.gather(part["concept2"]),
        }
        found = {name: made[name]() if name in made else part[name] for name in columns}
        return pl.DataFrame(found)
