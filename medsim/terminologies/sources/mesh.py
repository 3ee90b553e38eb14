"""Reads MeSH in the XML of the National Library of Medicine, headings and supplementary records."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import IO
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element

import polars as pl
from defusedxml import ElementTree as strict  # noqa: N813 — the unsafe one is also used

from medsim.core.errors import InputError
from medsim.core.reading import RDF_XML, XML, file_kind
from medsim.core.store import Store
from medsim.terminologies.mappings import NAMES
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.sources import Source, Terminology, Vocabulary, skipped_rows
from medsim.terminologies.sources.archive import (
    ReleaseFile,
    SourceFile,
    has_file,
    has_single,
    is_alone,
    release_files,
    single_file,
)
from medsim.terminologies.sources.ontology_rows import OntologyRows

_TERMS_OF_USE = (
    "MeSH, courtesy of the U.S. National Library of Medicine: may be passed on with these words, "
    "saying whether it is the current version; "
    "https://www.nlm.nih.gov/databases/download/terms_and_conditions.html"
)
_OF_TRANSLATIONS = "; a translation has its publisher's terms of use"
_NAME = re.compile(r"([a-z]{3})?(?P<kind>desc|supp)(?P<year>[0-9]{4})[^.]*(\.xml)?", re.IGNORECASE)
_ANY_XML = r".*\.xml"
_RECORD_SET = re.compile(rb"<(Descriptor|Supplemental)RecordSet\b")
_ENGLISH = "eng"
_TRANSLATED = re.compile(r"([a-z]{3})[0-9]")  # a TermUI, such as fre0138059
_CHUNK_BYTES = 1 << 18
_BEGINNING_BYTES = 1 << 20  # the outermost element begins within these


def read_mesh(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from MeSH's XML; see ``sources.LoadTables``."""
    files = _files(path)
    rows = _Rows(frozenset(options.synonyms), _REASONS)
    for file in files:
        _read_file(file, rows)
    rows.fill(store)
    store.put("mesh_tree", pl.DataFrame(rows.tree, _TREE, orient="row"))
    store.run_each("terminologies/mesh", "is_a", "description")
    skipped = skipped_rows(store, "mesh")
    store.drop("mesh_tree")
    # MeSH is valid from the first day of the year in its file names.
    years = [int(named["year"]) for file in files if (named := _NAME.fullmatch(file.name))]
    return Terminology(
        release_date=date(max(years), 1, 1) if any(years) else None,
        files=tuple(rows.files),
        redistributable=None if rows.translated else True,
        terms_of_use=f"{_TERMS_OF_USE}{_OF_TRANSLATIONS if rows.translated else ''}",
        skipped=(*rows.skipped, *skipped),
    )


def recognises(path: Path) -> bool:
    """Return whether ``path`` is an XML file, or a folder or an archive that has one of MeSH's."""
    if has_single(path, _NAME.pattern):
        return True
    if not has_single(path, _ANY_XML):
        return False
    with single_file(path, _ANY_XML).open(reads={XML, RDF_XML}) as stream:
        beginning = stream.read(_BEGINNING_BYTES)
    is_other = not is_alone(path) or file_kind(beginning) is RDF_XML
    return not is_other or bool(_RECORD_SET.search(beginning))


def _files(path: Path) -> list[ReleaseFile]:
    if not has_file(path, _NAME.pattern):
        return [single_file(path, _ANY_XML)]
    chosen: dict[str, ReleaseFile] = {}
    for file in release_files(path):
        if named := _NAME.fullmatch(file.name):
            other = chosen.setdefault(named["kind"].lower(), file)
            if other is not file:
                raise InputError(
                    f"{path}: {other.inner} and {file.inner} are the same part of MeSH; name one"
                )
    return [chosen[kind] for kind in sorted(chosen)]


def _read_file(file: ReleaseFile, rows: _Rows) -> None:
    with file.open(reads={XML}) as head:
        # This checks that no entity is declared.
        beginning = io.BytesIO(head.read(_BEGINNING_BYTES))
        _, root = next(strict.iterparse(beginning, events=("start",)))
        outermost = str(root.tag)
        rows.language = root.get("LanguageCode", _ENGLISH).strip().lower()
        if outermost not in _RECORDS:
            raise InputError(
                f"{file.inner}: outermost element {outermost!r}; expected {' or '.join(_RECORDS)}"
            )
    tag, read = _RECORDS[outermost]
    with file.open_recorded(rows.files, {XML}) as stream:
        for record in _children(stream):
            if record.tag == tag:
                read(record, rows)


def _children(stream: IO[bytes]) -> Iterator[ET.Element]:
    """Yield the children of the outermost element; each is freed when the next chunk is read.

    The standard library's parser takes half the time of defusedxml's. It is safe here, since
    entities can only be declared before the outermost element, where defusedxml found none.
    """
    builder = ET.TreeBuilder()
    holder = builder.start("file", {})  # gives access to elements that are not complete
    parser = ET.XMLParser(target=builder)  # noqa: S314 — without entities
    while chunk := stream.read(_CHUNK_BYTES):
        parser.feed(chunk)
        for outermost in holder:
            whole = outermost[:-1]  # the last child may be incomplete
            yield from whole
            del outermost[: len(whole)]
    parser.close()
    yield from holder[0]


_SCOPES = {"NRW": "narrow", "BRD": "broad", "REL": "related"}
_INVERSE = {"narrow": "broad", "broad": "narrow", "related": "related"}
_TREE = {"number": pl.String, "concept_id": pl.String}


_REASONS = (
    "description is empty",
    "synonym has another scope",
    "term repeats a name of its record",
)


@dataclass(slots=True)
class _Rows(OntologyRows):
    """The rows of records.

    Attributes:
        language: language of the file, such as eng.
        translated: whether there are names in other languages than English.
        files: the files that were read.
        tree: tree numbers and their headings, from which most of is_a is made.
    """

    language: str = _ENGLISH
    translated: bool = False
    files: list[SourceFile] = field(default_factory=list)
    tree: list[tuple[str, str]] = field(default_factory=list)


def _read_descriptor(record: Element, rows: _Rows) -> None:
    """Add the rows of a heading.

    Raises:
        ValueError: it lacks its identifier or name, or has an earlier record's identifier.
    """
    numbers = sorted(filter(None, map(_text, record.iterfind(".//TreeNumber"))))
    category = NAMES["mesh_categories"].get(numbers[0][0], "") if numbers else ""
    concept_id = _add_record(record, "Descriptor", category, rows)
    rows.tree += [(number, concept_id) for number in numbers]


def _read_supplement(record: Element, rows: _Rows) -> None:
    """Add the rows of a supplementary record; see ``_read_descriptor``."""
    kind = NAMES["mesh_classes"].get(record.get("SCRClass", ""), "")
    concept_id = _add_record(record, "SupplementalRecord", kind, rows)
    for heading in record.iterfind("HeadingMappedToList/*/DescriptorReferredTo/DescriptorUI"):
        # A star marks the heading for articles about the record.
        if parent_id := _text(heading).removeprefix("*"):
            rows.is_a[concept_id, parent_id] = None


def _add_record(record: Element, kind: str, tag: str, rows: _Rows) -> str:
    """Add a record's concept and names, without repeated texts; return its identifier."""
    concept_id, names = _text(record, f"{kind}UI"), _names(record.find(f"{kind}Name"), rows)
    if not concept_id or not names:
        raise ValueError(f"a record has no {kind}{'Name' if concept_id else 'UI'}")
    if concept_id in rows.active:
        raise ValueError(f"two records are {concept_id!r}")
    rows.add_term(concept_id, obsolete=False, tag=tag)
    for language, name in names.items():
        own_id = concept_id if language == _ENGLISH else f"{concept_id}/{language}"
        rows.add_description(own_id, concept_id, name, "fsn", language)
    texts: set[tuple[str, str]] = set()
    n_terms: Counter[str] = Counter()
    for term in _terms(record, rows):
        term_id = _text(term, "TermUI")
        translated = _TRANSLATED.match(term_id)
        for named in _strings(term, translated[1] if translated else _ENGLISH, rows):
            language, text = named
            if not text:
                rows.skip("description is empty")
            elif named in texts:
                rows.skip("term repeats a name of its record")
            elif text != names.get(language):
                n_terms[term_id] += 1  # a term and its permutations have one identifier
                place = f"/{n_terms[term_id]}" if n_terms[term_id] > 1 else ""
                own_id = f"{concept_id}/{term_id}{place}"
                rows.add_description(own_id, concept_id, text, "synonym", language)
            texts.add(named)
            rows.translated |= language != _ENGLISH
    return concept_id


def _names(element: Element | None, rows: _Rows) -> dict[str, str]:
    """Return the main names of a record by language; the first in each language counts.

    A translation writes both names in one text, such as "Schlachthöfe[Abattoirs]", or in an element
    each, such as StringFR and StringUS.
    """
    names: dict[str, str] = {}
    for language, text in [] if element is None else _strings(element, _ENGLISH, rows):
        start = _last_bracket(text)
        if rows.language != _ENGLISH and start:
            names.setdefault(rows.language, text[:start].strip())
            names.setdefault(_ENGLISH, text[start + 1 : -1].strip())
        else:
            names.setdefault(language, text)
    names = {language: name for language, name in names.items() if name}
    rows.translated |= bool(names.keys() - {_ENGLISH})
    return names


def _last_bracket(text: str) -> int:
    """Return where the square bracket opens that the end of a text closes; 0 if there is none."""
    depth = 0
    for at in range(len(text) - 1, 0, -1):
        depth += (text[at] == "]") - (text[at] == "[")
        if depth <= 0:
            return at if text[-1] == "]" else 0
    return 0


def _strings(element: Element, language: str, rows: _Rows) -> Iterator[tuple[str, str]]:
    """Yield the texts of a name or term, each after its language; String is in ``language``."""
    languages = {"String": language, "StringUS": _ENGLISH}
    strings = [child for child in element if child.tag.startswith("String")]
    for child in strings:
        yield languages.get(child.tag, rows.language), _text(child)
    if not strings:
        yield language, ""


def _terms(record: Element, rows: _Rows) -> list[Element]:
    """Return the terms in the selected scopes, beginning with the preferred concept's."""
    concepts = record.findall("ConceptList/Concept")
    concepts.sort(key=lambda concept: concept.get("PreferredConceptYN") != "Y")
    preferred = _text(concepts[0], "ConceptUI") if concepts else ""
    scope_of = {preferred: "exact"}  # of each concept's terms, as names of the preferred concept
    for relation in record.iterfind("ConceptList/Concept/ConceptRelationList/ConceptRelation"):
        # A relation gives the scope of the second concept relative to the first.
        first, second = _text(relation, "Concept1UI"), _text(relation, "Concept2UI")
        scope = _SCOPES.get(relation.get("RelationName", ""), "related")
        if first == preferred:
            scope_of.setdefault(second, scope)
        elif second == preferred:
            scope_of.setdefault(first, _INVERSE[scope])
    counted: list[Element] = []
    for concept in concepts:
        terms = concept.findall("TermList/Term")
        if scope_of.get(_text(concept, "ConceptUI"), "related") in rows.scopes:
            counted += terms
        else:
            rows.skip("synonym has another scope", n_rows=len(terms))
    return counted


def _text(element: Element, path: str = ".") -> str:
    return (element.findtext(path) or "").strip()


_RECORDS = {
    "DescriptorRecordSet": ("DescriptorRecord", _read_descriptor),
    "SupplementalRecordSet": ("SupplementalRecord", _read_supplement),
}

Source(
    name="mesh",
    about="MeSH as XML",
    files="desc2026.xml, supp2026.xml, or a folder or archive of both",
    example="desc2026.xml",
    address="https://www.nlm.nih.gov/databases/download/mesh.html",
    recognises=recognises,
    load=read_mesh,
    vocabulary=Vocabulary("MSH", "MESH", "http://id.nlm.nih.gov/mesh/"),
    accepts=frozenset({"synonyms"}),
).register()
