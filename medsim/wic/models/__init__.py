"""Models of words in context, one module each, and their shared parts."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from medsim.core.errors import OptionError, unknown_name
from medsim.core.registry import Registry
from medsim.embeddings.embedded_terms import open_source
from medsim.embeddings.given import DEFAULT_NAME, as_embedding
from medsim.embeddings.options import (
    SERVICE,
    EmbeddingOptions,
    EmbeddingSpec,
    check_name,
    parse_named,
    parse_options,
    parse_place,
)
from medsim.embeddings.sources import TERMS, WORDS
from medsim.statistics.ranks import ranked
from medsim.statistics.scores import best_threshold
from medsim.wic.models.training import Training, training_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from medsim.core.progress import Progress
    from medsim.embeddings.embedded_terms import NamedEmbedding
    from medsim.embeddings.given import EmbeddingLike
    from medsim.embeddings.sources import VectorSource
    from medsim.kernels.types import Flags, Rows, Values
    from medsim.wic.dataset import Round, WicDataset

RANDOM = "random"
"""The name of the model with random answers."""

SENTENCE, TARGET, QUOTED = "sentence", "target", "quoted"
"""The input of a model: the words of a sentence; only the target (within its sentence if the model
reads that); or the sentence with its target in quotes."""

_OWN = ("input", "network", "tune", "loss", "epochs", "rate", "batch")


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
    """The answers of a model; only tested rows have a meaning.

    Attributes:
        positive: bool[n_instances], whether both terms have one meaning. For an instance that is
            not covered it is the most frequent label in the training data, False in a tie.
        scores: float64[n_instances], behind the answers; NaN if missing.
        covered: bool[n_instances], whether the model could embed or answer the instance.
        thresholds: float64[n_rounds], the answer is True for scores at or above them; empty if
            there are none, NaN if there was no data to choose one.
        replies: the chats with a language model, a row per tested instance; None for any other
            model.
        digests: SHA-256 of the files that it answers from, in hex, by their path.
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
class Model(ABC):
    """A model under the name that results have; each class is registered in ``MODELS``.

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

    def recorded(self, answers: ModelAnswers, context: Context) -> dict[str, object]:  # noqa: ARG002 — of others
        """Return the facts that decide its answers, and its path, for the manifest."""
        return {"way": self.way, "files": dict(answers.digests)}


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedModel(Model):
    """A model with an embedding.

    Attributes:
        gives: whether the embedding has vectors of ``WORDS`` or of ``TERMS``.
        accepts: the options that it has besides those of its embedding.
        inputs: that it can read, the default first.
        reads: the chosen one of ``inputs``.
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
        losses: the names of the losses to choose from, the default first; empty if it has only one.
        loss: the chosen one, or "".
    """

    is_fitted: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("train", "dev")
    default: ClassVar[Training]
    losses: ClassVar[tuple[str, ...]] = ()

    training: Training
    loss: str = ""

    def recorded(self, answers: ModelAnswers, context: Context) -> dict[str, Any]:
        """Return the facts that decide its answers, and its path, for the manifest."""
        about = EmbeddedModel.recorded(self, answers, context)
        about["options"] |= {"loss": self.loss} if self.loss else {}
        about["options"] |= {name: str(value) for name, value in asdict(self.training).items()}
        return about


MODELS: Registry[type[Model]] = Registry("model of words in context", "medsim.wic.models")
"""The classes of models by method."""


def model_of(given: EmbeddingLike, name: str | None = None) -> Model:
    """Return the model that a caller gives, with a name if the text has none.

    An example of a text is "minilm=model.onnx,input=quoted". A perceptron or a BiLSTM reads word
    vectors of the target or of the sentence. Vectors of an encoder are compared by cosine; they are
    of the target, which needs ONNX, or of the sentence with its target in quotes. The first of
    ``inputs`` that a model can read is the default.
    """
    place: Any
    if isinstance(given, (str, Path)):
        text = str(given) if name is None else f"{name}={given}"
        if text == RANDOM:
            return MODELS.get("coin")(name=RANDOM)
        named = parse_named(text, "`models`", f"minilm=model.onnx,input=quoted, or {RANDOM}")
        name, place, options = named.name, parse_place(named.path), named.options
        if named.path == RANDOM and not options:
            return MODELS.get("coin")(name=name)
    else:
        place = as_embedding(given)
        name, options, text = name or place.name or DEFAULT_NAME, place.options, repr(place)
        check_name(name, f"`models` {name!r}")
    try:
        if place == Path(RANDOM):
            _check_options(options, ())
        return _made_of(name, place, options)
    except OptionError as error:
        raise OptionError(f"`models` {text!r}: {error}") from error


def _made_of(name: str, place: Any, options: dict[str, str]) -> EmbeddedModel:
    """Return a model with an embedding."""
    known = [*_OWN, *(option.name for option in fields(EmbeddingOptions))]
    for one in options:
        _choice("option of models", one, known)
    is_own = {
        one: one in _OWN and not (one == "batch" and str(place).startswith(SERVICE))
        for one in options
    }
    own = {one: value for one, value in options.items() if is_own[one]}
    embedding = EmbeddingSpec(
        name=name,
        place=place,
        options=parse_options({one: v for one, v in options.items() if not is_own[one]}),
    )
    source = open_source(embedding)
    kinds = {way: one for way, one in MODELS.all().items() if issubclass(one, EmbeddedModel)}
    networks = [way for way, one in kinds.items() if one.gives == WORDS]
    is_tuned = _choice("tune", own.get("tune", "no"), ("no", "yes")) == "yes"
    way = _choice("network", own.get("network", "perceptron"), networks)
    if is_tuned or source.gives == TERMS:
        way = "fine-tuned" if is_tuned else "cosine"
    kind = kinds[way]
    readable = kind.readable(source)
    _check_options(own, kind.accepts)
    reads = own.get("input", readable[0])
    if reads not in readable:
        raise OptionError(
            f"input={reads} does not fit ({source.describes}); accepted: {', '.join(readable)}"
        )
    if not issubclass(kind, TrainedModel):
        return kind(name=name, reads=reads, embedding=embedding)
    loss = _choice("loss", own.get("loss", kind.losses[0]), kind.losses) if kind.losses else ""
    training = training_of(own, kind.default)
    return kind(name=name, reads=reads, embedding=embedding, training=training, loss=loss)


def _choice(name: str, value: str, choices: Sequence[str]) -> str:
    """Return the value of an option, which is one of its choices."""
    if value not in choices:
        raise OptionError(unknown_name(name, value, list(choices)))
    return value


def _check_options(given: Mapping[str, str], accepted: tuple[str, ...]) -> None:
    """Raise OptionError for an option that does not fit a model."""
    for name, value in given.items():
        if name not in accepted:
            known = ", ".join(accepted) or "none"
            raise OptionError(f"{name}={value} does not fit; accepted: {known}")


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
    positive, scores = np.zeros(len(labels), np.bool_), np.full(len(labels), np.nan)
    thresholds = []
    for one in dataset.rounds:
        found, rows = scores_in(one), chosen_on(one)
        known = rows[~np.isnan(found[rows])]
        distinct, ranks = ranked(found[known])
        n_positive, n_negative = (
            np.bincount(ranks[labels[known] == label], minlength=len(distinct))
            for label in (True, False)
        )
        threshold = best_threshold(distinct, n_positive, n_negative)
        asked = found[one.test]
        is_known = ~np.isnan(asked) & (not math.isnan(threshold))
        positive[one.test] = np.where(is_known, asked >= threshold, majority(labels[rows]))
        scores[one.test] = asked
        thresholds.append(threshold)
    return ModelAnswers(
        positive=positive, scores=scores, covered=~np.isnan(scores), thresholds=np.array(thresholds)
    )


def round_name(name: str, one: Round) -> str:
    """Return the name of a model in a round, for the progress."""
    return name if one.fold is None else f"{name} for fold {one.fold}"


def majority(labels: Flags) -> bool:
    """Return the most frequent label, False in a tie."""
    return bool(2 * np.count_nonzero(labels) > len(labels))


def unscored(positive: Flags, scores: Values | None = None) -> ModelAnswers:
    """Return answers to all instances that need no threshold."""
    return ModelAnswers(
        positive=positive,
        scores=np.full(len(positive), np.nan) if scores is None else scores,
        covered=np.ones(len(positive), np.bool_),
        thresholds=np.zeros(0),
    )
