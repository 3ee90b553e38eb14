"""Networks on word vectors of both sides: a perceptron, and a bidirectional LSTM."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from medsim.core.errors import OptionError, needing
from medsim.embeddings.embedded_terms import embed_terms
from medsim.embeddings.formats import WORDS
from medsim.embeddings.metrics import WordBags, Workers
from medsim.embeddings.metrics.averages import points_of
from medsim.kernels.types import Flags, FloatTable, Ids, Rows, Values
from medsim.wic.models import (
    MODELS,
    SENTENCE,
    TARGET_WORD,
    EmbeddedModel,
    TrainedModel,
    fixed_answers,
    frequent_label,
)
from medsim.wic.models.training import Training, precision_of, prepare_torch, train

if TYPE_CHECKING:
    from medsim.wic.dataset import Round, WicDataset
    from medsim.wic.models import Context, Fit, ModelAnswers

_N_HIDDEN = 128
"""Units of the hidden layer (Rouhizadeh et al. 2024)."""

_EVEN = 0.5
_MAX_EPOCHS = 200
_SEEDS = 1 << 32  # the number of seeds that scikit-learn accepts


@dataclass(frozen=True, slots=True, kw_only=True)
class SidesInWords:
    """Instances as the words of both sides.

    Attributes:
        bags: the words of each text in order.
        left: int[n_instances], the text of the first side, with at least one word.
        right: int[n_instances], the text of the second side.
    """

    bags: WordBags
    left: Ids
    right: Ids


@dataclass(frozen=True, slots=True, kw_only=True)
class PerceptronModel(EmbeddedModel):
    """A perceptron on the mean word vectors of both sides."""

    way: ClassVar[str] = "perceptron"
    is_fitted: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("train",)
    gives: ClassVar[str] = WORDS
    accepts: ClassVar[tuple[str, ...]] = ("input", "network")
    inputs: ClassVar[tuple[str, ...]] = (TARGET_WORD, SENTENCE)

    def answers(self, dataset: WicDataset, context: Context) -> ModelAnswers:
        """Return the answers of a perceptron that is fitted in every round.

        Its features are the mean vectors of the words of both sides (Rouhizadeh et al. 2024),
        without any comparison of them. An instance with a side without known words is not covered
        and not used for fitting.
        """
        words, covered = embedded_sides(self, dataset, context)
        every_text = np.arange(len(words.bags.starts) - 1, dtype=np.int32)
        points = points_of(words.bags, every_text, Workers(threads=context.threads))
        features = np.hstack([points[words.left], points[words.right]]).astype(np.float64)
        labels = dataset.labels
        positive, scores = np.zeros(len(labels), np.bool_), np.full(len(labels), np.nan)
        with context.progress.stage(f"fit {self.name}") as stage:
            stage.total(len(dataset.rounds))
            for round_ in dataset.rounds:
                train, tested = (rows[covered[rows]] for rows in (round_.train, round_.test))
                positive[round_.test] = frequent_label(labels[round_.train])
                scores[tested] = perceptron_scores(
                    features[train], labels[train], features[tested], context.seed
                )
                positive[tested] = scores[tested] >= _EVEN
                stage.advance()
            stage.note(f"{dataset.fitted}, {features.shape[1]} features")
        return replace(fixed_answers(positive, scores), covered=covered)


MODELS.register(PerceptronModel.way, PerceptronModel)


def embedded_sides(
    model: EmbeddedModel, dataset: WicDataset, context: Context
) -> tuple[SidesInWords, Flags]:
    """Return the words of both sides of all instances, and whether both have a known word."""
    column = "sentence" if model.reads == SENTENCE else "term"
    sides = [dataset.instances[f"{column}{side}"].alias("text") for side in "12"]
    texts = pl.concat(sides, rechunk=True).unique().sort()
    result = embed_terms(
        context.embeddings[model.name],
        texts.to_list(),
        context.progress,
        threads=context.threads,
        cache=None,
    )
    if not isinstance(result.embedded, WordBags):
        raise OptionError(f"{model.name} embeds whole terms; use word vectors or an encoder")
    left, right = (texts.search_sorted(side).to_numpy() for side in sides)
    covered = result.covered[left] & result.covered[right]
    return SidesInWords(bags=result.embedded, left=left, right=right), covered


def perceptron_scores(features: FloatTable, labels: Flags, tested: FloatTable, seed: int) -> Values:
    """Return the probability, by a perceptron, that instances are True.

    It has one hidden layer, and is fitted by Adam until the training loss stops falling, or for 200
    epochs: scikit-learn's ``MLPClassifier`` with its defaults. Features are scaled to mean 0 and
    standard deviation 1 over these instances; constant features become 0. It uses one thread, since
    the order of sums would change the weights.

    Args:
        features: float64[n_fitted, n_features], in an order that does not depend on the file.
        labels: bool[n_fitted].
        tested: float64[n_tested, n_features].
        seed: of the first weights and of the order of batches.

    Returns:
        float64[n_tested]; 0 or 1 if all labels are the same, 0 if there are none.
    """
    if not len(tested) or labels.all() or not labels.any():
        return np.full(len(tested), float(len(labels) > 0 and labels.all()))
    with needing("a perceptron on word vectors needs scikit-learn", "wic"):
        from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 — an extra
        from sklearn.neural_network import MLPClassifier  # noqa: PLC0415 — an extra
        from threadpoolctl import threadpool_limits  # noqa: PLC0415 — comes with it
    mean, deviation = features.mean(axis=0), features.std(axis=0)
    scale = np.where(deviation > 0, deviation, np.inf)
    model = MLPClassifier((_N_HIDDEN,), max_iter=_MAX_EPOCHS, random_state=seed % _SEEDS)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 200 epochs are the limit
        model.fit((features - mean) / scale, labels)
        scores: Values = model.predict_proba((tested - mean) / scale)[:, 1]
    return scores


N_UNITS = 128
"""Hidden units in either direction (Rouhizadeh et al. 2024)."""

_SCORED_AT_ONCE = 256  # instances, whose words are padded to the longest side


@dataclass(frozen=True, slots=True, kw_only=True)
class BilstmModel(TrainedModel):
    """A bidirectional LSTM over word vectors."""

    way: ClassVar[str] = "bilstm"
    gives: ClassVar[str] = WORDS
    accepts: ClassVar[tuple[str, ...]] = ("input", "network")
    inputs: ClassVar[tuple[str, ...]] = (SENTENCE, TARGET_WORD)
    default: ClassVar[Training] = Training(epochs=20, rate=1e-3, batch=32)

    def fitting(self, dataset: WicDataset, context: Context) -> tuple[Flags, Fit]:
        """Return which instances have a known word on both sides, and a function that fits it.

        Rouhizadeh et al. (2024) do not say how they trained theirs.
        """
        prepare_torch("a BiLSTM over word vectors", context.threads)
        words, covered = embedded_sides(self, dataset, context)
        return covered, lambda round_, advance: bilstm_scores(
            words, dataset.labels, round_, self.training, context.seed, advance
        )


MODELS.register(BilstmModel.way, BilstmModel)


def bilstm_scores(
    pairs: SidesInWords,
    labels: Flags,
    round_: Round,
    training: Training,
    seed: int,
    advance: Callable[[int], None],
) -> tuple[Values, int]:
    """Return log-odds that instances are True, and the epoch whose weights were kept.

    A bidirectional LSTM reads the word vectors of the first side, a vector of zeros, and the second
    side. Its last states in both directions go to one output neuron (Rouhizadeh et al. 2024,
    who do not say how the sides are combined: if each were read separately, a neuron could not
    compare them). Word vectors are not changed. The loss is the binary cross-entropy; see
    ``medsim.wic.models.training.train``.

    Returns:
        float64[n_held_back + n_test], and a number from 1.
    """
    import torch  # noqa: PLC0415 — an extra
    from torch.nn.utils.rnn import pack_sequence  # noqa: PLC0415 — an extra

    vectors = torch.from_numpy(np.array(pairs.bags.vectors, np.float32))
    words = torch.from_numpy(np.array(pairs.bags.words, np.int64))
    truth = torch.from_numpy(labels.astype(np.float32))
    starts, gap = pairs.bags.starts, torch.zeros(1, vectors.shape[1])
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        module = torch.nn.ModuleDict(
            {
                "lstm": torch.nn.LSTM(vectors.shape[1], N_UNITS, bidirectional=True),
                "output": torch.nn.Linear(2 * N_UNITS, 1),
            }
        )

    def log_odds(rows: Rows) -> Any:
        left, right = (
            [vectors[words[starts[text] : starts[text + 1]]] for text in side[rows]]
            for side in (pairs.left, pairs.right)
        )
        both = [torch.cat([first, gap, second]) for first, second in zip(left, right, strict=True)]
        _, (states, _) = module["lstm"](pack_sequence(both, enforce_sorted=False))
        return module["output"](torch.cat([states[0], states[1]], dim=1))[:, 0]

    def loss(rows: Rows) -> Any:
        chosen = round_.train[rows]
        return torch.nn.functional.binary_cross_entropy_with_logits(log_odds(chosen), truth[chosen])

    def scores(rows: Rows) -> Values:
        batches = np.split(rows, range(_SCORED_AT_ONCE, len(rows), _SCORED_AT_ONCE))
        with torch.no_grad():
            parts = [log_odds(batch).numpy() for batch in batches if len(batch)]
        return np.concatenate([np.zeros(0), *parts])

    def quality() -> float:
        return precision_of(scores(round_.held_back), labels[round_.held_back])

    n_train = len(round_.train)
    epoch = train(module, loss, quality, n_train, training, seed=seed, advance=advance)
    return scores(np.concatenate([round_.held_back, round_.test])), epoch
