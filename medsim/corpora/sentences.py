"""Splits texts into sentences with PySBD, with exact offsets."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from itertools import chain, islice
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from medsim.core.errors import OptionError, needing
from medsim.corpora import ENGLISH, Document

if TYPE_CHECKING:
    from medsim.corpora.documents import Problems


Spans = list[tuple[int, int]]
"""Starts and ends of sentences, in code points, ends exclusive."""

LONGEST_TEXT = 50_000
"""The maximum length of a text in code points: PySBD takes quadratic time, here some seconds."""

# White space to a regular expression but not to int(), on which PySBD fails.
_SEPARATORS = str.maketrans(dict.fromkeys("\x1c\x1d\x1e\x1f", " "))

_DOCUMENTS_A_BATCH = 32
_BATCHES_A_PROCESS = 4
_SLACK = 16


def sentences_of(text: str, language: str = ENGLISH) -> Spans:
    """Return the offsets of the sentences of a text, in order, without outer white space.

    PySBD (Sadvilkar and Neumann 2020) finds the sentences. Its offsets are not used, since it
    searches for every sentence from the beginning of the text, and drops sentences that it changed.
    Here the search begins at the end of the previous sentence, and text between two sentences is
    also a sentence. So every character other than white space is in a sentence.
    """
    if not text.strip():
        return []
    text = text.translate(_SEPARATORS)
    return _find_spans(text, _segmenter(language).processor(text).process())


def sentences_of_document(title: str, abstract: str, language: str = ENGLISH) -> Spans:
    """Return the offsets of sentences in title, a space, abstract; none has parts of both."""
    shift = len(title) + 1
    later = [(start + shift, end + shift) for start, end in sentences_of(abstract, language)]
    return sentences_of(title, language) + later


def short_enough(
    documents: Iterable[Document], corpus: str, problems: Problems
) -> Iterator[Document]:
    """Yield the documents that can be split into sentences; ``problems`` counts the others."""
    for document in documents:
        length = max(len(document.title), len(document.abstract))
        if length <= LONGEST_TEXT:
            yield document
        else:
            problems.add(
                "document is too long to be split into sentences",
                f"{corpus}: document {document.document_id}",
                f"{length:,} characters; the limit is {LONGEST_TEXT:,}",
            )


def cut_documents(
    documents: Iterable[Document], *, language: str = ENGLISH, threads: int
) -> Iterator[tuple[Document, Spans]]:
    """Yield documents in their order, each with its sentences.

    Args:
        documents: with no title or abstract longer than ``LONGEST_TEXT``; a few batches of them
            are in memory at a time.
        language: of all documents, such as "en".
        threads: the number of processes, since PySBD holds Python's lock; it never changes the
            result. With one, or with few documents, no process is started.
    """
    _segmenter(language)
    remaining = iter(documents)
    batches = iter(lambda: list(islice(remaining, _DOCUMENTS_A_BATCH)), [])
    few = list(islice(batches, 2))
    if threads == 1 or len(few) == 1:
        for batch in chain(few, batches):
            yield from zip(batch, _cut(batch, language), strict=True)
        return
    try:
        # Spawned, not forked: a fork copies the locks of Polars' threads in any state.
        with ProcessPoolExecutor(threads, mp_context=get_context("spawn")) as processes:
            ahead: deque[tuple[list[Document], Future[list[Spans]]]] = deque()
            for batch in chain(few, batches):
                ahead.append((batch, processes.submit(_cut, batch, language)))
                if len(ahead) > _BATCHES_A_PROCESS * threads:
                    done, spans = ahead.popleft()
                    yield from zip(done, spans.result(), strict=True)
            for done, spans in ahead:
                yield from zip(done, spans.result(), strict=True)
    except BrokenProcessPool as error:
        raise OptionError(
            f"cannot start {threads} processes for sentences; put the code of a script below "
            "if __name__ == '__main__', or use one thread"
        ) from error


def _cut(batch: list[Document], language: str) -> list[Spans]:
    return [sentences_of_document(each.title, each.abstract, language) for each in batch]


def _find_spans(text: str, sentences: Iterable[str]) -> Spans:
    """Return the offsets of sentences in a text, in order.

    A sentence must follow the previous one, except that sentences that are not found leave a gap of
    about their length. So after a changed sentence, a short one such as "It." is not found far off.
    """
    spans: Spans = []
    end = missing = 0
    for piece in sentences:
        sentence = piece.strip()
        begin = len(text) - len(text[end:].lstrip())
        reach = begin + missing + len(sentence)
        at = text.find(sentence, begin, reach) if sentence else -1
        if at < 0:
            missing += len(piece) + _SLACK
            continue
        spans.extend(_trim(text, end, at))
        end, missing = at + len(sentence), 0
        spans.append((at, end))
    spans.extend(_trim(text, end, len(text)))
    return spans


def _trim(text: str, start: int, end: int) -> Spans:
    """Return the offsets of a stretch of text without outer white space; empty if it is blank."""
    inner = text[start:end].strip()
    begin = text.index(inner, start)
    return [(begin, begin + len(inner))] if inner else []


@lru_cache(maxsize=2)
def _segmenter(language: str) -> Any:
    """Return PySBD's segmenter of a language."""
    with warnings.catch_warnings():
        # PySBD 0.3.4 has "\s" in plain strings, so Python warns when it compiles them.
        warnings.filterwarnings("ignore", "invalid escape sequence")
        warnings.filterwarnings("ignore", r"\"\\.\" is an invalid escape sequence")
        with needing("sentences of corpora need PySBD", "tag or wic"):
            import pysbd  # noqa: PLC0415 — an extra
            from pysbd.languages import LANGUAGE_CODES  # noqa: PLC0415 — an extra
    if language not in LANGUAGE_CODES:
        codes = ", ".join(sorted(LANGUAGE_CODES))
        raise OptionError(f"PySBD has no sentence rules for `language` {language}; it has {codes}")
    return pysbd.Segmenter(language=language, clean=False)


def check_language(language: str) -> None:
    """Raise OptionError for a language that PySBD or simplemma does not have, or without them."""
    with needing("sentences and lemmas need PySBD and simplemma", "wic"):
        from pysbd.languages import LANGUAGE_CODES  # noqa: PLC0415 — an extra
        from simplemma.strategies.dictionaries import dictionary_factory  # noqa: PLC0415 — an extra
    languages = sorted(LANGUAGE_CODES.keys() & dictionary_factory.SUPPORTED_LANGUAGES)
    if language not in languages:
        raise OptionError(
            f"PySBD has no sentence rules for `language` {language}, or simplemma no lemmas; both "
            f"have {', '.join(languages)}"
        )
