"""Embeddings as users name them, by texts or Python objects, and the options of reading them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Protocol,
    TypeAlias,
    TypedDict,
    TypeVar,
    Unpack,
    get_args,
)

from medsim.core.errors import OptionError, check_known
from medsim.core.options import Option, Options, option_field, types_of
from medsim.core.reading import expanded

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
    concurrency: int = option_field(4, "Limit on parallel requests.", least=1, most=256)
    rpm: int | None = option_field(None, "Limit on requests per minute.", least=1, most=1_000_000)
    timeout: int = option_field(300, "Limit on seconds per request.", least=1, most=86_400)

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
    check_known(noun, known, *given)
    values: dict[str, Any] = {**given}
    for name, value in given.items():
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

KeyKind = Literal["words", "terms"]
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
        trained_on: the sources that the model was trained on, such as UMLS+PubMed or hpo-train, for
            leaderboards and warnings; it changes nothing else.
    """

    format: str | None = None
    vocabulary: Path | None = None
    keys: KeyKind | None = option_field(None, "Kind of the rows.")
    case: Case = option_field("fallback", "Case of words.")
    parts: Parts = option_field("fallback", "Splitting of words.")
    phrases: Parts = option_field("fallback", "Terms as phrases.")
    digits: Digits = option_field("keep", "Digits of words.")
    coverage: Coverage | None = option_field(None, "Words that must be known.")
    language: str = "en"
    pooling: Pooling | None = option_field(None, "Pooling of token vectors.")
    normalize: YesNo | None = option_field(None, "Scaling to length 1.")
    prefix: str = ""
    device: Device = option_field("auto", "Where an encoder runs.")
    dimensions: int | None = option_field(None, "Of vectors.", least=1, most=1 << 16)
    batch: int = option_field(32, "Limit on terms per request.", least=1, most=2048)
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


def parse_embedding(text: str) -> EmbeddingSpec:
    """Return the embedding that a text such as "bert=models/bert,pooling=cls" names."""
    name, path, given = parse_named(text, "embedding", "glove=glove.6B.300d.txt")
    return EmbeddingSpec(name=name, place=parse_place(path), options=parse_options(given))


def parse_place(text: str) -> Path | str:
    """Return the file or folder that a text names; a model on a hub or service stays text."""
    return text if text.startswith((HUB, SERVICE)) else expanded(text)


def parse_named(text: str, noun: str, example: str) -> tuple[str, str, dict[str, str]]:
    """Return the name, path and options of a text such as "bert=models/bert,pooling=cls".

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
    return name, rest, given


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


_ACCEPTED = (
    "strings as on the command line, functions of a list of texts, models with a method encode, "
    "mappings of words or terms to vectors, gensim's KeyedVectors, and arrays as "
    "medsim.Embedding(array, words=[...]) or terms=[...]"
)
OBJECT = "python"
"""The name of the format of objects, for manifests."""

VECTORS_USED = "hash of the vectors used"
"""The identity of an object without a version; its vectors are not cached."""

DEFAULT_NAME = "embedding"
"""The default name of an object."""


if TYPE_CHECKING:

    class Encodes(Protocol):
        """A model such as those of sentence-transformers and model2vec."""

        def encode(self, texts: Any, /) -> Any:
            """Return an array with a row per text."""

    class KeyedVectors(Protocol):
        """Word vectors of gensim: the words in order of row, and the rows."""

        index_to_key: Any
        vectors: Any

    EmbeddingObject: TypeAlias = (
        Callable[[list[str]], Any] | Encodes | Mapping[str, Any] | KeyedVectors
    )
    EmbeddingLike: TypeAlias = "str | Path | Embedding | EmbeddingObject"
else:  # the command line takes only strings; ``Embedding`` checks the type
    EmbeddingLike = str | Path | Any


class ObjectOptions(TypedDict, total=False):
    """The options of reading an object; see ``EmbeddingOptions`` for all but ``input``.

    Attributes:
        input: the text that a model of words in context embeds; see ``medsim.evaluate_wic``.
    """

    keys: KeyKind
    case: Case
    parts: Parts
    phrases: Parts
    digits: Digits
    coverage: Coverage
    language: str
    normalize: YesNo | bool
    prefix: str
    trained_on: str
    input: Literal["target", "sentence", "quoted"]


class Embedding:
    """A function, a model or vectors as an embedding, with a name, version and options.

    Objects that need none of these can be passed directly. Manifests identify vectors by their
    SHA-256. A function or a model is identified by the SHA-256 of the vectors that it returned, and
    its vectors are not cached. With a ``version`` it is identified by name and version, and its
    vectors are cached under both.

    Args:
        source: a function that takes a list of texts and returns an array with a row per text; a
            model with such a method ``encode``, as in sentence-transformers or model2vec; a
            mapping of words or terms to vectors; gensim's ``KeyedVectors``; or an array
            [n, n_dimensions].
        words: the words of the n rows of an array.
        terms: the terms of the rows of an array, if rows are vectors of whole terms.
        name: the name of the embedding, if it has no other.
        version: the version of the model; change it whenever the model changes.
        options: as after a path on the command line: keys, case, parts, digits, coverage for
            vectors; normalize, prefix for functions and models; trained_on for leaderboards;
            input for models of words in context.

    Raises:
        OptionError: the object is none of these, or an option does not fit.
    """

    __slots__ = ("form", "keys", "kind", "name", "options", "source", "version")

    def __init__(
        self,
        source: EmbeddingObject | Any,
        *,
        words: Iterable[str] | None = None,
        terms: Iterable[str] | None = None,
        name: str | None = None,
        version: str | None = None,
        **options: Unpack[ObjectOptions],
    ) -> None:
        if words is not None and terms is not None:
            raise OptionError("give words= or terms=, not both")
        self.source: Any = source
        self.kind = "words" if words is not None else "terms" if terms is not None else None
        self.form = _form_of(source, self.kind)
        keys: Any = () if self.kind is None else terms if words is None else words
        if isinstance(keys, str) or not isinstance(keys, Iterable):
            raise OptionError(f"{self.kind}= must be a list with one text per row, not {keys!r}")
        self.keys: list[Any] = list(keys.tolist() if hasattr(keys, "tolist") else keys)
        self.name = name
        self.version = version
        self.options = _as_text(options)
        if name is not None:
            check_name(name, f"embedding {name!r}")
        if version is not None and (not isinstance(version, str) or not version.strip()):
            raise OptionError(f"version= must be a text such as '1.0', not {version!r}")

    def __repr__(self) -> str:
        shown = {"name": self.name, "version": self.version, **self.options}
        arguments = (f", {name}={value!r}" for name, value in shown.items() if value is not None)
        return f"medsim.Embedding({self.location}{''.join(arguments)})"

    @property
    def location(self) -> str:
        """The object in a few words, for manifests and messages."""
        return place_of(self.source, is_function=self.form == "function")


def type_name(value: object) -> str:
    """Return the name of a value's type, with its module."""
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def place_of(value: object, *, is_function: bool) -> str:
    """Return an object or a function in a few words, for manifests and messages."""
    if not is_function:
        return f"Python object {type_name(value)}"
    named = str(getattr(value, "__qualname__", type_name(value)))
    return f"Python function {named.rpartition('<locals>.')[2]}"


def embedding_spec(given: EmbeddingLike, name: str | None = None) -> EmbeddingSpec:
    """Return the embedding that a caller gives, with a name if it is a string without one.

    Raises:
        OptionError: it has an unsupported type.
    """
    if isinstance(given, (str, Path)):
        return parse_embedding(str(given) if name is None else f"{name}={given}")
    if name is not None:
        check_name(name, f"embedding {name!r}")
    place = as_embedding(given)
    options = parse_options(place.options)
    return EmbeddingSpec(name=name or place.name or DEFAULT_NAME, place=place, options=options)


def as_embedding(given: Any) -> Embedding:
    """Return an object as an embedding, unless it is one already."""
    return given if isinstance(given, Embedding) else Embedding(given)


def wrap(given: Any, where: str) -> str | Path | Embedding:
    """Return an embedding that a caller gives: strings and paths unchanged, objects wrapped.

    Raises:
        OptionError: it has an unsupported type; the message begins with its option.
    """
    if isinstance(given, (str, Path)):
        return given
    try:
        return as_embedding(given)
    except OptionError as error:
        raise OptionError(f"{where}: {error}") from error


def wrap_by_name(given: Mapping[str, Any], where: str) -> dict[str, str | Path | Embedding]:
    """Return embeddings by name, each from ``wrap``.

    Raises:
        OptionError: one has an unsupported type, or an invalid name or option.
    """
    embeddings = {name: wrap(source, f"{where} {name!r}") for name, source in given.items()}
    for name, source in embeddings.items():
        embedding_spec(source, name)
    return embeddings


EMBEDDINGS = Option(
    f"File, folder, hf:MODEL or api:URL, with options (PATH,case=lower); repeatable. {NAMED_BY}",
    flags=("--embedding", "-e"),
    metavar="NAME=PATH",
    read=wrap_by_name,
)
"""The option by which evaluations and taggings name embeddings."""


def _form_of(source: Any, kind: str | None) -> str:
    """Return the kind of an object; raise OptionError if unsupported, or without words or terms."""
    shown = type_name(source)
    if kind is not None:
        if isinstance(source, (list, tuple)) or hasattr(source, "shape"):
            return "array"
        raise OptionError(f"{kind}= names the rows of an array, not of a {shown}")
    if isinstance(source, Mapping):
        return "mapping"
    if not isinstance(source, (str, bytes, Path, type)):
        if hasattr(source, "index_to_key"):
            return "keyed vectors"
        if callable(getattr(source, "encode", None)):
            return "encoder"
        if callable(source):
            return "function"
    raise OptionError(f"{shown} is not an embedding; accepted: {_ACCEPTED}")


def _as_text(options: Mapping[str, Any]) -> dict[str, str]:
    """Return options as they are written on the command line.

    Raises:
        OptionError: an option is unknown.
    """
    check_known("option of medsim.Embedding", ObjectOptions.__annotations__, *options)
    return {
        name: ("yes" if value else "no") if isinstance(value, bool) else str(value)
        for name, value in options.items()
    }
