"""Runs the SQL checks, whose rows are violations of the rules of the datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core import queries

if TYPE_CHECKING:
    from medsim.core.store import Store

_NUMBERED = (  # what all checks read, made once, each after those that it reads itself
    "pair_set",
    "numbered_pair",
    "numbered_name",
    "checked_pair",
    "unfounded_name_pair",
    "unfounded_substitution",
)

FINDING_COLUMNS = {
    "check": pl.String,
    "promise": pl.String,
    "violations": pl.Int64,
    "example": pl.String,
}
"""A row per check: what it promises, how often that does not hold, and one place."""


def finding(check: str, promise: str, violations: int, example: str = "") -> pl.DataFrame:
    """Return one row of findings."""
    row = [(check, promise, violations, example)]
    return pl.DataFrame(row, schema=FINDING_COLUMNS, orient="row")


def run_checks(store: Store) -> pl.DataFrame:
    """Return what each file of ``sql/builds/checks`` finds.

    Args:
        store: with the canonical tables, term, term_component and bearer, and the view pair.
    """
    for table in _NUMBERED:
        store.run(f"builds/pairs/{table}")
    findings = pl.concat([_run(store, name) for name in queries.names("builds/checks")])
    store.drop(*_NUMBERED)
    return findings


def _run(store: Store, name: str) -> pl.DataFrame:
    offending = store.frame(name)
    example = " ".join(str(value) for value in offending.row(0)) if offending.height else ""
    return finding(
        name.removeprefix("builds/checks/"), queries.query(name).sentence, offending.height, example
    )
