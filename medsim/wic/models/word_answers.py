"""The answers of word vectors, through a perceptron or a BiLSTM."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.errors import OptionError, needing
from medsim.embeddings.embedded_terms import embed_terms
from medsim.embeddings.metrics import WordBags, Workers
from medsim.embeddings.metrics.averages import points_of
from medsim.wic.models.answers import ModelAnswers, majority, round_name, threshold_answers
from medsim.wic.models.bilstm import BilstmRound, WordPairs, bilstm_scores
from medsim.wic.models.model_specs import SENTENCE
from medsim.wic.models.training import prepare_torch

if TYPE_CHECKING:
    from medsim.embeddings.embedded_terms import NamedEmbedding
    from medsim.kernels.types import Flags, Table, Values
    from medsim.wic.dataset import Round, WicDataset
    from medsim.wic.models.answers import Setting
    from medsim.wic.models.model_specs import BilstmModel, WordModel

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
    words, covered = _word_pairs(dataset, spec, named, setting)
    every_text = np.arange(len(words.bags.starts) - 1, dtype=np.int32)
    points = points_of(words.bags, every_text, Workers(threads=setting.threads))
    features = np.hstack([points[words.left], points[words.right]]).astype(np.float64)
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


def bilstm_answers(
    dataset: WicDataset, spec: BilstmModel, named: NamedEmbedding, setting: Setting
) -> ModelAnswers:
    """Return the answers of a BiLSTM that is fitted in every round, by its score and a threshold.

    Both the epoch and the threshold are chosen on instances that it was not fitted on. An instance
    with a side that has no known word is not covered; nothing is fitted on it.
    """
    prepare_torch("a BiLSTM over word vectors", setting.threads)
    words, covered = _word_pairs(dataset, spec, named, setting)

    def scores_in(one: Round) -> Values:
        train = one.train[~np.isin(one.train, one.held_back)]
        own = BilstmRound(
            train=train[covered[train]],
            held_back=one.held_back[covered[one.held_back]],
            asked=np.concatenate([one.held_back, one.test]),
        )
        own = replace(own, asked=own.asked[covered[own.asked]])
        scores = np.full(len(covered), np.nan)
        if not len(own.train):
            return scores
        with setting.progress.stage(f"fit {round_name(spec, one)}") as stage:
            stage.total(spec.training.epochs * len(own.train))
            found, kept = bilstm_scores(
                words, dataset.labels, own, spec.training, setting.seed, stage.advance
            )
            stage.found(f"{len(own.train):,} instances, epoch {kept} kept")
        scores[own.asked] = found
        return scores

    return threshold_answers(dataset, scores_in, lambda one: one.held_back)


def _word_pairs(
    dataset: WicDataset, spec: WordModel | BilstmModel, named: NamedEmbedding, setting: Setting
) -> tuple[WordPairs, Flags]:
    """Return the words of both sides, and whether both have a known one."""
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
    left, right = (texts.search_sorted(side).to_numpy() for side in sides)
    covered = found.covered[left] & found.covered[right]
    return WordPairs(bags=found.embedded, left=left, right=right), covered


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
    if not len(asked) or labels.all() or not labels.any():
        return np.full(len(asked), float(len(labels) > 0 and labels.all()))
    with needing("a perceptron on word vectors needs scikit-learn", "wic"):
        from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 — an extra
        from sklearn.neural_network import MLPClassifier  # noqa: PLC0415 — as above
        from threadpoolctl import threadpool_limits  # noqa: PLC0415 — comes with it
    mean, deviation = features.mean(axis=0), features.std(axis=0)
    scale = np.where(deviation > 0, deviation, np.inf)
    model = MLPClassifier((N_HIDDEN,), max_iter=_MOST_EPOCHS, random_state=seed % _SEEDS)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 200 epochs are what is promised
        model.fit((features - mean) / scale, labels)
        scores: Values = model.predict_proba((asked - mean) / scale)[:, 1]
    return scores
