"""Vectors of an embeddings service, by the endpoint that OpenAI and many servers share."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard

import numpy as np

from medsim.core.canonical import canonical_digest
from medsim.core.errors import OptionError, ServiceError
from medsim.embeddings import TERMS
from medsim.embeddings.encoders import collected
from medsim.embeddings.services.client import RefusedError, ServiceClient
from medsim.embeddings.services.options import ASKING, open_service
from medsim.embeddings.vector_cache import LAYOUT, Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from medsim.embeddings import Request, TermVectors
    from medsim.embeddings.options import EmbeddingOptions
    from medsim.embeddings.services.options import Service
    from medsim.kernels.types import Vectors

NAME = "api"
"""The name of the format, for manifests."""

CHARACTERS_A_TOKEN = 4
"""The characters of a token by which tokens are estimated."""

_ACCEPTED = ("model", "dimensions", "prefix", "batch", *ASKING)
_TOO_MANY = (400, 413, 422)  # OpenAI and vLLM, servers of HTTP, TEI
_BYTES_AN_ANSWER = 1 << 20
_MOST_TOKENS = 1 << 31  # of one answer; sums of them are whole numbers of 64 bits
_BYTES_A_VECTOR = 1 << 19  # 16,384 numbers of 32 characters


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSource:
    """An embeddings service; see ``medsim.embeddings.sources.VectorSource``."""

    service: Service
    options: EmbeddingOptions
    format_name: ClassVar[str] = NAME
    gives: ClassVar[str] = TERMS

    @property
    def location(self) -> str:
        """The address, without anything secret."""
        return self.service.location

    @property
    def describes(self) -> str:
        """The format in words, for messages."""
        return f"an embeddings service, model {self.service.model}"

    def fingerprint(self) -> str:
        """Return a SHA-256 of address, model, dimensions and prefix; the model is not seen."""
        own = self.options
        return canonical_digest([self.service.url, own.model, own.dimensions, own.prefix])

    def read(self, request: Request) -> TermVectors:
        """Return the vectors of a request's terms, none of which is asked for twice."""
        return collected(
            request,
            canonical_digest([LAYOUT, NAME, self.fingerprint()]),
            lambda terms: _asked(self, terms, request) if terms else (),
            self.options.dimensions,
        )


def service_source(place: str, options: EmbeddingOptions) -> ServiceSource:
    """Return the source that a text such as "api:https://host/v1" names.

    Raises:
        OptionError: the address or an option is not as it must be.
    """
    if options.format not in {None, NAME}:
        raise OptionError(f"option format={options.format} does not fit (an embeddings service)")
    options.check_fit("an embeddings service", *_ACCEPTED)
    return ServiceSource(service=open_service(place, options), options=options)


def _asked(source: ServiceSource, terms: Sequence[str], request: Request) -> Iterator[Part]:
    """Yield the vectors of terms as a service answers; what came meanwhile is one part."""
    prefix = source.options.prefix
    n_tokens = sum(len(prefix) + len(term) for term in terms) // CHARACTERS_A_TOKEN
    request.stage.tell(
        f"{len(terms):,} terms to ask for, an estimated {n_tokens:,} tokens "
        f"({CHARACTERS_A_TOKEN} characters each)"
    )
    ordered = sorted(terms, key=lambda term: (len(term), term))
    size = source.options.batch
    batches = (ordered[at : at + size] for at in range(0, len(ordered), size))
    client = ServiceClient(source.service)
    asking = _Asking(source, client)
    for answers in client.ask_all(batches, asking.vectors):
        yield from _parts(answers)
    if asking.n_tokens:
        request.stage.tell(f"the service counted {asking.n_tokens:,} tokens")


def _parts(answers: Iterable[tuple[list[str], Vectors]]) -> Iterator[Part]:
    """Yield answers that came together as one part for each number of dimensions."""
    by_size: dict[int, list[tuple[list[str], Vectors]]] = {}
    for terms, vectors in answers:
        by_size.setdefault(vectors.shape[1], []).append((terms, vectors))
    for found in by_size.values():
        yield Part(
            terms=[term for terms, _ in found for term in terms],
            vectors=np.concatenate([vectors for _, vectors in found]),
        )


class _Asking:
    """Asks for batches of terms; where one is too large, it and later ones are divided.

    Attributes:
        n_tokens: as the service counted them.
    """

    def __init__(self, source: ServiceSource, client: ServiceClient) -> None:
        self._source = source
        self._client = client
        self._most = source.options.batch
        self.n_tokens = 0

    async def vectors(self, terms: Sequence[str]) -> Vectors:
        """Return the vectors of terms: float32[n_terms, n_dimensions], finite."""
        parts, rest = [], list(terms)
        while rest:
            batch = rest[: self._most]
            try:
                parts.append(await self._batch(batch))
            except RefusedError as error:
                if error.status not in _TOO_MANY:
                    raise
                if len(batch) == 1:
                    raise ServiceError(f"{error}, asked for {batch[0]!r}") from error
                self._most = min(self._most, -(-len(batch) // 2))
            else:
                rest = rest[len(batch) :]
        if len({part.shape[1] for part in parts}) > 1:
            raise self._error("answers with vectors of different dimensions")
        return np.concatenate(parts)

    async def _batch(self, terms: Sequence[str]) -> Vectors:
        options, service = self._source.options, self._source.service
        body: dict[str, object] = {
            "model": service.model,
            "input": [options.prefix + term for term in terms],
            "encoding_format": "float",
        }
        if options.dimensions is not None:
            body["dimensions"] = options.dimensions
        most = _BYTES_AN_ANSWER + len(terms) * _BYTES_A_VECTOR
        answer = await self._client.ask("/embeddings", body, most)
        found = self._checked(terms, read_vectors(answer, len(terms), service.location))
        self.n_tokens += tokens_of(answer, "prompt_tokens")
        return found

    def _checked(self, terms: Sequence[str], vectors: Vectors) -> Vectors:
        wanted, has = self._source.options.dimensions, vectors.shape[1]
        if wanted is not None and has != wanted:
            raise self._error(
                f"answers with vectors of {has:,} dimensions, not the {wanted:,} of dimensions="
            )
        finite = np.isfinite(vectors).all(axis=1)
        if not finite.all():
            raise self._error(
                f"answers with a vector of {terms[int(np.argmin(finite))]!r} that is not finite"
            )
        return vectors

    def _error(self, fault: str) -> ServiceError:
        return ServiceError(f"{self._source.location} {fault}")


def is_count(number: object) -> TypeGuard[int]:
    """Return whether a value can be the number of tokens of one answer."""
    return type(number) is int and 0 <= number <= _MOST_TOKENS


def tokens_of(answer: Mapping[str, Any], name: str) -> int:
    """Return the tokens that a service counted; 0 where it does not say, or what cannot be."""
    usage = answer.get("usage")
    found = usage.get(name) if isinstance(usage, dict) else None
    return found if is_count(found) else 0


def read_vectors(answer: Mapping[str, Any], n_terms: int, location: str) -> Vectors:
    """Return the vectors of an answer in order of its terms: float32[n_terms, n_dimensions].

    They are in the order of their ``index``, which all or none of them have, and lists of numbers
    or 32-bit floating point in base64. Numbers that are too large become infinite.

    Raises:
        ServiceError: there are more or fewer, or they are anything else.
    """
    data = answer.get("data")
    if not isinstance(data, list) or not all(isinstance(one, dict) for one in data):
        raise ServiceError(f"{location} answers without a list data of objects")
    if len(data) != n_terms:
        raise ServiceError(f"{location} answers with {len(data):,} vectors for {n_terms:,} terms")
    numbers = [one.get("index") for one in data]
    if any(number is not None for number in numbers):
        if any(type(one) is not int for one in numbers) or sorted(numbers) != list(range(n_terms)):
            raise ServiceError(f"{location} answers with an index that is missing or wrong")
        data = sorted(data, key=lambda one: int(one["index"]))
    try:
        vectors = [_numbers(one.get("embedding")) for one in data]
    except (ValueError, OverflowError) as error:
        raise ServiceError(
            f"{location} answers with an embedding that is not a list of numbers, nor base64 of "
            "32-bit floating point"
        ) from error
    if len({len(one) for one in vectors}) > 1:
        raise ServiceError(f"{location} answers with vectors of different dimensions")
    with np.errstate(over="ignore"):
        return np.stack(vectors).astype(np.float32)


def _numbers(embedding: object) -> NDArray[np.floating]:
    """Return the numbers of an embedding; ValueError or OverflowError for anything else."""
    if embedding and isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4")
    if embedding and isinstance(embedding, list) and {*map(type, embedding)} <= {int, float}:
        return np.array(embedding, np.float64)
    raise ValueError(f"{type(embedding).__name__} in place of numbers")
