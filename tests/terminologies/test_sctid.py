"""Identifiers that Python knows by name are those that SQL knows, and are well-formed."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from fixtures.stores import empty_store

from medsim.terminologies import sctid
from medsim.terminologies.sctid import check_digits

LIMITS = ("INVENTED_NAMESPACE", "LARGEST_ITEM")
KNOWN = {
    name: value
    for name, value in vars(sctid).items()
    if type(value) is int and not name.startswith("_") and name not in LIMITS
}


@pytest.fixture(scope="module")
def in_sql() -> dict[str, str | None]:
    """Return what the macro gives for each name that Python knows, and for one that nobody does."""
    names = [*(name.lower() for name in KNOWN), "no_such_name"]
    with empty_store() as store:
        store.put("probe", pl.DataFrame({"name": names}))
        found = store.select("select name, sctid(name) as id from probe")
    return dict(found.rows())


@pytest.mark.parametrize("name", KNOWN)
def test_an_identifier_is_the_one_that_sql_has_under_its_name(
    in_sql: dict[str, str | None], name: str
) -> None:
    assert in_sql[name.lower()] == str(KNOWN[name])


def test_sql_has_no_identifier_for_an_unknown_name(in_sql: dict[str, str | None]) -> None:
    assert in_sql["no_such_name"] is None


def test_identifiers_differ_and_end_in_their_check_digits() -> None:
    ids = np.array([*KNOWN.values()])

    assert len(set(KNOWN.values())) == len(KNOWN) > 0
    assert check_digits(ids // 10).tolist() == (ids % 10).tolist()
