"""The options of reading an embedding, and the text by which a user names one."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args

from medsim.core.errors import OptionError, unknown_name
from medsim.core.options import Option, Options, types_of
from medsim.core.reading import expanded

if TYPE_CHECKING:
    from collections.abc import Mapping


OptionsT = TypeVar("OptionsT", bound=Options)

SERVICE = "api:"
"""The beginning of a text that names a service, before its address."""

KEY = "MEDSIM_API_KEY"
"""The environment variable of the key of any service."""

ASKING = ("key", "concurrency", "rpm", "timeout")
"""The options of sending requests to a service, which do not change its answers."""

_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,99}")
_NUMBERS: dict[Any, type[int | float]] = {int: int, int | None: int, float: float}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceOptions(Options):
    """The options that every service has.

    Attributes:
        model: the service's name of the model.
        key: the environment variable with the key; by default the one for any service, or OpenAI's.
        concurrency: maximum number of parallel requests.
        rpm: maximum number of requests per minute; no limit by default.
        timeout: maximum seconds of a request, with its answer.
    """

    model: str | None = None
    key: str | None = None
    concurrency: Annotated[int, Option("Limit on parallel requests.", least=1, most=256)] = 4
    rpm: Annotated[int | None, Option("Limit on requests per minute.", least=1, most=1_000_000)] = (
        None
    )
    timeout: Annotated[int, Option("Limit on seconds per request.", least=1, most=86_400)] = 300

    def check(self) -> None:
        """Raise OptionError for a key that is not the name of an environment variable."""
        if self.key is not None and not _VARIABLE.fullmatch(self.key):  # it may be the key itself
            raise OptionError(f"key= must name an environment variable in capitals, such as {KEY}")


def parse(given: Mapping[str, str], kind: type[OptionsT], noun: str) -> OptionsT:
    """Return options given as text by name.

    Raises:
        OptionError: an option is unknown, or a value is not accepted.
    """
    known, hints = [field.name for field in fields(kind)], types_of(kind)
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            raise OptionError(unknown_name(noun, name, known))
        values[name] = value
        if number := _NUMBERS.get(hints[name]):
            try:
                values[name] = number(value)
            except ValueError as error:
                raise OptionError(f"{noun} {name}={value!r} is not a number") from error
        elif hints[name] == Path | None:
            values[name] = expanded(value)
    return kind(**values)


Pooling = Literal["mean", "cls", "max"]
"""The ways to pool an encoder's token vectors into one vector."""

POOLINGS: tuple[Pooling, ...] = get_args(Pooling)

Coverage = Literal["all", "any"]
"""The words of a term that must have vectors for it to count as covered."""

COVERAGES: tuple[Coverage, ...] = get_args(Coverage)

Device = Literal["auto", "cpu"]
"""The place of computation: on a GPU if a library finds one, or only on the processor."""

Keys = Literal["words", "terms"]
Case = Literal["fallback", "lower", "upper", "keep"]
Parts = Literal["fallback", "always", "never"]
Digits = Literal["keep", "hash", "zero"]
YesNo = Literal["yes", "no"]

TOKEN_OPTIONS = ("case", "parts", "phrases", "digits", "coverage", "language")
"""The options that say how a term's words are looked up, see ``tokens``."""

HUB = "hf:"
"""The beginning of a text that names a model on a hub."""

NAMED_BY = (
    "A file or folder, hf:MODEL of a hub, or api:URL of a service, with options after it, as in "
    "bert=model.onnx,pooling=cls. In Python also functions, models and vectors: medsim.Embedding."
)
"""The texts and objects by which an embedding is named, for the help of options."""

_NAME = re.compile(r"(?!.*%[0-9A-Fa-f]{2})[^/\\=,\x00-\x1f]{1,100}")
_OPTION = re.compile(r",([a-z_]+)=([^,]*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingOptions(ServiceOptions):
    """The options of reading an embedding; its format refuses those that it does not know.

    Attributes:
        format: the name of the format; by default recognised by the content.
        vocabulary: the file that names the rows of an array; by default a file in its folder.
        keys: whether rows are vectors of words or of terms; by default decided by the file.
        case: words are looked up unchanged and then in lower case (fallback; or in upper case, if
            all words of a vocabulary are), only in lower case (lower), unchanged and then in upper
            case (upper), or only unchanged (keep).
        parts: words are split at inner punctuation if they have no vector as a whole (fallback),
            always, or never.
        phrases: a whole term of several words, joined by spaces or underscores, is looked up if its
            words do not cover it (fallback), before them (always), or never.
        digits: left unchanged (keep), or replaced by # (hash, as in Google News) or 0 (zero).
        coverage: a term is covered if all of its words have a vector, or any; by default as in the
            evaluation, else any.
        language: the language of the rows to read if they are named as in ConceptNet, such as
            /c/en/heart_attack.
        pooling: pooling of token vectors; by default as in the model's settings, else the mean.
        normalize: whether vectors are scaled to length 1; by default as in the model's settings.
        prefix: text put before every term that an encoder reads, such as "query: ".
        device: an encoder runs on a GPU if its library finds one (auto), or on the processor.
        dimensions: number of dimensions to request from a service; by default the model's.
        batch: maximum number of terms per request; OpenAI's limit is the upper bound.
        trained_on: what the model was trained on, such as hpo-train, for leaderboards; it changes
            nothing else.
    """

    format: str | None = None
    vocabulary: Path | None = None
    keys: Annotated[Keys | None, Option("Kind of the rows.")] = None
    case: Annotated[Case, Option("Case of words.")] = "fallback"
    parts: Annotated[Parts, Option("Splitting of words.")] = "fallback"
    phrases: Annotated[Parts, Option("Terms as phrases.")] = "fallback"
    digits: Annotated[Digits, Option("Digits of words.")] = "keep"
    coverage: Annotated[Coverage | None, Option("Words that must be known.")] = None
    language: str = "en"
    pooling: Annotated[Pooling | None, Option("Pooling of token vectors.")] = None
    normalize: Annotated[YesNo | None, Option("Scaling to length 1.")] = None
    prefix: str = ""
    device: Annotated[Device, Option("Where an encoder runs.")] = "auto"
    dimensions: Annotated[int | None, Option("Of vectors.", least=1, most=1 << 16)] = None
    batch: Annotated[int, Option("Limit on terms per request.", least=1, most=2048)] = 32
    trained_on: str | None = None

    def chosen(self) -> dict[str, str]:
        """Return the options that differ from their defaults, as text."""
        plain = asdict(EmbeddingOptions())
        return {name: str(value) for name, value in asdict(self).items() if value != plain[name]}

    def deciding(self) -> dict[str, str]:
        """Return the chosen options that can change vectors, besides the content of all files.

        The content covers the format and the words of a vocabulary, so neither is included.
        """
        return {
            name: value
            for name, value in self.chosen().items()
            if name not in ("format", "vocabulary", *ASKING, "batch", "trained_on")
        }

    def scales(self, *, default: bool) -> bool:
        """Return whether vectors are scaled to length 1, given the setting of the model."""
        return default if self.normalize is None else self.normalize == "yes"

    def check_fit(self, kind: str, *accepted: str) -> None:
        """Raise OptionError for a given option that is not accepted."""
        for name, value in self.chosen().items():
            if name not in ("format", "trained_on", *accepted):
                names = ", ".join(accepted)
                raise OptionError(f"option {name}={value} does not fit ({kind}); accepted: {names}")


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSpec:
    """An embedding that a user names, and the place of its vectors.

    Attributes:
        place: a file or folder; as text a model on a hub or the address of a service; or a
            ``medsim.Embedding`` of an object.
    """

    name: str
    place: Any
    options: EmbeddingOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPath:
    """A path with a name before it and options after it."""

    name: str
    path: str
    options: dict[str, str]


def parse_embedding(text: str) -> EmbeddingSpec:
    """Return the embedding that a text such as "bert=models/bert,pooling=cls" names."""
    named = parse_named(text, "embedding", "glove=glove.6B.300d.txt")
    options = parse_options(named.options)
    return EmbeddingSpec(name=named.name, place=parse_place(named.path), options=options)


def parse_place(text: str) -> Path | str:
    """Return the file or folder that a text names; a model on a hub or service stays text."""
    return text if text.startswith((HUB, SERVICE)) else expanded(text)


def parse_named(text: str, noun: str, example: str) -> NamedPath:
    """Return the path of a text such as "bert=models/bert,pooling=cls".

    Options are at the end, ``,NAME=VALUE`` each; a comma before other text is part of the path.
    """
    name, equals, rest = text.partition("=")
    given: dict[str, str] = {}
    while match := _OPTION.search(rest):
        if match[1] in given:
            raise OptionError(f"{noun} {name!r} gives {match[1]} twice")
        given[match[1]] = match[2]
        rest = rest[: match.start()]
    if not equals or not rest:
        raise OptionError(f"{noun} {text!r} is not NAME=PATH, such as {example}")
    check_name(name, f"{noun} {text!r}")
    return NamedPath(name=name, path=rest, options=given)


def check_name(name: str, where: str) -> None:
    """Raise OptionError, which begins with ``where``, if a folder cannot have a name."""
    if not _NAME.fullmatch(name) or name.strip() != name or name.startswith("."):
        raise OptionError(
            f"{where}: a name has at most 100 characters, no slash, comma, outer space or first "
            "dot, and no % before two hexadecimal digits"
        )


def parse_options(given: Mapping[str, str]) -> EmbeddingOptions:
    """Return the options of reading an embedding, given as text by name."""
    return parse(given, EmbeddingOptions, "option of an embedding")
