r"""Splits OBO files into frames, and clauses into their values.

The forms are those of the OBO Flat File Format, version 1.4, and a little wider: what stands behind
the part of a clause that is read (modifiers, references of synonyms) need not be well formed, and a
synonym may lack its scope, as in version 1.2, with a type or without one.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from typing import IO, TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.core.reading import MIB, decoded, too_long

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_HEADER_LINE = 64 * MIB
"""The most bytes of a line of a header: it may have all axioms that OBO cannot express in one."""

SCOPED = {f"{scope}_synonym": scope for scope in ("exact", "narrow", "broad", "related")}
"""The scopes of the tags that synonyms had in version 1.0."""

NEEDED = frozenset(
    (
        *("id", "name", "synonym", "is_a", "is_obsolete", "replaced_by", "consider"),
        *SCOPED,
    )
)
"""The tags of the clauses of terms that must be well formed."""

READ = NEEDED | {"xref"}
"""The tags of the clauses of terms that are read."""

_MOST_QUOTED = 300
_STANZA = re.compile(r"\[([A-Za-z][\w-]*)\][ \t]*(?:!.*)?")
_ID = r"((?:[^ \t\\!{]++|\\.)++)"
_QUOTED = r'"((?:[^"\\]++|\\.)*+)"'
_TYPE = r'[^ \t\[{!"]++'
_MODIFIER = r'[^ \t=,{}"]++="(?:[^"\\]++|\\.)*+"'
_FORMS = {
    "id": _ID,
    "name": r"((?:[^\\!{]++|\\.)++)"
    rf"(?:\{{{_MODIFIER}(?:,[ \t]*+{_MODIFIER})*+\}})?[ \t]*+(?!\{{)",
    "synonym": rf"{_QUOTED}(?:[ \t]++(?:(EXACT|BROAD|NARROW|RELATED)(?:[ \t]++{_TYPE})?"
    rf"|(?!(?i:exact|broad|narrow|related)(?![^ \t\[{{!]))({_TYPE})))?(?:[ \t]*+\[.*)?",
    "is_a": _ID,
    "xref": r"(?![a-z]+://[^ \t]*\\)"  # an address of the web has no escapes
    rf"((?:[^ \t\\!{{:]++|\\.)++):{_ID}(?:[ \t]*+{_QUOTED})?",
    "is_obsolete": "(true|false)",
    "replaced_by": _ID,
    "consider": _ID,
    "alt_id": _ID,
    "builtin": "(?:true|false)",
    "comment": ".*",
    "created_by": ".*",
    "creation_date": r"([0-9]{4}-[0-9]{2}-[0-9]{2}[^ \t{!]*+)",
    "def": rf"{_QUOTED}[ \t]*+\[.*",
    "disjoint_from": _ID,
    "equivalent_to": _ID,
    "intersection_of": rf"{_ID}(?:[ \t]++{_ID})?",
    "is_anonymous": "(?:true|false)",
    "namespace": _ID,
    "property_value": rf"{_ID}[ \t]++(?:{_QUOTED}|(?!\"){_ID})(?:[ \t]++{_ID})?",
    "relationship": rf"{_ID}[ \t]++{_ID}",
    "subset": _ID,
    "union_of": _ID,
}
_FORMS |= dict.fromkeys(SCOPED, rf"{_QUOTED}(?:[ \t]*+\[.*)?")
_END = r"[ \t]*+(?:[{!].*)?"  # modifiers and a comment; no repetition can be tried in two ways
SYNONYM_TYPE = re.compile(rf"[ \t]*+({_TYPE})[ \t]++{_QUOTED}(?:[ \t]++([A-Z]++))?{_END}")
"""The form of the text after the tag of a header that declares a type of synonyms."""

FORMS = {tag: re.compile(rf"[ \t]*+{form}{_END}") for tag, form in _FORMS.items()}
"""The form of the text after the tag of each clause of a term."""

DUE = {
    "synonym": '"TEXT", then EXACT, BROAD, NARROW or RELATED, then [REFERENCES] are due',
    "is_obsolete": "true or false is due",
}
"""The clauses of which a message says what is due, as files have other forms of them."""

_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "W": " "}


@dataclass(slots=True)
class Frame:
    """A frame: a stanza, or the header.

    Attributes:
        kind: such as "Term"; empty for the header.
        line: the number of its first line.
        clauses: line number, tag and the text after it of each; the tag is empty in a line that
            has none.
    """

    kind: str
    line: int
    clauses: list[tuple[int, str, str]] = field(default_factory=list)


def read_frames(stream: IO[bytes], name: str) -> Iterator[Frame]:
    """Yield the header and the stanzas of a file, without comments and empty lines.

    Args:
        stream: of the file.
        name: of the file, for messages.

    Raises:
        InputError: a line is too long, not UTF-8, or begins with a bracket and no stanza.
    """
    frame = Frame("", 1)
    for number, line in enumerate(_lines(stream, name), start=1):
        text = line.lstrip(" \t")
        if not text or text[0] == "!":
            continue
        if text[0] == "[":
            found = _STANZA.fullmatch(text.rstrip())
            if not found:
                raise InputError(f"{name}: line {number}: no stanza of OBO: {shown(text)}")
            yield frame
            frame = Frame(found[1], number)
        else:
            tag, colon, rest = text.partition(":")
            frame.clauses.append((number, tag, rest) if colon else (number, "", text))
    yield frame


def value_of(tag: str, text: str) -> re.Match[str] | None:
    """Return the values in the text after a tag of ``FORMS``; None if they are malformed."""
    found = FORMS[tag].fullmatch(text)
    if found and tag == "creation_date" and not _is_day(found[1]):
        return None
    return found


def unescaped(text: str) -> str:
    """Return a value with what its escapes stand for."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), text)


def shown(text: str) -> str:
    """Return a line as messages quote it: in one line, and not all of it if it is long."""
    head = text.strip()[:_MOST_QUOTED]
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in head)


def _is_day(text: str) -> bool:
    with suppress(ValueError):
        return bool(date.fromisoformat(text[:10]))
    return False


def _lines(stream: IO[bytes], name: str) -> Iterator[str]:
    """Yield the lines, without their ends.

    They end in line feeds; in carriage returns alone where the first line has such.
    """
    for number, line in enumerate(_bounded_lines(stream, name), start=1):
        yield decoded(line, name, number, "convert the file to UTF-8").rstrip("\r\n")


def _bounded_lines(stream: IO[bytes], name: str) -> Iterator[bytes]:
    """Yield the lines, none of them too long."""
    number, has_returns = 0, False
    while line := stream.readline(MAX_HEADER_LINE + 1):
        number += 1
        if len(line) > MAX_HEADER_LINE:
            raise too_long(f"{name}: line {number:,}", MAX_HEADER_LINE)
        if number == 1:
            has_returns = b"\r" in line.rstrip(b"\r\n")
        if has_returns:
            yield from line.splitlines()
        else:
            yield line
