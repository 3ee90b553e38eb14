"""Reads ontologies in the OBO format."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from typing import IO, TYPE_CHECKING

import fastobo
import polars as pl

from medsim.core.errors import InputError
from medsim.core.files import open_hashed
from medsim.core.kinds import CANONICAL_TABLES
from medsim.core.manifest import Skipped
from medsim.terminologies.sources import SOURCES, Source, SourceFile, Terminology

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.core.store import Store
    from medsim.terminologies.options import ReadingOptions

LANGUAGE = "en"
"""The language of an OBO file's names; the format has no place to say another."""

_OBSOLETE = re.compile(r"^obsolete ", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_LICENCE_PROPERTY = re.compile(r"(^|[:/])license$", re.IGNORECASE)
_ASSOCIATIONS = {
    fastobo.term.ReplacedByClause: "replaced_by",
    fastobo.term.ConsiderClause: "possibly_equivalent_to",
}
_VOCABULARIES = {
    "MESH": "MSH",
    "SCTID": "SNOMEDCT_US",
    "SNOMED": "SNOMEDCT_US",
    "SNOMED_CT": "SNOMEDCT_US",
    "SNOMEDCT": "SNOMEDCT_US",
    "ICD-10": "ICD10",
    "ICD10": "ICD10",
    "ICD-9": "ICD9CM",
    "ICD9": "ICD9CM",
    "ICD9CM": "ICD9CM",
    "ICD10CM": "ICD10CM",
    "NCIT": "NCI",
    "MEDDRA": "MDR",
    "ORPHA": "ORPHANET",
    "ORPHANET": "ORPHANET",
    "HP": "HPO",
}
"""Vocabularies of cross-references by their names in UMLS; others keep their names."""


@dataclass(slots=True)
class _Rows:
    """The rows of the canonical tables as they are read, and what was left out."""

    active: dict[str, bool] = field(default_factory=dict)
    n_clauses: Counter[str] = field(default_factory=Counter)
    named: set[str] = field(default_factory=set)
    description: list[tuple[str, str, str, str, bool, str]] = field(default_factory=list)
    association: dict[tuple[str, str, str, bool], None] = field(default_factory=dict)
    is_a: dict[tuple[str, str], None] = field(default_factory=dict)
    code: dict[tuple[str, str, str], None] = field(default_factory=dict)
    n_second_names: int = 0
    n_empty: int = 0
    n_other_scope: int = 0


class _ReadableText:
    """A stream as fastobo can read it, which looks at every byte once.

    Comment lines are left empty, as fastobo 0.14 panics on them inside a frame. At the first byte
    that is not UTF-8 the text ends, and ``check`` raises: fastobo would hide an error of its input.
    """

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream = stream
        self._path = path
        self._at_line_start = True
        self._line = 1
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._fault = ""  # no exception: fastobo keeps this object, and that would keep the store

    def read(self, size: int = -1) -> bytes:
        """Return one line, or as much of it as is asked for."""
        part = self._part(size)
        if self._at_line_start and part.lstrip(b" \t").startswith(b"!"):
            while part and not part.endswith(b"\n"):
                part = self._part(size)
            return part[-1:]
        self._at_line_start = part.endswith(b"\n")
        return part

    def check(self) -> None:
        """Raise InputError if a byte that was read is not UTF-8."""
        if self._fault:
            raise InputError(self._fault)

    def _part(self, size: int) -> bytes:
        if self._fault:
            return b""
        part = self._stream.readline(size)
        try:
            self._decoder.decode(part, final=not part and size != 0)
        except UnicodeDecodeError as error:
            self._fault = (
                f"{self._path}: line {self._line} is not UTF-8: "
                f"byte 0x{error.object[error.start]:02x}"
            )
            return b""
        self._line += part.endswith(b"\n")
        return part


def read_obo(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from an OBO file; see ``medsim.terminologies.sources.Load``."""
    rows = _Rows()
    try:
        with open_hashed(path) as stream:
            text = _ReadableText(stream, path)
            header = _read_frames(text, rows, frozenset(options.synonyms))
            file = SourceFile(name=path.name, sha256=stream.finish(), size=stream.n_bytes)
    except SyntaxError as error:
        raise InputError(f"{path}: line {error.lineno}: not OBO ({error.msg})") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({_one_line(error)})") from error
    if not rows.active:
        raise InputError(f"{path}: has no [Term], so it is no ontology in OBO; is it cut short?")
    for table, frame in _tables(rows).items():
        store.put(table, frame)
    return Terminology(
        source="obo",
        name=path.name,
        vocabulary=None,
        release_date=_release_date(header),
        files=(file,),
        rf2_rules=False,
        redistributable=None,
        terms_of_use=_licence(header),
        skipped=(
            Skipped(reason="term has a second name", n_rows=rows.n_second_names),
            Skipped(reason="description is empty", n_rows=rows.n_empty),
            Skipped(reason="synonym has another scope", n_rows=rows.n_other_scope),
        ),
    )


def recognises(path: Path) -> bool:
    """Return whether ``path`` can be an OBO file: by its suffix."""
    return path.is_file() and path.suffix.lower() == ".obo"


def _read_frames(
    text: _ReadableText, rows: _Rows, scopes: frozenset[str]
) -> fastobo.header.HeaderFrame:
    """Add the rows of all terms, and return the header."""
    try:
        reader = fastobo.iter(text, ordered=True)
        header = reader.header()
        for frame in reader:
            if isinstance(frame, fastobo.term.TermFrame):
                _read_term(frame, rows, scopes)
    except (SyntaxError, ValueError):
        text.check()
        raise
    while text.read():
        pass
    text.check()
    return header


def _read_term(frame: fastobo.term.TermFrame, rows: _Rows, scopes: frozenset[str]) -> None:
    """Add one term's rows; the frames of a term that has several are taken together."""
    concept_id = str(frame.id)
    obsolete = any(isinstance(c, fastobo.term.IsObsoleteClause) and c.obsolete for c in frame)
    rows.active[concept_id] = rows.active.get(concept_id, True) and not obsolete
    for clause in frame:
        if isinstance(clause, fastobo.term.NameClause):
            _add_name(rows, concept_id, clause.name, obsolete=obsolete)
        elif isinstance(clause, fastobo.term.SynonymClause):
            if clause.synonym.scope.lower() in scopes:
                _add_description(rows, concept_id, clause.synonym.desc, "synonym")
            else:
                rows.n_other_scope += 1
        elif isinstance(clause, fastobo.term.IsAClause):
            rows.is_a[concept_id, str(clause.term)] = None
        elif isinstance(clause, fastobo.term.XrefClause):
            _add_code(rows, concept_id, clause.xref.id)
        elif (kind := _ASSOCIATIONS.get(type(clause))) is not None:
            rows.association[concept_id, str(clause.term), kind, True] = None


def _add_name(rows: _Rows, concept_id: str, name: str, *, obsolete: bool) -> None:
    """Add a concept's name, which is its fully specified name; the first one counts."""
    if concept_id in rows.named:
        rows.n_second_names += 1
        return
    rows.named.add(concept_id)
    term = _OBSOLETE.sub("", name.strip()) if obsolete else name
    _add_description(rows, concept_id, term, "fsn")


def _add_description(rows: _Rows, concept_id: str, text: str, kind: str) -> None:
    term = text.strip()
    if not term:
        rows.n_empty += 1
        return
    rows.n_clauses[concept_id] += 1
    description_id = f"{concept_id}/{rows.n_clauses[concept_id]}"
    rows.description.append((description_id, concept_id, term, kind, True, LANGUAGE))


def _add_code(rows: _Rows, concept_id: str, xref: fastobo.id.PrefixedIdent) -> None:
    """Add what a cross-reference names; one without a prefix names no vocabulary."""
    if isinstance(xref, fastobo.id.PrefixedIdent) and xref.local:
        vocabulary = _VOCABULARIES.get(xref.prefix.upper(), xref.prefix)
        rows.code[concept_id, vocabulary, xref.local] = None


def _tables(rows: _Rows) -> dict[str, pl.DataFrame]:
    concepts = [(concept_id, active, "", "") for concept_id, active in rows.active.items()]
    return {
        table: pl.DataFrame(
            list(getattr(rows, table, concepts)), schema=columns, orient="row"
        ).sort(list(columns))
        for table, columns in CANONICAL_TABLES.items()
    }


def _release_date(header: fastobo.header.HeaderFrame) -> date | None:
    """Return the day in the data version, such as "hp/releases/2025-01-16"."""
    for clause in header:
        if isinstance(clause, fastobo.header.DataVersionClause):
            found = _DAY.search(clause.version)
            return date.fromisoformat(found[0]) if found else None
    return None


def _licence(header: fastobo.header.HeaderFrame) -> str:
    """Return the licence that the header names, or that it names none."""
    for clause in header:
        if isinstance(clause, fastobo.header.PropertyValueClause):
            value = clause.property_value
            if _LICENCE_PROPERTY.search(str(value.relation)):
                return (
                    f"as stated by the ontology: {getattr(value, 'value', None) or value.resource}"
                )
    return "the file names no licence"


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]


SOURCES.register(
    "obo",
    Source(
        name="obo",
        about="OBO ontologies",
        files=".obo",
        address="https://obofoundry.org",
        recognises=recognises,
        load=read_obo,
        accepts=frozenset({"synonyms"}),
    ),
)
