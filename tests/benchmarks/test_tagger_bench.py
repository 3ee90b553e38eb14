"""The benchmark of the tagger compares the results of both sides."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import tagger
from benchmarks.harness import MismatchError

pytestmark = pytest.mark.slow

JOB = tagger.Job(n_sentences=150, n_dimensions=8, rounds=1)


def test_both_sides_learn_and_the_tags_have_one_fingerprint(monkeypatch) -> None:
    monkeypatch.setattr(tagger, "_TOLERANCE", 0.2)  # after few steps

    seen = tagger.race(JOB)

    assert len(seen.tagger) == len(seen.perceptron) == 1
    assert seen.fingerprint == tagger.race(JOB).fingerprint


def test_a_tagger_that_learns_nothing_is_noticed(monkeypatch) -> None:
    class Ignorant:
        def tags(self, _vectors: np.ndarray, windows: np.ndarray) -> np.ndarray:
            return np.zeros(len(windows), np.int32)

    monkeypatch.setattr(tagger, "train_tagger", lambda *_, **__: (Ignorant(), 1))

    with pytest.raises(MismatchError, match="by scikit-learn"):
        tagger.race(JOB)
