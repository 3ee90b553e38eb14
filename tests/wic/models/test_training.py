"""The learning rate, the choice of an epoch, and a missing PyTorch."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from medsim.core.errors import OptionError
from medsim.wic.models.training import precision_of, prepare_torch, relative_rate


@pytest.mark.parametrize(
    ("n_steps", "peak"),
    [(10_000, 999), (50, 9), (1, 0), (2, 0)],
)
def test_the_rate_rises_for_a_fifth_of_the_steps_or_1000_and_falls_to_0(n_steps, peak) -> None:
    rates = np.array([relative_rate(step, n_steps) for step in range(n_steps + 1)])

    assert rates[peak] == rates.max() == 1
    assert rates[0] > 0
    assert rates[-1] == 0
    assert np.allclose(np.diff(rates[: peak + 1]), 1 / (peak + 1))
    falling = np.diff(rates[peak + 1 :])
    assert len(falling) == 0 or np.allclose(falling, falling[0])


def test_an_epoch_is_judged_by_the_average_precision() -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="medsim[wic] is not installed")
    draw = np.random.default_rng(2)
    scores = draw.integers(0, 9, size=60) / 9
    labels = draw.random(60) < 0.4

    assert precision_of(scores, labels) == pytest.approx(
        metrics.average_precision_score(labels, scores)
    )
    assert np.isnan(precision_of(scores, np.ones(60, np.bool_)))


def test_a_missing_pytorch_says_how_to_install_it(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)

    with pytest.raises(OptionError, match=r"a network needs PyTorch; .* its extra baselines"):
        prepare_torch("a network", 1)
