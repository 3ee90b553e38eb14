"""The benchmark of agreement compares the results of both sides."""

from __future__ import annotations

import pytest

from benchmarks import agreement
from benchmarks.harness import MismatchError
from medsim.statistics.estimates import Estimate

pytestmark = pytest.mark.slow


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch) -> agreement.Job:
    monkeypatch.setattr(agreement, "_RESAMPLES", 100)
    monkeypatch.setattr(agreement, "_STUDY", 60)
    return agreement.Job(n_pairs=300, n_plain=2, rounds=2)


def test_alpha_agrees_with_the_package_and_has_one_fingerprint(job: agreement.Job) -> None:
    seen = agreement.race(job)

    assert len(seen.turns) == 2
    assert seen.fingerprint == agreement.race(job).fingerprint


def test_an_alpha_that_differs_from_the_packages_is_noticed(
    job: agreement.Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agreement, "nominal_alpha", lambda *_, **__: Estimate(value=0.5))

    with pytest.raises(MismatchError, match=r"alpha is 0\.500000, but 0\."):
        agreement.race(job)
