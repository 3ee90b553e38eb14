"""Embedding formats, one module each: requests, results, and the checks that readers share."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from medsim.core.errors import InputError
from medsim.core.progress import Stage
from medsim.core.reading import (
    LFS_POINTER,
    beginning_of,
    check_file,
    file_kind,
    open_file,
    reading,
    what_it_is,
)
from medsim.core.registry import Registry
from medsim.core.terms import spaced
from medsim.embeddings.formats.model_folder import missing_part
from medsim.embeddings.options import HUB, EmbeddingOptions
from medsim.kernels.types import Flags, Vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The terms and words whose vectors are requested.

    Attributes:
        terms: distinct terms, as in the inputs, in order of code points.
        words: every form under which a word of a term may be looked up, see ``tokens.forms``.
        phrases: every term of several words, see ``tokens.phrases_of``.
        threads: number of threads; it never changes the result.
        cache: the folder of an encoder's cached term vectors; None for no cache.
    """

    terms: Sequence[str]
    words: Collection[str]
    options: EmbeddingOptions
    threads: int
    cache: Path | None
    stage: Stage
    phrases: Collection[str] = ()


class Wanted:
    """The words of an embedding that a request needs, in UTF-8."""

    def __init__(self, request: Request) -> None:
        self._words = frozenset(word.encode("utf-8", "surrogatepass") for word in request.words)
        self._phrases = request.phrases

    def __contains__(self, word: bytes) -> bool:
        if word in self._words:
            return True
        if not self._phrases or (b"_" not in word and b" " not in word):
            return False
        return spaced(word.decode("utf-8", "replace")) in self._phrases


@dataclass(frozen=True, slots=True, kw_only=True)
class WordVectors:
    """Vectors of the requested words that an embedding has.

    Attributes:
        words: distinct words, in any order.
        vectors: float32[n_words, n_dimensions], finite.
        in_vocabulary: bool[n_words]; False if the vector was made from parts of the word.
        n_vocabulary: the number of all words of the embedding.
        vocabulary: all of them in UTF-8, one per line.
    """

    words: Sequence[str]
    vectors: Vectors
    in_vocabulary: Flags
    n_vocabulary: int
    vocabulary: bytes | bytearray = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class TermVectors:
    """Vectors of the requested terms.

    Attributes:
        vectors: float32[n_terms, n_dimensions], finite, a row for every term of the request in its
            order; zeros for a term without a vector. May be mapped from a file.
        covered: bool[n_terms], whether a term has a vector.
        n_vocabulary: the number of all terms of the embedding; None if it can embed any text.
    """

    vectors: Vectors
    covered: Flags
    n_vocabulary: int | None


LoadVectors: TypeAlias = Callable[[Path, Request], WordVectors | TermVectors]
"""Returns the vectors that an embedding has for a request.

The function gets the path and the request, and returns ``WordVectors`` if rows are words and
``TermVectors`` if they are terms or texts that a model encodes. It refuses options that do not fit,
with ``EmbeddingOptions.check_fit``.

Raises:
    InputError: a file is missing, damaged, or not of its format; the message names the file, the
        line or row if there is one, and the value.
    OptionError: an option does not fit the format.
"""


_MODEL_NAME = re.compile(r"\w[\w-]*/(?!.*\.[a-z]{2,8}$)\w[\w.-]*(@[\w.-]+)?", re.ASCII)

WORDS, TERMS = "words", "terms"
"""The kinds of keys that rows of vectors can have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingFormat:
    """A format of embeddings.

    Packages add formats by entry points in the group ``medsim.embedding_formats``.

    Attributes:
        describes: what it is, for the help and for messages, such as "word2vec, binary".
        recognises: whether a file or folder is of this format, by its content if that is
            distinctive, else by its suffix; cheap. An error counts as no.
        load: see ``LoadVectors``.
        files: returns the files whose content decides the vectors, given the path and the options;
            by default the file at the path.
        gives: ``WORDS`` or ``TERMS``, the keys of its vectors; None if the file or options decide.
    """

    describes: str
    recognises: Callable[[Path], bool]
    load: LoadVectors
    files: Callable[[Path, EmbeddingOptions], list[Path]] = lambda path, _options: [path]
    gives: str | None = None

    def read(self, path: Path, request: Request) -> WordVectors | TermVectors:
        """Return the vectors that an embedding has for a request; see ``LoadVectors``."""
        self.checked_files(path, request.options)
        with reading(path, self.describes):
            return self.load(path, request)

    def register(self, name: str) -> EmbeddingFormat:
        """Add the format to those that medsim reads, and return it."""
        return FORMATS.register(name, self)

    def checked_files(self, path: Path, options: EmbeddingOptions) -> list[Path]:
        """Return the files whose content decides the vectors, after checking that they exist."""
        with reading(path, self.describes):
            files = self.files(path, options)
        for file in files:
            with reading(file):
                if file_kind(beginning_of(file)) is LFS_POINTER:
                    raise InputError(f"{file} {LFS_POINTER}")
        return files


@dataclass(frozen=True, kw_only=True)
class VectorSource:
    """The source of an embedding's vectors: a file, a service, or an object.

    Attributes:
        location: the path or address, for manifests and messages.
        format_name: the name of the format, such as "word2vec".
        describes: the format in words, for messages.
        gives: whether vectors are of ``WORDS`` or of ``TERMS``; None if unknown before reading.
        identity: the facts that identify an object, for manifests; None for other sources.
    """

    location: str
    format_name: str
    describes: str
    gives: str | None
    identity: str | None = None

    def fingerprint(self) -> str:
        """Return a SHA-256 of everything that decides the vectors, except the options of reading.

        It is empty if it needs vectors that do not exist yet; see ``with_fingerprint``.
        """
        raise NotImplementedError

    def sizes(self) -> dict[str, int]:
        """Return facts on the files for manifests; empty if it is not made of files."""
        return {}

    def read(self, request: Request) -> WordVectors | TermVectors:
        """Return the vectors for a request; see ``LoadVectors``."""
        raise NotImplementedError


FORMATS = Registry(
    "embedding format", __name__, group="medsim.embedding_formats", entry_type=EmbeddingFormat
)
"""Embedding formats by name."""


_HINTS = {".csv": "; in CSV a word or term is followed only by numbers such as 0.5"}


def find_format(path: Path, options: EmbeddingOptions) -> tuple[str, EmbeddingFormat]:
    """Return the format of an embedding: the one in the options, or the one that recognises it.

    Raises:
        InputError: the path does not exist, or no format recognises it, or several do.
        OptionError: the options name an unknown format.
    """
    if not path.exists():
        raise InputError(f"{path} does not exist{_hub_name(path)}")
    if not path.is_dir():
        check_file(path)
    if options.format is not None:
        return options.format, FORMATS.get(options.format)
    matches = {}
    for name, candidate in FORMATS.all().items():
        with suppress(InputError), reading(path):
            if candidate.recognises(path):
                matches[name] = candidate
    if len(matches) == 1:
        return next(iter(matches.items()))
    if matches:
        fault = "could be in several formats"
    elif path.is_dir():
        with reading(path):
            fault = f"is in no known format{missing_part(path)}"
    else:
        beginning = beginning_of(path)
        if (kind := file_kind(beginning)) and (kind.advice or not kind.is_read):
            raise InputError(f"{path} {kind}")
        hint = _HINTS.get(path.suffix.lower(), "")
        fault = f"is in no known format: it {what_it_is(beginning)}{hint}"
    names = ", ".join(matches or FORMATS.all())
    raise InputError(f"{path} {fault}; add ,format=NAME with one of: {names}")


def _hub_name(path: Path) -> str:
    """Return how to name the model on a hub that a missing path may mean; empty if it does not."""
    name = path.as_posix()
    if not _MODEL_NAME.fullmatch(name) or path.parent.exists():
        return ""
    return f"; if it is a model on a hub, name it as {HUB}{name}"


def files_fingerprint(path: Path, file_format: EmbeddingFormat, options: EmbeddingOptions) -> str:
    """Return a SHA-256 of the content of the files that decide an embedding's vectors."""
    digest = hashlib.sha256()
    for file in file_format.checked_files(path, options):
        with reading(file), open_file(file) as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


MAX_DIMENSIONS = 65_536
"""The maximum number of dimensions, more than any embedding has."""


def check_dimensions(path: Path | str, n_dimensions: int) -> None:
    """Raise InputError for vectors with no or too many dimensions."""
    if not 0 < n_dimensions <= MAX_DIMENSIONS:
        raise InputError(
            f"{path} has vectors of {n_dimensions:,} numbers; expected 1 to {MAX_DIMENSIONS:,}"
        )


def first_not_finite(vectors: Vectors) -> int | None:
    """Return the first row of float32[n, n_dimensions] with a value that is not finite, if any."""
    if not len(vectors):
        return None
    # The minimum and maximum of a row show non-finite values without a mask of all values.
    wrong = ~(np.isfinite(vectors.min(axis=1)) & np.isfinite(vectors.max(axis=1)))
    return int(wrong.argmax()) if wrong.any() else None
