"""Precision, recall, F1 and their intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap

from medsim.statistics.entity_scores import ENTITY_STATISTICS, estimates_of


def invented_counts(seed: int, n_units: int, n_systems: int, n_trials: int) -> np.ndarray:
    """Return the numbers of right, predicted and true entities of each unit."""
    rng = np.random.default_rng(seed)
    true = rng.poisson(4, (n_units, 1, 1))
    right = rng.binomial(true, 0.7, (n_units, n_systems, n_trials))
    predicted = right + rng.poisson(1, right.shape)
    return np.stack([right, predicted, np.broadcast_to(true, right.shape)], axis=-1)


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
def test_statistics_follow_their_definitions(counts, expected) -> None:
    result = {
        name: float(statistic(np.array(counts))) for name, statistic in ENTITY_STATISTICS.items()
    }

    assert result == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("name", ENTITY_STATISTICS)
def test_intervals_match_scipy(name: str) -> None:
    counts = invented_counts(1, 60, 2, 3)

    for system, estimates in enumerate(estimates_of(counts, seed=4, resamples=9_999)):
        of_system = counts[:, system]

        def mean_of(units: np.ndarray, axis: int, of_system: np.ndarray = of_system) -> np.ndarray:
            sums = of_system[units].sum(axis=axis - 2)  # axis of units, before trials and columns
            return ENTITY_STATISTICS[name](sums).mean(axis=-1)

        result = bootstrap(  # resamples unit numbers
            (np.arange(len(of_system)),),
            mean_of,
            n_resamples=9_999,
            method="BCa",
            rng=np.random.default_rng(2),
        )
        estimate = estimates[name]
        whole = of_system.sum(axis=0)
        assert estimate.value == pytest.approx(ENTITY_STATISTICS[name](whole).mean())
        assert (estimate.low, estimate.high) == pytest.approx(
            tuple(result.confidence_interval), abs=0.006
        )


def test_interval_does_not_depend_on_other_systems(monkeypatch) -> None:
    counts = invented_counts(2, 30, 3, 2)

    alone = estimates_of(counts[:, 1:2], seed=7, resamples=500)
    monkeypatch.setattr("medsim.statistics.entity_scores._CELLS_A_STEP", 30 * 500)

    assert estimates_of(counts, seed=7, resamples=500)[1] == alone[0]
