"""The sets of a build in the order in which their negatives are made, their files and rules."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.builds.embedded import pair_cosines
from medsim.builds.negatives import STRATEGIES, PositiveSet, UsedPairs
from medsim.builds.output import EMBEDDED_PAIR_COLUMNS, PAIR_COLUMNS
from medsim.builds.positives import pair_distances
from medsim.builds.set_rows import SetRows, numbers_of, pair_keys
from medsim.core import queries
from medsim.core.config import DIFFICULTIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.builds.negatives import SearchResult
    from medsim.builds.positives import Positives
    from medsim.builds.set_rows import Names
    from medsim.builds.term_index import Derived
    from medsim.core.progress import Stage
    from medsim.core.store import Store
    from medsim.kernels.types import Ids

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
        """Return the values of ``SET_COLUMNS``, which its folders name."""
        return asdict(self)

    def schema(self) -> pl.Schema:
        """Return the columns of its file."""
        return pl.Schema(EMBEDDED_PAIR_COLUMNS if self.negatives == "embedding" else PAIR_COLUMNS)


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
