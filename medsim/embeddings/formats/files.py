"""Opens files of word vectors, plain or gzip, and bounds what their headers claim."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.core.reading import GZIP, kind_of, open_file, reading, unpacked, what_it_is

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from medsim.core.progress import Stage
    from medsim.embeddings.options import EmbeddingOptions

BLOCK = 1 << 23
"""Bytes read at a time; no row is longer."""

MAX_DIMENSIONS = 65_536
"""More than any embedding has."""

DEFLATE_RATIO = 1032
"""The most bytes that one of gzip or zip can unpack to."""

_SIGNATURE_SIZE = 9
_PEEK = 1 << 21  # a header and a row of 65,536 numbers as they are written in practice
_HEADER = re.compile(rb"([0-9]{1,18}) ([0-9]{1,18})[ \r]*(\n|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first line of a word2vec file, whose ``size`` is in bytes, its end included."""

    n_words: int
    n_dimensions: int
    size: int


def itself(path: Path, _options: EmbeddingOptions) -> list[Path]:
    """Return the files of an embedding that is one file."""
    return [path]


def blocks(path: Path, stage: Stage) -> Iterator[bytes]:
    """Yield a file's content in blocks, and tell how many bytes of the file have been read."""
    with reading(path):
        stage.total(path.stat().st_size)
        with open_file(path) as raw:
            stream = unpacked(raw, path, path.stat().st_size)
            n_read = 0
            while block := stream.read(BLOCK):
                stage.advance(raw.tell() - n_read)
                n_read = raw.tell()
                yield block


def content_of(path: Path) -> bytes:
    """Return the first 2 MiB of a file's content."""
    with reading(path), open_file(path) as raw:
        return unpacked(raw, path, path.stat().st_size).read(_PEEK)


def peek(path: Path) -> bytes:
    """Return the first 2 MiB of a file's content; nothing where it cannot be read."""
    try:
        return content_of(path)
    except InputError:
        return b""


def signature(path: Path) -> bytes:
    """Return the first 9 bytes of a file, packed or not; nothing where it cannot be read."""
    try:
        with open_file(path) as raw:
            return raw.read(_SIGNATURE_SIZE)
    except (OSError, InputError):
        return b""


def header_of(beginning: bytes) -> Header | None:
    """Return the header that a file begins with, such as "400000 300", if it has one."""
    found = _HEADER.match(beginning)
    if not found:
        return None
    return Header(n_words=int(found[1]), n_dimensions=int(found[2]), size=found.end())


def checked_header(path: Path, beginning: bytes, number_size: int) -> Header:
    """Return the header of a file after comparing it with the file's size.

    Every row has a word and, of ``number_size`` bytes each at least, its numbers.
    """
    header = header_of(beginning)
    if header is None:
        raise InputError(f'{path} has no header such as "400000 300": it {what_it_is(beginning)}')
    check_dimensions(path, header.n_dimensions)
    least = header.n_words * (1 + number_size * header.n_dimensions)
    size = path.stat().st_size
    is_packed = kind_of(signature(path)) is GZIP
    if header.n_words == 0 or header.size + least > size * (DEFLATE_RATIO if is_packed else 1):
        raise InputError(
            f"{path}: its header claims {header.n_words:,} words of {header.n_dimensions:,} "
            f"numbers, which a file of {size:,} bytes does not hold"
        )
    return header


def check_dimensions(path: Path | str, n_dimensions: int) -> None:
    """Raise InputError for vectors without numbers or with absurdly many."""
    if not 0 < n_dimensions <= MAX_DIMENSIONS:
        raise InputError(
            f"{path} claims vectors of {n_dimensions:,} numbers; 1 to {MAX_DIMENSIONS:,} are "
            "accepted"
        )
