"""Models of words in context, and the texts that name them."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, ClassVar, TypeAlias

from medsim.core.errors import OptionError, unknown_name
from medsim.core.options import Option
from medsim.core.reading import expanded
from medsim.embeddings import TERMS
from medsim.embeddings.formats.onnx import NAME as ONNX
from medsim.embeddings.formats.sentence_transformers import NAME as SENTENCE_TRANSFORMERS
from medsim.embeddings.options import (
    EmbeddingOptions,
    EmbeddingSpec,
    parse_named,
    parse_options,
    parse_place,
)
from medsim.embeddings.services.options import (
    SERVICE,
    ServiceOptions,
    is_service,
    open_service,
    parsed_numbers,
)
from medsim.embeddings.sources import open_source

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.embeddings.services.options import Service
    from medsim.embeddings.sources import VectorSource

RANDOM = "random"
"""The model that answers by a coin."""

SENTENCE, TARGET, QUOTED = "sentence", "target", "quoted"
"""The input of a model: the words of a sentence; the target alone, in its sentence where the model
reads that; or the sentence with its target in quotes."""

COIN, WORDS, COSINES, TUNED, FILE = "coin", "perceptron", "cosine", "fine-tuned", "file"
PROMPTED = "prompted"
"""Kinds of answers."""

READABLE = {WORDS: (TARGET, SENTENCE), COSINES: (TARGET, QUOTED), TUNED: (QUOTED,)}
"""The inputs that fit each kind of answer, the default first."""

_OWN = ("input", "tune", "epochs")
_EPOCHS = 3
_MOST_EPOCHS = 1_000

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
class TunedModel(NamedModel):
    """An encoder that is fine-tuned, and then compared by cosine."""

    answer_kind: ClassVar[str] = TUNED
    reads: ClassVar[str] = QUOTED
    embedding: EmbeddingSpec
    epochs: int


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


EmbeddedModel: TypeAlias = WordModel | CosineModel | TunedModel
"""A model that is made of an embedding."""

ModelSpec: TypeAlias = CoinModel | FileModel | LlmModel | EmbeddedModel
"""A model that is to be scored."""


def parse_model(text: str) -> ModelSpec:
    """Return the model that a text such as "minilm=model.onnx,input=quoted" names.

    Word vectors go through a perceptron and are of the target or of the sentence. Vectors of an
    encoder are compared by their cosine and are of the target, for which it must be in ONNX, or of
    the sentence with its target in quotes. The first of these that a model can have is the default.
    """
    if text == RANDOM:
        return CoinModel(name=RANDOM)
    named = parse_named(text, "`models`", _EXAMPLES)
    if named.path == RANDOM:
        _check_options(text, named.options, ())
        return CoinModel(name=named.name)
    known = [*_OWN, *(option.name for option in fields(EmbeddingOptions))]
    for name in named.options:
        if name not in known:
            raise OptionError(unknown_name("option of models", name, known))
    own = {name: value for name, value in named.options.items() if name in _OWN}
    options = parse_options({n: value for n, value in named.options.items() if n not in own})
    embedding = EmbeddingSpec(name=named.name, place=parse_place(named.path), options=options)
    source = open_source(embedding)
    kind = _answer_kind(text, own, source)
    _check_options(text, own, _OWN if kind == TUNED else _OWN[:2])
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
        epochs = _epochs(text, own.get("epochs", str(_EPOCHS)))
        return TunedModel(name=named.name, embedding=embedding, epochs=epochs)
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
    options = LlmOptions(**parsed_numbers(named.options, LlmOptions, "option of LLMs"))  # type: ignore[arg-type]  # text and numbers where they are due
    return LlmModel(name=named.name, service=open_service(named.path, options), options=options)


def _answer_kind(text: str, own: dict[str, str], source: VectorSource) -> str:
    """Return how a model that is made of an embedding answers, of ``READABLE``."""
    tune = own.get("tune", "no")
    if tune not in {"yes", "no"}:
        raise OptionError(unknown_name("tune", tune, ["yes", "no"]))
    if tune == "no":
        return COSINES if source.gives == TERMS else WORDS
    if source.format_name != SENTENCE_TRANSFORMERS:
        raise OptionError(
            f"`models` {text!r}: tune=yes is for {SENTENCE_TRANSFORMERS}; this is "
            f"{source.describes}"
        )
    return TUNED


def _check_options(text: str, given: dict[str, str], accepted: tuple[str, ...]) -> None:
    """Raise OptionError for an option that does not fit a model."""
    for name, value in given.items():
        if name not in accepted:
            raise OptionError(
                f"`models` {text!r}: {name}={value} does not fit; accepted: "
                f"{', '.join(accepted) or 'none'}"
            )


def _epochs(text: str, given: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", given) or not 1 <= int(given) <= _MOST_EPOCHS:
        raise OptionError(
            f"`models` {text!r}: epochs={given} is out of range; 1 to {_MOST_EPOCHS:,} are accepted"
        )
    return int(given)
