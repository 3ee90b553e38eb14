"""The training of models: the learning rate, the choice of an epoch, perceptrons."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import numpy as np
import pytest

from medsim.core.errors import OptionError
from medsim.wic.models.training import precision_of, prepare_torch, relative_rate
from medsim.wic.models.word_vectors import perceptron_scores


@pytest.mark.parametrize(("n_steps", "peak"), [(10_000, 999), (50, 9), (1, 0), (2, 0)])
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


pytestmark = pytest.mark.skipif(
    find_spec("sklearn") is None,  # imported only by the tests that need it
    reason="medsim[wic] is not installed",
)


def data(n: int = 80) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(1)
    features = draw.normal(size=(n, 4)) * [1, 10, 0.1, 0] + [0, 5, 0, 3]
    return features, features[:, 0] * (features[:, 1] - 5) > 0


def test_scores_match_scikit_learn_on_standardised_features() -> None:
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    features, labels = data()
    model = MLPClassifier((128,), random_state=5, max_iter=200)
    with pytest.warns(UserWarning, match="Maximum iterations"):
        pipeline = make_pipeline(StandardScaler(), model).fit(features[:60], labels[:60])

    scores = perceptron_scores(features[:60], labels[:60], features[60:], 5)

    assert np.allclose(scores, pipeline.predict_proba(features[60:])[:, 1], atol=1e-5)
    assert ((scores >= 0.5) == labels[60:]).mean() > 0.7


def test_a_seed_of_64_bits_works() -> None:
    features, labels = data(20)

    low, high = (perceptron_scores(features, labels, features, seed) for seed in (1, (1 << 40) + 1))

    assert np.array_equal(low, high)


@pytest.mark.parametrize(("label", "score"), [(True, 1), (False, 0)])
def test_with_a_single_label_every_score_is_that_label(label, score) -> None:
    features, _ = data(5)

    scores = perceptron_scores(features, np.full(5, label), features[:2], 0)

    assert scores.tolist() == [score, score]
    of_none = perceptron_scores(features[:0], np.zeros(0, np.bool_), features[:2], 0)
    assert of_none.tolist() == [0, 0]
    assert perceptron_scores(features, np.full(5, label), features[:0], 0).shape == (0,)


def test_the_global_random_state_is_unchanged() -> None:
    features, labels = data(20)
    before = np.random.get_state()[1].copy()  # noqa: NPY002 — must not change

    perceptron_scores(features, labels, features, 0)

    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002 — as above
