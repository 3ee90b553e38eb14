"""Reads word vectors as text: word2vec's and fastText's with a header, GloVe's without."""

from __future__ import annotations

from itertools import islice, takewhile
from typing import TYPE_CHECKING

import numpy as np

from medsim.core.errors import InputError
from medsim.core.reading import check_gap, what_it_is
from medsim.embeddings import FORMATS, WORDS, Format
from medsim.embeddings.formats.files import (
    BLOCK,
    blocks,
    check_dimensions,
    checked_header,
    content_of,
    header_of,
    itself,
    peek,
)
from medsim.embeddings.formats.rows import WantedWords
from medsim.embeddings.options import TOKEN_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from medsim.core.progress import Stage
    from medsim.embeddings import Request, WordVectors

_WITH_HEADER = "word2vec or fastText, text with a header (.vec, .txt, .gz)"
_WITHOUT_HEADER = "GloVe, text without a header (.txt, .gz)"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def has_row(text: bytes, n_dimensions: int) -> bool:
    """Return whether a text begins with a word and numbers, at least as far as its line's end."""
    fields = _fields(text)[1:]
    return bool(fields) and all(map(_is_number, fields[-min(n_dimensions, 2) :]))


def _recognises_with_header(path: Path) -> bool:
    beginning = _without_mark(peek(path))
    header = header_of(beginning)
    return header is not None and has_row(beginning[header.size :], header.n_dimensions)


def _recognises_without_header(path: Path) -> bool:
    beginning = _without_mark(peek(path))
    return header_of(beginning) is None and _n_numbers(beginning) > 1


def _load_with_header(path: Path, request: Request) -> WordVectors:
    request.options.check_fit(_WITH_HEADER, *TOKEN_OPTIONS)
    header = checked_header(path, _without_mark(content_of(path)), number_size=2)
    found = WantedWords(path, request.words, "line")
    lines = islice(_lines(path, request.stage), 1, None)
    n_rows = _collect(lines, 2, header.n_dimensions, found)
    if n_rows != header.n_words:
        raise InputError(
            f"{path} has {n_rows:,} rows; its header claims {header.n_words:,} rows of "
            f"{header.n_dimensions:,} numbers"
        )
    return found.result(header.n_dimensions, n_rows)


def _load_without_header(path: Path, request: Request) -> WordVectors:
    """Return the vectors of the wanted words; see ``medsim.embeddings.Load``.

    The first line tells how many numbers a row has.
    """
    request.options.check_fit(_WITHOUT_HEADER, *TOKEN_OPTIONS)
    beginning = _without_mark(content_of(path))
    n_dimensions = _n_numbers(beginning)
    if n_dimensions == 0:
        raise InputError(f"{path} has no word with its numbers: it {what_it_is(beginning)}")
    word, _, number = _fields(beginning)[0].partition(b"\t")
    if word and _is_number(number):
        raise InputError(f"{path} has a tab after its first word; a space is due there")
    check_dimensions(path, n_dimensions)
    found = WantedWords(path, request.words, "line")
    n_rows = _collect(_lines(path, request.stage), 1, n_dimensions, found)
    return found.result(n_dimensions, n_rows)


def _collect(lines: Iterable[bytes], first: int, n_dimensions: int, found: WantedWords) -> int:
    """Keep the wanted words of a text, and return how many rows it has.

    A word may have spaces, as some of GloVe's have: the last fields of a line are its numbers.
    The numbers of other words are counted and not read, and blank lines count for nothing.
    """
    heads = frozenset(word.partition(b" ")[0] for word in found.wanted)
    n_rows, last = 0, first - 1
    for number, line in enumerate(lines, start=first):
        row = line.rstrip(b" \r")
        if not row:
            check_gap(found.path, last, number)
            continue
        last = number
        n_rows += 1
        n_numbers = row.count(b" ")
        if n_numbers < n_dimensions:
            raise _wrong_count(found.path, number, n_numbers, n_dimensions)
        head = row[: row.find(b" ")]
        found.pass_by(head if n_numbers == n_dimensions else row.rsplit(b" ", n_dimensions)[0])
        if n_rows == 1 or head in heads:
            fields = row.split(b" ")
            if n_numbers > n_dimensions and all(map(_is_number, fields[1:-n_dimensions])):
                raise _wrong_count(found.path, number, n_numbers, n_dimensions)
            word = b" ".join(fields[:-n_dimensions]).strip(b" ")
            vector = _vector(found.path, number, fields[-n_dimensions:])
            if word in found.wanted:
                found.add(word, number, vector)
    return n_rows


def _vector(path: Path, number: int, fields: list[bytes]) -> bytes:
    """Return the numbers of a line as float32, low byte first."""
    try:
        numbers = [float(field) for field in fields]
    except ValueError as error:
        wrong = next(field for field in fields if not _is_number(field))
        raise InputError(f"{path}: line {number:,} has {wrong!r} where a number is due") from error
    with np.errstate(over="ignore"):  # what is too large is infinite, and refused as such
        return np.array(numbers).astype("<f4").tobytes()


def _wrong_count(path: Path, number: int, n_numbers: int, n_dimensions: int) -> InputError:
    return InputError(
        f"{path}: line {number:,} has {n_numbers:,} numbers where {n_dimensions:,} are due"
    )


def _lines(path: Path, stage: Stage) -> Iterator[bytes]:
    rest = b""
    is_first = True
    for block in blocks(path, stage):
        *whole, rest = (rest + block).split(b"\n")
        if is_first and whole:
            whole[0] = _without_mark(whole[0])
            is_first = False
        yield from whole
        if len(rest) > BLOCK:
            raise InputError(f"{path} has a line of more than {BLOCK:,} bytes")
    yield _without_mark(rest) if is_first else rest


def _without_mark(text: bytes) -> bytes:
    return text.removeprefix(_BYTE_ORDER_MARK)


def _fields(text: bytes) -> list[bytes]:
    return text.partition(b"\n")[0].rstrip(b" \r").split(b" ")


def _n_numbers(text: bytes) -> int:
    """Return how many numbers end the first line of a text, beside its first field."""
    return len(list(takewhile(_is_number, reversed(_fields(text)[1:]))))


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


for _name, _describes, _recognises, _load in (
    ("word2vec-text", _WITH_HEADER, _recognises_with_header, _load_with_header),
    ("glove", _WITHOUT_HEADER, _recognises_without_header, _load_without_header),
):
    FORMATS.register(
        _name,
        Format(describes=_describes, recognises=_recognises, files=itself, gives=WORDS, load=_load),
    )
