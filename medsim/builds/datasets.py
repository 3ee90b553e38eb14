"""The sets of a build in the order in which their negatives are made, their files and rules."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.builds.embedded import pair_cosines
from medsim.builds.negatives import STRATEGIES, PositiveSet, UsedPairs
from medsim.builds.output import EMBEDDED_PAIR_COLUMNS, PAIR_COLUMNS, SET_COLUMNS
from medsim.builds.positives import Positives, pair_distances
from medsim.core import queries
from medsim.core.checks import Finding
from medsim.core.config import DIFFICULTIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.builds.negatives import SearchResult
    from medsim.builds.positives import Positives
    from medsim.builds.term_index import Derived
    from medsim.core.progress import Stage
    from medsim.core.store import Store
    from medsim.kernels.types import Ids

DRAFT_COLUMNS = ("term1_id", "term2_id", "label", "distance", "concept1", "concept2")
"""The columns of the pairs of a set before they are put in order."""

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
        """Return the values of ``SET_COLUMNS`` in every row of its file."""
        return asdict(self)

    def schema(self) -> pl.Schema:
        """Return the columns of its file."""
        return pl.Schema({**self.unnamed_schema(), **SET_COLUMNS})

    def unnamed_schema(self) -> pl.Schema:
        """Return the columns of its file in builds of earlier versions, where folders name it."""
        return pl.Schema(EMBEDDED_PAIR_COLUMNS if self.negatives == "embedding" else PAIR_COLUMNS)


def set_keys(strategy: str) -> list[SetKey]:
    """Return the sets of one strategy, in the order in which their negatives are made."""
    return [
        SetKey(dataset=dataset.name, difficulty=difficulty, negatives=strategy)
        for dataset in queries.datasets()
        for difficulty in DIFFICULTIES
    ]


def positive_rows(positives: Positives, key: SetKey) -> pl.DataFrame:
    """Return the positives of a set, in order of (term1, term2)."""
    return positives.pairs.filter(
        (pl.col("dataset") == key.dataset) & (pl.col("difficulty") == key.difficulty)
    )


def positive_set(rows: pl.DataFrame, key: SetKey) -> PositiveSet:
    """Return the positives of a set as arrays, of its rows in order of (term1, term2)."""
    return PositiveSet(
        name=f"{key.dataset}/{key.difficulty}",
        term1_ids=rows["term1_id"].to_numpy(),
        term2_ids=rows["term2_id"].to_numpy(),
    )


def with_term_ids(pairs: pl.DataFrame, terms: pl.DataFrame) -> pl.DataFrame:
    """Return pairs with term1_id and term2_id; null where a text is none of the terms."""
    ids = terms.select("term", "term_id")
    for side in ("term1", "term2"):
        own = ids.rename({"term": side, "term_id": f"{side}_id"})
        pairs = pairs.join(own, on=side, how="left", maintain_order="left")
    return pairs


def in_order(drafts: pl.DataFrame, store: Store, seed: int) -> pl.DataFrame:
    """Return the rows of sets as texts, those of each set in an order drawn from the seed.

    Drafts have ``set_name`` and ``DRAFT_COLUMNS``; the sets come in order of name.
    """
    store.put("pair_draft", drafts)
    pairs = store.frame("builds/pairs/pair", seed=str(seed))
    store.drop("pair_draft")
    return pairs


class SetMaker:
    """The sets of one strategy, each made with a look at those before it."""

    def __init__(
        self,
        strategy: str,
        derived: Derived,
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
        self._lower = derived.positives.terms["lower_term"].to_list()
        self._bearers = store.table("bearer").sort("term_id")["concept_id"]
        self._made: list[tuple[SetKey, UsedPairs]] = []

    def make(self, key: SetKey, stage: Stage) -> pl.DataFrame:
        """Return the rows of one set: positives and negatives in an order drawn from the seed."""
        draft = self.draw(key, stage).with_columns(set_name=pl.lit(str(key)))
        if draft.is_empty():  # as most sets of a small terminology are
            return pl.DataFrame(schema=key.schema())
        pairs = in_order(draft, self._store, self._seed).drop("set_name")
        own = (pl.lit(value).alias(name) for name, value in key.columns().items())
        return self._with_similarity(pairs).with_columns(own)

    def draw(self, key: SetKey, stage: Stage) -> pl.DataFrame:
        """Return positives and negatives of one set, ``DRAFT_COLUMNS``, in no particular order."""
        rows = positive_rows(self._positives, key)
        positives = positive_set(rows, key)
        negatives = self._negatives(positives, self.used_before(key), stage)
        self._remember(key, positives.term1_ids[negatives.positive_rows], negatives.term2_ids)
        against = rows[negatives.positive_rows]
        second = pl.Series("term2_id", negatives.term2_ids, dtype=pl.Int32)
        negative = against.with_columns(
            second,
            self._bearers[second].alias("concept2"),
            pair_distances(self._lower, against["term1_id"], second, self._threads),
        )
        return pl.concat(
            pairs.with_columns(label=pl.lit(label, pl.Int8)).select(DRAFT_COLUMNS)
            for pairs, label in ((rows, _POSITIVE), (negative, _NEGATIVE))
        )

    def take_over(self, key: SetKey, pairs: pl.DataFrame) -> None:
        """Remember the negatives of a set that was made before, from its rows."""
        negative = with_term_ids(pairs.filter(pl.col("label") == _NEGATIVE), self._positives.terms)
        self._remember(key, negative["term1_id"].to_numpy(), negative["term2_id"].to_numpy())

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

    def _with_similarity(self, pairs: pl.DataFrame) -> pl.DataFrame:
        if self._embedding is None:
            return pairs
        ids = with_term_ids(pairs.select("term1", "term2"), self._positives.terms)
        first, second = (ids[side].to_numpy() for side in ("term1_id", "term2_id"))
        return pairs.with_columns(pair_cosines(self._embedding, first, second, self._threads))


_FOLDER = "builds/checks"
_NUMBERED = (  # what all checks read, made once, each after those that it reads itself
    "pair_set",
    "numbered_pair",
    "numbered_name",
    "checked_pair",
    "unfounded_name_pair",
    "unfounded_substitution",
)


def run_checks(store: Store) -> list[Finding]:
    """Return the findings of each file of ``sql/builds/checks``.

    Args:
        store: with the canonical tables, term, term_component and bearer, and the view pair.
    """
    for table in _NUMBERED:
        store.run(f"builds/pairs/{table}")
    findings = [
        Finding(
            name.removeprefix(f"{_FOLDER}/"),
            queries.query(name).sentence,
            [" ".join(map(str, row)) for row in store.frame(name).iter_rows()],
        )
        for name in queries.names(_FOLDER)
    ]
    store.drop(*_NUMBERED)
    return findings
