"""What negatives bring in training: a small encoder in NumPy, at home and on other terminologies.

The encoder sums vectors of words and of pieces of four letters. Its loss is that of
sentence-transformers' ``MultipleNegativesRankingLoss``: an anchor has to find its positive among
the positives and the negatives of its batch.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import zlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

import medsim
from benchmarks.harness import BENCHMARKS, Measured, Settings
from benchmarks.harness.timing import timed
from benchmarks.shortcuts import source_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.kernels.types import Counts, FloatTable

_ROWS, _SIZE, _BATCH, _RATE, _SCALE = 1 << 15, 64, 256, 1.0, 20
_MOST_POSITIVES = 35_000  # of a train split, about those of HPO
_SCORED_ON = {"hpo": ("hpo", "mondo", "go"), "go": ("go",)}  # by the terminology of the training

KINDS = {
    "untrained": None,
    "in-batch": (),
    "1 random": ("random_1",),
    "1 hard": ("hard_1",),
    "2 random": ("random_1", "random_2"),
    "2 hard": ("hard_1", "hard_2"),
    "1 random and 1 hard": ("random_1", "hard_1"),
}
"""The negatives of each anchor, as columns of the training data."""


def measure(settings: Settings) -> Measured:
    """Return the scores on test splits for each kind of negatives, averaged over seeds."""
    n_seeds = 1 if settings.quick else 3
    scored_on: dict[str, tuple[str, ...]] = {"hpo": ("hpo",)} if settings.quick else _SCORED_ON
    with tempfile.TemporaryDirectory() as folder:
        said, seconds = timed(partial(_scores, scored_on, Path(folder), settings, n_seeds))
    return Measured(
        about=f"trained on {', '.join(scored_on)}, {n_seeds} seeds: AUC beyond spelling, matched "
        "AUC and mean reciprocal rank, each with least to greatest over seeds",
        times=f"{seconds:.0f} s; {'; '.join(said)}",
        fingerprint=hashlib.sha256("; ".join(said).encode()).hexdigest()[:16],
    )


def _scores(
    scored_on: dict[str, tuple[str, ...]], folder: Path, settings: Settings, n_seeds: int
) -> list[str]:
    """Return a line for each kind of negatives and each test split."""
    for name in {other for others in scored_on.values() for other in others}:
        place = folder / name
        place.mkdir()
        medsim.build(source_of(name, settings.cache, place), place / "build")
        medsim.split(place / "build", place / "splits", ratios="80/10/10")
    lines = []
    for name, others in scored_on.items():
        models = _trained(training_data(folder / name), n_seeds)
        for other in others:
            results = folder / f"{name}-{other}"
            medsim.evaluate(
                folder / other / "splits/test",
                models,
                results,
                datasets=["syn_syn"],
                metrics=["cos"],
                retrieval=True,
            )
            lines += [f"{name} to {other} {line}" for line in _means(results)]
    return lines


def _trained(data: pl.DataFrame, n_seeds: int) -> dict[str, medsim.Embedding]:
    """Return a model for each kind of negatives and each seed."""
    models = {}
    for kind, columns in KINDS.items():
        for seed in range(n_seeds if columns is not None else 1):
            weights = train(data, columns, seed)
            digest = hashlib.sha256(weights.tobytes()).hexdigest()
            encoder = partial(encode, weights=weights)
            models[f"{kind} {seed}"] = medsim.Embedding(encoder, name=kind, version=digest)
    return models


def _means(folder: Path) -> list[str]:
    """Return a line for each kind of negatives."""
    evaluation = medsim.Evaluation(folder)
    results, ranks = evaluation.results(), evaluation.retrieval()
    whole = pl.col("difficulty").is_null() & pl.col("length").is_null()
    lines = []
    for kind in KINDS:
        of_kind = pl.col("embedding").str.contains(rf"^{kind} \d$")
        columns = [
            results.filter(of_kind, statistic=statistic)["value"]
            for statistic in ("auc_beyond_spelling", "auc_matched")
        ]
        columns.append(ranks.filter(of_kind, whole, statistic="mrr", subset="common")["value"])
        means = [
            f"{np.mean(values):.4f} ({np.min(values):.4f} to {np.max(values):.4f})"
            for values in (column.to_numpy() for column in columns)
        ]
        lines.append(f"{kind}: {', '.join(means)}")
    return lines


def training_data(folder: Path) -> pl.DataFrame:
    """Return the positives of the train split with two random and two hard negatives each."""
    tables = []
    kinds: dict[str, Literal["random", "levenshtein"]] = {"random": "random", "hard": "levenshtein"}
    for name, negatives in kinds.items():
        medsim.export(
            folder / "splits",
            folder / name,
            to="sentence-transformers",
            n_negatives=2,
            negatives=negatives,
        )
        table = pl.read_parquet(folder / name / "n-tuple/train-*.parquet")
        tables.append(table.rename({f"negative_{place}": f"{name}_{place}" for place in (1, 2)}))
    both = tables[0].join(
        tables[1].unique(["anchor", "positive"]), on=["anchor", "positive"], maintain_order="left"
    )
    return both.sample(min(_MOST_POSITIVES, both.height), seed=0)


def rows_of(terms: Sequence[str]) -> tuple[Counts, Counts]:
    """Return the rows of the weights for all terms, and the position where each term starts."""
    rows: list[int] = []
    starts = []
    for term in terms:
        starts.append(len(rows))
        words = [f"<{word}>" for word in re.findall(r"\w+", term.lower())] or ["<>"]
        pieces = words + [word[at : at + 4] for word in words for at in range(len(word) - 3)]
        rows += [zlib.crc32(piece.encode()) % _ROWS for piece in pieces]
    return np.array(rows), np.array(starts)


def encode(terms: Sequence[str], weights: FloatTable) -> FloatTable:
    """Return a vector of length 1 for each term."""
    rows, starts = rows_of(terms)
    sums = np.add.reduceat(weights[rows], starts)
    vectors: FloatTable = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return vectors


def train(data: pl.DataFrame, negatives: Sequence[str] | None, seed: int) -> FloatTable:
    """Return the weights after one pass over the data; None leaves them untrained."""
    rng = np.random.default_rng(seed)
    weights: FloatTable = rng.normal(size=(_ROWS, _SIZE))
    if negatives is None:
        return weights
    squares = np.full((_ROWS, 1), 1e-6)
    right = np.arange(_BATCH)
    order = rng.permutation(len(data))
    for at in range(0, len(data) - _BATCH + 1, _BATCH):
        batch = data[order[at : at + _BATCH]]
        terms = [term for name in ("anchor", "positive", *negatives) for term in batch[name]]
        rows, starts = rows_of(terms)
        sums = np.add.reduceat(weights[rows], starts)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        vectors = sums / lengths
        anchors, others = vectors[:_BATCH], vectors[_BATCH:]
        softmax = np.exp(_SCALE * (anchors @ others.T - 1))
        softmax /= softmax.sum(axis=1, keepdims=True)
        softmax[right, right] -= 1
        gradient = _SCALE / _BATCH * np.vstack([softmax @ others, softmax.T @ anchors])
        gradient = (gradient - vectors * (vectors * gradient).sum(axis=1, keepdims=True)) / lengths
        used, which = np.unique(rows, return_inverse=True)
        step = np.zeros((len(used), _SIZE))
        np.add.at(step, which, np.repeat(gradient, np.diff(starts, append=len(rows)), axis=0))
        squares[used] += (step**2).mean(axis=1, keepdims=True)  # Adagrad
        weights[used] -= _RATE * step / np.sqrt(squares[used])
    return weights


BENCHMARKS.register("training", measure)
