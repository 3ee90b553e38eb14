"""The records of MeSH's XML as rows of the canonical tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.kinds import CANONICAL_TABLES
from medsim.terminologies.sources.row_buffer import RowBuffer

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

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
_SCHEMAS: dict[str, dict[str, pl.DataType | type[pl.DataType]]] = {
    **{
        table: CANONICAL_TABLES[table].dtypes for table in ("concept", "description", "association")
    },
    "mesh_tree": {"number": pl.String, "concept_id": pl.String},
    "mesh_heading": CANONICAL_TABLES["is_a"].dtypes,
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
    scope_of = _scopes(record, preferred)
    counted: list[Element] = []
    for concept in concepts:
        terms = concept.findall("TermList/Term")
        if scope_of.get(_text(concept, "ConceptUI"), "related") in rows.scopes:
            counted += terms
        else:
            rows.n_other_scope += len(terms)
    return counted


def _scopes(record: Element, preferred: str) -> dict[str, str]:
    """Return the scope of each concept of a record, as a name of its preferred one.

    A relation gives the scope of the second concept as seen from the first.
    """
    scope_of = {preferred: "exact"}
    for relation in record.iterfind("ConceptList/Concept/ConceptRelationList/ConceptRelation"):
        first, second = _text(relation, "Concept1UI"), _text(relation, "Concept2UI")
        scope = _SCOPES.get(relation.get("RelationName", ""), "related")
        if first == preferred:
            scope_of.setdefault(second, scope)
        elif second == preferred:
            scope_of.setdefault(first, _INVERSE[scope])
    return scope_of


def _text(element: Element, path: str = ".") -> str:
    return (element.findtext(path) or "").strip()
