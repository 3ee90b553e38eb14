"""The rules of datasets, checked in SQL on the pairs of all sets as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.builds.datasets import with_term_ids
from medsim.core import queries
from medsim.core.checks import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from medsim.builds.datasets import SetKey
    from medsim.builds.positives import Positives
    from medsim.builds.set_rows import SetRows
    from medsim.core.store import Store
    from medsim.kernels.types import Ids

_FOLDER = "builds/checks"
_PAIRS = "numbered_pair"
_MADE = ("checked_concept", "numbered_bearer", "numbered_name", "numbered_association")
_READ = ("unfounded_name_pair", "unfounded_substitution")
_CONCEPTS = ("concept1", "concept2")


class CheckedPairs:
    """The pairs of all sets of a build, as the checks of ``sql/builds/checks`` read them.

    The store has the canonical tables, dataset, term, term_component, pool and bearer.
    """

    def __init__(self, store: Store, positives: Positives) -> None:
        self._store = store
        self._terms = positives.terms
        for table in _MADE[:2]:
            store.run(f"builds/pairs/{table}")
        self._concepts = store.table("checked_concept").select("concept_id", "concept_number")
        self._bearers = store.table("numbered_bearer").sort("term_id")["concept_number"].to_numpy()
        self._nodes = positives.terms["node_id"].to_numpy()
        self._components = store.table("term_component").sort("term_id")["component_id"].to_numpy()
        self._own = [self._number(positives.pairs, name).to_numpy() for name in _CONCEPTS]
        self._sets: list[tuple[SetKey, pl.LazyFrame]] = []
        store.run(f"builds/pairs/{_PAIRS}")

    def add_made(self, key: SetKey, rows: SetRows, file: pl.LazyFrame) -> None:
        """Add the pairs of a set, which its file holds."""
        numbers, at = rows.numbers, rows.numbers["positive_row"].to_numpy()
        is_positive = (numbers["label"] == 1).to_numpy()
        first, second = (own[at] for own in self._own)
        borne = self._bearers[numbers["term2_id"].to_numpy()]
        second = np.where(is_positive, second, borne)
        self._add(key, numbers.with_columns(concept1=first, concept2=second), file)

    def add_read(self, key: SetKey, file: pl.LazyFrame) -> None:
        """Add the pairs of a set as its file has them; what it names may be unknown."""
        rows = with_term_ids(file, self._terms).collect()
        self._add(key, rows.with_columns(self._number(rows, name) for name in _CONCEPTS), file)

    def findings(self) -> list[Finding]:
        """Return the findings of each file of ``sql/builds/checks``; the pairs are gone then."""
        names = [list(key.columns().values()) for key, _ in self._sets]
        schema = ["dataset", "difficulty", "negatives"]
        sets = pl.DataFrame(names, schema=dict.fromkeys(schema, pl.String), orient="row")
        self._store.put("pair_set", sets.with_row_index("set_id"))
        for table in (*_MADE[2:], *_READ):
            self._store.run(f"builds/pairs/{table}")
        found = [
            Finding(
                name.removeprefix(f"{_FOLDER}/"),
                queries.query(name).sentence,
                list(self._named(self._store.frame(name))),
            )
            for name in queries.names(_FOLDER)
        ]
        self._store.drop(_PAIRS, "pair_set", *_MADE)
        return found

    def _number(self, rows: pl.DataFrame, name: str) -> pl.Series:
        """Return the numbers of a column of concepts; null where one is unknown."""
        own = self._concepts.rename({"concept_id": name})
        found = rows.select(name).join(own, on=name, how="left", maintain_order="left")
        return found["concept_number"].alias(name)

    def _add(self, key: SetKey, rows: pl.DataFrame, file: pl.LazyFrame) -> None:
        ends = rows["term1_id"], rows["term2_id"]
        numbers = rows.select(
            pl.lit(len(self._sets), pl.UInt16).alias("set_id"),
            pl.int_range(pl.len(), dtype=pl.Int32).alias("row"),
            *("term1_id", "term2_id", "label", "distance", "concept1", "concept2"),
            _same(self._nodes, *ends).alias("has_equal_terms"),
            _same(self._components, *ends).alias("is_linked"),
        )
        with self._store.lent("more_pairs", numbers):
            self._store.run("builds/pairs/more_numbered_pairs")
        self._sets.append((key, file))

    def _named(self, violations: pl.DataFrame) -> Iterator[str]:
        """Yield the sets and the ids of pairs, in their order."""
        named = []
        for (number,), rows in violations.group_by("set_id"):
            key, file = self._sets[int(str(number))]
            ids = file.select("pair_id").collect()["pair_id"].gather(rows["row"])
            named += [" ".join([*key.columns().values(), str(one)]) for one in ids]
        yield from sorted(named)


def _same(of_terms: Ids, first: pl.Series, second: pl.Series) -> pl.Series:
    """Return whether two terms have the same value; null where one is unknown."""
    values = pl.Series(of_terms)
    return values.gather(first) == values.gather(second)
