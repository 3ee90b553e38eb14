"""Invented files of word vectors, and other readers of such files."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import IO

    from numpy.typing import NDArray

    from medsim.kernels.types import Vectors

    Vector: TypeAlias = NDArray[np.float32]

N_DIMENSIONS = 200
_ROWS_AT_ONCE = 20_000
_STEPS = 64  # numbers are multiples of 1 / 64, which six decimals write exactly: -1 to 1
_DECIMALS = 6


def word_of(row: int) -> str:
    """Return the word of a row."""
    return f"word{row}"


def write_words(path: Path, n_words: int, *, binary: bool, seed: int = 0) -> None:
    """Write words and numbers as word2vec does, the same in either format."""
    write_rows = _write_binary if binary else _write_text
    rng = np.random.default_rng(seed)
    with path.open("wb") as file:
        file.write(f"{n_words} {N_DIMENSIONS}\n".encode())
        for first in range(0, n_words, _ROWS_AT_ONCE):
            rows = range(first, min(first + _ROWS_AT_ONCE, n_words))
            steps = rng.integers(-_STEPS, _STEPS, (len(rows), N_DIMENSIONS), np.int16)
            vectors = np.divide(steps, _STEPS, dtype=np.float32)
            write_rows(file, [word_of(row) for row in rows], vectors)


def read_plainly(path: Path, *, binary: bool) -> dict[str, Vector]:
    """Return the vectors of a file, read with a plain loop over its rows."""
    return _read_binary(path) if binary else _read_text(path)


def has_gensim() -> bool:
    """Return whether gensim, which is optional, is installed."""
    return importlib.util.find_spec("gensim") is not None


def read_by_gensim(path: Path, *, binary: bool) -> Mapping[str, Vector]:
    """Return the vectors of a file, read with gensim."""
    keyed = importlib.import_module("gensim.models").KeyedVectors
    vectors: Mapping[str, Vector] = keyed.load_word2vec_format(path, binary=binary)
    return vectors


def _write_binary(file: IO[bytes], words: Sequence[str], vectors: Vectors) -> None:
    for word, vector in zip(words, vectors, strict=True):
        file.write(b"%s %s\n" % (word.encode(), vector.tobytes()))


def _write_text(file: IO[bytes], words: Sequence[str], vectors: Vectors) -> None:
    table = pl.DataFrame(vectors).insert_column(0, pl.Series("word", words))
    table.write_csv(file, include_header=False, separator=" ", float_precision=_DECIMALS)


def _read_binary(path: Path) -> dict[str, Vector]:
    vectors = {}
    with path.open("rb") as file:
        n_words, n_dimensions = map(int, file.readline().split())
        for _ in range(n_words):
            word = b""
            while (character := file.read(1)) != b" ":
                if character != b"\n":
                    word += character
            vectors[word.decode()] = np.frombuffer(file.read(4 * n_dimensions), np.float32)
    return vectors


def _read_text(path: Path) -> dict[str, Vector]:
    vectors = {}
    with path.open(encoding="utf-8") as file:
        next(file)
        for line in file:
            word, *numbers = line.split()
            vectors[word] = np.array(numbers, np.float32)
    return vectors
