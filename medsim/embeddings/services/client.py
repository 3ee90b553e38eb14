"""Asks a service over HTTP: several requests at a time, tries again, and trusts no answer."""

from __future__ import annotations

import asyncio
import base64
import json
import queue
import random
import re
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeVar

from medsim.core.errors import InputError, OptionError, ServiceError
from medsim.core.extras import needing
from medsim.core.reading import parsed_json

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping

    from medsim.embeddings.services.options import Service

Job = TypeVar("Job")
Answer = TypeVar("Answer")

TRIES = 6
"""The times that a request is sent at most."""

FIRST_WAIT = 1.0
"""Seconds before the second try; each later wait is twice as long."""

LONGEST_WAIT = 60.0
"""Seconds that are waited at most where a service does not say how long."""

LONGEST_PAUSE = 600.0
"""Seconds for which a service may ask to wait; where it asks for more, the run ends."""

SHORTEST_SECRET = 8
"""Characters of the shortest key that is masked; a shorter one is a word such as "none"."""

_CONNECT_SECONDS = 10.0
_SECONDS_A_LOOK = 0.5
_TOLD = 300  # characters of an error that a service explains
_SUCCESSES, _REDIRECTS, _FAILURES = range(200, 300), range(300, 400), range(500, 600)
_BUSY = frozenset({408, 425, 429})
_MASK = "…"

_jitter = random.SystemRandom()  # decides nothing that is computed


class RefusedError(ServiceError):
    """A request that a service refuses, and would refuse again.

    Attributes:
        status: of HTTP.
        code: by which the service names the error; empty where it names none.
    """

    def __init__(self, message: str, status: int, code: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class _LostError(Exception):
    """A request without an answer, which may be sent again."""


class _StoppedError(Exception):
    """Waiting ended, since another job has failed."""


class _Loop(asyncio.SelectorEventLoop):
    """An event loop whose look-ups of hosts do not keep the process from ending."""

    def run_in_executor(
        self, _executor: object, function: Callable[..., Answer], *arguments: object
    ) -> asyncio.Future[Answer]:
        """Call a function in a daemon thread, unlike the pools that Python waits for at exit."""
        found: Future[Answer] = Future()

        def work() -> None:
            if not found.set_running_or_notify_cancel():
                return
            try:
                found.set_result(function(*arguments))
            except Exception as error:  # noqa: BLE001 — raised where it is awaited
                found.set_exception(error)

        threading.Thread(target=work, daemon=True).start()
        return asyncio.wrap_future(found, loop=self)


class ServiceClient:
    """A service that is asked over HTTP, by one call of ``ask_all``."""

    def __init__(self, service: Service) -> None:
        with needing("services need httpx2", "api"):
            import httpx2  # noqa: PLC0415 — an extra
        self._library = httpx2
        self._service = service
        self._secrets = () if service.key is None else spellings(service.key)
        self._has_answered = False
        self._distance = 0.0 if service.options.rpm is None else 60 / service.options.rpm
        self._next = 0.0  # when the next request may be sent
        self._stop = asyncio.Event()
        key = {} if service.key is None else {"Authorization": f"Bearer {service.key}"}
        connect = min(_CONNECT_SECONDS, service.options.timeout / 2)
        try:
            self._http = httpx2.AsyncClient(
                headers={"Accept": "application/json", "Accept-Encoding": "identity"} | key,
                timeout=httpx2.Timeout(None, connect=connect),  # `_exchange` has the other bound
                limits=httpx2.Limits(max_connections=service.options.concurrency),
                follow_redirects=False,
            )
        except (ImportError, ValueError, httpx2.InvalidURL) as error:
            raise OptionError(
                "the proxy that HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names cannot be used "
                f"({error})"
            ) from error

    def ask_all(
        self, jobs: Iterable[Job], ask: Callable[[Job], Awaitable[Answer]]
    ) -> Iterator[list[tuple[Job, Answer]]]:
        """Yield the answers to jobs as they arrive: one, or all that have come meanwhile.

        As many requests are under way as the options say, in an event loop in a thread of its own.
        Where a job fails, no other begins, and what the others answer is yielded before the error
        is raised.

        Args:
            jobs: each is asked once.
            ask: answers a job by calls of ``ask``.
        """
        arrived: queue.SimpleQueue[tuple[Job, Answer] | None] = queue.SimpleQueue()
        loop = _Loop()
        asking = loop.create_task(self._work_all(iter(jobs), ask, arrived.put))

        def work() -> None:
            with suppress(Exception, asyncio.CancelledError):  # `asking` keeps what was raised
                loop.run_until_complete(asking)
            loop.close()
            arrived.put(None)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            found: list[tuple[Job, Answer] | None] = []
            while None not in found:
                found = _all_of(arrived)
                if answers := [one for one in found if one is not None]:
                    yield answers
            asking.result()
        finally:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(asking.cancel)
            thread.join(_SECONDS_A_LOOK)

    async def ask(self, path: str, body: Mapping[str, object], most_bytes: int) -> dict[str, Any]:
        """Return the JSON object that a service answers, with its key masked.

        It is asked again, after a growing time or the one that it asks for, where it is busy, fails
        or cuts the connection. A service that has never answered is not waited for.

        Args:
            path: behind the address, such as "/embeddings".
            body: sent as JSON.
            most_bytes: a longer answer is refused while it is read.

        Raises:
            RefusedError: the service refuses the request.
            ServiceError: it cannot be reached, fails, or answers otherwise than with such JSON.
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
                status, headers, text = await self._exchange(path, content, most_bytes)
            except _LostError as error:
                fault = str(error)
            else:
                self._has_answered = True
                if status in _SUCCESSES:
                    return self._read(headers, text)
                fault = self._fault(status, headers, text)
                pause = retry_after(headers)
            if n_tries == TRIES:
                raise self._error(f"gives no answer in {TRIES} tries: {fault}")
            if pause is None:
                await self._sleep(backoff(n_tries))
            elif pause > LONGEST_PAUSE:
                raise self._error(
                    f"asks to wait for {pause:,.0f} seconds ({fault}); run again then"
                )
            else:
                self._next = max(self._next, time.monotonic() + pause)

    async def _work_all(
        self,
        jobs: Iterator[Job],
        ask: Callable[[Job], Awaitable[Answer]],
        arrived: Callable[[tuple[Job, Answer]], None],
    ) -> None:
        """Do all jobs, several at a time; raise the first error once all that began has ended."""
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
        self, path: str, content: bytes, most_bytes: int
    ) -> tuple[int, Mapping[str, str], str]:
        """Return status, headers and text of the answer to one request.

        The time is bounded as a whole, however a service draws an answer out. The key is masked
        here, in errors too, so that no other code sees it in what a service sends; causes of
        errors are dropped because they quote the service.
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
                    if len(data) > most_bytes:
                        raise self._error(f"answers with more than {most_bytes >> 20:,} MiB")
        except TimeoutError:
            raise _LostError(f"no whole answer in {seconds:,} seconds") from None
        except self._library.TransportError as error:
            fault = self._told(error)
            connecting = (self._library.ConnectError, self._library.ConnectTimeout)
            if not self._has_answered and isinstance(error, connecting):
                raise self._error(f"cannot be reached ({fault}); is it up?") from None
            raise _LostError(fault) from None
        except self._library.InvalidURL as error:
            raise self._error(f"is no address ({self._told(error)})") from None
        except self._library.HTTPError as error:
            raise self._error(f"answers what HTTP does not have ({self._told(error)})") from None
        told = {name: self._masked(value) for name, value in response.headers.items()}
        return response.status_code, told, self._masked(data.decode("utf-8-sig", "replace"))

    def _read(self, headers: Mapping[str, str], text: str) -> dict[str, Any]:
        kind = headers.get("content-type", "").partition(";")[0].strip()[:_TOLD] or "no type"
        try:
            found = parsed_json("the answer", text)
        except InputError as error:
            raise self._error(
                f"answers with {kind} that is no JSON; is it the address of the API, such as "
                "https://host/v1?"
            ) from error
        if not isinstance(found, dict):
            raise self._error(f"answers with JSON that is no object but {type(found).__name__}")
        return found

    def _fault(self, status: int, headers: Mapping[str, str], text: str) -> str:
        """Return the fault of a request that may be tried again; raise where it may not."""
        if status in _REDIRECTS:
            target = headers.get("location", "nowhere").partition("?")[0][:_TOLD]
            raise self._error(f"redirects to {target}; name the address that answers")
        told, code = _explanation(text)
        fault = f"HTTP {status}" + (f", {told[:_TOLD]}" if told else "")
        if status in _BUSY or status in _FAILURES:
            return fault
        if status in {401, 403} and self._service.key is None:
            fault += "; it needs a key, in the environment variable MEDSIM_API_KEY"
        raise RefusedError(f"{self._service.location} refuses: {fault}", status, code)

    async def _sleep(self, seconds: float) -> None:
        """Wait; raise _StoppedError if a job has failed meanwhile."""
        if seconds > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), seconds)
        if self._stop.is_set():
            raise _StoppedError

    def _told(self, error: BaseException) -> str:
        return self._masked(str(error) or type(error).__name__)[:_TOLD]

    def _masked(self, text: str) -> str:
        for secret in self._secrets:
            text = secret.sub(_MASK, text)
        return text

    def _error(self, fault: str) -> ServiceError:
        return ServiceError(f"{self._service.location} {fault}")


def backoff(n_tries: int) -> float:
    """Return the seconds to wait after so many tries: twice as long each time, with jitter."""
    wait: float = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (n_tries - 1))
    return wait * (0.5 + _jitter.random())


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a service asks to wait (RFC 9110, 10.2.3); None if it does not."""
    text = headers.get("retry-after", "").strip()
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        at = parsedate_to_datetime(text)
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        return max(0.0, (at - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):  # a year or a zone that there is not
        return None


def spellings(key: str) -> tuple[re.Pattern[str], ...]:
    """Return what matches a key as it is, percent-encoded or escaped in JSON, and in base64.

    In base64 a key has three forms, by where it begins in a group of three bytes. The characters
    at either end that depend on the bytes around it are not matched.
    """
    if len(key) < SHORTEST_SECRET:
        return ()
    plain = ""
    for one in key:
        code = f"(?i:{ord(one):02x})"
        short = rf"|\\{re.escape(one)}" if one in '"\\/' else ""
        plain += rf"(?:{re.escape(one)}{short}|\\u00{code}|%{code})"
    packed = []
    for n_before in range(3):
        form = base64.b64encode(bytes(n_before) + key.encode()).decode()
        form = form[-(-n_before * 8 // 6) : (n_before + len(key)) * 8 // 6]
        packed.append("".join({"+": "[+-]", "/": "[/_]"}.get(one, one) for one in form))
    return re.compile(plain), re.compile("|".join(packed))


def _all_of(arrived: queue.SimpleQueue[Job]) -> list[Job]:
    """Return what has arrived: one thing or more."""
    found: list[Job] = []
    while not found:
        with suppress(queue.Empty):  # looks up, as no signal ends a wait in some surroundings
            found.append(arrived.get(timeout=_SECONDS_A_LOOK))
    while not arrived.empty():
        found.append(arrived.get())
    return found


def _explanation(text: str) -> tuple[str, str]:
    """Return how a service explains an error, and its code; empty where it does not.

    OpenAI, vLLM, llama.cpp and Ollama answer {"error": {"message", "code", …}}, TEI {"message"}
    or {"error"}.
    """
    try:
        found = parsed_json("the answer", text)
    except InputError:
        return "", ""
    inner = found.get("error", found) if isinstance(found, dict) else found
    if isinstance(inner, dict):
        code = inner.get("code") or inner.get("type") or ""
        return str(inner.get("message") or inner.get("detail") or ""), str(code)
    return (inner, "") if isinstance(inner, str) else ("", "")
