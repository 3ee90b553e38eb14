"""Reads word vectors of word2vec, fastText and GloVe: as text, or in word2vec's binary format."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from medsim.core.errors import InputError
from medsim.core.progress import Stage
from medsim.core.reading import open_file, unpacked, what_it_is
from medsim.embeddings import formats
from medsim.embeddings.options import TOKEN_OPTIONS

_READ_BYTES = 1 << 23  # at a time
_BINARY = "word2vec, binary (.bin, .bin.gz)"
_WITH_HEADER = "word2vec or fastText, text with a header (.vec, .txt, .gz)"
_WITHOUT_HEADER = "GloVe, text without a header (.txt, .gz)"

_PEEK = 1 << 21  # a header and a row of 65,536 numbers of usual length
_HEADER = re.compile(rb"([0-9]{1,18})[ \t]+([0-9]{1,18})[ \t\r]*(\n|$)")
_GAP = re.compile(rb"[ \t]+")
_NUMBER_SIZE = 4
_LONGEST_LINE = _READ_BYTES
_MAX_WORD = 65_536
_TEXT_BYTES = 1 << 16  # to decide whether rows are text
_LONGEST_CHARACTER = 4  # in UTF-8
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
_LINE_FEED = ord("\n")


class _Header(NamedTuple):
    """The first line of a file; ``size`` is its length in bytes, with the line end."""

    n_words: int
    n_dimensions: int
    size: int


class _WantedWords:
    """Vectors of the wanted words in a file, in the order of the file.

    Words are compared as UTF-8, so words that are not valid UTF-8 are skipped.
    """

    def __init__(self, path: Path, request: formats.Request, unit: str) -> None:
        self.path = path
        self.wanted = formats.Wanted(request)
        self.prefix = f"/c/{request.options.language}/".encode()
        self.vocabulary = bytearray()  # every word of the file, one per line
        self._unit = unit
        self._rows: dict[bytes, int] = {}
        self._vectors: dict[bytes, bytes] = {}

    def add(self, word: bytes, row: int, vector: bytes) -> None:
        """Keep the vector of a wanted word: its numbers as float32, low byte first."""
        if self._vectors.setdefault(word, vector) != vector:
            text = word.decode("utf-8", "surrogatepass")
            places = f"{self._unit} {self._rows[word]:,} and again in {self._unit} {row:,}"
            raise InputError(f"{self.path}: {text!r} is in {places}")
        self._rows.setdefault(word, row)

    def result(self, n_dimensions: int, n_vocabulary: int) -> formats.WordVectors:
        """Return the vectors of all added words."""
        vectors = np.frombuffer(b"".join(self._vectors.values()), "<f4").reshape(-1, n_dimensions)
        words = [word.decode("utf-8", "surrogatepass") for word in self._rows]
        if (at := formats.first_not_finite(vectors)) is not None:
            place = f"{self._unit} {list(self._rows.values())[at]:,}"
            raise InputError(f"{self.path}: {place}: the vector of {words[at]!r} is not finite")
        return formats.WordVectors(
            words=words,
            vectors=vectors.astype(np.float32, copy=False),
            in_vocabulary=np.ones(len(words), np.bool_),
            n_vocabulary=n_vocabulary,
            vocabulary=self.vocabulary,
        )


def _format_of(path: Path) -> str | None:
    """Return the format of a file, one of three, by its header and its first row."""
    beginning = unpacked_start(path)
    text = beginning.removeprefix(BOM_UTF8)
    header = _header_of(text)
    if header is None:
        return _WITHOUT_HEADER if _n_numbers(text) > 1 else None
    if _has_row(text[header.size :], header.n_dimensions):
        return _WITH_HEADER
    is_text = _is_text(text[header.size :], header.n_dimensions)
    return None if is_text or beginning != text else _BINARY


def _load_binary(path: Path, request: formats.Request) -> formats.WordVectors:
    """Return the vectors of the wanted words; see ``formats.LoadVectors``.

    A word ends at the first space. The file is read in blocks, and only wanted vectors are kept.
    """
    request.options.check_fit(_BINARY, *TOKEN_OPTIONS)
    beginning = unpacked_start(path)
    header = _checked_header(path, beginning)
    if _is_text(beginning[header.size :], header.n_dimensions):
        raise InputError(f"{path} is text; expected word2vec's binary format")
    words = _WantedWords(path, request, "row")
    stream = _blocks(path, request.stage)
    rest, n_rows = next(stream)[header.size :], 0
    for block in chain([b""], stream):
        rest, n_rows = _scan(rest + block, n_rows, header, words)
        if n_rows == header.n_words and rest.strip(b"\n"):
            raise InputError(f"{path} has more than the {n_rows:,} rows that its header claims")
    if n_rows < header.n_words:
        raise InputError(
            f"{path} ends in row {n_rows + 1:,}; its header claims {header.n_words:,} rows"
        )
    return words.result(header.n_dimensions, header.n_words)


def _scan(block: bytes, n_rows: int, header: _Header, words: _WantedWords) -> tuple[bytes, int]:
    """Keep the wanted words of a block, which begins with a row.

    Returns the rest of the block, and the number of complete rows before it.
    """
    width = _NUMBER_SIZE * header.n_dimensions
    wanted, prefix = words.wanted, words.prefix
    at = 0
    while n_rows < header.n_words and at < len(block):
        begin = at + (block[at] == _LINE_FEED)
        end = block.find(b" ", begin, begin + _MAX_WORD)
        if end < 0 and len(block) >= begin + _MAX_WORD:
            raise InputError(f"{words.path}: row {n_rows + 1:,} has no space after a word")
        if end < 0 or end + 1 + width > len(block):
            break
        at = end + 1 + width
        n_rows += 1
        word = block[begin:end].removeprefix(prefix)
        words.vocabulary += word + b"\n"
        if word in wanted:
            words.add(word, n_rows, block[end + 1 : at])
    return block[at:], n_rows


def _load_with_header(path: Path, request: formats.Request) -> formats.WordVectors:
    request.options.check_fit(_WITH_HEADER, *TOKEN_OPTIONS)
    header = _checked_header(path, unpacked_start(path).removeprefix(BOM_UTF8))
    vectors = _read_lines(path, request, header.n_dimensions, n_header=1)
    if vectors.n_vocabulary != header.n_words:
        claim = f"its header claims {header.n_words:,} rows"
        raise InputError(f"{path} has {vectors.n_vocabulary:,} rows; {claim}")
    return vectors


def _load_without_header(path: Path, request: formats.Request) -> formats.WordVectors:
    """Return the vectors of the wanted words; see ``formats.LoadVectors``.

    The first line decides the number of dimensions.
    """
    request.options.check_fit(_WITHOUT_HEADER, *TOKEN_OPTIONS)
    beginning = unpacked_start(path).removeprefix(BOM_UTF8)
    n_dimensions = _n_numbers(beginning)
    if n_dimensions == 0:
        raise InputError(f"{path} has no word with numbers: it {what_it_is(beginning)}")
    formats.check_dimensions(path, n_dimensions)
    return _read_lines(path, request, n_dimensions, n_header=0)


def _read_lines(
    path: Path, request: formats.Request, n_dimensions: int, n_header: int
) -> formats.WordVectors:
    """Return the vectors of the wanted words of a text.

    Fields are separated by spaces or tabs, one or several. A word may contain spaces, as in GloVe:
    the last fields of a line are its numbers. The numbers of other words are counted but not
    parsed, and blank lines are skipped.
    """
    words = _WantedWords(path, request, "line")
    wanted, prefix = words.wanted, words.prefix
    n_rows = 0
    lines = islice(text_lines(path, request.stage), n_header, None)
    for number, line in enumerate(lines, start=n_header + 1):
        row = line.rstrip(b" \t\r")
        if not row:
            continue
        n_rows += 1
        word = row[: row.find(b" ")].removeprefix(prefix)
        is_plain = row.count(b" ") == n_dimensions and b"\t" not in row
        if n_rows == 1 or not is_plain or word in wanted:
            fields = _GAP.split(row)
            head, others, numbers = fields[0], fields[1:-n_dimensions], fields[-n_dimensions:]
            is_read = n_rows == 1 or head in wanted
            is_longer = others and is_read and all(map(_is_number, others))
            if is_longer or len(fields) <= n_dimensions:
                raise wrong_count(path, number, len(fields) - 1, n_dimensions)
            word = b" ".join([head, *others]).strip(b" ").removeprefix(prefix)
            if n_rows == 1 or word in wanted:
                vector = parsed_numbers(path, number, numbers)
            if word in wanted:
                words.add(word, number, vector)
        words.vocabulary += word + b"\n"
    return words.result(n_dimensions, n_rows)


def parsed_numbers(path: Path, number: int, fields: list[bytes]) -> bytes:
    """Return the numbers of a line as float32, low byte first."""
    try:
        numbers = [float(field) for field in fields]
    except ValueError as error:
        wrong = next(field for field in fields if not _is_number(field))
        raise InputError(f"{path}: line {number:,} has {wrong!r} instead of a number") from error
    with np.errstate(over="ignore"):  # too large values become infinite, which is an error
        return np.array(numbers).astype("<f4").tobytes()


def wrong_count(path: Path, number: int, n_numbers: int, n_dimensions: int) -> InputError:
    """Return the error for a line with another number of numbers than the first."""
    return InputError(f"{path}: line {number:,} has {n_numbers:,} numbers, not {n_dimensions:,}")


def text_lines(path: Path, stage: Stage) -> Iterator[bytes]:
    """Yield the lines of a text, packed by gzip or not; the last one may be empty."""
    rest = b""
    is_first = True
    for block in _blocks(path, stage):
        *whole, rest = (rest + block).split(b"\n")
        if is_first and whole:
            whole[0] = whole[0].removeprefix(BOM_UTF8)
            is_first = False
        yield from whole
        if len(rest) > _LONGEST_LINE:
            raise InputError(f"{path} has a line of more than {_LONGEST_LINE:,} bytes")
    yield rest.removeprefix(BOM_UTF8) if is_first else rest


def _blocks(path: Path, stage: Stage) -> Iterator[bytes]:
    """Yield a file's content in blocks, and report the number of bytes read."""
    size = path.stat().st_size
    stage.total(size)
    with open_file(path) as raw:
        stream = unpacked(raw, path, size)
        n_read = 0
        while block := stream.read(_READ_BYTES):
            stage.advance(raw.tell() - n_read)
            n_read = raw.tell()
            yield block


def unpacked_start(path: Path, n_bytes: int = _PEEK) -> bytes:
    """Return the first bytes of a file's content, by default 2 MiB; with -1 all."""
    with open_file(path) as raw:
        return unpacked(raw, path, path.stat().st_size).read(n_bytes)


def _header_of(beginning: bytes) -> _Header | None:
    """Return the header of a file, such as "400000 300", if it has one."""
    match = _HEADER.match(beginning)
    return _Header(int(match[1]), int(match[2]), match.end()) if match else None


def _checked_header(path: Path, beginning: bytes) -> _Header:
    header = _header_of(beginning)
    if header is None:
        raise InputError(f'{path} has no header such as "400000 300": it {what_it_is(beginning)}')
    formats.check_dimensions(path, header.n_dimensions)
    return header


def _is_text(rows: bytes, n_dimensions: int) -> bool:
    """Return whether rows are lines of text."""
    text = rows[:_TEXT_BYTES].decode("utf-8", "ignore")
    is_whole = len(text.encode()) > min(len(rows), _TEXT_BYTES) - _LONGEST_CHARACTER
    return _has_row(rows, n_dimensions) or (is_whole and not _CONTROL.search(text))


def _has_row(text: bytes, n_dimensions: int) -> bool:
    """Return whether a text begins with a word and numbers, up to the end of the line."""
    fields = _fields(text)[1:]
    return bool(fields) and all(map(_is_number, fields[-min(n_dimensions, 2) :]))


def _n_numbers(text: bytes) -> int:
    """Count the numbers at the end of a text's first line, without its first field."""
    return len(list(takewhile(_is_number, reversed(_fields(text)[1:]))))


def _fields(text: bytes) -> list[bytes]:
    return _GAP.split(text.partition(b"\n")[0].rstrip(b" \t\r"))


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _register(name: str, describes: str, load: formats.LoadVectors) -> None:
    formats.EmbeddingFormat(
        describes=describes,
        recognises=lambda path: _format_of(path) == describes,
        gives=formats.WORDS,
        load=load,
    ).register(name)


_register("word2vec", _BINARY, _load_binary)
_register("word2vec-text", _WITH_HEADER, _load_with_header)
_register("glove", _WITHOUT_HEADER, _load_without_header)
