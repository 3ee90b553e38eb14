"""Training of the window tagger, beside scikit-learn's perceptron of the same size."""

from __future__ import annotations

import hashlib
import statistics
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from benchmarks.harness import BENCHMARKS, Measured, MismatchError, Settings
from benchmarks.harness.apart import apart
from benchmarks.harness.timing import timed
from medsim.core.progress import Progress
from medsim.tagging.tagger import BATCH, N_HIDDEN, WINDOW, Words, train_tagger

_WORDS, _TAGS = 5_000, 5
_A_SENTENCE = 25  # words, about as many as BC5CDR has
_TOLERANCE = 0.1  # of the share of right tags
_ASKED = 5_000  # words


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The sizes of a comparison.

    Attributes:
        n_sentences: that both sides see once.
        n_dimensions: of word vectors.
        rounds: how often the sides take turns.
    """

    n_sentences: int
    n_dimensions: int
    rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """The times of a race, in seconds an epoch on one thread.

    Attributes:
        tagger: of each round.
        perceptron: of each round, by scikit-learn.
        peak_mib: of memory, for the tagger.
        fingerprint: of the tags.
    """

    tagger: list[float]
    perceptron: list[float]
    peak_mib: int
    fingerprint: str


def measure(settings: Settings) -> Measured:
    """Return the time of an epoch of 20,000 sentences, with vectors of 50 and 300 dimensions."""
    size = settings.size(20_000, 1_000)
    seen = {
        n: apart(race, Job(n_sentences=size, n_dimensions=n, rounds=settings.size(1, 3)))
        for n in (50, 300)
    }
    return Measured(
        about=f"{size:,} sentences x {_A_SENTENCE} words, an epoch on one thread",
        times="; ".join(
            f"{n} dimensions: {statistics.median(one.tagger):.1f} s, scikit-learn "
            f"{statistics.median(one.perceptron):.1f} s"
            for n, one in seen.items()
        ),
        ratios={
            f"scikit-learn, {n}": statistics.median(
                theirs / ours for theirs, ours in zip(one.perceptron, one.tagger, strict=True)
            )
            for n, one in seen.items()
        },
        peak=f"{max(one.peak_mib for one in seen.values())} MiB",
        fingerprint=hashlib.sha256(
            "".join(one.fingerprint for one in seen.values()).encode()
        ).hexdigest()[:16],
    )


def race(job: Job) -> Race:
    """Return the times of both sides, after comparing how many tags are right."""
    vectors, words = invented(job)
    asked = words.windows[:_ASKED]
    progress = Progress()
    ours_seconds, theirs_seconds = [], []
    with threadpool_limits(1):
        for _ in range(job.rounds):
            with progress.stage("epoch"):
                (network, _), seconds = timed(
                    lambda: train_tagger(
                        vectors,
                        words,
                        np.random.default_rng(1),
                        lambda _network: 0.0,
                        n_tags=_TAGS,
                        epochs=1,
                    )
                )
            ours_seconds.append(seconds)
            model, seconds = timed(lambda: _perceptron(vectors, words))
            theirs_seconds.append(seconds)
            found = network.tags(vectors, asked)
            theirs = model.predict(vectors[asked].reshape(len(asked), -1))
            shares = [float((tags == words.tags[:_ASKED]).mean()) for tags in (found, theirs)]
            if abs(shares[0] - shares[1]) > _TOLERANCE:
                raise MismatchError(
                    f"{shares[0]:.3f} of the tags are right, and {shares[1]:.3f} by scikit-learn"
                )
    return Race(
        tagger=ours_seconds,
        perceptron=theirs_seconds,
        peak_mib=max(record.peak_mib for record in progress.records),
        fingerprint=hashlib.sha256(found.tobytes()).hexdigest()[:16],
    )


def invented(job: Job) -> tuple[np.ndarray, Words]:
    """Return vectors of words, and words whose tag is that of the word before them."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(0, 0.5, (_WORDS, job.n_dimensions)).astype(np.float32)
    tags = vectors[:, :_TAGS].argmax(axis=1).astype(np.int32)
    shape = (job.n_sentences * _A_SENTENCE, 2 * WINDOW + 1)
    windows = rng.integers(0, _WORDS, shape).astype(np.int32)
    return vectors, Words(windows=windows, tags=tags[windows[:, WINDOW - 1]])


def _perceptron(vectors: np.ndarray, words: Words) -> MLPClassifier:
    model = MLPClassifier(
        (N_HIDDEN,), activation="tanh", batch_size=BATCH, alpha=0.0, max_iter=1, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # one epoch is what is timed
        return model.fit(vectors[words.windows].reshape(len(words.tags), -1), words.tags)


BENCHMARKS.register("tagger", measure)
