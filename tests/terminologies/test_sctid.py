"""Identifiers with names are the same in Python and SQL, and all are well-formed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from medsim.terminologies.rf2_writer import check_digits, sctids
from medsim.terminologies.synthetic import SCTID

if TYPE_CHECKING:
    from medsim.core.store import Store

KNOWN = vars(SCTID)


def test_identifiers_equal_those_in_sql(store: Store) -> None:
    names = [*KNOWN, "no_such_name"]
    store.put("probe", pl.DataFrame({"name": names}))

    rows = store.select("select name, sctid(name) as id from probe")

    assert dict(rows.rows()) == dict(zip(names, [*map(str, KNOWN.values()), None], strict=True))


def test_identifiers_differ_and_end_in_their_check_digits() -> None:
    ids = np.array([*KNOWN.values()])

    assert len(set(KNOWN.values())) == len(KNOWN) > 0
    assert check_digits(ids // 10).tolist() == (ids % 10).tolist()


@given(st.integers(10**9, 10**17))
def test_check_digits_detect_wrong_and_swapped_digits(number: int) -> None:
    text = f"{number}{check_digits(np.array([number])).item()}"
    places = range(len(text))
    changed = {f"{text[:at]}{digit}{text[at + 1 :]}" for at in places for digit in range(10)}
    changed |= {f"{text[:at]}{text[at:][1::-1]}{text[at + 2 :]}" for at in places}
    wrong = np.array([int(digits) for digits in changed - {text} if digits[0] != "0"])

    assert not np.any(check_digits(wrong // 10) == wrong % 10)


def test_identifiers_hold_item_namespace_and_partition() -> None:
    items = np.array([1, 42, 99_999_999])

    for component, partition in (("concept", 10), ("description", 11), ("relationship", 12)):
        ids = sctids(items, component)
        numbers = [int(f"{item}1000999{partition}") for item in items.tolist()]
        assert (ids // 10).tolist() == numbers
        assert np.array_equal(check_digits(ids // 10), ids % 10)
