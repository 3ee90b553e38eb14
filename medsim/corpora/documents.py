"""Reads corpora whose documents have mentions: PubTator, BioC and brat, which becomes BioC."""

from __future__ import annotations

import io
import json
import re
from bisect import bisect_right
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedReader
from itertools import accumulate
from pathlib import Path
from typing import IO, Any
from xml.etree.ElementTree import Element

from defusedxml import DefusedXmlException
from defusedxml import ElementTree as strict  # noqa: N813 — the unsafe one is never used

from medsim.core.errors import InputError
from medsim.core.files import HashedReader, open_hashed
from medsim.core.identifiers import VOCABULARIES, identifier_of, vocabulary_of
from medsim.core.manifest import Skipped
from medsim.core.reading import (
    BEGINNING,
    JSON,
    MAX_LINE_BYTES,
    PACKED,
    XML,
    decoded,
    json_lines,
    open_file,
    parsed_json,
    reading,
    reason,
    too_long,
    unpacked,
)
from medsim.core.tables import LINE_END
from medsim.corpora import Annotation, Document

_LONGEST_VALUE = 100

UNLINKED = ("", "")
"""The code of an unlinked part of a mention."""

_SHOWN = 60  # characters of a faulty text in messages

_TEXT = re.compile(r"([^|\t]+)\|([ta])\|(.*)", re.DOTALL)
_FBK_LINE = re.compile(r"([^\t]+)\tT[0-9]+\t([^\t]+)\t([0-9]{1,9})\t([0-9]{1,9})\t(.*)", re.DOTALL)
_OFFSET = re.compile(r"[0-9]{1,9}")
_NOT_THERE = "mention is not in the text at its offsets"
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


def corpus_digest(file: HashedReader, path: Path) -> str:
    """Return the SHA-256 of a file whose documents were read, in hex."""
    with reading(path):
        return file.finish()


def corpus_lines(
    file: BufferedReader, path: Path, *, blank: bool = False
) -> Iterator[tuple[int, str]]:
    """Yield the lines of an open file, plain or packed, and their numbers from 1.

    Lines have no line ends; blank lines are skipped unless ``blank`` is True.
    """
    number = 0
    with reading(path, "a corpus"):
        stream = unpacked(file, path, path.stat().st_size)
        while data := stream.readline(MAX_LINE_BYTES + 1):
            number += 1
            if len(data) > MAX_LINE_BYTES:
                raise too_long(f"{path}: line {number:,}", MAX_LINE_BYTES)
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
        yield _checked(draft, path, problems, linked=linked)


def _drafts(file: BufferedReader, path: Path, problems: Problems) -> Iterator[_Draft]:
    """Yield documents with all their lines."""
    draft: _Draft | None = None
    first = ""
    for number, line in corpus_lines(file, path):
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
            problems.add(_MISPLACED, f"{path}: line {number}", repr(line[:_SHOWN]))
        elif text is None:
            draft.lines.append((number, line))
        else:
            draft.abstract = text[3]
    if draft is None:
        begins = f"begins with {first[:_SHOWN]!r}" if first else "is empty"
        raise InputError(f"{path} {begins}; a document of PubTator begins with ID|t|title")
    yield draft


def _checked(draft: _Draft, path: Path, problems: Problems, *, linked: bool) -> Document:
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
        annotations += _annotation(columns, text, f"{path}: line {number}", problems, linked=linked)
    return _annotated(draft.document_id, draft.title, abstract, annotations)


def _annotated(
    document_id: str, title: str, abstract: str, annotations: list[Annotation]
) -> Document:
    """Return a document with its annotations in order."""
    ordered = tuple(sorted(annotations, key=lambda item: (item.start, item.end)))
    return Document(document_id=document_id, title=title, abstract=abstract, annotations=ordered)


def _annotation(
    columns: list[str], text: str, where: str, problems: Problems, *, linked: bool
) -> list[Annotation]:
    """Return the annotation in a line of a text: its id, start, end, and the rest of the line.

    An invalid one is left out and counted.
    """
    has_offsets = all(map(_OFFSET.fullmatch, columns[1:3]))
    if len(columns) < 4 or "\t" not in columns[3] or not has_offsets:  # noqa: PLR2004 — as the docstring says
        problems.add("line has an unknown format", where, repr("\t".join(columns)[:_SHOWN]))
        return []
    _, first, last, rest = columns
    start, end = int(first), int(last)
    term = text[start:end]
    if not term or len(term) < end - start or not rest.startswith(f"{term}\t"):
        given = rest.partition("\t")[0][:_SHOWN]  # not split before, as a term may have a tab
        problems.add(_NOT_THERE, where, f"{given!r}, but the text has {term[:_SHOWN]!r}")
        return []
    kind, _, others = rest[len(term) + 1 :].partition("\t")
    return _linked(start, term, kind, others.partition("\t")[0] if linked else "", where, problems)


def _linked(
    start: int, term: str, kind: str, column: str, where: str, problems: Problems
) -> list[Annotation]:
    """Return the annotation of a term that is in the text, unless a code has an unknown form."""
    if (codes := codes_of(column)) is None:
        problems.add("code has no vocabulary as its prefix", where, repr(column))
        return []
    return [Annotation(start=start, end=start + len(term), text=term, kind=kind, codes=codes)]


def codes_of(column: str) -> tuple[tuple[str, str], ...] | None:
    """Return the codes that a mention is linked to, each once, in their order.

    Several are joined by a bar, a plus, a comma or a semicolon. MeSH's ids may have a prefix or
    not: D, or C for supplementary concepts, and six or nine digits; a C and seven digits is a
    concept of UMLS; ids of OMIM and of all other vocabularies have a prefix, such as "HP:0001658",
    or are in another form of ``identifier_of``.
    An empty part, "-" and "-1" are not linked. The result is empty if no part is linked, has
    ``UNLINKED`` if only some are, and is None if a code has an unknown form.
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
    part = identifier_of(part)
    for vocabulary, form in _FORMS:
        if (match := form.fullmatch(part)) is not None:
            return vocabulary, match[1].upper()
    match = _OTHER_CODE.fullmatch(part)
    return None if match is None else (vocabulary_of(match[1]).upper(), match[2])


_BIOC = re.compile(rb'(\xef\xbb\xbf)?\s*(<(\?xml|!DOCTYPE|collection)|\{\s*"|\[\s*\{\s*")')
_JSON_LINES = re.compile(rb"\s*\{[^\n]*\}\r?\n+\{")
_IDENTIFIERS = ("identifier", "normalized_id", "concept_id", "database_id")
_NAMED_AFTER_VOCABULARIES = {name.lower() for item in VOCABULARIES.items() for name in item}
_MENTION = re.compile(r"(T\S*)\t(\S+) (\d{1,9} \d{1,9}(?:;\d{1,9} \d{1,9})*)\t(.*)", re.ASCII)
_REFERENCE = re.compile(r"^N\S*\tReference (\S+) (\S+)")
_NOTE = re.compile(r"#\S*\tAnnotatorNotes (T\S*)\t(.*[0-9].*)")
_REPEATED = "repeated ids of mentions"
_KINDS = {*PACKED, JSON, XML}


def _bioc_documents(
    stream: IO[bytes], path: Path, problems: Problems, *, is_xml: bool, linked: bool
) -> Iterator[Document]:
    """Yield the documents of a file in BioC (Comeau et al. 2013).

    Passages, or their sentences, are joined by a space after the first and by line feeds. Offsets
    count code points, or bytes where the text of a mention is only found so. If the offset of a
    passage is wrong, those of its mentions count from the beginning of the passage or document.

    ``problems`` counts everything that is left out: relations, mentions of several parts, the
    individual mentions of composite ones, and all that ``pubtator_documents`` leaves out. Codes are
    read only if ``linked`` is True.

    Raises:
        InputError: a document has another structure.
    """
    document_ids: set[str] = set()
    raw_documents = _of_xml(stream, path) if is_xml else _of_json(stream.read(), path)
    for number, raw in enumerate(raw_documents, start=1):
        where = f"{path}: document {number:,}"
        try:
            document = _document(raw, number, where, problems, linked=linked)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"{where} is not in the format BioC ({reason(error)})") from error
        if document.document_id in document_ids:
            problems.add("document occurs again", where, document.document_id)
            continue
        document_ids.add(document.document_id)
        yield document
    if not document_ids:
        raise InputError(f"{path} has no document of BioC")


def _of_xml(stream: IO[bytes], path: Path) -> Iterator[Any]:
    try:
        for _, element in strict.iterparse(stream, events=("end",)):
            if element.tag == "document":
                yield _as_json(element)
                element.clear()
    except DefusedXmlException as error:
        raise InputError(
            f"{path} declares an XML entity, like a bomb; replace its entities"
        ) from error


def _as_json(element: Element) -> dict[str, Any]:
    return {
        **{name: element.findtext(name) for name in ("id", "offset", "text")},
        **{f"{name}s": list(map(_as_json, element.findall(name))) for name in _NESTED},
        "infons": {infon.get("key"): infon.text for infon in element.findall("infon")},
        "locations": [location.attrib for location in element.findall("location")],
        "relations": element.findall("relation"),
    }


_NESTED = ("passage", "sentence", "annotation")


def _of_json(data: bytes, path: Path) -> Iterator[Any]:
    """Yield the documents of a collection, of PubTator's answer, or of a list or lines of them."""
    is_lines = _JSON_LINES.match(data)
    content = json_lines(path, data) if is_lines else parsed_json(path, data.removeprefix(BOM_UTF8))
    for one in content if isinstance(content, list) else [content]:
        several = isinstance(one, dict) and (one.get("documents") or one.get("PubTator3"))
        yield from several or [one]


def _document(raw: Any, number: int, where: str, problems: Problems, *, linked: bool) -> Document:
    """Return a document with its valid annotations."""
    passages = raw["passages"]
    sentences = [sentence for passage in passages for sentence in passage.get("sentences") or ()]
    units = [unit for passage in passages for unit in passage.get("sentences") or [passage]]
    texts = [unit.get("text") or "" for unit in units]
    offsets = [_number(unit, "offset") for unit in units]
    places = {id(unit): place for place, unit in enumerate(units)}
    starts = [0, *accumulate(len(text) + 1 for text in texts)]
    title, abstract = texts[0] if texts else "", "\n".join(texts[1:])
    whole = f"{title} {abstract}"
    annotations: list[Annotation] = []
    for mention_id in raw.get(_REPEATED) or ():
        problems.add(
            "mention has the id of another; its codes are not read", where, str(mention_id)
        )
    for holder in (raw, *passages, *sentences):
        for _ in holder.get("relations") or ():
            problems.count("line states a relation")
        for given in holder.get("annotations") or ():
            locations, infons = given["locations"], given["infons"]
            if len(locations) != 1 or infons.get("CompositeRole") == "IndividualMention":
                problems.count("mention has several parts, or is one of a composite mention")
                continue
            offset, length = (_number(locations[0], key) for key in ("offset", "length"))
            at = places.get(id(holder), len(units) - 1)
            if not 0 <= offset - offsets[at] < len(texts[at]):  # in another passage
                at = max(bisect_right(offsets, offset) - 1, 0)
            term = given.get("text") or ""
            begin = _start_of(term, texts[at], offset - offsets[at], length)
            if begin is None:  # passages may have wrong offsets
                begin, at = _start_of(term, whole, offset, length), 0
            if begin is None:
                value = f"{term[:_SHOWN]!r} at {offset:,}"
                problems.add(_NOT_THERE, where, value)
                continue
            column, kind = _column(infons) if linked else "", str(infons.get("type") or "")
            annotations += _linked(begin + starts[at], term, kind, column, where, problems)
    document_id = str(raw["id"] or number)
    "".join([document_id, whole, *(each.kind for each in annotations)]).encode()  # no surrogates
    return _annotated(document_id, title, abstract, annotations)


def _number(holder: Any, key: str) -> int:
    """Return a whole number of an object, which may be a text."""
    match = re.fullmatch(r"(-?[0-9]{1,18})(\.0)?", str(value := holder[key]).strip())
    if not match:
        raise ValueError(f"the {key} is {json.dumps(value)[:_SHOWN]}; expected a number")
    return int(match[1])


def _start_of(term: str, text: str, begin: int, length: int) -> int | None:
    """Return the start of a term in a text, given in code points or in bytes."""
    if not term or begin < 0:
        return None
    if text[begin : begin + length] == term:
        return begin
    encoded = text.encode()
    is_there = encoded[begin : begin + length] == term.encode()
    return len(encoded[:begin].decode()) if is_there else None


def _column(infons: dict[str, Any]) -> str:
    """Return the identifiers of a mention, as in a column of PubTator."""
    values = {key.lower(): str(value) for key, value in infons.items() if value is not None}
    main = next((key for key in _IDENTIFIERS if key in values), "")
    parts = [values.get(main, "")]
    for key in [key for key in values if key in _NAMED_AFTER_VOCABULARIES]:
        for part in map(str.strip, re.split("[|+,;]", values[key])):
            is_whole = part in _NOTHING or identifier_of(part) != part or ":" in part
            parts.append(part.replace(": ", ":") if is_whole else f"{vocabulary_of(key)}:{part}")
    return "|".join(part for part in parts if part.strip() not in _NOTHING)


def open_corpus(path: Path) -> HashedReader:
    """Return a reader of the raw bytes of a file, or of the content of a folder of brat.

    Raises:
        InputError: it cannot be opened, or is another folder.
    """
    if path.is_dir():
        if not brat_files(path):
            raise InputError(
                f"{path} is a folder; give the corpus files in it, or a folder of brat"
            )
        return HashedReader(io.BytesIO(_brat_as_bioc(path)))
    with reading(path):
        return open_hashed(path)


def documents_of(
    file: HashedReader, path: Path, problems: Problems, *, linked: bool = True
) -> Iterator[Document]:
    """Yield the documents of an open corpus, plain or packed, in their order.

    See ``_bioc_documents`` for BioC and brat, and ``pubtator_documents`` for other files.
    """
    with reading(path, "a corpus", reads=_KINDS):
        stream = unpacked(file, path, path.stat().st_size)
        if match := _BIOC.match(stream.peek(BEGINNING)):
            is_xml = b"<" in match[0]
            yield from _bioc_documents(stream, path, problems, is_xml=is_xml, linked=linked)
        else:
            yield from pubtator_documents(stream, path, problems, linked=linked)


def has_documents(path: Path) -> bool:
    """Return whether a path is a folder of brat, or a file that begins like BioC or PubTator."""
    with open_corpus(path) as file, reading(path, "a corpus", reads=_KINDS):
        stream = unpacked(file, path, path.stat().st_size)
        lines = (line for _, line in corpus_lines(stream, path))  # not read for BioC
        return bool(_BIOC.match(stream.peek(BEGINNING)) or _TEXT.fullmatch(next(lines, "")))


def brat_files(path: Path) -> list[Path]:
    """Return the files of annotations in a folder of brat, or of BioNLP's shared tasks."""
    with reading(path):
        return sorted(file for file in path.iterdir() if file.suffix in {".ann", ".a1"})


def _brat_as_bioc(path: Path) -> bytes:
    """Return a folder in brat's standoff format (Stenetorp et al. 2012) as JSON of BioC.

    Each file of annotations has its text beside it, with the suffix .txt. References of mentions to
    other sources (N), and notes that are codes, are their codes. Relations, events, attributes and
    other notes count as relations.

    Raises:
        InputError: a file is missing, or a line of a mention or a reference is malformed.
    """
    documents = []
    for file in brat_files(path):
        text, lines = (_text_of(each) for each in (file.with_suffix(".txt"), file))
        mentions: dict[str, dict[str, Any]] = {}
        codes: dict[str, list[str]] = {}
        relations, repeated = [], []
        for number, line in enumerate(LINE_END.split(lines), start=1):
            if match := _MENTION.fullmatch(line):
                key, kind, given, term = match.groups()
                spans = [tuple(map(int, span.split())) for span in given.split(";")]
                locations = [{"offset": start, "length": end - start} for start, end in spans]
                if key in mentions:
                    repeated.append(key)
                    key = f"{key} in line {number}"
                mentions[key] = {"text": term, "locations": locations, "infons": {"type": kind}}
            elif (match := _REFERENCE.match(line)) or (
                (match := _NOTE.fullmatch(line)) and codes_of(match[2])
            ):
                codes.setdefault(match[1], []).append(match[2])
            elif line.startswith(("T", "N")):
                raise InputError(
                    f"{file}: line {number:,} is {line[:_SHOWN]!r}; expected an id, a tab, a type, "
                    "start and end, a tab and the mention, or a reference to another source"
                )
            elif line.strip():
                relations.append(line)
        for mention_id in codes.keys() & mentions.keys() - {*repeated}:
            mentions[mention_id]["infons"]["identifier"] = "|".join(codes[mention_id])
        passage = {"offset": 0, "text": text, "annotations": list(mentions.values())}
        document = {"id": file.stem, "passages": [passage], "relations": relations}
        documents.append(document | {_REPEATED: repeated})
    return json.dumps({"documents": documents}).encode()


def _text_of(path: Path) -> str:
    with reading(path, "text"), open_file(path) as stream:
        return decoded(stream.read(), path)
