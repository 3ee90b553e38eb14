"""The sets of a build in the order in which their negatives are made, their files and rules."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from polars.io.plugins import register_io_source

from medsim.builds.embedded import pair_cosines
from medsim.builds.negatives import STRATEGIES, PositiveSet, UsedPairs
from medsim.builds.output import PAIR
from medsim.builds.positives import pair_distances
from medsim.core import queries
from medsim.core.checks import Finding
from medsim.core.config import DIFFICULTIES
from medsim.core.parquet import read_parquet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from medsim.builds.negatives import SearchResult
    from medsim.builds.positives import Derived, Positives
    from medsim.core.progress import Stage
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


TERM_IDS = ("term1_id", "term2_id")
_NAMED = ("term1", "term2", "concept1", "concept2")
_POSITIVE, _NEGATIVE = 1, 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SetKey:
    """The name of one of the datasets of a build.

    Attributes:
        dataset: such as "fsn_syn".
        difficulty: "easy" or "hard".
        negatives: the strategy, such as "levenshtein".
    """

    dataset: str
    difficulty: str
    negatives: str

    @property
    def path(self) -> str:
        """Its file inside the folder of a build."""
        return (
            f"pairs/dataset={self.dataset}/difficulty={self.difficulty}"
            f"/negatives={self.negatives}/data.parquet"
        )

    def __str__(self) -> str:
        return f"{self.dataset}/{self.difficulty}/{self.negatives}"

    def columns(self) -> dict[str, str]:
        """Return the columns that its folders name, and their values."""
        return asdict(self)

    def schema(self) -> pl.Schema:
        """Return the columns of its file."""
        return pl.Schema(PAIR.all_columns() if self.negatives == "embedding" else PAIR.dtypes)


def set_keys(strategy: str) -> list[SetKey]:
    """Return the sets of one strategy, in the order in which their negatives are made."""
    return [
        SetKey(dataset=dataset.name, difficulty=difficulty, negatives=strategy)
        for dataset in queries.datasets()
        for difficulty in DIFFICULTIES
    ]


def positive_rows(positives: Positives, key: SetKey) -> pl.DataFrame:
    """Return the positives of a set, in order of (term1, term2), which lie together."""
    pairs = positives.pairs
    is_own = (pairs["dataset"] == key.dataset) & (pairs["difficulty"] == key.difficulty)
    return pairs.slice(is_own.arg_max() or 0, int(is_own.sum()))


def positive_set(rows: pl.DataFrame, key: SetKey) -> PositiveSet:
    """Return the positives of a set as arrays, of its rows in order of (term1, term2)."""
    return PositiveSet(
        name=f"{key.dataset}/{key.difficulty}",
        term1_ids=rows["term1_id"].to_numpy(),
        term2_ids=rows["term2_id"].to_numpy(),
    )


def with_term_ids(pairs: pl.LazyFrame, terms: pl.DataFrame) -> pl.LazyFrame:
    """Return pairs with term1_id and term2_id; null where a text is none of the terms."""
    ids = terms.lazy().select("term", "term_id")
    for side in ("term1", "term2"):
        own = ids.rename({"term": side, "term_id": f"{side}_id"})
        pairs = pairs.join(own, on=side, how="left", maintain_order="left")
    return pairs


def with_concept_numbers(pairs: pl.DataFrame, names: Names) -> pl.DataFrame:
    """Return pairs with numbers in place of concepts; null where one is unknown."""
    return pairs.with_columns(
        numbers_of(pairs[side], names.concepts).alias(side) for side in ("concept1", "concept2")
    )


class SetMaker:
    """The sets of one strategy, each made with a look at those before it."""

    def __init__(
        self,
        strategy: str,
        derived: Derived,
        names: Names,
        store: Store,
        *,
        seed: int,
        threads: int,
        known: Sequence[SearchResult] = (),
    ) -> None:
        make = STRATEGIES.get(strategy)
        sets = [
            positive_set(positive_rows(derived.positives, key), key) for key in set_keys(strategy)
        ]
        self._negatives = make(derived.index, seed=seed, threads=threads, known=known, sets=sets)
        self._embedding = derived.index.embedding if strategy == "embedding" else None
        self._positives = derived.positives
        self._store = store
        self._seed = seed
        self._threads = threads
        self._terms = derived.positives.terms
        self._names = names
        self._made: list[tuple[SetKey, UsedPairs]] = []

    def make(self, key: SetKey, stage: Stage) -> SetRows:
        """Return the rows of one set: positives and negatives in an order drawn from the seed."""
        rows = self.draw(key, stage)
        numbers = rows.numbers
        first, second = (numbers[side].to_numpy() for side in TERM_IDS)
        pairs, order = pair_keys(first, second, self._names.terms, self._store, self._seed)
        numbers = numbers.with_columns(pl.Series("pair", pairs))
        if self._embedding is not None:
            similarity = pair_cosines(self._embedding, first, second, self._threads)
            numbers = numbers.with_columns(similarity)
        return replace(rows, numbers=numbers[order])

    def draw(self, key: SetKey, stage: Stage) -> SetRows:
        """Return positives and negatives of one set in no particular order, without ids."""
        rows = positive_rows(self._positives, key)
        positives = positive_set(rows, key)
        negatives = self._negatives(positives, self.used_before(key), stage)
        against, second = negatives.positive_rows, negatives.term2_ids
        first = positives.term1_ids[against]
        self._remember(key, first, second)
        ends = pl.Series(first), pl.Series(second)
        distance = pair_distances(self._terms["lower_term"], *ends, self._threads)
        concept1, labels = rows["concept1"], np.array([_POSITIVE, _NEGATIVE], np.int8)
        numbers = {
            "term1_id": np.concatenate([positives.term1_ids, first]),
            "term2_id": np.concatenate([positives.term2_ids, second]),
            "label": np.repeat(labels, [rows.height, len(first)]),
            "distance": pl.concat([rows["distance"], distance]),
            "concept1": pl.concat([concept1, concept1.gather(against)]),
            "concept2": np.concatenate([rows["concept2"], self._names.bearers[second]]),
        }
        return SetRows(numbers=pl.DataFrame(numbers), names=self._names, schema=key.schema())

    def take_over(self, key: SetKey, pairs: pl.LazyFrame) -> pl.DataFrame:
        """Remember the negatives of a set that was made before, and return its numbers.

        They are those of ``SetRows``, without what only its file has.
        """
        rows = with_term_ids(pairs.select(*_NAMED, "label", "distance"), self._terms).collect()
        numbers = with_concept_numbers(rows, self._names)
        negative = numbers.filter(label=_NEGATIVE)
        self._remember(key, *(negative[side].to_numpy() for side in TERM_IDS))
        return numbers

    def used_before(self, key: SetKey) -> UsedPairs:
        """Return the negatives of the sets before one, but for those of datasets in it."""
        passed_over = queries.dataset(key.dataset).contains
        seen = [pairs for made, pairs in self._made if made.dataset not in passed_over]
        none = np.empty(0, np.int32)
        return UsedPairs(
            term1_ids=np.concatenate([none, *(pairs.term1_ids for pairs in seen)]),
            term2_ids=np.concatenate([none, *(pairs.term2_ids for pairs in seen)]),
        )

    def _remember(self, key: SetKey, term1_ids: Ids, term2_ids: Ids) -> None:
        self._made.append((key, UsedPairs(term1_ids=term1_ids, term2_ids=term2_ids)))


_FOLDER = "builds/checks"
_COLUMNS = {
    "set_id": pl.UInt16,
    "row": pl.Int32,
    **dict.fromkeys(("term1_id", "term2_id"), pl.Int32),
    "label": pl.Int8,
    **dict.fromkeys(("distance", "concept1", "concept2"), pl.Int32),
    **dict.fromkeys(("has_equal_terms", "is_linked"), pl.Boolean),
}
_NUMBERED = (  # what checks read, made once
    "numbered_name",
    "numbered_association",
    "unfounded_name_pair",
    "unfounded_substitution",
)


class CheckedPairs:
    """The pairs of all sets of a build, as the checks of ``sql/builds/checks`` read them.

    The store has the canonical tables, dataset, term, term_component, pool and bearer.
    """

    def __init__(self, store: Store, positives: Positives, names: Names) -> None:
        self._store = store
        self._nodes = positives.terms["node_id"].to_numpy()
        self._components = store.table("term_component").sort("term_id")["component_id"].to_numpy()
        self._sets: list[tuple[SetKey, Path]] = []
        ids = np.arange(len(names.bearers), dtype=np.int32)
        bearers = pl.DataFrame({"term_id": ids, "concept_number": names.bearers})
        store.put("numbered_bearer", bearers)
        store.append("numbered_pair", pl.DataFrame(schema=_COLUMNS))

    def add(self, key: SetKey, numbers: pl.DataFrame, file: Path) -> None:
        """Add the pairs of a set, as its file has them.

        Args:
            key: of the set.
            numbers: term1_id, term2_id, label, distance, concept1 and concept2, by their numbers;
                null where the terminology does not have what the file names.
            file: where their ids are read if they violate a rule.
        """
        ends = numbers["term1_id"], numbers["term2_id"]
        numbered = numbers.with_columns(
            set_id=len(self._sets),
            row=pl.int_range(pl.len()),
            has_equal_terms=_same(self._nodes, *ends),
            is_linked=_same(self._components, *ends),
        )
        columns = (pl.col(name).cast(of) for name, of in _COLUMNS.items())
        self._store.append("numbered_pair", numbered.select(columns))
        self._sets.append((key, file))

    def findings(self) -> list[Finding]:
        """Return the findings of each file of ``sql/builds/checks``."""
        names = [list(key.columns().values()) for key, _ in self._sets]
        sets = pl.DataFrame(names, schema=PAIR.folder_columns(), orient="row")
        self._store.put("pair_set", sets.with_row_index("set_id"))
        for table in _NUMBERED:
            self._store.run(f"builds/pairs/{table}")
        found = [
            Finding(
                name.removeprefix(f"{_FOLDER}/"),
                queries.query(name).sentence,
                list(self._named(self._store.frame(name))),
            )
            for name in queries.names(_FOLDER)
        ]
        self._store.drop("pair_set", "numbered_pair", "numbered_bearer", *_NUMBERED[:2])
        return found

    def _named(self, violations: pl.DataFrame) -> Iterator[str]:
        """Yield the sets and the ids of pairs, in their order."""
        named = []
        for (number,), rows in violations.group_by("set_id"):
            key, file = self._sets[int(str(number))]
            ids = read_parquet(file, ["pair_id"])["pair_id"].gather(rows["row"])
            named += [" ".join([*key.columns().values(), str(one)]) for one in ids]
        yield from sorted(named)


def _same(of_terms: Ids, first: pl.Series, second: pl.Series) -> pl.Series:
    """Return whether two terms have the same value; null where one is unknown."""
    values = pl.Series(of_terms)
    return values.gather(first) == values.gather(second)
