"""Embeddings from Python: strings and paths, or functions, models and vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypedDict, Unpack

from medsim.core.errors import OptionError, unknown_name
from medsim.core.options import Option
from medsim.embeddings.options import (
    NAMED_BY,
    Case,
    Coverage,
    Digits,
    EmbeddingSpec,
    Keys,
    Parts,
    YesNo,
    check_name,
    parse_embedding,
    parse_options,
)

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

    keys: Keys
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
        kind = type(self.source)
        named = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
        if self.form == "function":
            named = str(getattr(self.source, "__qualname__", named))
            return f"Python function {named.rpartition('<locals>.')[2]}"
        return f"Python object {named}"


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
    shown = f"{type(source).__module__}.{type(source).__qualname__}".removeprefix("builtins.")
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
    known = list(ObjectOptions.__annotations__)
    if unknown := [name for name in options if name not in known]:
        raise OptionError(unknown_name("option of medsim.Embedding", unknown[0], known))
    return {
        name: ("yes" if value else "no") if isinstance(value, bool) else str(value)
        for name, value in options.items()
    }
