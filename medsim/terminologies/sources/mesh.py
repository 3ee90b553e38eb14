"""Reads MeSH in the XML of the National Library of Medicine, headings and supplementary records."""

from __future__ import annotations

import io
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from typing import IO, TYPE_CHECKING
from xml.etree import ElementTree as ET

import polars as pl
from defusedxml import ElementTree as strict  # noqa: N813 — beside the one that is not
from defusedxml import EntitiesForbidden

from medsim.core.errors import InputError
from medsim.core.files import HashedReader
from medsim.core.kinds import CANONICAL_TABLES
from medsim.core.manifest import Skipped
from medsim.core.reading import LONGEST_LINE, XML, too_long
from medsim.terminologies.sources import SOURCES, Source, SourceFile, Terminology
from medsim.terminologies.sources.archive import (
    ReleaseFile,
    file_alone,
    has_file,
    is_alone,
    release_files,
)
from medsim.terminologies.sources.text_rows import RowBuffer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from xml.etree.ElementTree import Element

    from medsim.core.store import Store
    from medsim.terminologies.options import ReadingOptions

_TERMS_OF_USE = (
    "MeSH, courtesy of the U.S. National Library of Medicine: may be passed on with these words, "
    "saying whether it is the current version; "
    "https://www.nlm.nih.gov/databases/download/terms_and_conditions.html"
)
_NAME = re.compile(r"(?P<kind>desc|supp)(?P<year>[0-9]{4})[^.]*(\.xml)?(\.gz)?", re.IGNORECASE)
_ANY_XML = re.compile(r".*\.xml(\.gz)?", re.IGNORECASE)
_ENGLISH = "eng"
_CHUNK_BYTES = 1 << 18
_BEGINNING_BYTES = 1 << 20  # within which the outermost element begins


def read_mesh(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from MeSH's XML; see ``medsim.terminologies.sources.Load``."""
    files = _files(path)
    rows = MeshRows(scopes=frozenset(options.synonyms))
    read = tuple(_read_file(file, rows) for file in files)
    for table, buffer in rows.tables.items():
        store.put(table, buffer.frame())
    store.run("terminologies/mesh/is_a")
    (below_absent,) = store.frame("terminologies/mesh/skipped").to_dicts()
    store.drop("mesh_tree", "mesh_heading")
    return Terminology(
        source="mesh",
        name=path.name,
        vocabulary="MSH",
        release_date=_release_date(files),
        files=read,
        redistributable=True,
        terms_of_use=_TERMS_OF_USE,
        skipped=(
            Skipped(reason="description is empty", n_rows=rows.n_empty),
            Skipped(reason="synonym has another scope", n_rows=rows.n_other_scope),
            Skipped(reason="term repeats a name of its record", n_rows=rows.n_repeated),
            Skipped(**below_absent),
        ),
    )


def recognises(path: Path) -> bool:
    """Return whether ``path`` is an XML file, or a folder or a zip that has one of MeSH's."""
    if is_alone(path):
        return bool(_ANY_XML.fullmatch(path.name) or _NAME.fullmatch(path.name))
    return has_file(path, _NAME.pattern)


def _files(path: Path) -> list[ReleaseFile]:
    if is_alone(path):
        return [file_alone(path)]
    chosen: dict[str, ReleaseFile] = {}
    for file in release_files(path):
        if named := _NAME.fullmatch(file.name):
            other = chosen.setdefault(named["kind"].lower(), file)
            if other is not file:
                raise InputError(
                    f"{path}: {other.inner} and {file.inner} are the same part of MeSH; name the "
                    "one to read"
                )
    return [chosen[kind] for kind in sorted(chosen)]


def _read_file(file: ReleaseFile, rows: MeshRows) -> SourceFile:
    with file.open(reads={XML}) as head:
        outermost = _outermost(file, head)
        if outermost not in _RECORDS:
            raise InputError(
                f"{file.inner}: its outermost element is {outermost!r}; in MeSH's XML it is "
                f"{' or '.join(map(repr, _RECORDS))}"
            )
    tag, read = _RECORDS[outermost]
    with file.open(reads={XML}) as stream:
        hashed = HashedReader(stream)
        for number, record in enumerate(_children(file, hashed), start=1):
            if record.tag == tag and (fault := read(record, rows)):
                raise InputError(f"{file.inner}: {tag} {number:,} {fault}")
        return SourceFile.read_by(hashed, file.inner)


def _outermost(file: ReleaseFile, stream: IO[bytes]) -> str:
    """Return the tag of the outermost element; what stands before it declares no entities."""
    parser = strict.DefusedXMLParser()
    try:
        beginning = io.BytesIO(stream.read(_BEGINNING_BYTES))
        _, root = next(strict.iterparse(beginning, events=("start",), parser=parser))
    except strict.ParseError as error:
        raise _no_xml(file, error) from error
    except EntitiesForbidden as error:
        line = parser.parser.CurrentLineNumber
        raise InputError(
            f"{file.inner}: line {line} declares the entity {error.name!r}; MeSH's files declare "
            "none, and none is read"
        ) from error
    except (ValueError, LookupError) as error:
        line = parser.parser.CurrentLineNumber
        raise InputError(f"{file.inner}: line {line}: not read ({error})") from error
    language = root.get("LanguageCode", _ENGLISH)
    if language != _ENGLISH:
        raise InputError(f"{file.inner} is in {language!r}; MeSH is read in English, {_ENGLISH!r}")
    return str(root.tag)


def _children(file: ReleaseFile, stream: IO[bytes]) -> Iterator[ET.Element]:
    """Yield the children of the outermost element, each gone when the next chunk is read.

    The standard library's parser takes half the time of defusedxml's, which has seen that
    there are no entities: they are declared before the outermost element.
    """
    builder = ET.TreeBuilder()
    holder = builder.start("file", {})  # an element of our own gives access to what is not whole
    parser = ET.XMLParser(target=builder)  # noqa: S314 — there are no entities
    n_whole = n_bytes = 0
    try:
        while chunk := stream.read(_CHUNK_BYTES):
            parser.feed(chunk)
            n_bytes += len(chunk)  # since the last record
            for outermost in holder:
                whole = outermost[:-1]  # what follows the last child shows that it is whole
                yield from whole
                del outermost[: len(whole)]
                n_whole += len(whole)
                n_bytes = 0 if whole else n_bytes
            if n_bytes > LONGEST_LINE:
                raise too_long(f"{file.inner}: record {n_whole + 1:,}")
        parser.close()
    except ET.ParseError as error:
        raise _no_xml(file, error) from error
    yield from holder[0]


def _no_xml(file: ReleaseFile, error: ET.ParseError) -> InputError:
    reason = str(error).partition(":")[0]
    return InputError(f"{file.inner}: line {error.position[0]}: no XML ({reason})")


def _release_date(files: list[ReleaseFile]) -> date | None:
    """Return the first day of the year in the names of the files, from which MeSH is in force."""
    years = [int(named["year"]) for file in files if (named := _NAME.fullmatch(file.name))]
    year = max(years, default=0)
    return date(year, 1, 1) if year else None


LANGUAGE = "en"
"""The language of MeSH as the National Library of Medicine publishes it."""

_CATEGORIES = {
    "A": "Anatomy",
    "B": "Organisms",
    "C": "Diseases",
    "D": "Chemicals and Drugs",
    "E": "Analytical, Diagnostic and Therapeutic Techniques, and Equipment",
    "F": "Psychiatry and Psychology",
    "G": "Phenomena and Processes",
    "H": "Disciplines and Occupations",
    "I": "Anthropology, Education, Sociology, and Social Phenomena",
    "J": "Technology, Industry, and Agriculture",
    "K": "Humanities",
    "L": "Information Science",
    "M": "Named Groups",
    "N": "Health Care",
    "V": "Publication Characteristics",
    "Z": "Geographicals",
}
_CLASSES = {
    "1": "Chemical",
    "2": "Protocol",
    "3": "Disease",
    "4": "Organism",
    "5": "Population Group",
    "6": "Anatomy",
}
_SCOPES = {"NRW": "narrow", "BRD": "broad", "REL": "related"}
_INVERSE = {"narrow": "broad", "broad": "narrow", "related": "related"}
_DTYPES = {table: declared.dtypes for table, declared in CANONICAL_TABLES.items()}
_SCHEMAS = {table: _DTYPES[table] for table in ("concept", "description", "association")} | {
    "mesh_tree": {"number": pl.String, "concept_id": pl.String},
    "mesh_heading": _DTYPES["is_a"],
}


@dataclass(slots=True, kw_only=True)
class MeshRows:
    """The rows of records, and counts of the terms that were left out.

    Attributes:
        scopes: of synonyms that count.
        n_empty: terms without text.
        n_other_scope: terms of another scope.
        n_repeated: terms that another term of the record equals.
        seen: identifiers of records.
        tables: the canonical ones but is_a, and those that it is made of.
    """

    scopes: frozenset[str]
    n_empty: int = 0
    n_other_scope: int = 0
    n_repeated: int = 0
    seen: set[str] = field(default_factory=set)
    tables: dict[str, RowBuffer] = field(
        default_factory=lambda: {name: RowBuffer(schema) for name, schema in _SCHEMAS.items()}
    )


def read_descriptor(record: Element, rows: MeshRows) -> str:
    """Add the rows of a heading and return its fault in words, empty where it has none."""
    concept_id = _text(record, "DescriptorUI")
    numbers = sorted(filter(None, (_text(one) for one in record.iterfind(".//TreeNumber"))))
    category = _CATEGORIES.get(numbers[0][0], "") if numbers else ""
    if fault := _add_record(record, "Descriptor", concept_id, category, rows):
        return fault
    for number in numbers:
        rows.tables["mesh_tree"].add(number, concept_id)
    return ""


def read_supplement(record: Element, rows: MeshRows) -> str:
    """Add the rows of a supplementary record and return its fault, as ``read_descriptor``."""
    concept_id = _text(record, "SupplementalRecordUI")
    kind = _CLASSES.get(record.get("SCRClass", ""), "")
    if fault := _add_record(record, "SupplementalRecord", concept_id, kind, rows):
        return fault
    for heading in record.iterfind("HeadingMappedToList/*/DescriptorReferredTo/DescriptorUI"):
        # A star marks what an article that is about the record is indexed with.
        if parent_id := _text(heading).removeprefix("*"):
            rows.tables["mesh_heading"].add(concept_id, parent_id)
    return ""


def _add_record(record: Element, kind: str, concept_id: str, tag: str, rows: MeshRows) -> str:
    """Add a record's concept and names; of equal texts the first stands."""
    name = _text(record, f"{kind}Name/String")
    if not concept_id or not name:
        return f"has no {kind}{'Name' if concept_id else 'UI'}"
    if concept_id in rows.seen:
        return f"is {concept_id!r}, as is an earlier one"
    rows.seen.add(concept_id)
    rows.tables["concept"].add(concept_id, True, "", tag)
    rows.tables["description"].add(concept_id, concept_id, name, "fsn", True, LANGUAGE)
    texts: set[str] = set()
    n_terms: Counter[str] = Counter()
    for term in _terms(record, rows):
        text, term_id = _text(term, "String"), _text(term, "TermUI")
        if not text:
            rows.n_empty += 1
        elif text in texts:
            rows.n_repeated += 1
        elif text != name:
            n_terms[term_id] += 1  # a term and its permutations have one identifier
            place = f"/{n_terms[term_id]}" if n_terms[term_id] > 1 else ""
            description_id = f"{concept_id}/{term_id}{place}"
            rows.tables["description"].add(
                description_id, concept_id, text, "synonym", True, LANGUAGE
            )
        texts.add(text)
    return ""


def _terms(record: Element, rows: MeshRows) -> list[Element]:
    """Return the terms that count, those of the preferred concept first."""
    concepts = record.findall("ConceptList/Concept")
    concepts.sort(key=lambda concept: concept.get("PreferredConceptYN") != "Y")
    preferred = _text(concepts[0], "ConceptUI") if concepts else ""
    scope_of = {preferred: "exact"}  # of each concept, as a name of the preferred one
    for relation in record.iterfind("ConceptList/Concept/ConceptRelationList/ConceptRelation"):
        # A relation gives the scope of the second concept as seen from the first.
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
            rows.n_other_scope += len(terms)
    return counted


def _text(element: Element, path: str = ".") -> str:
    return (element.findtext(path) or "").strip()


_RECORDS = {
    "DescriptorRecordSet": ("DescriptorRecord", read_descriptor),
    "SupplementalRecordSet": ("SupplementalRecord", read_supplement),
}

SOURCES.register(
    "mesh",
    Source(
        name="mesh",
        about="MeSH as XML",
        files="desc2026.xml, supp2026.xml, or a folder or .zip of both",
        address="https://www.nlm.nih.gov/databases/download/mesh.html",
        recognises=recognises,
        load=read_mesh,
        accepts=frozenset({"synonyms"}),
    ),
)
