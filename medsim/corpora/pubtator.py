"""Reads files of corpora; BC5CDR, NCBI Disease and MedMentions come in the PubTator format."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.core.manifest import Skipped
from medsim.core.reading import (
    LONGEST_LINE,
    decoded,
    reading,
    too_long,
    unpacked,
)
from medsim.corpora import Annotation, Document

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader
    from pathlib import Path

    from medsim.core.files import HashedReader


_LONGEST_VALUE = 100

UNLINKED = ("", "")
"""The code of an unlinked part of a mention."""

SHOWN = 60
"""The number of characters of a faulty text in messages."""

_TEXT = re.compile(r"([^|\t]+)\|([ta])\|(.*)", re.DOTALL)
_FBK_LINE = re.compile(r"([^\t]+)\tT[0-9]+\t([^\t]+)\t([0-9]{1,9})\t([0-9]{1,9})\t(.*)", re.DOTALL)
_OFFSET = re.compile(r"[0-9]{1,9}")
_UNKNOWN_LINE = "line has an unknown format"
_MISPLACED = "line does not belong to the document above it"
_NOTHING = {"", "-", "-1"}
_FORMS = (
    ("MSH", re.compile(r"(?:(?:MESH|MSH): *)?([CD][0-9]{6}(?:[0-9]{3})?)", re.IGNORECASE)),
    ("OMIM", re.compile(r"O?MIM: *((?:PS)?[0-9]{6})", re.IGNORECASE)),
    ("UMLS", re.compile(r"(?:UMLS: *)?(C[0-9]{7})", re.IGNORECASE)),
)
_OTHER_CODE = re.compile(r"(?!(?:mesh|msh|o?mim|umls):)([a-z]\w*): *([^\s:]+)", re.IGNORECASE)


class Problems:
    """Counts of skipped items by reason, with the first place of each fault."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    def count(self, reason: str) -> None:
        """Count a row that is skipped on purpose, such as a relation."""
        self._counts[reason] += 1

    def add(self, reason: str, where: str, value: str) -> None:
        """Count a fault."""
        self.count(reason)
        short = value if len(value) <= _LONGEST_VALUE else f"{value[:_LONGEST_VALUE]}…"
        self._first.setdefault(reason, f"{where}: {short}")

    def skipped(self) -> tuple[Skipped, ...]:
        """Return all counts, in order of reason."""
        return tuple(Skipped(reason=why, n_rows=n) for why, n in sorted(self._counts.items()))

    def warnings(self) -> tuple[str, ...]:
        """Return a line for each kind of fault, in order of reason."""
        return tuple(
            f"{reason}: {self._counts[reason]:,}, first in {first}"
            for reason, first in sorted(self._first.items())
        )


def digest_of(file: HashedReader, path: Path) -> str:
    """Return the SHA-256 of a file whose documents were read, in hex."""
    with reading(path):
        return file.finish()


def lines_of(file: BufferedReader, path: Path, *, blank: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the lines of an open file, plain or packed, and their numbers from 1.

    Lines have no line ends; blank lines are skipped unless ``blank`` is True.
    """
    number = 0
    with reading(path, "a corpus"):
        stream = unpacked(file, path, path.stat().st_size)
        while data := stream.readline(LONGEST_LINE + 1):
            number += 1
            if len(data) > LONGEST_LINE:
                raise too_long(f"{path}: line {number:,}", LONGEST_LINE)
            line = decoded(data, path, number).removesuffix("\n").removesuffix("\r")
            if blank or line.strip():
                yield number, line


@dataclass(slots=True, kw_only=True)
class _Draft:
    """A document while its lines are read; annotations are checked when the text is complete."""

    document_id: str
    line: int
    title: str
    abstract: str | None = None
    lines: list[tuple[int, str]] = field(default_factory=list)


def pubtator_documents(
    file: BufferedReader, path: Path, problems: Problems, *, linked: bool = True
) -> Iterator[Document]:
    """Yield the documents of an open file, plain or packed, in their order.

    A document is a line ``ID|t|title``, a line ``ID|a|abstract`` (none for no abstract), and lines
    of ``ID, start, end, text, type, codes`` separated by tabs, perhaps with more columns, or as
    FBK's corpora have them ``ID, T1, type, start, end, text``; blank lines are skipped. Other
    lines whose second column is a word, such as ``CID``, state relations and are skipped. Offsets
    count the code points of title, a space, abstract.

    MedMentions' README describes the format, and ``codes_of`` the format of codes.

    ``problems`` counts every annotation, abstract and document that is left out. If documents share
    an id, the first is kept. The text of a mention must be at its offsets. Codes are read only if
    ``linked`` is True; else annotations have none.
    """
    document_ids: set[str] = set()
    for draft in _drafts(file, path, problems):
        if draft.document_id in document_ids:
            problems.add("document occurs again", f"{path}: line {draft.line}", draft.document_id)
            continue
        document_ids.add(draft.document_id)
        yield _document(draft, path, problems, linked=linked)


def is_pubtator(file: BufferedReader, path: Path) -> bool:
    """Return whether a file begins like a document in PubTator format."""
    first = next((line for _, line in lines_of(file, path)), "")
    return _TEXT.fullmatch(first) is not None


def _drafts(file: BufferedReader, path: Path, problems: Problems) -> Iterator[_Draft]:
    """Yield documents with all their lines."""
    draft: _Draft | None = None
    first = ""
    for number, line in lines_of(file, path):
        first = first or line
        text = _TEXT.fullmatch(line)
        if text is not None and text[2] == "t":
            if draft is not None:
                yield draft
            draft = _Draft(document_id=text[1], line=number, title=text[3])
            continue
        document_id = line.partition("\t")[0] if text is None else text[1]
        is_second = text is not None and draft is not None and draft.abstract is not None
        if draft is None or document_id != draft.document_id or is_second:
            problems.add(_MISPLACED, f"{path}: line {number}", repr(line[:SHOWN]))
        elif text is None:
            draft.lines.append((number, line))
        else:
            draft.abstract = text[3]
    if draft is None:
        begins = f"begins with {first[:SHOWN]!r}" if first else "is empty"
        raise InputError(f"{path} {begins}; a document of PubTator begins with ID|t|title")
    yield draft


def _document(draft: _Draft, path: Path, problems: Problems, *, linked: bool) -> Document:
    """Return a document with its valid annotations."""
    abstract = draft.abstract or ""
    text = f"{draft.title} {abstract}"
    annotations: list[Annotation] = []
    for number, line in draft.lines:
        columns = line.split("\t", 3)
        if match := _FBK_LINE.fullmatch(line):
            document_id, kind, start, end, rest = match.groups()
            term, *codes = rest.split("\t")
            columns = [document_id, start, end, "\t".join([term, kind, *codes])]
        if columns[1:] and columns[1][:1].isalpha():
            problems.count("line states a relation")
            continue
        parsed = _annotation(columns, text, linked=linked)
        if isinstance(parsed, Annotation):
            annotations.append(parsed)
        else:
            reason, value = parsed
            problems.add(reason, f"{path}: line {number}", value)
    return Document(
        document_id=draft.document_id,
        title=draft.title,
        abstract=abstract,
        annotations=tuple(sorted(annotations, key=lambda item: (item.start, item.end))),
    )


def _annotation(columns: list[str], text: str, *, linked: bool) -> Annotation | tuple[str, str]:
    """Return the annotation in a line of a text: its id, start, end, and the rest of the line.

    If it is invalid, return the reason and the value.
    """
    has_offsets = all(map(_OFFSET.fullmatch, columns[1:3]))
    if len(columns) < 4 or "\t" not in columns[3] or not has_offsets:  # noqa: PLR2004 — as above
        return _UNKNOWN_LINE, repr("\t".join(columns)[:SHOWN])
    _, first, last, rest = columns
    start, end = int(first), int(last)
    term = text[start:end]
    if not term or len(term) < end - start or not rest.startswith(f"{term}\t"):
        given = rest.partition("\t")[0][:SHOWN]  # not split before, as a term may have a tab
        difference = f"{given!r}, but the text has {term[:SHOWN]!r}"
        return "mention is not in the text at its offsets", difference
    kind, _, others = rest[len(term) + 1 :].partition("\t")
    column = others.partition("\t")[0]
    if (codes := codes_of(column) if linked else ()) is None:
        return "code has an unknown format", repr(column)
    return Annotation(start=start, end=end, text=term, kind=kind, codes=codes)


def codes_of(column: str) -> tuple[tuple[str, str], ...] | None:
    """Return the codes that a mention is linked to, each once, in their order.

    Several are joined by a bar, a plus, a comma or a semicolon. MeSH's ids may have a prefix or
    not: D, or C for supplementary concepts, and six or nine digits; a C and seven digits is a
    concept of UMLS; ids of OMIM and of all other vocabularies have a prefix, such as "HP:0001658".
    An empty part, "-" and "-1" are not linked. The result is empty if no part is linked, has
    ``UNLINKED`` if only some are, and is None if a code has an unknown format.
    """
    codes: dict[tuple[str, str], None] = {}
    for part in re.split(r"[|+,;]", column):
        if (code := _code(part.strip())) is None:
            return None
        codes[code] = None
    return () if list(codes) == [UNLINKED] else tuple(codes)


def _code(part: str) -> tuple[str, str] | None:
    if part in _NOTHING:
        return UNLINKED
    for vocabulary, form in _FORMS:
        if (match := form.fullmatch(part)) is not None:
            return vocabulary, match[1].upper()
    match = _OTHER_CODE.fullmatch(part)
    return None if match is None else (match[1], match[2])
