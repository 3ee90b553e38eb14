"""Models of words in context: their classes and registry, and the model with random answers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from medsim.core.errors import OptionError, unknown_name
from medsim.core.progress import Progress
from medsim.core.registry import Registry
from medsim.embeddings.embedded_terms import NamedEmbedding, open_source
from medsim.embeddings.formats import TERMS, WORDS, VectorSource
from medsim.embeddings.options import (
    DEFAULT_NAME,
    SERVICE,
    EmbeddingLike,
    EmbeddingOptions,
    EmbeddingSpec,
    as_embedding,
    check_name,
    parse,
    parse_named,
    parse_options,
    parse_place,
)
from medsim.kernels.types import Flags, Rows, Values
from medsim.statistics.ranks import label_counts
from medsim.statistics.scores import best_threshold
from medsim.wic.dataset import Round, WicDataset, coin_flips
from medsim.wic.models.training import Training

if TYPE_CHECKING:
    import polars as pl

_RANDOM = "random"  # the name of the model with random answers

SENTENCE, TARGET_WORD, QUOTED = "sentence", "target", "quoted"
"""The input of a model: the words of a sentence; only the target (within its sentence if the model
reads that); or the sentence with its target in quotes."""

_OPTIONS = ("input", "network", "tune", "epochs", "rate", "batch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The context in which models answer.

    Attributes:
        seed: from which the model is fitted.
        n_seeds: the number of seeds to fit each model from.
        embeddings: of models with an embedding, by the name of the model.
    """

    seed: int
    threads: int
    cache: Path | None
    progress: Progress
    n_seeds: int = 1
    embeddings: Mapping[str, NamedEmbedding] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswers:
    """The answers of a model; only tested rows are meaningful.

    Attributes:
        positive: bool[n_instances], whether both terms have one meaning. For an instance that is
            not covered it is the most frequent label in the training data, False in a tie.
        scores: float64[n_instances], behind the answers; NaN if missing.
        covered: bool[n_instances], whether the model could embed or answer the instance.
        thresholds: float64[n_instances], the answer is True for scores at or above them; NaN if
            there is none, or no data to choose one.
        replies: the chats with a language model, a row per tested instance; None for any other
            model.
        digests: SHA-256 of the files with its answers, in hex, by path.
        seed: from which the model was fitted; None if it was not fitted.
    """

    positive: Flags
    scores: Values
    covered: Flags
    thresholds: Values
    replies: pl.DataFrame | None = None
    digests: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WicModel(ABC):
    """A model with its name in the results; each class is registered in ``MODELS``.

    Attributes:
        way: the method, as manifests name it.
        is_fitted: whether it is fitted on the train split, from a seed.
        needs: the splits that it needs besides test.
    """

    way: ClassVar[str]
    is_fitted: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ()

    name: str

    @abstractmethod
    def answers(self, dataset: WicDataset, context: Context) -> ModelAnswers:
        """Return its answers to the tested instances."""

    def recorded(self, answers: ModelAnswers, context: Context) -> dict[str, object]:  # noqa: ARG002 — for subclasses
        """Return the facts that decide its answers, and its path, for the manifest."""
        return {"way": self.way, "files": dict(answers.digests)}


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedModel(WicModel):
    """A model with an embedding.

    Attributes:
        gives: whether the embedding has vectors of ``WORDS`` or of ``TERMS``.
        accepts: the options that it has besides the options of its embedding and of training.
        inputs: the kinds of input that it can read, the default first.
        reads: the chosen input.
    """

    gives: ClassVar[str]
    accepts: ClassVar[tuple[str, ...]]
    inputs: ClassVar[tuple[str, ...]]

    reads: str
    embedding: EmbeddingSpec

    @classmethod
    def readable(cls, source: VectorSource) -> tuple[str, ...]:  # noqa: ARG003
        """Return the ``inputs`` that it can read with a source; raise OptionError if none."""
        return cls.inputs

    def recorded(self, answers: ModelAnswers, context: Context) -> dict[str, Any]:  # noqa: ARG002
        """Return the facts that decide its answers, and its path, for the manifest."""
        about = context.embeddings[self.name].provenance()
        return {"way": self.way, "input": self.reads, **about}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedModel(EmbeddedModel):
    """A model that PyTorch trains, and whose threshold is chosen afterwards.

    Attributes:
        default: the options of training by default.
    """

    is_fitted: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("train", "dev")
    default: ClassVar[Training]

    training: Training

    @abstractmethod
    def fitting(self, dataset: WicDataset, context: Context) -> tuple[Flags, Fit]:
        """Return which instances can be used, and a function that fits the model in a round.

        The function takes a round, and is given a function that counts trained instances. It
        returns float64[n_held_back + n_test], and the epoch whose weights were kept, from 1.
        """

    def answers(self, dataset: WicDataset, context: Context) -> ModelAnswers:
        """Return the answers of the model, which is fitted in every round, by a threshold.

        Both the epoch and the threshold are chosen on instances that it was not fitted on.
        """
        covered, fit = self.fitting(dataset, context)

        def scores_in(round_: Round) -> Values:
            train = round_.train[~np.isin(round_.train, round_.held_back)]
            train, held_back, test = (
                rows[covered[rows]] for rows in (train, round_.held_back, round_.test)
            )
            scores = np.full(len(covered), np.nan)
            if not len(train):
                return scores
            name = self.name if round_.fold is None else f"{self.name} for fold {round_.fold}"
            with context.progress.stage(f"fit {name}") as stage:
                stage.total(self.training.epochs * len(train))
                used = replace(round_, train=train, held_back=held_back, test=test)
                scores[np.concatenate([held_back, test])], epoch = fit(used, stage.advance)
                stage.note(f"{len(train):,} instances, epoch {epoch} kept")
            return scores

        return threshold_answers(dataset, scores_in, lambda round_: round_.held_back)

    def recorded(self, answers: ModelAnswers, context: Context) -> dict[str, Any]:
        """Return the facts that decide its answers, and its path, for the manifest."""
        about = EmbeddedModel.recorded(self, answers, context)
        about["options"] |= {name: str(value) for name, value in asdict(self.training).items()}
        return about


Fit: TypeAlias = Callable[[Round, Callable[[int], None]], tuple[Values, int]]
"""A function that fits a model, see ``TrainedModel.fitting``."""

MODELS: Registry[type[WicModel]] = Registry("model of words in context", "medsim.wic.models")
"""The classes of models by method."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinModel(WicModel):
    """A model with random answers, from a hash of the seed and of each instance."""

    way: ClassVar[str] = "coin"

    def answers(self, dataset: WicDataset, context: Context) -> ModelAnswers:
        """Return random answers."""
        return fixed_answers(coin_flips(dataset.instances, context.seed))


MODELS.register(CoinModel.way, CoinModel)


def model_of(source: EmbeddingLike, name: str | None = None) -> WicModel:
    """Return the model of an item of ``models``; ``name`` is for texts without a name, and objects.

    An example of a text is "minilm=model.onnx,input=quoted". A perceptron or a BiLSTM reads word
    vectors of the target or of the sentence. Vectors of an encoder are compared by cosine; they are
    of the target, which needs ONNX, or of the sentence with its target in quotes. The first of
    ``inputs`` that a model can read is the default.
    """
    given: Any
    if isinstance(source, (str, Path)):
        text = str(source) if name is None else f"{name}={source}"
        if text == _RANDOM:
            return CoinModel(name=_RANDOM)
        example = f"minilm=model.onnx,input=quoted, or {_RANDOM}"
        name, path, options = parse_named(text, "`models`", example)
        given = parse_place(path)
        if path == _RANDOM and not options:
            return CoinModel(name=name)
    else:
        given = as_embedding(source)
        name, options, text = name or given.name or DEFAULT_NAME, given.options, repr(given)
        check_name(name, f"`models` {name!r}")
    try:
        if given == Path(_RANDOM):
            _check_options(options, ())
        return _embedded_model(name, given, options)
    except OptionError as error:
        raise OptionError(f"`models` {text!r}: {error}") from error


def _embedded_model(name: str, given: Any, options: dict[str, str]) -> EmbeddedModel:
    """Return a model with an embedding."""
    names = [*_OPTIONS, *(option.name for option in fields(EmbeddingOptions))]
    for option in options:
        _choice("option of models", option, names)
    of_model = {*_OPTIONS} - ({"batch"} if str(given).startswith(SERVICE) else set())
    settings = {name: value for name, value in options.items() if name in of_model}
    embedding = EmbeddingSpec(
        name=name,
        place=given,
        options=parse_options({name: options[name] for name in options if name not in of_model}),
    )
    source = open_source(embedding)
    classes = {way: each for way, each in MODELS.all().items() if issubclass(each, EmbeddedModel)}
    networks = [way for way, each in classes.items() if each.gives == WORDS]
    is_tuned = _choice("tune", settings.get("tune", "no"), ("no", "yes")) == "yes"
    way = _choice("network", settings.get("network", "perceptron"), networks)
    if is_tuned or source.gives == TERMS:
        way = "fine-tuned" if is_tuned else "cosine"
    chosen = classes[way]
    readable = chosen.readable(source)
    defaults = asdict(chosen.default) if issubclass(chosen, TrainedModel) else {}
    _check_options(settings, (*chosen.accepts, *defaults))
    reads = settings.get("input", readable[0])
    if reads not in readable:
        raise OptionError(
            f"input={reads} does not fit ({source.describes}); accepted: {', '.join(readable)}"
        )
    if not issubclass(chosen, TrainedModel):
        return chosen(name=name, reads=reads, embedding=embedding)
    wanted = {name: settings.get(name, str(value)) for name, value in defaults.items()}
    training = parse(wanted, Training, "option of training")
    return chosen(name=name, reads=reads, embedding=embedding, training=training)


def _choice(name: str, value: str, choices: Sequence[str]) -> str:
    """Return the value of an option; raise OptionError if it is not one of the choices."""
    if value not in choices:
        raise OptionError(unknown_name(name, value, list(choices)))
    return value


def _check_options(options: Mapping[str, str], accepted: tuple[str, ...]) -> None:
    """Raise OptionError for an option that does not fit a model."""
    for name, value in options.items():
        if name not in accepted:
            names = ", ".join(accepted) or "none"
            raise OptionError(f"{name}={value} does not fit; accepted: {names}")


def threshold_answers(
    dataset: WicDataset, scores_in: Callable[[Round], Values], chosen_on: Callable[[Round], Rows]
) -> ModelAnswers:
    """Return True for scores at or above a threshold that is chosen on other instances.

    It is the most accurate threshold, the lowest of equally accurate ones, midway between two
    scores, so equal scores always get the same answer (``medsim.statistics.scores``). ``scores_in``
    returns float64[n_instances] for a round, NaN for missing scores, and ``chosen_on`` the rows to
    choose its threshold on.
    """
    labels = dataset.labels
    positive = np.zeros(len(labels), np.bool_)
    scores, thresholds = np.full((2, len(labels)), np.nan)
    for round_ in dataset.rounds:
        round_scores, rows = scores_in(round_), chosen_on(round_)
        scored = rows[~np.isnan(round_scores[rows])]
        threshold = best_threshold(*label_counts(round_scores[scored], labels[scored]))
        test_scores = round_scores[round_.test]
        is_known = ~np.isnan(test_scores) & (not math.isnan(threshold))
        positive[round_.test] = np.where(
            is_known, test_scores >= threshold, frequent_label(labels[rows])
        )
        scores[round_.test] = test_scores
        thresholds[round_.test] = threshold
    return ModelAnswers(
        positive=positive, scores=scores, covered=~np.isnan(scores), thresholds=thresholds
    )


def frequent_label(labels: Flags) -> bool:
    """Return the most frequent label of bool[n_instances], False in a tie."""
    return bool(2 * np.count_nonzero(labels) > len(labels))


def fixed_answers(positive: Flags, scores: Values | None = None) -> ModelAnswers:
    """Return answers to all instances that need no threshold: bool[n_instances], their scores."""
    return ModelAnswers(
        positive=positive,
        scores=np.full(len(positive), np.nan) if scores is None else scores,
        covered=np.ones(len(positive), np.bool_),
        thresholds=np.full(len(positive), np.nan),
    )
