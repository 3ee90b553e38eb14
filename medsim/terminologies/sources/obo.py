"""Reads ontologies in the OBO format."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from medsim.core.errors import InputError, counted
from medsim.core.files import HashedReader
from medsim.core.manifest import Skipped
from medsim.terminologies.sources import SOURCES, Source, SourceFile, Terminology
from medsim.terminologies.sources.archive import file_alone
from medsim.terminologies.sources.obo_clauses import (
    DUE,
    FORMS,
    NEEDED,
    READ,
    SCOPED,
    SYNONYM_TYPE,
    Frame,
    read_frames,
    shown,
    unescaped,
    value_of,
)
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


@dataclass(slots=True)
class _LeftOut:
    """The lines that are left out, by reason: how many they are, and the first."""

    n_lines: dict[str, int] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)

    def add(self, reason: str, line: int, text: str) -> None:
        self.n_lines[reason] = self.n_lines.get(reason, 0) + 1
        self.first.setdefault(reason, f"first in line {line}: {shown(text)}")

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        return tuple(
            Skipped(reason=f"{reason}, {self.first[reason]}", n_rows=n)
            for reason, n in self.n_lines.items()
        )


def read_obo(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from an OBO file; see ``medsim.terminologies.sources.Load``."""
    rows, left_out = OntologyRows(frozenset(options.synonyms)), _LeftOut()
    file = file_alone(path)
    with file.open() as stream:
        hashed = HashedReader(stream)
        frames = read_frames(hashed, path.name)
        header = next(frames)
        _check_header(header, left_out)
        scopes = _scopes(header)
        for frame in frames:
            _read_stanza(path, frame, scopes, rows, left_out)
        if rows.is_empty:
            raise InputError(f"{path}: has no [Term], so it is not an ontology in OBO")
        read = SourceFile.read_by(hashed, path.name)
    rows.fill(store)
    return Terminology(
        source="obo",
        name=path.name,
        vocabulary=None,
        release_date=_release_date(header),
        files=(read,),
        rf2_rules=False,
        redistributable=None,
        terms_of_use=_licence(header),
        skipped=(*rows.skipped, *left_out.skipped),
    )


def recognises(path: Path) -> bool:
    """Return whether ``path`` can be an OBO file: by its name."""
    return path.is_file() and bool(_NAME.fullmatch(path.name))


def _check_header(header: Frame, left_out: _LeftOut) -> None:
    """Note what is left out of the header: ontologies that it imports, and what is malformed."""
    for line, tag, text in header.clauses:
        if tag == "import":
            left_out.add("import is not followed", line, f"{tag}:{text}")
        elif not tag:
            left_out.add("malformed line of the header", line, text)
        elif tag == "property_value" and not value_of(tag, text):
            left_out.add("malformed property_value of the header", line, f"{tag}:{text}")


def _scopes(header: Frame) -> dict[str, str]:
    """Return the scope that synonyms of each declared type have if they state none."""
    types = [SYNONYM_TYPE.fullmatch(text) for _, tag, text in header.clauses if tag == _TYPE_TAG]
    return {unescaped(one[1]): (one[3] or _DEFAULT_SCOPE).lower() for one in types if one}


def _read_stanza(
    path: Path, frame: Frame, scopes: dict[str, str], rows: OntologyRows, left_out: _LeftOut
) -> None:
    """Add the rows of a term; the stanzas of one that has several are taken together."""
    if frame.kind != _READ_STANZA:
        if frame.kind not in _OTHER_STANZAS:
            left_out.add("unknown stanza", frame.line, f"[{frame.kind}]")
        return
    clauses = list(_clauses(path, frame, left_out))
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


def _clauses(path: Path, frame: Frame, left_out: _LeftOut) -> Iterator[tuple[str, re.Match[str]]]:
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
            left_out.add(f"malformed {known}" if known in FORMS else "unknown clause", line, whole)
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
