"""The options of reading an embedding, and the text by which a user names one."""

from __future__ import annotations

import os
import re
from dataclasses import asdict, dataclass, field, fields
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

KEY, OPENAI_KEY = "MEDSIM_API_KEY", "OPENAI_API_KEY"
"""The environment variables of a key: of any service, and of OpenAI's alone."""

ASKING = ("key", "concurrency", "rpm", "timeout")
"""The options that say how a service is asked, and do not decide what it answers."""

_OPENAI_HOST = "api.openai.com"
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,99}")
_WHOLE = re.compile(r"[0-9]{1,9}")
_TEXT_OF_KEY = re.compile(r"[\x21-\x7e]{1,10000}")  # as a header of HTTP may have it
_URL = re.compile(
    r"(?P<beginning>https?://(?P<host>[a-z0-9._-]{1,253}|\[[0-9a-f:.]+\])(:[0-9]{1,5})?)"
    r"(?P<path>(/[!\"$->@-~]*)?)",  # neither # nor ?
    re.IGNORECASE | re.ASCII,
)
_NEAR = re.compile(r"localhost|127(\.[0-9]{1,3}){3}|\[::1\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceOptions(Options):
    """The options that every service has."""

    model: Annotated[
        str | None, Option("Of a service: the model that is asked for, as the service names it.")
    ] = None
    key: Annotated[
        str | None,
        Option(
            "Of a service: the environment variable that has its key; by default "
            f"{KEY}, else {OPENAI_KEY} where the host is {_OPENAI_HOST}."
        ),
    ] = None
    concurrency: Annotated[
        int,
        Option("Of a service: requests under way at a time.", least=1, most=256),
    ] = 4
    rpm: Annotated[
        int | None,
        Option(
            "Of a service: requests a minute at most; any number by default.",
            least=1,
            most=1_000_000,
        ),
    ] = None
    timeout: Annotated[
        int, Option("Of a service: seconds that an answer may take.", least=1, most=86_400)
    ] = 300

    def check(self) -> None:
        """Raise OptionError for a key that is no name of an environment variable."""
        if self.key is not None and not _VARIABLE.fullmatch(self.key):  # it may be the key itself
            raise OptionError(
                "key= names no environment variable in capitals, such as MEDSIM_API_KEY; keys "
                "are given in the environment alone"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A service, and how it is asked.

    Attributes:
        url: without user, query, fragment, and slash at its end.
        model: as the service names it.
        key: sent with every request; None where it needs none. No text shows it.
    """

    url: str
    model: str
    key: str | None = field(repr=False)
    options: ServiceOptions = field(repr=False)

    @property
    def location(self) -> str:
        """The text that names the address, as a user gives it."""
        return f"{SERVICE}{self.url}"


def is_service(place: object) -> bool:
    """Return whether a place is the address of a service."""
    return isinstance(place, str) and place.startswith(SERVICE)


def open_service(place: str, options: ServiceOptions) -> Service:
    """Return the service of a text such as "api:https://host/v1"; it is not asked yet.

    Raises:
        OptionError: the address, the model or the key are not as they must be.
    """
    found = _URL.fullmatch(place.removeprefix(SERVICE))
    if not found:  # it may hold a key, so it is not shown
        raise OptionError(
            "the address of a service is not a URL of http or https without user, password, ? and "
            f"#, such as api:https://host/v1; a key stands in the environment variable {KEY}"
        )
    url = found["beginning"].lower() + found["path"].rstrip("/")
    if not options.model:
        raise OptionError(f"{SERVICE}{url} needs the name of a model: add ,model=NAME")
    key = _key(url, found["host"].lower(), options)
    return Service(url=url, model=options.model, key=key, options=options)


def parsed(given: Mapping[str, str], kind: type[OptionsT], noun: str) -> OptionsT:
    """Return options given as text by name.

    Raises:
        OptionError: there is no such option, or a value is not accepted.
    """
    known, hints = [one.name for one in fields(kind)], types_of(kind)
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            raise OptionError(unknown_name(noun, name, known))
        values[name] = value
        if hints[name] in {int, int | None}:
            if not _WHOLE.fullmatch(value):
                raise OptionError(f"{noun} {name}={value!r} is no whole number, such as 16")
            values[name] = int(value)
        elif hints[name] == Path | None:
            values[name] = expanded(value)
    return kind(**values)


def _key(url: str, host: str, options: ServiceOptions) -> str | None:
    """Return the key that is sent to a service; None where the environment has none."""
    names = [options.key or KEY]
    if options.key is None and host == _OPENAI_HOST:
        names.append(OPENAI_KEY)
    name = next((name for name in names if os.environ.get(name, "").strip()), None)
    if name is None:
        if options.key is not None:
            raise OptionError(f"the environment variable {options.key} of key= is not set")
        return None
    key = os.environ[name].strip()
    if not _TEXT_OF_KEY.fullmatch(key):
        raise OptionError(f"the environment variable {name} has no key that HTTP can send")
    if options.key is None and url.startswith("http:") and not _NEAR.fullmatch(host):
        raise OptionError(
            f"{url} would get the key of {name} unencrypted; use https, or add ,key={name} to "
            "send it all the same"
        )
    return key


Pooling = Literal["mean", "cls", "max"]
"""The ways to make one vector of an encoder's token vectors."""

POOLINGS: tuple[Pooling, ...] = get_args(Pooling)

Coverage = Literal["all", "any"]
"""The words of a term that must have vectors for it to count as covered."""

COVERAGES: tuple[Coverage, ...] = get_args(Coverage)

Device = Literal["auto", "cpu"]
"""Where is computed: on a GPU where a library finds one, or on the processor alone."""

Keys = Literal["words", "terms"]
Case = Literal["fallback", "lower", "keep"]
Parts = Literal["fallback", "always", "never"]
Digits = Literal["keep", "hash", "zero"]
YesNo = Literal["yes", "no"]

TOKEN_OPTIONS = ("case", "parts", "digits", "coverage")
"""The options that say how a term's words are looked up, see ``tokens``."""

HUB = "hf:"
"""The beginning of a text that names a model on a hub."""

NAMED_BY = (
    "a file or folder, hf:MODEL of a hub, or api:URL of a service, with options behind it, as in "
    "bert=model.onnx,pooling=cls. Python takes functions, models and vectors as well, see "
    "medsim.Embedding."
)
"""The texts and objects by which an embedding is named, for the help of options."""

EMBEDDINGS = Option(f"An embedding: {NAMED_BY}", ("--embedding", "-e"), metavar="NAME=PATH")
"""The option by which evaluations and taggings name embeddings."""

_NAME = re.compile(r"(?!.*%[0-9A-Fa-f]{2})[^/\\=,\x00-\x1f]{1,100}")
_OPTION = re.compile(r",([a-z]+)=([^,]*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingOptions(ServiceOptions):
    """The options of reading an embedding; its format refuses those that it does not know."""

    format: Annotated[str | None, Option("Name of its format; by default that of the file.")] = None
    vocabulary: Annotated[
        Path | None, Option("File that names the rows of an array; by default the one beside it.")
    ] = None
    keys: Annotated[
        Keys | None,
        Option("Whether rows are vectors of words or of terms; by default that of the file."),
    ] = None
    case: Annotated[
        Case,
        Option(
            "How a word is looked up: as it stands, else in lower case (fallback); only in lower "
            "case (lower); or only as it stands (keep).",
        ),
    ] = "fallback"
    parts: Annotated[
        Parts,
        Option(
            "When a word is split at inner punctuation (hyphens, slashes): where it has no vector "
            "as a whole (fallback), always, or never.",
        ),
    ] = "fallback"
    digits: Annotated[
        Digits,
        Option(
            "What a digit of a word becomes: itself (keep); a #, as in word2vec's Google News "
            "vectors (hash); or a 0 (zero).",
        ),
    ] = "keep"
    coverage: Annotated[
        Coverage | None,
        Option(
            "When a term counts as covered: when any of its words has a vector, or all; by default "
            "as the evaluation has it, else any.",
        ),
    ] = None
    pooling: Annotated[
        Pooling | None,
        Option(
            "How token vectors of an encoder become one; by default that of the "
            "model's settings, else the mean.",
        ),
    ] = None
    normalize: Annotated[
        YesNo | None,
        Option(
            "Whether an encoder's vectors are scaled to length 1; by default as the "
            "model's settings have it, else not.",
        ),
    ] = None
    prefix: Annotated[
        str, Option('Text put before every term that an encoder reads, such as "query: ".')
    ] = ""
    device: Annotated[
        Device,
        Option(
            "Where an encoder runs: on a GPU where ONNX Runtime or PyTorch finds one (auto), or on "
            "the processor alone (cpu)."
        ),
    ] = "auto"
    dimensions: Annotated[
        int | None,
        Option(
            "Of a service: the dimensions that its vectors are asked to have; by default those of "
            "the model.",
            least=1,
            most=1 << 16,
        ),
    ] = None
    batch: Annotated[
        int,
        Option("Of a service: terms a request at most.", least=1, most=2048),  # as OpenAI has it
    ] = 32

    def chosen(self) -> dict[str, str]:
        """Return the options that differ from their defaults, as text."""
        plain = asdict(EmbeddingOptions())
        return {name: str(value) for name, value in asdict(self).items() if value != plain[name]}

    def deciding(self) -> dict[str, str]:
        """Return the chosen options that may decide vectors beside the content of all files.

        That has the format, and the words of a vocabulary, wherever it lies.
        """
        return {
            name: value
            for name, value in self.chosen().items()
            if name not in ("format", "vocabulary", *ASKING, "batch")
        }

    def scales(self, *, default: bool) -> bool:
        """Return whether vectors are scaled to length 1, given what the model says of it."""
        return default if self.normalize is None else self.normalize == "yes"

    def check_fit(self, kind: str, *accepted: str) -> None:
        """Raise OptionError for an option that is given and not accepted."""
        for name, value in self.chosen().items():
            if name not in ("format", *accepted):
                raise OptionError(
                    f"option {name}={value} does not fit ({kind}); accepted: {', '.join(accepted)}"
                )


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
    """A path with a name before it and options behind it."""

    name: str
    path: str
    options: dict[str, str]


def parse_embedding(text: str) -> EmbeddingSpec:
    """Return the embedding that a text such as "bert=models/bert,pooling=cls" names."""
    found = parse_named(text, "embedding", "glove=glove.6B.300d.txt")
    options = parse_options(found.options)
    return EmbeddingSpec(name=found.name, place=parse_place(found.path), options=options)


def parse_place(text: str) -> Path | str:
    """Return the file or folder that a text names; what a hub or a service has stays text."""
    return text if text.startswith(HUB) or is_service(text) else expanded(text)


def parse_named(text: str, noun: str, example: str) -> NamedPath:
    """Return the path of a text such as "bert=models/bert,pooling=cls".

    Options stand at the end, ``,NAME=VALUE`` each; a comma before anything else is of the path.
    """
    name, equals, rest = text.partition("=")
    given: dict[str, str] = {}
    while found := _OPTION.search(rest):
        if found[1] in given:
            raise OptionError(f"{noun} {name!r} gives {found[1]} twice")
        given[found[1]] = found[2]
        rest = rest[: found.start()]
    if not equals or not rest:
        raise OptionError(f"{noun} {text!r} is not NAME=PATH, such as {example}")
    check_name(name, f"{noun} {text!r}")
    return NamedPath(name=name, path=rest, options=given)


def check_name(name: str, where: str) -> None:
    """Raise OptionError, which begins with where the name stands, if a folder cannot have it."""
    if not _NAME.fullmatch(name) or name.strip() != name or name.startswith("."):
        raise OptionError(
            f"{where}: a name has no slash, comma or outer space, begins with no dot, "
            "has no % before two hexadecimal digits, and has at most 100 characters"
        )


def parse_options(given: Mapping[str, str]) -> EmbeddingOptions:
    """Return the options of reading an embedding, given as text by name."""
    return parsed(given, EmbeddingOptions, "option of an embedding")
