"""Reads vectors of some words from a large file, compared with readers that read all words."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import BENCHMARKS, Measured, MismatchError, Settings
from benchmarks.harness.apart import apart
from benchmarks.harness.word_files import (
    N_DIMENSIONS,
    has_gensim,
    read_by_gensim,
    read_plainly,
    word_of,
    write_words,
)
from medsim.core.progress import Progress
from medsim.embeddings.formats import Request, WordVectors, find_format
from medsim.embeddings.options import EmbeddingOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.harness.word_files import Vector
    from medsim.core.progress import Stage
    from medsim.kernels.types import Vectors

_MEBIBYTE = 1 << 20
_UNKNOWN = 10  # one in this many requested words is not in the file
_WARM_UP = 100  # words


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """The file to read.

    Attributes:
        path: path of the file.
        binary: whether it is binary or text.
        n_words: words in the file.
        n_wanted: words whose vectors are requested.
    """

    path: Path
    binary: bool
    n_words: int
    n_wanted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The time, memory and result of a reader.

    Attributes:
        seconds: time until the vectors of the requested words are one array.
        peak_mib: peak memory.
        fingerprint: hash of the words and their vectors.
    """

    seconds: float
    peak_mib: int
    fingerprint: str


def measure(settings: Settings) -> Measured:
    """Return the time of reading a binary file and a text file; see ``Measure``.

    The other readers, a plain loop and gensim if installed, read a whole file before words can be
    selected. Files are in the system's cache, since each has just been written.
    """
    n_words = {"binary": settings.size(2_600_000, 62_500), "text": settings.size(200_000, 25_000)}
    n_wanted = settings.size(50_000, 2_000)
    readers = ["medsim", "plain loop", *(["gensim"] if has_gensim() else [])]
    times, peaks, prints = [], [], ""
    ratios: dict[str, float] = {}
    for kind, n_rows in n_words.items():
        loads, mebibytes = _loaded(readers, kind, n_rows, n_wanted, settings.cache)
        ours = loads["medsim"]
        each = ", ".join(f"{name} {load.seconds:.2f} s" for name, load in loads.items())
        times.append(f"{kind}, {mebibytes:,.0f} MiB: {mebibytes / ours.seconds:,.0f} MiB/s, {each}")
        peaks += [f"{kind} by {name} {load.peak_mib:,} MiB" for name, load in loads.items()]
        ratios |= {f"{name}, {kind}": loads[name].seconds / ours.seconds for name in readers[1:]}
        prints += ours.fingerprint
    return Measured(
        about=f"{n_wanted:,} of {n_words['binary']:,} words (binary) and of "
        f"{n_words['text']:,} (text), {N_DIMENSIONS} dimensions",
        times="; ".join(times),
        ratios=ratios,
        peak=", ".join(peaks),
        fingerprint=hashlib.sha256(prints.encode()).hexdigest()[:16],
    )


def _loaded(
    readers: Sequence[str], kind: str, n_words: int, n_wanted: int, cache: Path
) -> tuple[dict[str, Load], float]:
    """Return the load of each reader, and the MiB of the temporary file."""
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        path = Path(folder) / "words"
        file = File(path=path, binary=kind == "binary", n_words=n_words, n_wanted=n_wanted)
        apart(write_words, path, n_words, binary=file.binary)
        loads = {name: apart(load, file, name) for name in readers}
        mebibytes = path.stat().st_size / _MEBIBYTE
    check(loads)
    return loads, mebibytes


def check(loads: Mapping[str, Load]) -> None:
    """Raise MismatchError if a reader's vectors differ from medsim's."""
    for name, load in loads.items():
        if load.fingerprint != loads["medsim"].fingerprint:
            raise MismatchError(f"the vectors of {name} differ from medsim's")


def load(file: File, reader: str) -> Load:
    """Return the load of a reader for the requested words, after reading a small file."""
    with tempfile.TemporaryDirectory() as folder:
        small = replace(file, path=Path(folder) / "words", n_words=_WARM_UP, n_wanted=_WARM_UP)
        write_words(small.path, small.n_words, binary=small.binary)
        _timed(small, reader)
    return _timed(file, reader)


def _timed(file: File, reader: str) -> Load:
    rng = np.random.default_rng(0)
    rows = rng.choice(file.n_words, file.n_wanted, replace=False)
    rows[::_UNKNOWN] += file.n_words
    wanted = [word_of(row) for row in rows.tolist()]
    progress = Progress()
    with progress.stage(reader) as stage:
        if reader == "medsim":
            words, vectors = _read(file.path, wanted, stage)
        else:
            read = read_by_gensim if reader == "gensim" else read_plainly
            words, vectors = _picked(read(file.path, binary=file.binary), wanted)
    order = np.argsort(words)
    digest = hashlib.sha256("\n".join(sorted(words)).encode())
    digest.update(vectors[order].tobytes())
    (record,) = progress.records
    return Load(seconds=record.seconds, peak_mib=record.peak_mib, fingerprint=digest.hexdigest())


def _read(path: Path, wanted: Sequence[str], stage: Stage) -> tuple[Sequence[str], Vectors]:
    """Return the requested words that medsim finds in a file, and their vectors."""
    request = Request(
        terms=(),
        words=frozenset(wanted),
        options=EmbeddingOptions(),
        threads=1,
        cache=None,
        stage=stage,
    )
    _, found_format = find_format(path, request.options)
    vectors = found_format.load(path, request)
    if not isinstance(vectors, WordVectors):
        raise MismatchError(f"{path} has vectors of words, but was read as vectors of terms")
    return vectors.words, vectors.vectors


def _picked(read: Mapping[str, Vector], wanted: Sequence[str]) -> tuple[Sequence[str], Vectors]:
    """Return the requested words that were read, and their vectors."""
    words = [word for word in wanted if word in read]
    return words, np.stack([read[word] for word in words])


BENCHMARKS.register("load_words", measure)
