"""The window tagger: textbook arithmetic and learning."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from medsim.core.progress import Progress
from medsim.embeddings.embedded_terms import identify
from medsim.embeddings.options import embedding_spec
from medsim.tagging import tagger
from medsim.tagging.tagger import Network, Words, train_tagger, with_capitals

SIZES = (6, 4, 3)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Let one thread compute, as ``medsim tag`` does."""
    with threadpool_limits(1):
        yield


def loss(values: np.ndarray, inputs: np.ndarray, tags: np.ndarray, *, relu: bool) -> float:
    """Return the mean cross entropy of a network with these weights, in one array."""
    n_in, n_hidden, n_out = SIZES
    weights1, biases1, weights2, biases2 = np.split(
        values, np.cumsum([n_in * n_hidden, n_hidden, n_hidden * n_out])
    )
    total = 0.0
    for row, tag in zip(inputs, tags, strict=True):
        hidden = [
            row @ weights1.reshape(n_in, n_hidden)[:, unit] + biases1[unit]
            for unit in range(n_hidden)
        ]
        hidden = [max(0.0, unit) if relu else min(1.0, max(-1.0, unit)) for unit in hidden]
        logits = np.array(hidden) @ weights2.reshape(n_hidden, n_out) + biases2
        total += np.log(np.exp(logits).sum()) - logits[tag]
    return total / len(tags)


def gradient(values: np.ndarray, inputs: np.ndarray, tags: np.ndarray, *, relu: bool) -> np.ndarray:
    """Return the gradient of the loss by central differences."""
    slopes = np.empty_like(values)
    for at in range(len(values)):
        step = np.zeros_like(values)
        step[at] = 1e-6
        above, below = (loss(values + by, inputs, tags, relu=relu) for by in (step, -step))
        slopes[at] = (above - below) / 2e-6
    return slopes


@pytest.mark.parametrize("relu", [False, True])
def test_weights_change_as_in_adam(*, relu: bool) -> None:
    rng = np.random.default_rng(3)
    network = Network(SIZES, rng, relu=relu)
    network.values[:] *= 2  # so that some hidden units saturate
    values = network.values.astype(np.float64)
    mean, square = np.zeros_like(values), np.zeros_like(values)
    descent = tagger._Adam(network)

    for step in range(1, 6):
        inputs = rng.normal(0, 1, (7, 6)).astype(np.float32)
        tags = rng.integers(0, 3, 7).astype(np.int32)
        slope = gradient(values, inputs.astype(np.float64), tags, relu=relu)
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        unbiased = mean / (1 - 0.9**step), square / (1 - 0.999**step)
        values -= 0.001 * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)
        descent.step(inputs, tags)

    clear = np.abs(mean) > 1e-4  # elsewhere rounding decides
    assert clear.sum() > 25
    assert network.values[clear] == pytest.approx(values[clear], abs=2e-5)


def test_capitals_are_four_features() -> None:
    vectors = np.arange(12, dtype=np.float32).reshape(6, 2)

    wider = with_capitals(vectors, ["DNA", "Fever", "mRNA", "fever", "-"])

    assert np.array_equal(wider[:, :2], vectors)
    assert wider[:, 2:].argmax(axis=1)[:5].tolist() == [0, 1, 2, 3, 3]
    assert wider[:, 2:].sum(axis=1).tolist() == [1, 1, 1, 1, 1, 0]  # none beyond the sentence


def windows_of(rng: np.random.Generator, n: int) -> Words:
    """Return words with tag 1 if the previous word is one of the first five of twenty."""
    windows = rng.integers(0, 20, (n, 5)).astype(np.int32)
    return Words(windows=windows, tags=(windows[:, 1] < 5).astype(np.int32))


def learnt(seed: int, epochs: int) -> tuple[Network, int, list[float]]:
    rng = np.random.default_rng(0)
    vectors = rng.normal(0, 0.5, (20, 8)).astype(np.float32)
    vectors[:5, 0] += 2
    train, dev = windows_of(rng, 1500), windows_of(rng, 500)
    scores: list[float] = []

    def score(network: Network) -> float:
        scores.append(float((network.tags(vectors, dev.windows) == dev.tags).mean()))
        return scores[-1]

    network, epoch = train_tagger(
        vectors, train, np.random.default_rng(seed), score, n_tags=2, epochs=epochs
    )
    assert score(network) == scores[epoch - 1]
    return network, epoch, scores[:-1]


def test_training_depends_on_the_seed() -> None:
    first, again, other = (learnt(seed, 1)[0].values for seed in (1, 1, 2))

    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_training_stops_without_gain_on_dev_and_keeps_the_best() -> None:
    _, epoch, scores = learnt(1, 40)

    assert scores[epoch - 1] > 0.99  # it learns from the words around a word
    assert epoch == int(np.argmax(scores)) + 1
    assert len(scores) == epoch + tagger.PATIENCE


def test_tags_do_not_depend_on_the_batch_size(monkeypatch) -> None:
    rng = np.random.default_rng(5)
    vectors = rng.normal(0, 0.5, (20, 8)).astype(np.float32)
    windows = windows_of(rng, 100).windows
    network = Network((40, 300, 3), rng)

    at_once = network.tags(vectors, windows)
    monkeypatch.setattr(tagger, "_WORDS_A_STEP", 7)

    assert np.array_equal(network.tags(vectors, windows), at_once)
    assert len(np.unique(at_once)) == 3


def test_a_word_with_white_space_has_no_vector_of_a_phrase(tmp_path: Path) -> None:
    (tmp_path / "words.vec").write_text("2 1\n10_mg 1\ndose 2\n", encoding="utf-8")
    named = identify(embedding_spec(f"own={tmp_path / 'words.vec'}"), Progress())

    words = ["10\u00a0mg", "dose"]
    table = tagger.embed_words(named, words, Progress(), 1, None)

    assert table.knows(words).tolist() == [False, True]
