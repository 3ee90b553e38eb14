"""Corpora whose mentions are linked to concepts: one module a format, and their sentences."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A stretch of a document that names a concept.

    Attributes:
        start: its first code point, counted in title, a space, abstract.
        end: one past its last.
        text: what stands there.
        kind: its type as the corpus has it, such as "Disease" or "T047".
        codes: what it is linked to, as (vocabulary, code) with the vocabulary as UMLS names it,
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
    """A title and an abstract with their mentions.

    Attributes:
        document_id: such as a PubMed id.
        title: the first line.
        abstract: the rest; may be empty.
        mentions: in order of start and end; their offsets were checked against the text.
    """

    document_id: str
    title: str
    abstract: str
    mentions: tuple[Mention, ...]
