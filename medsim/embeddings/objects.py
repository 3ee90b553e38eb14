"""Objects in memory as sources of vectors: tables of words or terms, functions and models."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from medsim.core.canonical import canonical_digest
from medsim.core.errors import InputError, counted
from medsim.core.reading import reading
from medsim.embeddings import formats
from medsim.embeddings.encoders import cache_key, cached_parts, collect, encode_terms, unit
from medsim.embeddings.formats.tables import FITTING, Keys, look_up
from medsim.embeddings.metrics import slices_of
from medsim.embeddings.options import OBJECT, VECTORS_USED
from medsim.kernels.types import Vectors

if TYPE_CHECKING:
    from medsim.embeddings.options import Embedding, EmbeddingOptions, EmbeddingSpec

_DESCRIBES = {
    "function": "function of texts",
    "encoder": "model with a method encode",
    "mapping": "mapping of words or terms to vectors",
    "keyed vectors": "word vectors of gensim",
    "array": "array of vectors",
}
_MATRIX = 2
_HASHED_ROWS = 1 << 14
_SAME = 1e-2  # of a vector's length; rounding is less, even in half precision
_N_PROBED = 3
_LONGEST_REASON = 200


@dataclass(frozen=True, kw_only=True)
class ObjectSource(formats.VectorSource):
    """An object that a caller gave.

    Attributes:
        name: the name of the embedding in results.
    """

    name: str
    given: Embedding
    options: EmbeddingOptions

    @property
    def label(self) -> str:
        """The embedding, for messages about its vectors."""
        return f"embedding {self.name!r} ({self.location})"

    def fingerprint(self) -> str:
        """Return the SHA-256 of name and version; empty without a version."""
        if self.given.version is None:
            return ""
        return canonical_digest([OBJECT, self.given.name or self.name, self.given.version])


def object_source(spec: EmbeddingSpec) -> ObjectSource:
    """Return an object as a source; no vector is read."""
    given: Embedding = spec.place
    is_model = given.form in {"function", "encoder"}
    version = f"{given.name or spec.name}, version {given.version}, as given"
    return (ModelSource if is_model else TableSource)(
        name=spec.name,
        given=given,
        options=spec.options,
        location=given.location,
        format_name=OBJECT,
        describes=_DESCRIBES[given.form],
        gives=formats.TERMS if is_model else spec.options.keys or given.kind or formats.WORDS,
        identity=VECTORS_USED if given.version is None else version,
    )


class TableSource(ObjectSource):
    """Vectors of words or terms in memory."""

    @cached_property
    def _table(self) -> tuple[Keys, Vectors]:
        """The words or terms, and their vectors: [n_keys, n_dimensions].

        Raises:
            InputError: there are none, or the numbers of words and vectors differ.
        """
        label, given, kind = self.label, self.given, str(self.gives)
        self.options.check_fit(f"{self.describes}, {kind}", *FITTING[kind])
        with reading(label, "words or terms and their vectors"):
            if given.form == "mapping":
                keys, rows = list(given.source), list(given.source.values())
            elif given.form == "keyed vectors":
                keys, rows = list(given.source.index_to_key), given.source.vectors
            else:
                keys, rows = given.keys, given.source
        if not keys:
            raise InputError(f"{label} has no {kind}")
        if wrong := [key for key in keys if not isinstance(key, str)]:
            raise InputError(f"{label} has {wrong[0]!r} among its {kind}, which is not a text")
        is_unclear = given.form == "mapping" and self.options.keys is None
        if is_unclear and (several := [key for key in keys if len(key.split()) > 1]):
            raise InputError(
                f"{label} has the key {several[0]!r}; are its keys words or terms? Say so with "
                "medsim.Embedding(mapping, keys='terms') or keys='words'"
            )
        vectors = _as_matrix(rows, label)
        if len(vectors) != len(keys):
            counts = f"{len(keys):,} {kind} for {len(vectors):,} rows of vectors"
            raise InputError(f"{label} has {counts}")
        return Keys(path=label, values=keys, kind=kind), vectors

    def fingerprint(self) -> str:
        """Return the SHA-256 of all words or terms and vectors, or that of name and version."""
        keys, vectors = self._table
        return super().fingerprint() or _hash_of(keys.kind, keys.values, vectors)

    def read(self, request: formats.Request) -> formats.WordVectors | formats.TermVectors:
        """Return the vectors for a request; see ``formats.LoadVectors``."""
        keys, vectors = self._table
        return look_up(keys, request, lambda rows: vectors[rows])


class ModelSource(ObjectSource):
    """A function or a model, which embeds any term; its vectors are cached if it has a version."""

    def read(self, request: formats.Request) -> formats.TermVectors:
        """Return the vectors for a request; see ``formats.LoadVectors``.

        Raises:
            InputError: the model fails, or does not return one finite vector per text; or its
                vector of a text changes with the batch, or differs from the one in the cache.
        """
        self.options.check_fit(self.describes, "normalize", "prefix")
        if not request.terms:
            return collect(request, "", lambda _terms: ())
        encoder, digest = _ObjectEncoder(self, request.terms), self.fingerprint()
        if not digest:
            request = replace(request, cache=None)
        kept = request.cache and request.cache / cache_key(encoder, digest)
        if kept and (part := next(cached_parts(kept), None)):
            terms, vectors = part[0][:_N_PROBED], part[1][:_N_PROBED]
            if not _are_same(encoder.encode(terms), vectors):
                raise InputError(
                    f"{self.label} returned vectors that differ from those in the cache, as for "
                    f"{terms[0]!r}; a changed model needs a version other than "
                    f"{self.given.version!r}"
                )
        return encode_terms(encoder, request, digest)


@dataclass(frozen=True, kw_only=True)
class KnownVectors(ModelSource):
    """The vectors of terms from a model without a version."""

    terms: Sequence[str]
    made: formats.TermVectors

    def fingerprint(self) -> str:
        """Return the SHA-256 of all terms and vectors."""
        return _hash_of(formats.TERMS, self.terms, self.made.vectors)

    def read(self, request: formats.Request) -> formats.TermVectors:
        """Return the vectors for a request with known terms."""
        if list(request.terms) == list(self.terms):
            return self.made
        row_of = {term: row for row, term in enumerate(self.terms)}
        rows = np.array([row_of[term] for term in request.terms], np.int64)
        return formats.TermVectors(
            vectors=self.made.vectors[rows], covered=self.made.covered[rows], n_vocabulary=None
        )


class _ObjectEncoder:
    """A function or a model as ``medsim.embeddings.encoders.Encoder``.

    First it embeds the same few terms twice, in different batches.
    """

    def __init__(self, source: ModelSource, terms: Sequence[str]) -> None:
        self._source = source
        self.n_dimensions = 0
        probed = list(dict.fromkeys([terms[0], terms[len(terms) // 2], terms[-1]]))
        first = self.encode(probed)
        self.n_dimensions = first.shape[1]
        if not _are_same(self.encode([probed[-1], probed[0]]), first[[-1, 0]]):
            raise InputError(
                f"{source.label} returned a different vector for {probed[0]!r} in another batch; "
                "vectors must depend on the term alone. Is the model in training mode?"
            )
        self.identity = {
            "normalize": str(source.options.normalize),
            "prefix": source.options.prefix,
            "n_dimensions": str(self.n_dimensions),
        }

    def encode(self, terms: Sequence[str]) -> Vectors:
        """Return the vectors of a batch; see ``medsim.embeddings.encoders.Encoder``."""
        source, label = self._source, self._source.label
        model = source.given.source
        ask = model.encode if source.given.form == "encoder" else model
        texts = [source.options.prefix + term for term in terms]
        batch = f"{counted(len(texts), 'text')}, {texts[0]!r} the first"
        # A model may reuse one array.
        vectors = _as_matrix(answer_to(lambda: ask(texts), label, batch), label).copy()
        shape = (len(texts), self.n_dimensions or vectors.shape[1])
        if vectors.shape != shape:
            fault = f"array of shape {vectors.shape} for {batch}; expected {shape}"
            raise InputError(f"{label}: {fault}")
        if (at := formats.first_not_finite(vectors)) is not None:
            raise InputError(f"{label}: the vector of {terms[at]!r} is not finite as float32")
        return unit(vectors) if source.options.scales(default=False) else vectors


def answer_to(ask: Callable[[], Any], label: str, batch: str) -> Any:
    """Return what a caller's object answers.

    Raises:
        InputError: the object fails; the message has its label and the batch in a few words.
    """
    try:
        return ask()
    except Exception as error:  # a caller's function may raise anything
        said = " ".join(str(error).split()) or "an error without a message"
        raise InputError(f"{label} failed on {batch}: {said[:_LONGEST_REASON]}") from error


def answered_numbers(answer: Any, where: str, expected: str) -> NDArray[Any]:
    """Return numbers as an array.

    Raises:
        InputError: they are text or objects; the message begins with ``where``.
    """
    with reading(where, expected):
        numbers: NDArray[Any] = np.asarray(_plain(answer))
    if numbers.dtype.kind not in "fiu":
        kind = "text" if numbers.dtype.kind in "US" else numbers.dtype
        raise InputError(f"{where} has values of type {kind}, not numbers")
    return numbers


def _as_matrix(answer: Any, where: str) -> Vectors:
    """Return numbers in rows as float32, infinite if they are too large.

    Raises:
        InputError: they are text, objects or of another shape; the message begins with ``where``.
    """
    expected = "an array of numbers, with a row for each text, word or term"
    matrix = answered_numbers(answer, where, expected)
    if matrix.ndim != _MATRIX:
        raise InputError(f"{where}: array of shape {matrix.shape}; expected a row for each text")
    formats.check_dimensions(where, matrix.shape[1])
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(matrix, np.float32)


def _plain(value: Any) -> Any:
    """Return a value that NumPy accepts: tensors and sparse matrices become arrays.

    NumPy has no bfloat16, and does not accept tensors with gradients.
    """
    if isinstance(value, (list, tuple)) and len(value) and hasattr(value[0], "detach"):
        return [_plain(item) for item in value]
    if hasattr(value, "detach"):
        return value.detach().cpu().float().numpy()
    return value.toarray() if hasattr(value, "toarray") else value


def _are_same(vectors: Vectors, others: Vectors) -> bool:
    """Return whether vectors differ by no more than rounding."""
    if vectors.shape != others.shape:
        return False
    apart = np.linalg.norm(vectors.astype(np.float64) - others, axis=1)
    return bool((apart <= _SAME * np.linalg.norm(others.astype(np.float64), axis=1)).all())


def _hash_of(kind: str, keys: Sequence[str], vectors: Vectors) -> str:
    """Return the SHA-256 of words or terms and their vectors, as float32."""
    digest = hashlib.sha256(json.dumps([kind, vectors.shape[1]]).encode())
    for block in slices_of(len(keys), _HASHED_ROWS):
        digest.update(json.dumps(list(keys[block])).encode())
        digest.update(np.ascontiguousarray(vectors[block], "<f4").tobytes())
    return digest.hexdigest()
