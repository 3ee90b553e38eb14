"""Opens files of corpora, which may be compressed by gzip, and reads their lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.core.files import open_hashed
from medsim.core.reading import (
    BEGINNING,
    GZIP,
    decoded,
    other_kind,
    reading,
    unpacked,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from medsim.core.files import HashedReader

LONGEST_LINE = 1 << 24
"""The most bytes that a line may have."""


def open_corpus(path: Path) -> HashedReader:
    """Return a reader of the bytes of a file, as they are on disk.

    A file of another kind than text, packed by gzip or not, is refused.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder; name the corpora in it")
    with reading(path):
        file = open_hashed(path)
        error = other_kind(path, file.peek(BEGINNING), "lines of text", reads={GZIP})
    if error is not None:
        file.close()
        raise error
    return file


def digest_of(file: HashedReader, path: Path) -> str:
    """Return the SHA-256 of a file whose documents were read, in hex."""
    with reading(path):
        return file.finish()


def lines_of(file: HashedReader, path: Path, *, blank: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the lines of an open file, plain or compressed by gzip, and their numbers from 1.

    They come without their ends, and without lines that are ``blank`` unless these are asked for.
    """
    number = 0
    with reading(path, "a corpus"):
        stream = unpacked(file, path, path.stat().st_size)
        while data := stream.readline(LONGEST_LINE + 1):
            number += 1
            if len(data) > LONGEST_LINE:
                raise InputError(
                    f"{path}: line {number} is longer than {LONGEST_LINE >> 20} MiB, more than "
                    "a title or an abstract has"
                )
            line = decoded(data, path, number).removesuffix("\n").removesuffix("\r")
            if blank or line.strip():
                yield number, line
