"""The benchmark of coverage tells an interval that is too narrow from one that is not."""

from __future__ import annotations

import pytest

from benchmarks import coverage
from medsim.statistics.estimates import Estimate

pytestmark = pytest.mark.slow

JOB = coverage.Job(n_samples=200, n_rated=20, resamples=100, threads=1)


def test_delongs_interval_alone_is_too_narrow_at_the_edge() -> None:
    found = coverage.areas(JOB)

    assert found["AUC 0.99 of 10"] > 0.85
    assert found["DeLong 0.99 of 10"] < 0.4
    assert found["AUC 0.7 of 1000"] == found["DeLong 0.7 of 1000"] > 0.9


def test_pairs_that_share_terms_make_intervals_too_narrow_that_know_no_clusters() -> None:
    found = coverage.linked_areas(JOB)

    of = " of 300 pairs, 8 names a concept"
    area, accuracy, area_alone, accuracy_alone = (
        share for name, share in found.items() if name.endswith(of)
    )
    assert area > 0.9 < accuracy
    assert area_alone < 0.85
    assert accuracy_alone < accuracy


def test_the_best_threshold_finds_what_is_not_there_and_the_held_out_half_does_not() -> None:
    found = coverage.thresholds(JOB)

    assert found["accuracy, best, of 10"] > 0.6
    assert abs(found["accuracy, held out, of 1000"] - 0.5) < 0.01


def test_every_share_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "_RATED", (10, 30))

    found = {**coverage.correlations(JOB), **coverage.false_alarms(JOB)}

    assert len(found) == 2 * 3 + 2 * 3 + 4 * 6 + 1
    assert all(0 <= share <= 1 for share in found.values())


def test_an_interval_that_misses_the_truth_does_not_count() -> None:
    held = coverage._held([Estimate(value=0.5, low=0.4, high=0.6), Estimate(value=0.5)], 0.45)

    assert held == 0.5
