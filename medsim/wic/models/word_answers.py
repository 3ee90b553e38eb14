"""The answers of word vectors, through a perceptron."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.errors import OptionError
from medsim.embeddings.embedded_terms import embed_terms
from medsim.embeddings.metrics import WordBags
from medsim.embeddings.metrics.averages import points_of
from medsim.embeddings.metrics.workers import Workers
from medsim.wic.models.answers import ModelAnswers, majority
from medsim.wic.models.model_specs import SENTENCE

if TYPE_CHECKING:
    from medsim.embeddings.embedded_terms import NamedEmbedding
    from medsim.kernels.types import Flags, Table, Values
    from medsim.wic.models.answers import Setting
    from medsim.wic.models.dataset import WicDataset
    from medsim.wic.models.model_specs import WordModel

N_HIDDEN = 128
"""Units of the hidden layer (Rouhizadeh et al. 2024)."""

_EVEN = 0.5
_MOST_EPOCHS = 200
_SEEDS = 1 << 32  # of NumPy's generator that scikit-learn takes


def word_answers(
    dataset: WicDataset, spec: WordModel, named: NamedEmbedding, setting: Setting
) -> ModelAnswers:
    """Return the answers of a perceptron that is fitted on the mean word vectors of both sides.

    Its features are the mean vector of the words of one side, then that of the other (Rouhizadeh et
    al. 2024), nothing that compares them. An instance with a side that has no known word is not
    covered; nothing is fitted on it.
    """
    features, covered = _features(dataset, spec, named, setting)
    labels = dataset.labels
    positive, scores = np.zeros(len(labels), np.bool_), np.full(len(labels), np.nan)
    with setting.progress.stage(f"fit {spec.name}") as stage:
        stage.total(len(dataset.rounds))
        for one in dataset.rounds:
            train, asked = one.train[covered[one.train]], one.test[covered[one.test]]
            positive[one.test] = majority(labels[one.train])
            scores[asked] = perceptron_scores(
                features[train], labels[train], features[asked], setting.seed
            )
            positive[asked] = scores[asked] >= _EVEN
            stage.advance()
        stage.found(f"{dataset.fitted}, {features.shape[1]} features")
    return ModelAnswers(positive=positive, scores=scores, covered=covered, thresholds=np.zeros(0))


def _features(
    dataset: WicDataset, spec: WordModel, named: NamedEmbedding, setting: Setting
) -> tuple[Table, Flags]:
    """Return the vectors of both sides beside each other, and whether both have one."""
    column = "sentence" if spec.reads == SENTENCE else "term"
    sides = [dataset.instances[f"{column}{side}"].alias("text") for side in "12"]
    texts = pl.concat(sides, rechunk=True).unique().sort()
    found = embed_terms(
        named, texts.to_list(), setting.progress, threads=setting.threads, cache=None
    )
    if not isinstance(found.embedded, WordBags):
        raise OptionError(
            f"{spec.name} has vectors of whole terms; words in context need vectors of words, or "
            "an encoder"
        )
    rows = [texts.search_sorted(side).to_numpy() for side in sides]
    every_row = np.arange(len(texts), dtype=np.int32)
    points = points_of(found.embedded, every_row, Workers(threads=setting.threads))
    features = np.hstack([points[side] for side in rows]).astype(np.float64)
    return features, found.covered[rows[0]] & found.covered[rows[1]]


def perceptron_scores(features: Table, labels: Flags, asked: Table, seed: int) -> Values:
    """Return the probability, by a perceptron, that instances are True.

    It has one hidden layer, and is fitted by Adam until the loss on the fitted instances falls no
    more, or for 200 epochs: scikit-learn's ``MLPClassifier`` as it stands. Features are scaled to
    mean 0 and deviation 1 over these instances; one that is constant there becomes 0. One thread
    computes, since the order of sums would change the weights.

    Args:
        features: float64[n_fitted, n_features], in an order that does not depend on the file's.
        labels: bool[n_fitted].
        asked: float64[n_asked, n_features].
        seed: of the first weights and of the order of batches.

    Returns:
        float64[n_asked]; 0 or 1 where all labels are the same, 0 where there are none.
    """
    if labels.all() or not labels.any():
        return np.full(len(asked), float(len(labels) > 0 and labels.all()))
    try:
        from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 — an extra
        from sklearn.neural_network import MLPClassifier  # noqa: PLC0415 — as above
        from threadpoolctl import threadpool_limits  # noqa: PLC0415 — comes with it
    except ImportError as error:
        raise OptionError(
            "a perceptron on word vectors needs scikit-learn; install medsim with its extra wic"
        ) from error
    mean, deviation = features.mean(axis=0), features.std(axis=0)
    scale = np.where(deviation > 0, deviation, np.inf)
    model = MLPClassifier((N_HIDDEN,), max_iter=_MOST_EPOCHS, random_state=seed % _SEEDS)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 200 epochs are what is promised
        model.fit((features - mean) / scale, labels)
        scores: Values = model.predict_proba((asked - mean) / scale)[:, 1]
    return scores
