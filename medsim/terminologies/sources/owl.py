"""Reads ontologies in OWL and thesauri in SKOS, from RDF or databases of semantic-sql."""

from __future__ import annotations

import io
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from medsim.core.data import toml_of
from medsim.core.errors import InputError
from medsim.core.identifiers import curie, identifier_of
from medsim.core.queries import query
from medsim.core.reading import (
    BEGINNING,
    MAX_LINE_BYTES,
    RDF_XML,
    SQLITE,
    TURTLE,
    Watched,
    file_kind,
)
from medsim.core.store import Store
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.sources import Source, Terminology
from medsim.terminologies.sources.archive import (
    Joined,
    ReleaseFile,
    SourceFile,
    copy_of_database,
    has_single,
    is_alone,
    single_file,
)
from medsim.terminologies.sources.obographs import CODE
from medsim.terminologies.sources.ontology_rows import LANGUAGE, NO_LICENCE, OntologyRows, day_in

Triple = tuple[str, str, str, str | None]
"""Subject, predicate, object, and the language of a literal, "" if it has none, else None.

Subjects and objects that have no IRI begin with "_:".
"""

READS = frozenset({RDF_XML, TURTLE, SQLITE})
"""The kinds of files that are read."""

_BASE = "file:///ontology"  # relative IRIs do not depend on the folder
_MARK = b"\xef\xbb\xbf"
_ENTITY = b"<!ENTITY"
_DECLARED = re.compile(rb"""<!ENTITY\s+([\w.-]+)\s+(["'])((?:(?!\2).)*)\2\s*>""", re.DOTALL)
_REFERENCE = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)(?:([\w.-]+);)?")
_PLAIN_ENTITY = re.compile(
    rb'<!ENTITY [\w.-]+ "(?=[^"]{0,200}")(?:[^"&]|&(?:amp|lt|gt|quot|apos);)*">'
)
_TOO_LONG, _MAX_DEPTH = 201, 8


def read_triples(file: ReleaseFile, records: list[SourceFile]) -> Iterator[Triple]:
    """Yield the triples of a file in its order, and record the file.

    Args:
        file: RDF in XML, Turtle or N-Triples, or a database of semantic-sql.
        records: list that the file is added to.

    Raises:
        InputError: the file is malformed or of another kind, or an extra is not installed.
    """
    with file.open(reads=READS) as stream:
        beginning = stream.read(BEGINNING)
    kind = file_kind(beginning)
    if kind not in {None, *READS}:
        raise InputError(f"{file.path} {kind}")
    with file.open_recorded(records, READS) as stream:
        if kind is RDF_XML:
            entities = _Entities(file.path, beginning)
            watched = io.BufferedReader(Watched(stream, entities.see, closes=False))
            watched.read(len(beginning))
            whole = io.BufferedReader(Joined([io.BytesIO(entities.beginning), watched]))
            yield from _of_rdf(file.path, whole, entities)
        elif kind is SQLITE:
            content = stream.read()
        else:
            if stream.peek(len(_MARK)).startswith(_MARK):
                stream.read(len(_MARK))
            yield from _of_rdf(file.path, stream)
    if kind is SQLITE:
        with copy_of_database(file, content, SQLITE, records) as path:
            yield from _of_database(file.path, path)


class _Entities:
    """Expands the declared entities of XML, and checks them, as they could make a small file large.

    They must be short, also with the entities that they refer to, and in the beginning of the file.
    The lines that were read are counted too, since the parser does not know them.

    Attributes:
        beginning: the beginning of the file, with entities as the parser reads them: in double
            quotes, without references to others.
    """

    def __init__(self, place: str, beginning: bytes) -> None:
        self.n_lines = 1
        self._place, self._tail, self._n_seen = place, b"", 0
        values = {name: value for name, _, value in reversed(_DECLARED.findall(beginning))}
        for _ in range(_MAX_DEPTH):
            for name, value in values.items():
                whole = _REFERENCE.sub(lambda ref: values.get(ref[1], ref[0]), value)
                values[name] = whole[:_TOO_LONG].replace(b'"', b"&quot;")
        self.beginning = _DECLARED.sub(
            lambda each: b'<!ENTITY %s "%s">' % (each[1], values[each[1]]), beginning
        )
        self._n_plain = len(_PLAIN_ENTITY.findall(self.beginning))
        self._check(beginning.count(_ENTITY))

    def see(self, part: bytes) -> None:
        """Check a part of the file."""
        self.n_lines += part.count(b"\n")
        text = self._tail + part
        self._n_seen += text.count(_ENTITY)
        self._tail = text[1 - len(_ENTITY) :]
        self._check(self._n_seen)

    def _check(self, n_declared: int) -> None:
        if n_declared > self._n_plain:
            raise InputError(
                f"{self._place} declares an XML entity that is long, refers to unknown ones or is "
                "not at the beginning, like a bomb; if you trust it, replace its entities"
            )


def _of_rdf(place: str, stream: IO[bytes], entities: _Entities | None = None) -> Iterator[Triple]:
    try:
        from pyoxigraph import BlankNode, Literal, RdfFormat, parse  # noqa: PLC0415 — an extra
    except ImportError as error:
        raise InputError(f"{place} is RDF; install medsim with its extra owl") from error
    form = RdfFormat.TURTLE if entities is None else RdfFormat.RDF_XML
    try:
        for quad in parse(stream, format=form, base_iri=_BASE, lenient=True):
            subject, value = quad.subject, quad.object
            yield (
                f"_:{subject.value}" if isinstance(subject, BlankNode) else subject.value,
                quad.predicate.value,
                f"_:{value.value}" if isinstance(value, BlankNode) else value.value,
                (value.language or "") if isinstance(value, Literal) else None,
            )
    except SyntaxError as error:
        line = "" if entities is None else f", in line {entities.n_lines:,} or before"
        raise InputError(f"{place} is not valid RDF: {error.msg:.200}{line}") from error


def _of_database(place: str, path: Path) -> Iterator[Triple]:
    try:
        with closing(sqlite3.connect(path)) as database:
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_LINE_BYTES)
            yield from database.execute(query("terminologies/owl/statement").text)
    except sqlite3.Error as error:
        raise InputError(f"{place} is not a database of semantic-sql: {error}") from error


_NAME = r".*\.(owl|rdf|skos|ttl|nt)"
_DATABASE = r".*\.(db|sqlite3?)"

_NAMES = toml_of(__package__, "owl.toml")


def _by_iri(section: str) -> dict[str, str]:
    prefixes = _NAMES["prefixes"]
    pairs = ((role, name.split(":")) for role, names in _NAMES[section].items() for name in names)
    return {prefixes[prefix] + local: role for role, (prefix, local) in pairs}


_TYPES, _ROLES = _by_iri("types"), _by_iri("roles")
_MERGED = "http://purl.obolibrary.org/obo/IAO_0000227"
_SCOPES = ("exact", "narrow", "broad", "related")
_DATED = ("version_iri", "version", "modified", "issued")
_LAST_PART = re.compile(r"(.*[/#])(.+)", re.DOTALL)
_ADDRESS = re.compile(r"\w+://\S+")

Statement = tuple[str, str, str | None]
"""What a property is read as, its value, and the language as in triples."""


@dataclass(slots=True)
class _Graph:
    """The statements that are read.

    Attributes:
        types: what each subject is, by ``_TYPES``.
        statements: statements of each subject that has more than a type.
    """

    types: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    statements: defaultdict[str, list[Statement]] = field(default_factory=lambda: defaultdict(list))

    def values(self, subject: str, *roles: str) -> list[str]:
        """Return the values of a subject, in order of the roles."""
        return [
            text for role in roles for each, text, _ in self.statements[subject] if each == role
        ]

    def is_term(self, iri: str) -> bool:
        """Return whether a subject is a class or a concept; one with a parent may lack its type."""
        is_typed = not self.types[iri].isdisjoint(("class", "concept", "deprecated"))
        return is_typed or any(role == "parent" for role, _, _ in self.statements[iri])

    def is_class(self, iri: str) -> bool:
        """Return whether a term is a class, not only a concept."""
        return "concept" not in self.types[iri] or "class" in self.types[iri]


def read_owl(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from OWL or SKOS; see ``sources.LoadTables``."""
    rows = OntologyRows(frozenset(options.synonyms))
    records: list[SourceFile] = []
    file = single_file(path, _NAME if has_single(path, _NAME) else _DATABASE)
    graph = _read_graph(file, records, rows)
    ids = _identifiers(graph)
    if not ids:
        raise InputError(
            f"{file.path}: no owl:Class or skos:Concept has properties, so it is not an ontology"
        )
    known = {own: own for own in ids.values()} | ids
    for iri in ids:
        _read_term(iri, graph, known, rows)
    for iri in graph.statements:
        if iri not in ids and "head" not in graph.types[iri] and graph.values(iri, "preferred"):
            rows.skip("preferred label is not of a concept", f", first {iri}")
    rows.fill(store)
    heads = [iri for iri in graph.statements if "head" in graph.types[iri]]
    for address in (value for head in heads for value in graph.values(head, "import")):
        rows.skip("import is not followed", f", first {address}")
    licences = [value for head in heads for value in graph.values(head, "license", "rights")]
    days = [day_in(value) for head in heads for value in graph.values(head, *_DATED)]
    return Terminology(
        release_date=next(filter(None, days), None),
        files=tuple(records),
        terms_of_use=f"as stated by the ontology: {licences[0]}" if licences else NO_LICENCE,
        skipped=rows.skipped,
    )


def _read_graph(file: ReleaseFile, records: list[SourceFile], rows: OntologyRows) -> _Graph:
    graph = _Graph()
    forms: dict[str, Statement] = {}  # of labels that are nodes, as in SKOS-XL
    for subject, predicate, value, language in read_triples(file, records):
        role = _ROLES.get(predicate, "")
        if role == "type":
            graph.types[subject].add(_TYPES.get(value, ""))
        elif role == "form":
            forms[subject] = (role, value, language)
        elif not subject.startswith("_:"):
            graph.statements[subject] += [(role, value, language)] if role else []
            if not role and language is not None and "ynonym" in predicate:
                rows.skip("synonym has another property", f", first {predicate}")
    for iri, statements in graph.statements.items():
        if forms:
            statements[:] = [(each[0], *forms.get(each[1], each)[1:]) for each in statements]
        if not graph.types[iri] and any(role in {"preferred", "child"} for role, *_ in statements):
            graph.types[iri].add("concept")
    return graph


def recognises(path: Path) -> bool:
    """Return whether a name is one of RDF, or a file begins like RDF or is of semantic-sql."""
    if has_single(path, _NAME) or not (is_alone(path) or has_single(path, _DATABASE)):
        return has_single(path, _NAME)
    file = single_file(path, _DATABASE)
    with file.open(reads=READS) as stream:
        kind = file_kind(stream.read(BEGINNING))
    return any(read_triples(file, [])) if kind is SQLITE else kind in READS


def _identifiers(graph: _Graph) -> dict[str, str]:
    """Return the identifier of each term by its IRI.

    It is that in the term's data, or in the OBO file of the same ontology. Other terms have the
    last part of their IRI if most terms have the same IRI up to it. An identifier of two terms is
    replaced by their IRIs. Terms without data besides their type are left out, as in OBO.
    """
    terms = [iri for iri in graph.statements if graph.is_term(iri)]
    parts = {iri: match.groups() for iri in terms if (match := _LAST_PART.fullmatch(iri))}
    n_terms = Counter(beginning for beginning, _ in parts.values())
    ids = {}
    for iri in terms:
        stated = graph.values(iri, "id")
        short = curie(iri) if graph.is_class(iri) else iri
        if short == iri and iri in parts and 2 * n_terms[parts[iri][0]] > len(terms):
            short = parts[iri][1]
        ids[iri] = stated[0].strip() if len(stated) == 1 else short
    n_uses = Counter(ids.values())
    return {iri: own if n_uses[own] == 1 else iri for iri, own in ids.items()}


def _target(text: str, known: dict[str, str]) -> str:
    """Return the identifier of the term that an IRI, an identifier or a CURIE means."""
    text = text.strip()
    forms = (text, identifier_of(text), text.rpartition(":")[2], identifier_of(text).upper())
    return next((known[form] for form in forms if form in known), curie(forms[1]))


def _read_term(iri: str, graph: _Graph, known: dict[str, str], rows: OntologyRows) -> None:
    """Add the rows of a term; ``known`` has the identifiers of terms by IRI and by themselves."""
    concept_id = known[iri]
    marks = graph.values(iri, "deprecated")
    obsolete = rows.is_deprecated(concept_id, marks) or "deprecated" in graph.types[iri]
    is_merged = _MERGED in graph.values(iri, "reason")
    if obsolete and is_merged and graph.values(iri, "replaced_by"):
        rows.skip("id of a term that was merged into another")  # as in OBO graphs
        return
    rows.add_term(concept_id, obsolete=obsolete)
    _add_names(concept_id, graph, iri, rows)
    for role, value, language in graph.statements[iri]:
        target = known.get(value) or curie(value)
        is_named = not value.startswith(("_:", _NAMES["prefixes"]["owl"]))
        if role == "parent" and is_named:
            rows.is_a[concept_id, target] = None
        elif role == "child" and is_named:
            rows.is_a[target, concept_id] = None
        elif role in {"replaced_by", "possibly_equivalent_to"}:
            rows.association[concept_id, _target(value, known), role, True] = None
        elif role == "replaces":
            rows.association[_target(value, known), concept_id, "replaced_by", True] = None
        elif role == "xref":
            code = CODE.fullmatch(identifier_of(curie(value)) if language is None else value)
            rows.add_code(concept_id, *code.groups()) if code else rows.skip("malformed xref")
        elif role == "match" and not graph.is_class(iri):  # OBO files have no such codes
            short = identifier_of(value)
            code = (CODE if short != value else _LAST_PART).fullmatch(short)
            rows.add_code(concept_id, *(code.groups() if code else ("", value)))


def _add_names(concept_id: str, graph: _Graph, iri: str, rows: OntologyRows) -> None:
    """Add the names and synonyms of a term, English first, in the order of OBO files.

    The name of a class is its label, and that of a concept its preferred label. A language has one
    name; those with another subtag of the language, such as en-GB, are synonyms.
    """
    first = "label" if graph.is_class(iri) else "preferred"
    by_language: defaultdict[str, list[Statement]] = defaultdict(list)
    for role, text, tag in graph.statements[iri]:
        if role in {"label", "preferred", *_SCOPES}:
            if tag is None or _ADDRESS.fullmatch(text):
                rows.skip("name is an IRI or a blank node")
                continue
            language = (tag or LANGUAGE).lower().replace("_", "-").partition("-")[0]
            by_language[language].append((role, text, tag))
    for language in sorted(by_language, key=lambda code: (code != LANGUAGE, code)):
        synonyms = {(text, role) for role, text, _ in by_language[language] if role in _SCOPES}
        names = [each for each in by_language[language] if each[0] not in _SCOPES]
        names.sort(key=lambda name: (len(name[2] or ""), name[2] or "", name[0] != first))
        for text, tag in dict.fromkeys((text, tag) for _, text, tag in names):
            if tag == names[0][2]:
                rows.add_name(concept_id, text, language)
            elif text != names[0][1]:
                synonyms.add((text, "exact"))
        for text, scope in sorted(synonyms, key=lambda item: (item[0].upper().lower(), item)):
            rows.add_synonym(concept_id, text, scope, language)


Source(
    name="owl",
    about="OWL ontologies, SKOS thesauri and semantic-sql",
    files=".owl, .rdf, .ttl, .nt or a database of semantic-sql",
    example="hp.owl",
    address="https://obofoundry.org",
    recognises=recognises,
    load=read_owl,
    accepts=frozenset({"synonyms"}),
    turn=1,
).register()
