"""The options of reading an embedding, and the text by which a user names one."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from medsim.core.errors import OptionError
from medsim.core.options import Option
from medsim.core.reading import expanded
from medsim.embeddings.services.options import ASKING, ServiceOptions, is_service, parsed_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

POOLINGS = ("mean", "cls", "max")
"""The ways to make one vector of an encoder's token vectors."""

COVERAGES = ("all", "any")
"""The words of a term that must have vectors for it to count as covered."""

TOKEN_OPTIONS = ("case", "parts", "digits", "coverage")
"""The options that say how a term's words are looked up, see ``tokens``."""

MOST_DIMENSIONS = 1 << 16
MOST_BATCH = 2048  # as OpenAI has it

_HOW_ASKED = (*ASKING, "batch")

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
        str | None,
        Option(
            "Whether rows are vectors of words or of terms; by default that of the file.",
            choices=("words", "terms"),
        ),
    ] = None
    case: Annotated[
        str,
        Option(
            "How a word is looked up: as it stands, else in lower case (fallback); only in lower "
            "case (lower); or only as it stands (keep).",
            choices=("fallback", "lower", "keep"),
        ),
    ] = "fallback"
    parts: Annotated[
        str,
        Option(
            "When a word is split at inner punctuation (hyphens, slashes): where it has no vector "
            "as a whole (fallback), always, or never.",
            choices=("fallback", "always", "never"),
        ),
    ] = "fallback"
    digits: Annotated[
        str,
        Option(
            "What a digit of a word becomes: itself (keep); a #, as in word2vec's Google News "
            "vectors (hash); or a 0 (zero).",
            choices=("keep", "hash", "zero"),
        ),
    ] = "keep"
    coverage: Annotated[
        str | None,
        Option(
            "When a term counts as covered: when any of its words has a vector, or all; by default "
            "as the evaluation has it, else any.",
            choices=COVERAGES,
        ),
    ] = None
    pooling: Annotated[
        str | None,
        Option(
            "How token vectors of an encoder become one; by default that of the "
            "model's settings, else the mean.",
            choices=POOLINGS,
        ),
    ] = None
    normalize: Annotated[
        str | None,
        Option(
            "Whether an encoder's vectors are scaled to length 1; by default as the "
            "model's settings have it, else not.",
            choices=("yes", "no"),
        ),
    ] = None
    prefix: Annotated[
        str, Option('Text put before every term that an encoder reads, such as "query: ".')
    ] = ""
    dimensions: Annotated[
        int | None,
        Option(
            "Of a service: the dimensions that its vectors are asked to have; by default those of "
            "the model.",
            least=1,
            most=MOST_DIMENSIONS,
        ),
    ] = None
    batch: Annotated[
        int,
        Option("Of a service: terms a request at most.", least=1, most=MOST_BATCH),
    ] = 32

    def chosen(self) -> dict[str, str]:
        """Return the options that differ from their defaults, as text."""
        plain = asdict(EmbeddingOptions())
        return {name: str(value) for name, value in asdict(self).items() if value != plain[name]}

    def deciding(self) -> dict[str, str]:
        """Return the chosen options that may decide vectors; the format shows in the content."""
        return {
            name: value
            for name, value in self.chosen().items()
            if name not in ("format", *_HOW_ASKED)
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
        place: a file or folder; as text the address of a service.
    """

    name: str
    place: Path | str
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
    """Return the file or folder that a text names, or the text of a service's address."""
    return text if is_service(text) else expanded(text)


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
    if not _NAME.fullmatch(name) or name.strip() != name or name.startswith("."):
        raise OptionError(
            f"{noun} {text!r}: a name has no slash, comma or outer space, begins with no dot, "
            "has no % before two hexadecimal digits, and has at most 100 characters"
        )
    return NamedPath(name=name, path=rest, options=given)


def parse_options(given: Mapping[str, str]) -> EmbeddingOptions:
    """Return options given as text by name."""
    values: dict[str, object] = dict(
        parsed_numbers(given, EmbeddingOptions, "option of an embedding")
    )
    if "vocabulary" in given:
        values["vocabulary"] = expanded(given["vocabulary"])
    return EmbeddingOptions(**values)  # type: ignore[arg-type]  # text where text is due
