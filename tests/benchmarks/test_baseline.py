"""The baseline: what counts as slower or as another result, and how it is stored."""

from __future__ import annotations

import pytest

from benchmarks.harness import Measured, MismatchError
from benchmarks.harness.baseline import Entry, complaints, entry_of, fallen

ENTRY = Entry(ratios={"cdist": 100.0, "plain search": 10.0}, fingerprint="ab12")


def run(cdist: float = 100.0, plain: float = 10.0, fingerprint: str = "ab12") -> Measured:
    return Measured(
        about="six terms",
        times="1.0 s",
        ratios={"cdist": cdist, "plain search": plain},
        peak="5 MiB",
        fingerprint=fingerprint,
    )


def test_a_ratio_may_fall_by_the_margin_and_no_more() -> None:
    assert fallen(ENTRY, {"cdist": 70.0, "plain search": 7.0}, 0.3) == []
    assert fallen(ENTRY, {"cdist": 69.9, "plain search": 7.0}, 0.3) == ["cdist"]
    assert fallen(ENTRY, {"cdist": 70.0, "plain search": 6.9}, 0.3) == ["plain search"]


def test_a_ratio_has_fallen_only_if_it_did_in_every_run() -> None:
    busy = [run(cdist=40.0), run(plain=2.0), run(cdist=20.0, plain=1.0)]
    assert complaints("search", ENTRY, busy, 0.3) == []
    slower = [run(cdist=40.0), run(cdist=60.0), run(cdist=20.0, fingerprint="cd34")]
    assert complaints("search", ENTRY, slower, 0.3) == [
        "search: cdist fell from 100 to 60 times, by 40%; the margin is 30%",
        "search: the fingerprint is cd34, not ab12: the results changed",
    ]


def test_a_baseline_takes_the_median_of_its_runs() -> None:
    runs = [run(cdist=90.0), run(cdist=300.0), run(cdist=110.1234)]
    assert entry_of(runs) == Entry(
        ratios={"cdist": 110.123, "plain search": 10.0}, fingerprint="ab12"
    )


def test_runs_that_find_different_rows_make_no_baseline() -> None:
    with pytest.raises(MismatchError, match="ab12, cd34"):
        entry_of([run(), run(fingerprint="cd34")])
