"""Corpora whose mentions are linked to concepts: one module a format, and their sentences."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """A stretch of a document that names a concept.

    Attributes:
        start: its first code point, counted in title, a space, abstract.
        end: one past its last.
        text: of the document at these offsets.
        kind: its type as the corpus has it, such as "Disease" or "T047".
        codes: of the concepts that it is linked to, as (vocabulary, code), vocabularies as in UMLS,
            such as ("MSH", "D003920"), ("OMIM", "217000"), ("UMLS", "C0011849"); empty where it
            is linked to nothing, several where it stands for several concepts, with ("", "") for a
            part that is linked to nothing.
    """

    start: int
    end: int
    text: str
    kind: str
    codes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A title and an abstract with their annotations.

    Attributes:
        document_id: such as a PubMed id.
        title: the first line.
        abstract: the rest; may be empty.
        annotations: in order of start and end; their offsets were checked against the text.
    """

    document_id: str
    title: str
    abstract: str
    annotations: tuple[Annotation, ...]
