"""How an embedding is read, and the text by which a user asks for it."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from medsim.core.errors import OptionError, unknown_name

if TYPE_CHECKING:
    from collections.abc import Mapping

CHOICES: dict[str, tuple[str, ...]] = {
    "keys": ("words", "terms"),
    "case": ("fallback", "lower", "keep"),
    "parts": ("fallback", "always", "never"),
    "digits": ("keep", "hash", "zero"),
    "coverage": ("any", "all"),
    "pooling": ("mean", "cls", "max"),
    "normalize": ("yes", "no"),
}
"""What options that are a choice can be; the first is the default where an option has one."""

TOKEN_OPTIONS = ("case", "parts", "digits", "coverage")
"""The options that say how a term's words are looked up, see ``tokens``."""

_NAME = re.compile(r"[^/\\=,\x00-\x1f]{1,100}")
_OPTION = re.compile(r",([a-z]+)=([^,]*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingOptions:
    """How an embedding is read; an option that its format does not know is an error there.

    Attributes:
        format: the name of its format; None lets the file tell.
        vocabulary: the file that names the rows of an array; None looks beside the array.
        keys: whether rows are vectors of words or of terms; None lets the file tell.
        case: how a word is looked up: "fallback" as it stands, else in lower case; "lower" only in
            lower case; "keep" only as it stands.
        parts: when a word is split at inner punctuation (hyphens, slashes): "fallback" where it has
            no vector as a whole, "always", or "never".
        digits: what a digit of a word becomes: "keep" itself; "hash" a #, as in word2vec's Google
            News vectors; "zero" a 0.
        coverage: when a term counts as covered: "any" of its words has a vector, or "all".
        pooling: how token vectors of an encoder become one: "mean", "cls" or "max"; None takes what
            the model says, else the mean.
        normalize: whether an encoder's vectors are scaled to length 1, "yes" or "no"; None takes
            what the model says, else no.
        prefix: text put before every term that an encoder reads, such as "query: ".
    """

    format: str | None = None
    vocabulary: Path | None = None
    keys: str | None = None
    case: str = "fallback"
    parts: str = "fallback"
    digits: str = "keep"
    coverage: str = "any"
    pooling: str | None = None
    normalize: str | None = None
    prefix: str = ""

    def check(self) -> None:
        """Raise OptionError for a value that is none of its choices."""
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if value is not None and value not in choices:
                raise OptionError(unknown_name(name, value, list(choices)))

    def given(self) -> dict[str, str]:
        """Return the options that differ from their defaults, as text."""
        plain = asdict(EmbeddingOptions())
        return {name: str(value) for name, value in asdict(self).items() if value != plain[name]}

    def check_fit(self, what: str, *accepted: str) -> None:
        """Raise OptionError for an option that is given and not accepted.

        Args:
            what: the options are for, such as "word2vec, binary".
            accepted: names beside ``format``, which every embedding has.
        """
        for name, value in self.given().items():
            if name not in ("format", *accepted):
                raise OptionError(
                    f"option {name}={value} does not fit ({what}); accepted: {', '.join(accepted)}"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSpec:
    """An embedding that a user names.

    Attributes:
        name: under which results have it.
        path: of its file or folder.
        options: how it is read.
    """

    name: str
    path: Path
    options: EmbeddingOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPath:
    """A path with a name before it and options behind it.

    Attributes:
        name: under which results have it.
        path: as it stands in the text.
        options: values by name.
    """

    name: str
    path: str
    options: dict[str, str]


def parse_embedding(text: str) -> EmbeddingSpec:
    """Return the embedding that a text such as "bert=models/bert,pooling=cls" names.

    Raises:
        OptionError: see ``parse_named``; or an option is unknown or has a wrong value.
    """
    found = parse_named(text, "--embedding", "glove=glove.6B.300d.txt")
    path = Path(found.path).expanduser()
    return EmbeddingSpec(name=found.name, path=path, options=parse_options(found.options))


def parse_named(text: str, option: str, example: str) -> NamedPath:
    """Return what a text such as "bert=models/bert,pooling=cls" names.

    Options stand at the end, ``,NAME=VALUE`` each; a comma before anything else is of the path.

    Args:
        text: as the user gives it.
        option: of the command line, for messages.
        example: of a text, for messages.

    Raises:
        OptionError: it has no name or no path, or gives an option twice.
    """
    name, equals, rest = text.partition("=")
    given: dict[str, str] = {}
    while found := _OPTION.search(rest):
        if found[1] in given:
            raise OptionError(f"{option} {text!r} gives {found[1]} twice")
        given[found[1]] = found[2]
        rest = rest[: found.start()]
    if not equals or not rest:
        raise OptionError(f"{option} {text!r} is not NAME=PATH, such as {example}")
    if not _NAME.fullmatch(name) or name.strip() != name or name.startswith("."):
        raise OptionError(
            f"{option} {text!r}: a name has no slash, comma or outer space, begins with no dot, "
            "and has at most 100 characters"
        )
    return NamedPath(name=name, path=rest, options=given)


def parse_options(given: Mapping[str, str]) -> EmbeddingOptions:
    """Return options given as text by name.

    Raises:
        OptionError: a name is unknown, or a value is none of its choices.
    """
    known = [one.name for one in fields(EmbeddingOptions)]
    for name in given:
        if name not in known:
            raise OptionError(unknown_name("option of an embedding", name, known))
    values: dict[str, object] = dict(given)
    if "vocabulary" in given:
        values["vocabulary"] = Path(given["vocabulary"]).expanduser()
    options = EmbeddingOptions(**values)  # type: ignore[arg-type]  # text where text is due
    options.check()
    return options
