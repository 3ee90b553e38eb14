"""Corpora of named entities: their files, their splits, their sentences and tags."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from medsim.core.errors import InputError, counted
from medsim.core.options import several
from medsim.core.progress import Progress
from medsim.core.reading import is_left_behind, reading
from medsim.corpora import CORPUS_SPLITS, Document, corpus_names
from medsim.corpora.documents import (
    Problems,
    brat_files,
    corpus_digest,
    corpus_lines,
    documents_of,
    has_documents,
    open_corpus,
)
from medsim.corpora.sentences import Spans, cut_documents, short_enough

if TYPE_CHECKING:
    from medsim.core.files import HashedReader
    from medsim.core.manifest import Skipped
    from medsim.tagging.options import TagOptions


OUTSIDE = "O"
"""The tag of a word that is in no entity."""

PREFIXES = {"B": "B", "I": "I", "E": "E", "L": "E", "S": "S", "U": "S"}
"""The first letters of tags: begin, inside, end (also last), single (also unit)."""

_ENDING = {"E", "S"}
_BEGINNING = {"B", "S"}


class Entity(NamedTuple):
    """An entity of a sentence: its type, its first word, and one past its last, counted from 0."""

    kind: str
    start: int
    end: int


def entities_of(tags: Sequence[str]) -> list[Entity]:
    """Return the entities of a sentence in their order, for tags in any scheme.

    The rules are as in conlleval, the script of CoNLL's shared tasks, and in the package seqeval.
    An entity begins at B and S, and at any other tag except O if the previous word is outside of
    entities, ends one (E or S), or has another type. It ends before O, before the next entity, and
    at the end of the sentence. So I after O begins an entity, as does I-X after B-Y.

    Args:
        tags: of one sentence: O, or a letter of ``PREFIXES``, a hyphen and a type.
    """
    entities: list[Entity] = []
    begun = -1  # the first word of an open entity
    before, kind = OUTSIDE, ""
    for position, tag in enumerate(tags):
        letter, _, tag_kind = tag.partition("-")
        letter = PREFIXES.get(letter, OUTSIDE)
        begins = letter in _BEGINNING or before == OUTSIDE or before in _ENDING or tag_kind != kind
        if begun >= 0 and (letter == OUTSIDE or begins):
            entities.append(Entity(kind, begun, position))
            begun = -1
        if letter != OUTSIDE and begins:
            begun = position
        before, kind = letter, tag_kind
    if begun >= 0:
        entities.append(Entity(kind, begun, len(tags)))
    return entities


_DOCUMENT = "-DOCSTART-"
_TAG = re.compile(rf"{OUTSIDE}|[{''.join(PREFIXES)}]-\S+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of a corpus.

    Attributes:
        document_id: of its document; unique if files name no documents.
        words: in their order, at least one.
        entities: in their order; they share no word.
    """

    document_id: str
    words: tuple[str, ...]
    entities: tuple[Entity, ...]

    @property
    def tags(self) -> list[str]:
        """The tag of each word in the scheme BIO: B for the first word of each entity."""
        tags = [OUTSIDE] * len(self.words)
        for kind, start, end in self.entities:
            tags[start] = f"B-{kind}"
            tags[start + 1 : end] = [f"I-{kind}"] * (end - start - 1)
        return tags


def read_conll(file: HashedReader, path: Path) -> list[Sentence]:
    """Return the sentences of an open file, plain or compressed by gzip.

    A line has a word first and its tag last, separated by tabs, or else by white space; columns
    between them are not used. Blank lines end sentences, lines that begin with -DOCSTART- begin
    documents; without such lines each sentence is a document. Tags may be in any of the schemes
    IOB1, BIO, IOBES and BILOU.

    Raises:
        InputError: a line has no tag, or the file has no sentence.
    """
    parsed: list[tuple[int, tuple[str, ...], tuple[Entity, ...]]] = []
    words: list[str] = []
    tags: list[str] = []
    n_documents = 0
    for number, line in (*corpus_lines(file, path, blank=True), (0, "")):
        cells = line.split("\t") if "\t" in line else line.split()
        if cells and cells[0] == _DOCUMENT:
            n_documents += 1
            cells = []
        if any(cells):
            if len(cells) < 2 or not cells[0].strip() or not _TAG.fullmatch(cells[-1].strip()):  # noqa: PLR2004 — a word and a tag
                raise InputError(
                    f"{path}: line {number:,} is {' '.join(cells)[:60]!r}; expected a word, a tab "
                    f"and a tag: O, or one of {', '.join(PREFIXES)}, a hyphen and a type"
                )
            words.append(cells[0].strip())
            tags.append(cells[-1].strip())
        elif words:
            parsed.append((n_documents, tuple(words), tuple(entities_of(tags))))
            words, tags = [], []
    if not parsed:
        raise InputError(f"{path} has no sentence; lines are a word, a tab and a tag")
    return [
        Sentence(
            document_id=str(document if n_documents else alone), words=words, entities=entities
        )
        for alone, (document, words, entities) in enumerate(parsed, start=1)
    ]


_WHOLE = "all"
"""The name of the only file of a corpus that medsim splits."""

ONE_TYPE = "entity"
"""The type of entities if all types are merged."""

_TEST_SHARE, _DEV_SHARE = 0.2, 0.1  # of the documents of a single file

_WORD = re.compile(r"[^\W_]+|\S")
_NAMES = {"train": "train", "dev": "dev", "valid": "dev", "test": "test"}  # within files' names


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """A corpus of named entities.

    Attributes:
        name: of its file or folder.
        splits: the sentences by name of the split, see ``medsim.corpora.CORPUS_SPLITS``.
        files: of each split, or of the ``_WHOLE``, its path and the SHA-256 of its bytes.
        skipped: the numbers of mentions and documents left out, with reasons.
    """

    name: str
    splits: Mapping[str, tuple[Sentence, ...]]
    files: Mapping[str, dict[str, str]]
    skipped: tuple[Skipped, ...]

    def facts(self) -> dict[str, object]:
        """Return the provenance and the sizes of the corpus, as plain JSON."""
        return {
            "files": dict(self.files),
            "types": self.kinds(),
            "splits": {
                split: {
                    "documents": len({sentence.document_id for sentence in sentences}),
                    "sentences": len(sentences),
                    "words": sum(len(sentence.words) for sentence in sentences),
                    "entities": sum(len(sentence.entities) for sentence in sentences),
                }
                for split, sentences in self.splits.items()
            },
            "skipped": [asdict(item) for item in self.skipped],
        }

    def kinds(self) -> list[str]:
        """Return the types of its entities, in order."""
        sentences = chain.from_iterable(self.splits.values())
        return sorted({entity.kind for sentence in sentences for entity in sentence.entities})


def hashed_split(document_id: str) -> str:
    """Return the split of a document, by a hash of its id: adding others never moves it."""
    digest = hashlib.sha256(document_id.encode()).digest()
    drawn = int.from_bytes(digest[:8], "big") / (1 << 64)
    if drawn < _TEST_SHARE:
        return "test"
    return "dev" if drawn < _TEST_SHARE + _DEV_SHARE else "train"


def read_corpora(options: TagOptions, progress: Progress) -> list[Corpus]:
    """Return corpora, each from one file or folder of documents, or a folder with one per split."""
    corpora = []
    given = map(Path, several(options.corpora))
    paths = [path if path.name not in {"", ".."} else path.resolve() for path in given]
    for path, name in zip(paths, corpus_names(paths), strict=True):
        with progress.stage(f"read {name}") as stage:
            corpus, warnings = _read_corpus(path, name, options)
            sizes = (f"{len(corpus.splits[split]):,} {split}" for split in CORPUS_SPLITS)
            stage.note(f"{', '.join(sizes)} sentences of {', '.join(corpus.kinds())}")
        progress.warn(*warnings)
        corpora.append(corpus)
    return corpora


def _read_corpus(path: Path, name: str, options: TagOptions) -> tuple[Corpus, list[str]]:
    """Return a corpus, and a warning for each kind of fault in its files."""
    problems = Problems()
    splits: dict[str, list[Sentence]] = {split: [] for split in CORPUS_SPLITS}
    files: dict[str, dict[str, str]] = {}
    n_with_documents = 0
    for split, file in _files_of(path).items():
        with open_corpus(file) as stream:
            if has_documents(file):
                n_with_documents += 1
                documents = documents_of(stream, file, problems, linked=False)
                sentences = list(tagged_sentences(documents, name, options, problems))
            elif split == _WHOLE:
                raise InputError(
                    f"{file} is not in PubTator format, which begins with ID|t|title, or in BioC; "
                    "for CoNLL's layout give a folder with train, dev and test files"
                )
            else:
                sentences = read_conll(stream, file)
            files[split] = {"path": str(file), "sha256": corpus_digest(stream, file)}
        for sentence in sentences:
            chosen = hashed_split(sentence.document_id) if split == _WHOLE else split
            splits[chosen].append(_merged(sentence) if options.one_type else sentence)
    for split, sentences in splits.items():
        if not any(sentence.entities for sentence in sentences):
            raise InputError(f"{path} has no entity in its {split} split, so nothing can be scored")
    warnings = [*problems.warnings()]
    ids = (key for each in splits.values() for key in {sentence.document_id for sentence in each})
    shared = sorted(document_id for document_id, times in Counter(ids).items() if times > 1)
    if shared and n_with_documents > 1:
        warnings.append(
            f"{name}: {counted(len(shared), 'document is', 'documents are')} in several splits, "
            f"{shared[0]} first; this data leakage makes scores too high"
        )
    corpus = Corpus(
        name=name,
        splits={split: tuple(sentences) for split, sentences in splits.items()},
        files=files,
        skipped=problems.skipped(),
    )
    return corpus, warnings


def _merged(sentence: Sentence) -> Sentence:
    """Return a sentence whose entities are of one type, ``ONE_TYPE``."""
    entities = tuple(entity._replace(kind=ONE_TYPE) for entity in sentence.entities)
    return replace(sentence, entities=entities)


def _files_of(path: Path) -> dict[str, Path]:
    """Return the files of a corpus by split, or a single file or folder of brat."""
    if not path.is_dir() or brat_files(path):
        return {_WHOLE: path}
    file_of: dict[str, Path] = {}
    with reading(path):
        files = sorted(file for file in path.iterdir() if file.is_file() or brat_files(file))
    for file in files:
        named = {split for name, split in _NAMES.items() if name in file.name.lower()}
        if len(named) != 1 or is_left_behind(file.name):  # such as README, or train_dev.tsv
            continue
        (split,) = named
        if split in file_of:
            raise InputError(
                f"{path} has two {split} files, {file_of[split].name} and {file.name}; remove one"
            )
        file_of[split] = file
    if missing := [split for split in CORPUS_SPLITS if split not in file_of]:
        raise InputError(f"{path} has no {missing[0]} file; names must contain train, dev and test")
    return {split: file_of[split] for split in CORPUS_SPLITS}


def tagged_sentences(
    documents: Iterator[Document], corpus: str, options: TagOptions, problems: Problems
) -> Iterator[Sentence]:
    """Yield the sentences of documents with their entities, which share no word.

    A word is a run of letters and digits, or any other character that is not white space. A mention
    that begins or ends within a word includes the whole word. If mentions share a word, the first
    is kept, or the longest of several first ones; a mention that crosses a sentence boundary is
    left out. ``problems`` counts what is left out.
    """
    short = short_enough(documents, corpus, problems)
    cut = cut_documents(short, language=options.language, threads=options.n_threads)
    for document, spans in cut:
        text = f"{document.title} {document.abstract}"
        mentions = _by_sentence(document, spans, problems)
        for span, sentence_mentions in zip(spans, mentions, strict=True):
            word_spans = [match.span() for match in _WORD.finditer(text, *span)]
            yield Sentence(
                document_id=document.document_id,
                words=tuple(text[start:end] for start, end in word_spans),
                entities=tuple(_entities(sentence_mentions, word_spans, problems)),
            )


def _by_sentence(
    document: Document, spans: Spans, problems: Problems
) -> list[list[tuple[int, int, str]]]:
    """Return the positions of mentions in the document, and their types, by sentence."""
    by_sentence: list[list[tuple[int, int, str]]] = [[] for _ in spans]
    for mention in document.annotations:
        number = bisect_right(spans, mention.start, key=lambda span: span[0]) - 1
        if number < 0 or mention.end > spans[number][1]:
            problems.count("mention crosses a sentence boundary")
        else:
            kind = re.sub(r"\s+", "_", mention.kind) or ONE_TYPE
            by_sentence[number].append((mention.start, mention.end, kind))
    return by_sentence


def _entities(
    mentions: list[tuple[int, int, str]], word_spans: Spans, problems: Problems
) -> Iterator[Entity]:
    """Yield the entities of a sentence, whose words are at ``word_spans`` in the document."""
    free = 0
    for start, end, kind in sorted(mentions, key=lambda mention: (mention[0], -mention[1])):
        first = bisect_right(word_spans, start, key=lambda span: span[1])
        last = bisect_right(word_spans, end - 1, key=lambda span: span[0])
        if first < free:
            problems.count("mention shares a word with another")
        elif first < last:
            yield Entity(kind, first, last)
            free = last
