"""The rules of datasets, checked in SQL on the pairs of all sets as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.builds.output import SET_COLUMNS
from medsim.core import queries
from medsim.core.checks import Finding
from medsim.core.parquet import read_parquet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from medsim.builds.datasets import SetKey
    from medsim.builds.positives import Positives
    from medsim.builds.set_rows import Names
    from medsim.core.store import Store
    from medsim.kernels.types import Ids

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
        sets = pl.DataFrame(names, schema=SET_COLUMNS, orient="row")
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
