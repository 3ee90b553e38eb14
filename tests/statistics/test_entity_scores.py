"""Precision, recall, F1 and their intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap

from medsim.statistics.entity_scores import STATISTICS, estimates_of


def invented_counts(seed: int, n_units: int, n_systems: int, n_trials: int) -> np.ndarray:
    """Return what is right, found and there in each unit."""
    rng = np.random.default_rng(seed)
    there = rng.poisson(4, (n_units, 1, 1))
    right = rng.binomial(there, 0.7, (n_units, n_systems, n_trials))
    found = right + rng.poisson(1, right.shape)
    return np.stack([right, found, np.broadcast_to(there, right.shape)], axis=-1)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((6, 8, 12), {"f1": 0.6, "precision": 0.75, "recall": 0.5}),
        ((0, 8, 12), {"f1": 0, "precision": 0, "recall": 0}),
        ((0, 0, 12), {"f1": 0, "precision": 0, "recall": 0}),
        ((0, 8, 0), {"f1": 0, "precision": 0, "recall": np.nan}),
        ((0, 0, 0), {"f1": np.nan, "precision": 0, "recall": np.nan}),
    ],
)
def test_statistics_are_those_of_their_definitions(counts, expected) -> None:
    found = {name: float(one(np.array(counts))) for name, one in STATISTICS.items()}

    assert found == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("name", STATISTICS)
def test_intervals_are_those_of_scipy(name: str) -> None:
    counts = invented_counts(1, 60, 2, 3)

    for system, estimates in enumerate(estimates_of(counts, seed=4, resamples=9_999)):
        own = counts[:, system]

        def mean_of(units: np.ndarray, axis: int, own: np.ndarray = own) -> np.ndarray:
            sums = own[units].sum(axis=axis - 2)  # of units, which trials and columns follow
            return STATISTICS[name](sums).mean(axis=-1)

        result = bootstrap(  # of the numbers of units
            (np.arange(len(own)),),
            mean_of,
            n_resamples=9_999,
            method="BCa",
            rng=np.random.default_rng(2),
        )
        estimate = estimates[name]
        whole = own.sum(axis=0)
        assert estimate.value == pytest.approx(STATISTICS[name](whole).mean())
        assert (estimate.low, estimate.high) == pytest.approx(
            tuple(result.confidence_interval), abs=0.006
        )


def test_a_system_has_the_same_interval_whatever_others_there_are(monkeypatch) -> None:
    counts = invented_counts(2, 30, 3, 2)

    alone = estimates_of(counts[:, 1:2], seed=7, resamples=500)
    monkeypatch.setattr("medsim.statistics.entity_scores._CELLS_A_STEP", 30 * 500)

    assert estimates_of(counts, seed=7, resamples=500)[1] == alone[0]
