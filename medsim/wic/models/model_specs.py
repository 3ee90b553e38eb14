"""Models of words in context, and the texts that name them."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

from medsim.core.errors import OptionError, unknown_name
from medsim.core.options import Option
from medsim.core.reading import expanded
from medsim.embeddings import TERMS
from medsim.embeddings.embedded_terms import open_source
from medsim.embeddings.formats.onnx import NAME as ONNX
from medsim.embeddings.formats.sentence_transformers import NAME as SENTENCE_TRANSFORMERS
from medsim.embeddings.given import DEFAULT_NAME, as_embedding
from medsim.embeddings.options import (
    SERVICE,
    EmbeddingOptions,
    EmbeddingSpec,
    ServiceOptions,
    check_name,
    is_service,
    open_service,
    parse_named,
    parse_options,
    parse_place,
    parsed,
)
from medsim.wic.models.training import Training
from medsim.wic.models.tuning import LOSSES, Tuning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.embeddings import VectorSource
    from medsim.embeddings.given import EmbeddingLike
    from medsim.embeddings.options import Service

RANDOM = "random"
"""The model that answers by a coin."""

SENTENCE, TARGET, QUOTED = "sentence", "target", "quoted"
"""The input of a model: the words of a sentence; the target alone, in its sentence where the model
reads that; or the sentence with its target in quotes."""

COIN, WORDS, BILSTM, FILE = "coin", "perceptron", "bilstm", "file"
COSINES, TUNED, PROMPTED = "cosine", "fine-tuned", "prompted"
"""Kinds of answers."""

READABLE = {
    WORDS: (TARGET, SENTENCE),
    BILSTM: (SENTENCE, TARGET),
    COSINES: (TARGET, QUOTED),
    TUNED: (QUOTED,),
}
"""The inputs that fit each kind of answer, the default first."""

TRAINING = {
    TUNED: Training(epochs=10, rate=2e-5, batch=32),
    BILSTM: Training(epochs=20, rate=1e-3, batch=32),
}
"""The training of each kind of answer that has one, where its options do not say otherwise.

The first is that of the code of Rouhizadeh et al. (2024). They do not say how they trained the
second.
"""

TUNABLE = (SENTENCE_TRANSFORMERS, "transformers")
"""The formats of embeddings that can be fine-tuned."""

_RANGES = {"epochs": (1, 1_000), "rate": (1e-9, 1), "batch": (1, 100_000)}
_ACCEPTED = {
    WORDS: ("input", "network"),
    BILSTM: ("input", "network", *_RANGES),
    COSINES: ("input", "tune"),
    TUNED: ("input", "tune", "loss", *_RANGES),
}
_OWN = ("input", "network", "tune", "loss", *_RANGES)
MOST_SHOTS = 100
MOST_TOKENS = 100_000

_EXAMPLES = f"minilm=model.onnx,input=quoted, or {RANDOM}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedModel:
    """A model, under the name that results have."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinModel(NamedModel):
    """A model that answers by a coin."""

    answer_kind: ClassVar[str] = COIN


@dataclass(frozen=True, slots=True, kw_only=True)
class FileModel(NamedModel):
    """A model whose predictions are in a file.

    Attributes:
        dev: of scores of the dev split, beside a file of scores of the test split.
    """

    answer_kind: ClassVar[str] = FILE
    file: Path
    dev: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WordModel(NamedModel):
    """A perceptron on word vectors, which reads ``TARGET`` or ``SENTENCE``."""

    answer_kind: ClassVar[str] = WORDS
    reads: str
    embedding: EmbeddingSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class CosineModel(NamedModel):
    """An encoder whose vectors are compared by cosine; it reads ``TARGET`` or ``QUOTED``."""

    answer_kind: ClassVar[str] = COSINES
    reads: str
    embedding: EmbeddingSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class BilstmModel(NamedModel):
    """A bidirectional LSTM over word vectors, which reads ``SENTENCE`` or ``TARGET``."""

    answer_kind: ClassVar[str] = BILSTM
    reads: str
    embedding: EmbeddingSpec
    training: Training


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedModel(NamedModel):
    """An encoder that is fine-tuned, and then compared by cosine."""

    answer_kind: ClassVar[str] = TUNED
    reads: ClassVar[str] = QUOTED
    embedding: EmbeddingSpec
    tuning: Tuning


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPlace:
    """The place of an embedding, with a name and options: a path, an address or an object."""

    name: str
    place: Any
    options: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmOptions(ServiceOptions):
    """The options of asking a language model."""

    shots: Annotated[
        int,
        Option("Examples from train before each instance.", least=0, most=MOST_SHOTS),
    ] = 0
    tokens: Annotated[int, Option("Tokens that a reply may have.", least=1, most=MOST_TOKENS)] = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmModel(NamedModel):
    """A language model that a service runs."""

    answer_kind: ClassVar[str] = PROMPTED
    service: Service
    options: LlmOptions


FittedModel: TypeAlias = WordModel | BilstmModel | TunedModel
"""A model that is fitted on instances, from a seed."""

EmbeddedModel: TypeAlias = FittedModel | CosineModel
"""A model that is made of an embedding."""

ModelSpec: TypeAlias = CoinModel | FileModel | LlmModel | EmbeddedModel
"""A model that is to be scored."""


def model_of(given: EmbeddingLike, name: str | None = None) -> ModelSpec:
    """Return the model that a caller gives, of a name where a text does not have it."""
    if isinstance(given, (str, Path)):
        return parse_model(str(given) if name is None else f"{name}={given}")
    found = as_embedding(given)
    name = name or found.name or DEFAULT_NAME
    check_name(name, f"`models` {name!r}")
    return _made_of(repr(found), NamedPlace(name=name, place=found, options=found.options))


def parse_model(text: str) -> ModelSpec:
    """Return the model that a text such as "minilm=model.onnx,input=quoted" names.

    Word vectors go through a perceptron or a BiLSTM and are of the target or of the sentence.
    Vectors of an encoder are compared by their cosine and are of the target, for which it must be
    in ONNX, or of the sentence with its target in quotes. The first input of ``READABLE`` that a
    model can have is the default.
    """
    if text == RANDOM:
        return CoinModel(name=RANDOM)
    named = parse_named(text, "`models`", _EXAMPLES)
    if named.path == RANDOM:
        _check_options(text, named.options, ())
        return CoinModel(name=named.name)
    place = NamedPlace(name=named.name, place=parse_place(named.path), options=named.options)
    return _made_of(text, place)


def _made_of(text: str, named: NamedPlace) -> EmbeddedModel:
    """Return the model that is made of an embedding, which the text or object in ``text`` is."""
    known = [*_OWN, *(option.name for option in fields(EmbeddingOptions))]
    for name in named.options:
        if name not in known:
            raise OptionError(unknown_name("option of models", name, known))
    names = [name for name in _OWN if name != "batch" or not is_service(named.place)]
    own = {name: value for name, value in named.options.items() if name in names}
    options = parse_options({n: value for n, value in named.options.items() if n not in own})
    embedding = EmbeddingSpec(name=named.name, place=named.place, options=options)
    source = open_source(embedding)
    kind = _answer_kind(text, own, source)
    _check_options(text, own, _ACCEPTED[kind])
    readable = (
        READABLE[kind][-1:] if kind == COSINES and source.format_name != ONNX else READABLE[kind]
    )
    reads = own.get("input", readable[0])
    if reads not in readable:
        raise OptionError(
            f"`models` {text!r}: input={reads} does not fit ({source.describes}); accepted: "
            f"{', '.join(readable)}"
        )
    if kind == TUNED:
        tuning = Tuning(
            loss=_choice(own, "loss", LOSSES), training=_training(text, own, TRAINING[kind])
        )
        return TunedModel(name=named.name, embedding=embedding, tuning=tuning)
    if kind == BILSTM:
        training = _training(text, own, TRAINING[kind])
        return BilstmModel(name=named.name, reads=reads, embedding=embedding, training=training)
    model = WordModel if kind == WORDS else CosineModel
    return model(name=named.name, reads=reads, embedding=embedding)


def parse_predictions(text: str) -> FileModel:
    """Return the model whose predictions a text such as "llm=answers.csv" names."""
    named = parse_named(text, "`predictions`", "llm=answers.csv,dev=dev-answers.csv")
    if unknown := [name for name in named.options if name != "dev"]:
        raise OptionError(unknown_name("option of predictions", unknown[0], ["dev"]))
    dev = named.options.get("dev")
    return FileModel(
        name=named.name,
        file=expanded(named.path),
        dev=None if dev is None else expanded(dev),
    )


def parse_llm(text: str) -> LlmModel:
    """Return the language model that a text such as "m=api:https://host/v1,model=M" names."""
    named = parse_named(text, "`llms`", "llama=api:http://localhost:8000/v1,model=llama,shots=5")
    if not is_service(named.path):
        raise OptionError(f"`llms` {named.name}= is no service; its address begins with {SERVICE}")
    options = parsed(named.options, LlmOptions, "option of LLMs")
    return LlmModel(name=named.name, service=open_service(named.path, options), options=options)


def _answer_kind(text: str, own: dict[str, str], source: VectorSource) -> str:
    """Return how a model that is made of an embedding answers, of ``READABLE``."""
    is_tuned = _choice(own, "tune", ("no", "yes")) == "yes"
    network = _choice(own, "network", (WORDS, BILSTM))
    if is_tuned and source.format_name not in TUNABLE:
        raise OptionError(
            f"`models` {text!r}: tune=yes is for {' and '.join(TUNABLE)}; this is "
            f"{source.describes}"
        )
    if source.gives == TERMS:
        return TUNED if is_tuned else COSINES
    return network


def _choice(own: dict[str, str], name: str, choices: Sequence[str]) -> str:
    """Return the value of an option, the first by default."""
    value = own.get(name, choices[0])
    if value not in choices:
        raise OptionError(unknown_name(name, value, list(choices)))
    return value


def _check_options(text: str, given: dict[str, str], accepted: tuple[str, ...]) -> None:
    """Raise OptionError for an option that does not fit a model."""
    for name, value in given.items():
        if name not in accepted:
            raise OptionError(
                f"`models` {text!r}: {name}={value} does not fit; accepted: "
                f"{', '.join(accepted) or 'none'}"
            )


def _training(text: str, own: dict[str, str], default: Training) -> Training:
    """Return how a model is trained, by its options and the default of its kind."""
    given = {name: _number(text, name, own[name]) for name in _RANGES if name in own}
    return replace(default, **given)


def _number(text: str, name: str, given: str) -> Any:
    """Return the value of an option of training, whole but for the learning rate."""
    low, high = _RANGES[name]
    whole = name != "rate"
    pattern = r"[0-9]{1,9}" if whole else r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,2})?"
    if not re.fullmatch(pattern, given) or not low <= float(given) <= high:
        raise OptionError(
            f"`models` {text!r}: {name}={given} is out of range; {low:,} to {high:,} are accepted"
        )
    return int(given) if whole else float(given)
