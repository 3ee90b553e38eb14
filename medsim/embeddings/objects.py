"""Objects in memory as sources of vectors: tables of words or terms, functions and models."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from medsim.core.canonical import canonical_digest
from medsim.core.errors import InputError, counted
from medsim.core.reading import reason
from medsim.embeddings import TERMS, WORDS, TermVectors
from medsim.embeddings.encoders import encoded, kept_by, unit
from medsim.embeddings.formats.rows import FITTING, keyed
from medsim.embeddings.given import in_words
from medsim.embeddings.numbers import as_vectors
from medsim.embeddings.object_tables import gives_of, table_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.embeddings import Request, WordVectors
    from medsim.embeddings.formats.rows import Keys
    from medsim.embeddings.given import Embedding
    from medsim.embeddings.options import EmbeddingOptions, EmbeddingSpec
    from medsim.kernels.types import Vectors

OBJECT = "python"
"""The format of objects, as manifests name it."""

VECTORS_USED = "hash of the vectors used"
"""The identity of what has no version; no vectors of it are cached."""

_DESCRIBES = {
    "function": "function of texts",
    "encoder": "model with a method encode",
    "mapping": "mapping of words or terms to vectors",
    "keyed vectors": "word vectors as gensim has them",
    "frame": "frame of words or terms and their vectors",
    "array": "array of vectors",
}
_OF_MODELS = ("normalize", "prefix")
_HASHED_ROWS = 1 << 14
_SAME = 1e-2  # of a vector's length; rounding is less, even in half precision
_N_PROBED = 3


@dataclass(frozen=True, kw_only=True)
class ObjectSource:
    """An object that a caller gave; see ``VectorSource``.

    Attributes:
        name: of the embedding in results.
    """

    name: str
    given: Embedding
    options: EmbeddingOptions
    format_name: ClassVar[str] = OBJECT

    @property
    def location(self) -> str:
        """The object in a few words."""
        return in_words(self.given)

    @property
    def describes(self) -> str:
        """The kind of object, for messages."""
        return _DESCRIBES[self.given.form]

    @property
    def of(self) -> str:
        """The embedding, for messages about its vectors."""
        return f"embedding {self.name!r} ({self.location})"

    @property
    def identity(self) -> str:
        """The facts by which the embedding is known, for manifests."""
        if self.given.version is None:
            return VECTORS_USED
        return f"{self._own_name}, version {self.given.version}, as given"

    @property
    def _own_name(self) -> str:
        return self.given.name or self.name

    def _of_version(self) -> str:
        return canonical_digest([OBJECT, self._own_name, self.given.version])


class TableSource(ObjectSource):
    """Vectors of words or terms in memory."""

    @cached_property
    def gives(self) -> str:
        """Whether vectors are of ``WORDS`` or of ``TERMS``."""
        return self.options.keys or gives_of(self.given, self.of) or WORDS

    @cached_property
    def _table(self) -> tuple[Keys, Vectors]:
        self.options.check_fit(f"{self.describes}, {self.gives}", *FITTING[self.gives])
        return table_of(self.given, self.gives, self.of, chosen=self.options.keys is not None)

    def fingerprint(self) -> str:
        """Return the SHA-256 of all words or terms and vectors, or that of name and version."""
        keys, vectors = self._table
        if self.given.version is not None:
            return self._of_version()
        return _hash_of(keys.kind, keys.values, vectors)

    def read(self, request: Request) -> WordVectors | TermVectors:
        """Return the vectors for a request; see ``medsim.embeddings.Load``."""
        keys, vectors = self._table
        return keyed(keys, request, lambda rows: vectors[rows])


class ModelSource(ObjectSource):
    """A function or a model, which embeds any term."""

    gives: ClassVar[str] = TERMS

    def fingerprint(self) -> str:
        """Return the SHA-256 of name and version; nothing where only its vectors tell."""
        return "" if self.given.version is None else self._of_version()

    def read(self, request: Request) -> TermVectors:
        """Return the vectors for a request; see ``medsim.embeddings.Load``.

        Raises:
            InputError: the model fails, or gives what is no finite vector for each text; or it
                gives a text another vector when it is asked again, or than is kept of its version.
        """
        self.options.check_fit(self.describes, *_OF_MODELS)
        if not request.terms:
            none = np.zeros((0, 1), np.float32)
            return TermVectors(vectors=none, covered=np.zeros(0, np.bool_), n_vocabulary=None)
        encoder = _ObjectEncoder(self, request.terms)
        if self.given.version is None:
            return encoded(encoder, replace(request, cache=None), "")
        kept = kept_by(encoder, request, self.fingerprint())
        part = next(kept.parts(), None) if kept else None
        if part is not None:
            terms = part.terms[:_N_PROBED]
            if not _are_same(encoder.encode(terms), part.vectors[: len(terms)]):
                raise InputError(
                    f"{self.of} gives {terms[0]!r} and others another vector than is kept of "
                    f"{self._own_name}, version {self.given.version}; give a model that has "
                    "changed another version"
                )
        return encoded(encoder, request, self.fingerprint())


@dataclass(frozen=True)
class KnownVectors:
    """The vectors that a model without a version made of terms; see ``VectorSource``."""

    model: ModelSource
    terms: Sequence[str]
    made: TermVectors
    format_name: ClassVar[str] = OBJECT
    gives: ClassVar[str] = TERMS

    @property
    def location(self) -> str:
        """The model in a few words."""
        return self.model.location

    @property
    def describes(self) -> str:
        """The kind of object, for messages."""
        return self.model.describes

    @property
    def identity(self) -> str:
        """The facts by which the embedding is known, for manifests."""
        return self.model.identity

    def fingerprint(self) -> str:
        """Return the SHA-256 of all terms and vectors."""
        return _hash_of(TERMS, self.terms, self.made.vectors)

    def read(self, request: Request) -> TermVectors:
        """Return the vectors for a request, whose terms are among those known."""
        if list(request.terms) == list(self.terms):
            return self.made
        row_of = {term: row for row, term in enumerate(self.terms)}
        rows = np.array([row_of[term] for term in request.terms], np.int64)
        return TermVectors(
            vectors=self.made.vectors[rows], covered=self.made.covered[rows], n_vocabulary=None
        )


def object_source(spec: EmbeddingSpec) -> TableSource | ModelSource:
    """Return an object as a source; no vector is looked at."""
    is_model = spec.place.form in {"function", "encoder"}
    source = ModelSource if is_model else TableSource
    return source(name=spec.name, given=spec.place, options=spec.options)


def identity_of(source: object) -> str | None:
    """Return the facts by which an object is known, for manifests; None for other sources."""
    return source.identity if isinstance(source, (ObjectSource, KnownVectors)) else None


class _ObjectEncoder:
    """A function or a model as ``medsim.embeddings.encoders.Encoder`` has it.

    It is asked twice about the same few terms, in another order and company, before all else.
    """

    def __init__(self, source: ModelSource, terms: Sequence[str]) -> None:
        self._source = source
        self.n_dimensions = 0
        probed = list(dict.fromkeys([terms[0], terms[len(terms) // 2], terms[-1]]))
        first = self.encode(probed)
        self.n_dimensions = first.shape[1]
        again = self.encode([probed[-1], probed[0]])
        if not _are_same(again, first[[-1, 0]]):
            raise InputError(
                f"{source.of} gives {probed[0]!r} another vector when it is asked again, in other "
                "company; a vector must be of its term alone: is the model in training, or random?"
            )
        self.identity = {
            "normalize": str(source.options.normalize),
            "prefix": source.options.prefix,
            "n_dimensions": str(self.n_dimensions),
        }

    def encode(self, terms: Sequence[str]) -> Vectors:
        """Return the vectors of a batch; see ``medsim.embeddings.encoders.Encoder``."""
        source, of = self._source, self._source.of
        model = source.given.source
        ask = model.encode if source.given.form == "encoder" else model
        texts = [source.options.prefix + term for term in terms]
        try:
            answer = ask(texts)
        except Exception as error:  # a caller's own function raises what it likes
            raise InputError(
                f"{of} fails on {counted(len(texts), 'text')}, {texts[0]!r} the first: "
                f"{reason(error)}"
            ) from error
        vectors = as_vectors(answer, of, terms).copy()  # a model may write into one array each time
        if self.n_dimensions and vectors.shape[1] != self.n_dimensions:
            raise InputError(
                f"{of} gives {terms[0]!r} a vector of {vectors.shape[1]:,} numbers, and others one "
                f"of {self.n_dimensions:,}"
            )
        return unit(vectors) if source.options.scales(default=False) else vectors


def _are_same(vectors: Vectors, others: Vectors) -> bool:
    """Return whether vectors differ by no more than rounding."""
    if vectors.shape != others.shape:
        return False
    apart = np.linalg.norm(vectors.astype(np.float64) - others, axis=1)
    return bool((apart <= _SAME * np.linalg.norm(others.astype(np.float64), axis=1)).all())


def _hash_of(kind: str, keys: Sequence[str], vectors: Vectors) -> str:
    """Return the SHA-256 of words or terms and their vectors, as float32."""
    digest = hashlib.sha256(json.dumps([kind, vectors.shape[1]]).encode())
    for at in range(0, len(keys), _HASHED_ROWS):
        block = slice(at, at + _HASHED_ROWS)
        digest.update(json.dumps(list(keys[block])).encode())
        with np.errstate(over="ignore", invalid="ignore"):
            digest.update(np.ascontiguousarray(vectors[block], "<f4").tobytes())
    return digest.hexdigest()
