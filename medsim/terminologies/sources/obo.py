"""Reads ontologies in the OBO format.

The forms of clauses are those of the OBO Flat File Format, version 1.4, and a little wider: what
follows the part of a clause that is read (modifiers, references of synonyms) need not be well
formed, and a synonym may lack its scope, as in version 1.2, with a type or without one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from medsim.core.errors import InputError, counted
from medsim.core.files import HashedReader
from medsim.core.reading import MIB, decoded, too_long
from medsim.terminologies.sources import SOURCES, Source, SourceFile, Terminology
from medsim.terminologies.sources.archive import file_alone
from medsim.terminologies.sources.ontology_rows import (
    LICENCE_PROPERTY,
    NO_LICENCE,
    OntologyRows,
    day_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date
    from pathlib import Path

    from medsim.core.store import Store
    from medsim.terminologies.options import ReadingOptions

_SAVED = re.compile(r"\s*(\d\d):(\d\d):(\d{4})\b")
_NAME = re.compile(r".*\.obo(\.gz)?", re.IGNORECASE | re.DOTALL)
_TYPE_TAG = "synonymtypedef"
_READ_STANZA = "Term"
_OTHER_STANZAS = {"Typedef", "Instance"}
_DEFAULT_SCOPE = "RELATED"  # of a synonym that states none, as OBO 1.2 has it
_ASSOCIATIONS = {"replaced_by": "replaced_by", "consider": "possibly_equivalent_to"}


def read_obo(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from an OBO file; see ``medsim.terminologies.sources.Load``."""
    rows = OntologyRows(frozenset(options.synonyms))
    file = file_alone(path)
    with file.open() as stream:
        hashed = HashedReader(stream)
        frames = read_frames(hashed, path.name)
        header = next(frames)
        _check_header(header, rows)
        declared = (
            SYNONYM_TYPE.fullmatch(text) for _, tag, text in header.clauses if tag == _TYPE_TAG
        )
        # A synonym that states no scope has that of its type.
        scopes = {unescaped(one[1]): (one[3] or _DEFAULT_SCOPE).lower() for one in declared if one}
        for frame in frames:
            _read_stanza(path, frame, scopes, rows)
        if rows.is_empty:
            raise InputError(f"{path}: has no [Term], so it is not an ontology in OBO")
        read = SourceFile.read_by(hashed, path.name)
    rows.fill(store)
    return Terminology(
        source="obo",
        name=path.name,
        release_date=_release_date(header),
        files=(read,),
        terms_of_use=_licence(header),
        skipped=rows.skipped,
    )


def recognises(path: Path) -> bool:
    """Return whether ``path`` can be an OBO file: by its name."""
    return path.is_file() and bool(_NAME.fullmatch(path.name))


def _check_header(header: Frame, rows: OntologyRows) -> None:
    """Note what is left out of the header: ontologies that it imports, and what is malformed."""
    for line, tag, text in header.clauses:
        if tag == "import":
            rows.skip("import is not followed", _place(line, f"{tag}:{text}"))
        elif not tag:
            rows.skip("malformed line of the header", _place(line, text))
        elif tag == "property_value" and not value_of(tag, text):
            rows.skip("malformed property_value of the header", _place(line, f"{tag}:{text}"))


def _read_stanza(path: Path, frame: Frame, scopes: dict[str, str], rows: OntologyRows) -> None:
    """Add the rows of a term; the stanzas of one that has several are taken together."""
    if frame.kind != _READ_STANZA:
        if frame.kind not in _OTHER_STANZAS:
            rows.skip("unknown stanza", _place(frame.line, f"[{frame.kind}]"))
        return
    clauses = list(_clauses(path, frame, rows))
    ids = [unescaped(values[1]) for tag, values in clauses if tag == "id"]
    if len(ids) != 1:
        raise InputError(
            f"{path}: line {frame.line}: a [Term] with {counted(len(ids), 'id')}; it has one"
        )
    obsolete = any(tag == "is_obsolete" and values[1] == "true" for tag, values in clauses)
    rows.add_term(ids[0], obsolete=obsolete)
    for tag, values in clauses:
        text = unescaped(values[1])
        if tag == "name":
            rows.add_name(ids[0], text)
        elif tag.endswith("synonym"):
            scope = SCOPED.get(tag) or values[2] or scopes.get(values[3], _DEFAULT_SCOPE)
            rows.add_synonym(ids[0], text, scope.lower())
        elif tag == "is_a":
            rows.add_is_a(ids[0], text)
        elif tag == "xref":
            rows.add_code(ids[0], text, unescaped(values[2]))
        elif tag in _ASSOCIATIONS:
            rows.add_association(ids[0], text, _ASSOCIATIONS[tag])


def _clauses(path: Path, frame: Frame, rows: OntologyRows) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield tag and values of the clauses of a term that are read.

    A line without a tag goes on with the clause above it.

    Raises:
        InputError: a clause that is needed is malformed.
    """
    above = ""
    for line, tag, text in frame.clauses:
        whole = f"{tag}:{text}" if tag else text
        values = value_of(tag, text) if tag in FORMS else None
        if values is None:
            known = tag.strip().lower() if tag else above
            if known in NEEDED or not known:
                due = f"; {DUE[known]}" if known in DUE else ""
                raise InputError(
                    f"{path}: line {line}: not OBO (malformed {known or 'line'}{due}): "
                    f"{shown(whole)}"
                )
            reason = f"malformed {known}" if known in FORMS else "unknown clause"
            rows.skip(reason, _place(line, whole))
        elif tag in READ:
            yield tag, values
        above = tag or above


def _release_date(header: Frame) -> date | None:
    """Return the day in the data version, such as "hp/releases/2025-01-16", else that of saving."""
    texts = {tag: text for _, tag, text in reversed(header.clauses)}
    saved = _SAVED.match(texts.get("date", ""))  # such as "16:01:2025 12:00"
    return day_in(texts.get("data-version", "")) or day_in(
        saved.expand(r"\3-\2-\1") if saved else ""
    )


def _licence(header: Frame) -> str:
    """Return the licence that the header names, or that it names none."""
    for _, tag, text in header.clauses:
        values = value_of(tag, text) if tag == "property_value" else None
        if values and LICENCE_PROPERTY.search(unescaped(values[1])):
            return f"as stated by the ontology: {unescaped(values[2] or values[3])}"
    return NO_LICENCE


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
    if found and tag == "creation_date" and not day_in(found[1]):
        return None
    return found


def unescaped(text: str) -> str:
    """Return a value with what its escapes stand for."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), text)


def _place(line: int, text: str) -> str:
    return f", first in line {line}: {shown(text)}"


def shown(text: str) -> str:
    """Return a line as messages quote it: in one line, and not all of it if it is long."""
    head = text.strip()[:_MOST_QUOTED]
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in head)


def _lines(stream: IO[bytes], name: str) -> Iterator[str]:
    """Yield the lines, without their ends.

    They end in line feeds; in carriage returns alone where the first line has such.
    """
    number, has_returns = 0, False
    while read := stream.readline(MAX_HEADER_LINE + 1):
        if len(read) > MAX_HEADER_LINE:
            raise too_long(f"{name}: line {number + 1:,}", MAX_HEADER_LINE)
        if number == 0:
            has_returns = b"\r" in read.rstrip(b"\r\n")
        for line in read.splitlines() if has_returns else [read]:
            number += 1
            yield decoded(line, name, number, "convert the file to UTF-8").rstrip("\r\n")


SOURCES.register(
    "obo",
    Source(
        name="obo",
        about="OBO ontologies",
        files=".obo or .obo.gz",
        address="https://obofoundry.org",
        recognises=recognises,
        load=read_obo,
        accepts=frozenset({"synonyms"}),
    ),
)
