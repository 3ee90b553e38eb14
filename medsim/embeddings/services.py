"""Vectors from an embeddings service with the endpoint of OpenAI, which many servers share."""

from __future__ import annotations

import asyncio
import json
import os
import queue
import random
import re
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from itertools import chain
from socket import inet_aton
from typing import Any, TypeVar
from urllib.parse import urlsplit

import numpy as np

from medsim.core.canonical import canonical_digest
from medsim.core.errors import InputError, OptionError, ServiceError, needing
from medsim.core.reading import parsed_json
from medsim.embeddings.encoders import LAYOUT, EncodedBatch, collect
from medsim.embeddings.formats import TERMS, Request, TermVectors, VectorSource
from medsim.embeddings.options import ASKING, KEY, SERVICE, EmbeddingOptions, ServiceOptions
from medsim.kernels.types import Vectors

Job = TypeVar("Job")
Answer = TypeVar("Answer")

TRIES = 6
"""The maximum number of times that a request is sent."""

FIRST_WAIT = 1.0
"""Seconds before the second try; each later wait is twice as long."""

LONGEST_WAIT = 60.0
"""The maximum seconds to wait if a service does not say how long."""

LONGEST_PAUSE = 600.0
"""The maximum seconds that a service may ask to wait; if it asks for more, the run ends."""

SHORTEST_SECRET = 8
"""The minimum length of a key that is masked; a shorter key is a word such as "none"."""

_CONNECT_SECONDS = 10.0
_SECONDS_A_LOOK = 0.5
_MAX_SHOWN = 300  # characters of a service's error message
_SUCCESSES, _REDIRECTS, _FAILURES = range(200, 300), range(300, 400), range(500, 600)
_BUSY = frozenset({408, 425, 429})
_MASK = "…"

_jitter = random.SystemRandom()  # does not affect results


_OPENAI_HOST, _OPENAI_KEY = "api.openai.com", "OPENAI_API_KEY"
_TEXT_OF_KEY = re.compile(r"[\x21-\x7e]{1,10000}")  # as allowed in a header of HTTP
_LOCAL_NAMES = {"localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback"}
_URL = re.compile(
    r"(?P<beginning>https?://(?P<host>[a-z0-9._-]{1,253}|\[[0-9a-f:.]+\])(:[0-9]{1,5})?)"
    r"(?P<path>(/[!\"$->@-~]*)?)",  # neither # nor ?
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A service and its address, model and key.

    Attributes:
        url: the address, without user, query, fragment and final slash.
        model: the service's name of the model.
        key: sent with every request, never shown; None if the service needs no key.
    """

    url: str
    model: str
    key: str | None = field(repr=False)
    options: ServiceOptions = field(repr=False)

    @property
    def location(self) -> str:
        """The text that names the address, as a user gives it."""
        return f"{SERVICE}{self.url}"


def open_service(place: str, options: ServiceOptions) -> Service:
    """Return the service of a text such as "api:https://host/v1"; no request is sent yet.

    Raises:
        OptionError: the address, the model or the key is invalid.
    """
    match = _URL.fullmatch(place.removeprefix(SERVICE))
    if not match:  # it may hold a key, so it is not shown
        raise OptionError(
            "the address of a service must be like api:https://host/v1, without user, password, ? "
            f"and #; a key belongs in the environment variable {KEY}"
        )
    url = match["beginning"].lower() + match["path"].rstrip("/")
    if not options.model:
        raise OptionError(f"{SERVICE}{url} needs the name of a model: add ,model=NAME")
    key = _key(url, match["host"].lower(), options)
    return Service(url=url, model=options.model, key=key, options=options)


def _key(url: str, host: str, options: ServiceOptions) -> str | None:
    """Return the key for a service; None if the environment has none."""
    names = [options.key or KEY]
    if options.key is None and host == _OPENAI_HOST:
        names.append(_OPENAI_KEY)
    name = next((name for name in names if os.environ.get(name, "").strip()), None)
    if name is None:
        if options.key is not None:
            raise OptionError(f"the environment variable {options.key} of key= is not set")
        return None
    key = os.environ[name].strip()
    if not _TEXT_OF_KEY.fullmatch(key):
        raise OptionError(f"the environment variable {name} has no key that HTTP can send")
    if options.key is None and url.startswith("http:") and not is_loopback(url):
        raise OptionError(
            f"{url} would get the key of {name} unencrypted; use https, or add ,key={name}"
        )
    return key


def is_loopback(url: str) -> bool:
    """Return whether a host is this machine: localhost, 127.0.0.0/8, [::1], 0.0.0.0 or [::]."""
    with suppress(OSError, ValueError):  # the host is another name, or not valid
        host = (urlsplit(url).hostname or "").removesuffix(".")
        if host in _LOCAL_NAMES or host.endswith(".localhost"):  # RFC 6761
            return True
        address = ip_address(host if ":" in host else inet_aton(host))
        address = getattr(address, "ipv4_mapped", None) or address
        return address.is_loopback or address.is_unspecified
    return False


class RefusedError(ServiceError):
    """The service refused a request, and would refuse it again.

    Attributes:
        status: the status of HTTP.
        code: the service's error code; empty if it gives none.
    """

    def __init__(self, message: str, status: int, code: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class _LostError(Exception):
    """A request got no answer; it can be sent again."""


class _StoppedError(Exception):
    """Waiting ended, since another job has failed."""


class ServiceClient:
    """A service that answers requests over HTTP, for one call of ``ask_all``."""

    def __init__(self, service: Service) -> None:
        with needing("services need httpx2", "api"):
            import httpx2  # noqa: PLC0415 — an extra
        self._library = httpx2
        self._service = service
        self._has_answered = False
        self._distance = 0.0 if service.options.rpm is None else 60 / service.options.rpm
        self._next = 0.0  # when the next request may be sent
        self._stop = asyncio.Event()
        key = {} if service.key is None else {"Authorization": f"Bearer {service.key}"}
        connect = min(_CONNECT_SECONDS, service.options.timeout / 2)
        limits = httpx2.Limits(max_connections=service.options.concurrency)
        # A given transport ignores the proxies of the environment.
        direct = httpx2.AsyncHTTPTransport(limits=limits) if is_loopback(service.url) else None
        try:
            self._http = httpx2.AsyncClient(
                headers={"Accept": "application/json", "Accept-Encoding": "identity"} | key,
                timeout=httpx2.Timeout(None, connect=connect),  # `_exchange` has the other bound
                limits=limits,
                transport=direct,
                follow_redirects=False,
            )
        except (ImportError, ValueError, httpx2.InvalidURL) as error:
            proxies = "HTTP_PROXY, HTTPS_PROXY or ALL_PROXY"
            raise OptionError(f"the proxy named by {proxies} cannot be used ({error})") from error

    def ask_all(
        self, jobs: Iterable[Job], ask: Callable[[Job], Awaitable[Answer]]
    ) -> Iterator[list[tuple[Job, Answer]]]:
        """Yield the answers to jobs as they arrive, one or several at a time.

        The options limit the number of parallel requests, which run in an event loop in a separate
        thread. If a job fails, no other begins, and the answers of running jobs are yielded before
        the error is raised.

        Args:
            jobs: the jobs; each is done once.
            ask: does a job by calling the method ``ask``.
        """
        arrived: queue.SimpleQueue[tuple[Job, Answer] | None] = queue.SimpleQueue()
        loop = asyncio.SelectorEventLoop()
        asking = loop.create_task(self._work_all(iter(jobs), ask, arrived.put))

        def work() -> None:
            with suppress(Exception, asyncio.CancelledError):  # `asking` keeps the error
                loop.run_until_complete(asking)
            loop.close()
            arrived.put(None)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            batch: list[tuple[Job, Answer] | None] = []
            while None not in batch:
                batch = []
                while not batch:
                    with suppress(queue.Empty):  # on some systems no signal ends a wait
                        batch.append(arrived.get(timeout=_SECONDS_A_LOOK))
                while not arrived.empty():
                    batch.append(arrived.get())
                if answers := [answer for answer in batch if answer is not None]:
                    yield answers
            asking.result()
        finally:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(asking.cancel)
            thread.join(_SECONDS_A_LOOK)

    async def ask(self, path: str, body: Mapping[str, object], max_bytes: int) -> dict[str, Any]:
        """Return the JSON object that a service answers, with its key masked.

        The request is repeated, after a growing delay or the one that the service asks for, if the
        service is busy, fails or drops the connection. If it has never answered, the request is not
        repeated.

        Args:
            path: the path after the address, such as "/embeddings".
            body: the body, sent as JSON.
            max_bytes: the maximum size of the answer.

        Raises:
            RefusedError: the service refuses the request.
            ServiceError: it cannot be reached, fails, or does not answer with a JSON object.
        """
        content = json.dumps(body).encode()
        n_tries = 0
        while True:
            n_tries += 1
            pause = None
            at = max(self._next, time.monotonic())
            self._next = at + self._distance
            await self._sleep(at - time.monotonic())
            try:
                status, headers, text = await self._exchange(path, content, max_bytes)
            except _LostError as error:
                fault = str(error)
            else:
                self._has_answered = True
                if status in _SUCCESSES:
                    return self._read(headers, text)
                fault = self._fault(status, headers, text)
                pause = retry_after(headers)
            if n_tries == TRIES:
                raise self._error(f"did not answer in {TRIES} tries: {fault}")
            if pause is None:
                await self._sleep(backoff(n_tries))
            elif pause > LONGEST_PAUSE:
                raise self._error(f"asks to wait {pause:,.0f} seconds ({fault}); run again then")
            else:
                self._next = max(self._next, time.monotonic() + pause)

    async def _work_all(
        self,
        jobs: Iterator[Job],
        ask: Callable[[Job], Awaitable[Answer]],
        arrived: Callable[[tuple[Job, Answer]], None],
    ) -> None:
        """Do all jobs in parallel; raise the first error after the running jobs have ended."""
        failures: list[Exception] = []

        async def work() -> None:
            for job in jobs:
                try:
                    arrived((job, await ask(job)))
                except Exception as error:  # noqa: BLE001 — raised below
                    failures.append(error)
                    self._stop.set()
                if self._stop.is_set():
                    break

        async with self._http:
            await asyncio.gather(*(work() for _ in range(self._service.options.concurrency)))
        if failures:
            raise failures[0]

    async def _exchange(
        self, path: str, content: bytes, max_bytes: int
    ) -> tuple[int, Mapping[str, str], str]:
        """Return status, headers and text of the answer to one request.

        The total time is limited, however slowly an answer arrives. The key is masked here, also in
        errors, so that no other code sees it in an answer; causes of errors are dropped because
        they quote the service.
        """
        seconds, data = self._service.options.timeout, bytearray()
        url, headers = self._service.url + path, {"Content-Type": "application/json"}
        try:
            async with (
                asyncio.timeout(seconds),
                self._http.stream("POST", url, content=content, headers=headers) as response,
            ):
                async for part in response.aiter_bytes():
                    data += part
                    if len(data) > max_bytes:
                        raise self._error(f"answers with more than {max_bytes >> 20:,} MiB")
        except TimeoutError:
            raise _LostError(f"no complete answer in {seconds:,} seconds") from None
        except self._library.TransportError as error:
            fault = self._shown(error)
            connecting = (self._library.ConnectError, self._library.ConnectTimeout)
            if not self._has_answered and isinstance(error, connecting):
                raise self._error(f"cannot be reached ({fault}); is it up?") from None
            raise _LostError(fault) from None
        except (self._library.InvalidURL, self._library.HTTPError) as error:
            raise self._error(f"cannot be asked ({self._shown(error)})") from None
        masked = {name: self._masked(value) for name, value in response.headers.items()}
        return response.status_code, masked, self._masked(data.decode("utf-8-sig", "replace"))

    def _read(self, headers: Mapping[str, str], text: str) -> dict[str, Any]:
        with suppress(InputError):
            content = parsed_json("the answer", text)
            if isinstance(content, dict):
                return content
        kind = headers.get("content-type", "").partition(";")[0].strip()[:_MAX_SHOWN] or "no type"
        raise self._error(
            f"answered {kind} that is not a JSON object; is it the address of the API, such as "
            "https://host/v1?"
        )

    def _fault(self, status: int, headers: Mapping[str, str], text: str) -> str:
        """Return the fault of a request that can be repeated; raise an error if it cannot."""
        if status in _REDIRECTS:
            target = headers.get("location", "nowhere").partition("?")[0][:_MAX_SHOWN]
            raise self._error(f"redirects to {target}; give that address")
        message, code = _explanation(text)
        fault = f"HTTP {status}" + (f", {message[:_MAX_SHOWN]}" if message else "")
        if status in _BUSY or status in _FAILURES:
            return fault
        if status in {401, 403} and self._service.key is None:
            fault += f"; it needs a key, in the environment variable {KEY}"
        raise RefusedError(f"{self._service.location} refuses: {fault}", status, code)

    async def _sleep(self, seconds: float) -> None:
        """Wait; raise _StoppedError if a job has failed meanwhile."""
        if seconds > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), seconds)
        if self._stop.is_set():
            raise _StoppedError

    def _shown(self, error: BaseException) -> str:
        return self._masked(str(error) or "the connection was lost")[:_MAX_SHOWN]

    def _masked(self, text: str) -> str:
        key = self._service.key or ""
        return text.replace(key, _MASK) if len(key) >= SHORTEST_SECRET else text

    def _error(self, fault: str) -> ServiceError:
        return ServiceError(f"{self._service.location} {fault}")


def backoff(n_tries: int) -> float:
    """Return the seconds to wait after a number of tries: doubled each time, with jitter."""
    wait: float = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (n_tries - 1))
    return wait * (0.5 + _jitter.random())


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a service asks to wait; None if there are none, or a date."""
    text = headers.get("retry-after", "").strip()
    return float(text) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", text) else None


def _explanation(text: str) -> tuple[str, str]:
    """Return a service's error message and code; empty if there is none.

    OpenAI, vLLM, llama.cpp and Ollama answer {"error": {"message", "code", …}}, TEI {"message"}
    or {"error"}.
    """
    try:
        content = parsed_json("the answer", text)
    except InputError:
        return "", ""
    inner = content.get("error", content) if isinstance(content, dict) else content
    if isinstance(inner, dict):
        code = inner.get("code") or inner.get("type") or ""
        return str(inner.get("message") or inner.get("detail") or ""), str(code)
    return (inner, "") if isinstance(inner, str) else ("", "")


NAME = "api"
"""The name of the format, for manifests."""

CHARACTERS_A_TOKEN = 4
"""The estimated number of characters per token."""

_ACCEPTED = ("model", "dimensions", "prefix", "batch", *ASKING)
_TOO_MANY = (400, 413, 422)  # OpenAI and vLLM, servers of HTTP, TEI
_BYTES_AN_ANSWER = 1 << 20
_MAX_TOKENS = 1 << 31  # of one answer; sums of them are whole numbers of 64 bits
_BYTES_A_VECTOR = 1 << 19  # 16,384 numbers of 32 characters


@dataclass(frozen=True, kw_only=True)
class ServiceSource(VectorSource):
    """An embeddings service."""

    service: Service
    options: EmbeddingOptions

    def fingerprint(self) -> str:
        """Return a SHA-256 of address, model name, dimensions and prefix."""
        url, options = self.service.url, self.options
        return canonical_digest([url, options.model, options.dimensions, options.prefix])

    def read(self, request: Request) -> TermVectors:
        """Return the vectors of a request's terms; none is requested twice."""
        return collect(
            request,
            canonical_digest([LAYOUT, NAME, self.fingerprint()]),
            lambda terms: _request_parts(self, terms, request) if terms else (),
        )


def service_source(place: str, options: EmbeddingOptions) -> ServiceSource:
    """Return the source that a text such as "api:https://host/v1" names.

    Raises:
        OptionError: the address or an option is invalid.
    """
    if options.format not in {None, NAME}:
        raise OptionError(f"option format={options.format} does not fit (an embeddings service)")
    options.check_fit("an embeddings service", *_ACCEPTED)
    service = open_service(place, options)
    return ServiceSource(
        location=service.location,
        format_name=NAME,
        describes=f"an embeddings service, model {service.model}",
        gives=TERMS,
        service=service,
        options=options,
    )


def _request_parts(
    source: ServiceSource, terms: Sequence[str], request: Request
) -> Iterator[EncodedBatch]:
    """Yield the vectors of terms as answers of a service arrive."""
    prefix = source.options.prefix
    n_tokens = sum(len(prefix) + len(term) for term in terms) // CHARACTERS_A_TOKEN
    request.stage.say(
        f"{len(terms):,} terms go to {source.location}, an estimated {n_tokens:,} tokens "
        f"({CHARACTERS_A_TOKEN} characters each)"
    )
    ordered = sorted(terms, key=lambda term: (len(term), term))
    size = source.options.batch
    batches = (ordered[at : at + size] for at in range(0, len(ordered), size))
    client = ServiceClient(source.service)
    asking = _Asking(source, client)
    for answers in client.ask_all(batches, asking.vectors):
        terms = [term for batch, _ in answers for term in batch]
        yield terms, np.concatenate([vectors for _, vectors in answers])
    if asking.n_tokens:
        request.stage.say(f"the service counted {asking.n_tokens:,} tokens")


class _Asking:
    """Requests batches of terms; if a batch is too large, it and later batches are divided.

    Attributes:
        n_tokens: the number of tokens that the service reports.
    """

    def __init__(self, source: ServiceSource, client: ServiceClient) -> None:
        self._source = source
        self._client = client
        self._max_terms = source.options.batch
        self._n_dimensions = source.options.dimensions  # or those of the first answer
        self.n_tokens = 0

    async def vectors(self, terms: Sequence[str]) -> Vectors:
        """Return the vectors of terms: float32[n_terms, n_dimensions], finite."""
        parts, rest = [], list(terms)
        while rest:
            batch = rest[: self._max_terms]
            try:
                parts.append(await self._batch(batch))
            except RefusedError as error:
                if error.status not in _TOO_MANY:
                    raise
                if len(batch) == 1:
                    raise ServiceError(f"{error}, asked for {batch[0]!r}") from error
                self._max_terms = min(self._max_terms, -(-len(batch) // 2))
            else:
                rest = rest[len(batch) :]
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
        max_bytes = _BYTES_AN_ANSWER + len(terms) * _BYTES_A_VECTOR
        answer = await self._client.ask("/embeddings", body, max_bytes)
        vectors = parse_vectors(answer, len(terms), service.location)
        self.n_tokens += tokens_of(answer, "prompt_tokens")
        if self._n_dimensions not in {None, vectors.shape[1]}:
            fault = f"vectors of {vectors.shape[1]:,} dimensions, not {self._n_dimensions:,}"
            raise ServiceError(f"{service.location} answers with {fault}")
        self._n_dimensions = vectors.shape[1]
        return vectors


def tokens_of(answer: Mapping[str, Any], name: str) -> int:
    """Return the number of tokens that a service reports; 0 if missing or impossible."""
    usage = answer.get("usage")
    n_tokens = usage.get(name) if isinstance(usage, dict) else None
    return n_tokens if type(n_tokens) is int and 0 <= n_tokens <= _MAX_TOKENS else 0


def parse_vectors(answer: Mapping[str, Any], n_terms: int, location: str) -> Vectors:
    """Return the vectors of an answer in order of its terms: float32[n_terms, n_dimensions].

    Vectors are lists of numbers, ordered by ``index``, which all or none of them must have.
    Numbers that are too large become infinite.

    Raises:
        ServiceError: their number or their form is wrong.
    """
    matrix = np.zeros((0, 0), np.float32)
    with suppress(ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        data: Any = answer.get("data")
        if any(item.get("index") is not None for item in data):
            rows = {item["index"]: item for item in data}
            data = [rows[row] for row in range(len(data))]
        vectors = [item["embedding"] for item in data]
        if {*chain.from_iterable(map(type, item) for item in vectors)} <= {int, float}:
            with np.errstate(over="ignore"):
                matrix = np.array(vectors, np.float64).astype(np.float32)
    if matrix.ndim != 2 or len(matrix) != n_terms or not matrix.size:  # noqa: PLR2004 — axes
        fault = "it must give a list data with one vector per term, all of the same length"
        raise ServiceError(f"{location} did not answer with {n_terms:,} vectors; {fault}")
    return matrix
