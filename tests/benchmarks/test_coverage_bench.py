"""The benchmark of coverage detects intervals that are too narrow."""

from __future__ import annotations

import pytest

from benchmarks import coverage

pytestmark = pytest.mark.slow

JOB = coverage.Job(n_samples=200, n_rated=20, resamples=100, threads=1)


def test_delongs_interval_alone_is_too_narrow_at_the_edge() -> None:
    shares = coverage.areas(JOB)

    assert shares["AUC 0.99 of 10"] > 0.85
    assert shares["DeLong 0.99 of 10"] < 0.4
    assert shares["AUC 0.7 of 1000"] == shares["DeLong 0.7 of 1000"] > 0.9


@pytest.mark.full
def test_intervals_without_clusters_are_too_narrow_for_pairs_that_share_terms() -> None:
    shares = coverage.linked_areas(JOB)

    suffix = " of 300 pairs, 8 names a concept"
    area, accuracy, area_alone, accuracy_alone = (
        share for name, share in shares.items() if name.endswith(suffix)
    )
    assert area > 0.9 < accuracy
    assert area_alone < 0.85
    assert accuracy_alone < accuracy


def test_only_the_best_threshold_overestimates_accuracy() -> None:
    shares = coverage.thresholds(JOB)

    assert shares["accuracy, best, of 10"] > 0.6
    assert abs(shares["accuracy, held out, of 1000"] - 0.5) < 0.01
