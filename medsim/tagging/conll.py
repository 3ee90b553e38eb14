"""Reads and writes files in CoNLL's layout: a word and its tag a line, a blank line a sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.corpora.pubtator import lines_of
from medsim.tagging.entities import OUTSIDE, PREFIXES, Entity, entities_of, tags_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from medsim.core.files import HashedReader

_DOCUMENT = "-DOCSTART-"
_TAG = re.compile(rf"{OUTSIDE}|[{''.join(PREFIXES)}]-\S+")
_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of a corpus.

    Attributes:
        document_id: of the document that it is from; where files tell none, of its own.
        words: in their order, at least one.
        entities: that share no word, in their order.
    """

    document_id: str
    words: tuple[str, ...]
    entities: tuple[Entity, ...]

    @property
    def tags(self) -> list[str]:
        """The tag of each word, in the scheme BIO."""
        return tags_of(self.entities, len(self.words))


def read_conll(file: HashedReader, path: Path) -> list[Sentence]:
    """Return the sentences of an open file, plain or compressed by gzip.

    A line has a word first and its tag last, with tabs between, or else white space; columns
    between them are not used. Blank lines end sentences, lines that begin with -DOCSTART- begin
    documents; where there is none, each sentence is a document. Tags may be in any of the schemes
    IOB1, BIO, IOBES and BILOU.

    Raises:
        InputError: a line has no tag; or there is no sentence.
    """
    found: list[tuple[int, tuple[str, ...], tuple[Entity, ...]]] = []
    words: list[str] = []
    tags: list[str] = []
    n_documents = 0
    for number, line in (*lines_of(file, path, blank=True), (0, "")):
        cells = line.split("\t") if "\t" in line else line.split()
        if cells and cells[0] == _DOCUMENT:
            n_documents += 1
            cells = []
        if any(cells):
            words.append(cells[0].strip())
            tags.append(_tag(cells, f"{path}: line {number:,}"))
        elif words:
            found.append((n_documents, tuple(words), tuple(entities_of(tags))))
            words, tags = [], []
    if not found:
        raise InputError(f"{path} has no sentence; a line has a word, a tab and its tag")
    return [
        Sentence(document_id=str(at if n_documents else alone), words=own, entities=entities)
        for alone, (at, own, entities) in enumerate(found, start=1)
    ]


def conll_text(sentences: Iterable[Sentence]) -> str:
    """Return sentences in CoNLL's layout: word, tab, tag in the scheme BIO.

    Documents of several sentences begin with a line -DOCSTART-.
    """
    return "".join(_written(list(sentences)))


def _written(sentences: list[Sentence]) -> Iterator[str]:
    before = None
    has_documents = len({one.document_id for one in sentences}) < len(sentences)
    for one in sentences:
        if has_documents and one.document_id != before:
            before = one.document_id
            yield f"{_DOCUMENT}\t{OUTSIDE}\n\n"
        yield from (f"{word}\t{tag}\n" for word, tag in zip(one.words, one.tags, strict=True))
        yield "\n"


def _tag(cells: list[str], place: str) -> str:
    """Return the tag of a line, which has a word before it."""
    tag = cells[-1].strip()
    if len(cells) < 2 or not cells[0].strip():  # noqa: PLR2004 — a word and a tag
        raise InputError(
            f"{place} is {' '.join(cells)[:_SHOWN]!r}; a word, a tab and a tag are due"
        )
    if not _TAG.fullmatch(tag):
        raise InputError(
            f"{place} has the tag {tag[:_SHOWN]!r}; O is due, or a letter of "
            f"{', '.join(PREFIXES)}, a hyphen and a type, such as B-Disease"
        )
    return tag
