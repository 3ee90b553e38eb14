"""Training of the window tagger, compared with scikit-learn's perceptron of the same size."""

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
_A_SENTENCE = 25  # words, about as many as in BC5CDR
_TOLERANCE = 0.1  # difference in the share of correct tags
_ASKED = 5_000  # words


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The sizes of a comparison.

    Attributes:
        n_sentences: sentences, which both sides see once.
        n_dimensions: dimensions of word vectors.
        rounds: number of rounds.
    """

    n_sentences: int
    n_dimensions: int
    rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """The times of a race, in seconds per epoch on one thread.

    Attributes:
        tagger: time of the tagger in each round.
        perceptron: time of scikit-learn's perceptron in each round.
        peak_mib: peak memory of the tagger.
        fingerprint: hash of the tags.
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
            f"{n} dimensions: {statistics.median(times.tagger):.1f} s, scikit-learn "
            f"{statistics.median(times.perceptron):.1f} s"
            for n, times in seen.items()
        ),
        ratios={
            f"scikit-learn, {n}": statistics.median(
                theirs / ours for theirs, ours in zip(times.perceptron, times.tagger, strict=True)
            )
            for n, times in seen.items()
        },
        peak=f"{max(times.peak_mib for times in seen.values())} MiB",
        fingerprint=hashlib.sha256(
            "".join(times.fingerprint for times in seen.values()).encode()
        ).hexdigest()[:16],
    )


def race(job: Job) -> Race:
    """Return the times of both sides, after comparing their accuracy."""
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
            ours = network.tags(vectors, asked)
            theirs = model.predict(vectors[asked].reshape(len(asked), -1))
            shares = [float((tags == words.tags[:_ASKED]).mean()) for tags in (ours, theirs)]
            if abs(shares[0] - shares[1]) > _TOLERANCE:
                raise MismatchError(
                    f"the accuracy is {shares[0]:.3f}, but {shares[1]:.3f} by scikit-learn"
                )
    return Race(
        tagger=ours_seconds,
        perceptron=theirs_seconds,
        peak_mib=max(record.peak_mib for record in progress.records),
        fingerprint=hashlib.sha256(ours.tobytes()).hexdigest()[:16],
    )


def invented(job: Job) -> tuple[np.ndarray, Words]:
    """Return vectors of words, and words that are tagged like the word before them."""
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
        warnings.simplefilter("ignore", ConvergenceWarning)  # a single epoch is timed
        return model.fit(vectors[words.windows].reshape(len(words.tags), -1), words.tags)


BENCHMARKS.register("tagger", measure)
