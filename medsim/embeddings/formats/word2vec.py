"""Reads word2vec's binary files (Mikolov et al. 2013): a header, then words and their numbers."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.embeddings import FORMATS, WORDS, Format
from medsim.embeddings.formats.files import (
    blocks,
    checked_header,
    content_of,
    header_of,
    itself,
    peek,
)
from medsim.embeddings.formats.rows import WantedWords
from medsim.embeddings.formats.text import has_row
from medsim.embeddings.options import TOKEN_OPTIONS

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.embeddings import Request, WordVectors
    from medsim.embeddings.formats.files import Header

_DESCRIBES = "word2vec, binary (.bin, .bin.gz)"
_NUMBER_SIZE = 4
_MAX_WORD = 65_536
_TEXT_BYTES = 1 << 16  # that tell whether rows are text
_LONGEST_CHARACTER = 4  # in UTF-8
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
_LINE_FEED = ord("\n")


def _recognises(path: Path) -> bool:
    """Return whether a file begins with a header, and then not with text."""
    beginning = peek(path)
    header = header_of(beginning)
    return header is not None and not _is_text(beginning[header.size :], header.n_dimensions)


def _is_text(rows: bytes, n_dimensions: int) -> bool:
    """Return whether rows are lines of numbers, or of anything else that is text."""
    text = rows[:_TEXT_BYTES].decode("utf-8", "ignore")
    is_whole = len(text.encode()) > min(len(rows), _TEXT_BYTES) - _LONGEST_CHARACTER
    return has_row(rows, n_dimensions) or (is_whole and not _CONTROL.search(text))


def _load(path: Path, request: Request) -> WordVectors:
    """Return the vectors of the wanted words; see ``medsim.embeddings.Load``.

    A word ends at the first space. The file is read in blocks, and only what is wanted is kept.
    """
    request.options.check_fit(_DESCRIBES, *TOKEN_OPTIONS)
    beginning = content_of(path)
    header = checked_header(path, beginning, number_size=_NUMBER_SIZE)
    if _is_text(beginning[header.size :], header.n_dimensions):
        raise InputError(f"{path} is text; expected word2vec's binary format")
    found = WantedWords(path, request.words, "row")
    stream = blocks(path, request.stage)
    rest, n_rows = next(stream)[header.size :], 0
    for block in chain([b""], stream):
        rest, n_rows = _scanned(rest + block, n_rows, header, found)
        if n_rows == header.n_words and rest.strip(b"\n"):
            raise InputError(f"{path} goes on after the {n_rows:,} rows that its header claims")
    if n_rows < header.n_words:
        raise InputError(
            f"{path} ends in row {n_rows + 1:,}; its header claims {header.n_words:,} rows of "
            f"{header.n_dimensions:,} numbers"
        )
    return found.result(header.n_dimensions, header.n_words)


def _scanned(block: bytes, n_rows: int, header: Header, found: WantedWords) -> tuple[bytes, int]:
    """Keep the wanted words of a block, which begins with a row.

    What is left of the block comes back, and how many rows are before that.
    """
    width = _NUMBER_SIZE * header.n_dimensions
    wanted = found.wanted
    at = 0
    while n_rows < header.n_words and at < len(block):
        begin = at + (block[at] == _LINE_FEED)
        end = block.find(b" ", begin, begin + _MAX_WORD)
        if end < 0 and len(block) >= begin + _MAX_WORD:
            raise InputError(f"{found.path}: row {n_rows + 1:,} has no word: no space ends it")
        if end < 0 or end + 1 + width > len(block):
            break
        at = end + 1 + width
        n_rows += 1
        word = block[begin:end]
        found.pass_by(word)
        if word in wanted:
            found.add(word, n_rows, block[end + 1 : at])
    return block[at:], n_rows


FORMATS.register(
    "word2vec",
    Format(describes=_DESCRIBES, recognises=_recognises, files=itself, gives=WORDS, load=_load),
)
