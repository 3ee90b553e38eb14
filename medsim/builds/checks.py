"""Runs the SQL checks, whose rows are violations of the rules of the datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.core import queries
from medsim.core.checks import Finding

if TYPE_CHECKING:
    from medsim.core.store import Store

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
