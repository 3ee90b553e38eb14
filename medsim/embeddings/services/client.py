"""Asks a service over HTTP: several requests at a time, tries again, and trusts no answer."""

from __future__ import annotations

import json
import queue
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from medsim.core.errors import InputError, OptionError, ServiceError
from medsim.core.extras import needing
from medsim.core.reading import parsed_json
from medsim.embeddings.services.pace import Pace, StoppedError, backoff, retry_after

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import TracebackType
    from typing import Self

    import httpx2

    from medsim.embeddings.services.options import Service

Job = TypeVar("Job")
Answer = TypeVar("Answer")

TRIES = 6
"""The times that a request is sent at most."""

LONGEST_PAUSE = 600.0
"""Seconds for which a service may ask to wait; where it asks for more, the run ends."""

_CONNECT_SECONDS = 10.0
_SECONDS_A_LOOK = 0.5
_TOLD = 300  # characters of an error that a service explains
_SUCCESSES, _REDIRECTS, _FAILURES = range(200, 300), range(300, 400), range(500, 600)
_BUSY = frozenset({408, 425, 429})


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


class ServiceClient:
    """A service, asked over HTTP from several threads; use it in ``with``."""

    def __init__(self, service: Service) -> None:
        with needing("services need httpx2", "api"):
            import httpx2  # noqa: PLC0415 — an extra
        self._library = httpx2
        self._service = service
        self._has_answered = False
        self._under_way = threading.Semaphore(service.options.concurrency)
        self._pace = Pace(service.options.rpm)
        try:
            self._http: httpx2.Client = httpx2.Client(
                headers={"Accept": "application/json", "Accept-Encoding": "identity"},
                auth=None if service.key is None else _bearer(service.key),
                timeout=httpx2.Timeout(
                    float(service.options.timeout), connect=_CONNECT_SECONDS, pool=None
                ),
                limits=httpx2.Limits(max_connections=service.options.concurrency),
                follow_redirects=False,
            )
        except (ImportError, ValueError, httpx2.InvalidURL) as error:
            raise OptionError(
                "the proxy that HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names cannot be used "
                f"({error})"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pace.stop()
        if kind is None or issubclass(kind, Exception):  # nothing is under way any more
            self._http.close()
        else:  # closing waits for what is under way, for which whoever interrupts would wait
            threading.Thread(target=self._http.close, daemon=True).start()

    def ask(self, path: str, body: Mapping[str, object], most_bytes: int) -> dict[str, Any]:
        """Return the JSON object that a service answers.

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
            try:
                with self._under_way:
                    self._pace.wait()
                    status, headers, data = self._exchange(path, content, most_bytes)
            except self._library.TransportError as error:
                fault = self._explained(error)
                if not self._has_answered and isinstance(
                    error, self._library.ConnectError | self._library.ConnectTimeout
                ):
                    raise self._error(f"cannot be reached ({fault}); is it up?") from error
            except (self._library.InvalidURL, UnicodeError) as error:
                raise self._error(f"is no address ({self._shown(str(error))})") from error
            except self._library.HTTPError as error:
                raise self._error(f"answers what HTTP does not have ({error})") from error
            else:
                self._has_answered = True
                if status in _SUCCESSES:
                    return self._read(headers, data)
                fault = self._fault(status, headers, data)
                pause = retry_after(headers)
            if n_tries == TRIES:
                raise self._error(f"gives no answer in {TRIES} tries: {fault}")
            self._rest(n_tries, pause, fault)

    def ask_all(
        self, jobs: Iterable[Job], ask: Callable[[Job], Answer]
    ) -> Iterator[list[tuple[Job, Answer]]]:
        """Yield the answers to jobs as they arrive: one, or all that have come meanwhile.

        As many requests are under way as the options say; where these are several, also while
        answers are read. Where a job fails, no other begins, and what the others answer is yielded
        before the error is raised.
        """
        asking = _Asking(jobs, ask, self._pace.stop)
        concurrency = self._service.options.concurrency
        n_running = 1 if concurrency == 1 else 2 * concurrency  # the others read answers meanwhile
        for _ in range(n_running):  # nobody waits for them where the run is interrupted
            threading.Thread(target=asking.work, daemon=True).start()
        while n_running:
            found = asking.wait()
            n_running -= found.count(None)
            if answers := [one for one in found if one is not None]:
                yield answers
        if asking.failures:
            raise asking.failures[0]

    def _exchange(
        self, path: str, content: bytes, most_bytes: int
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Return status, headers and content of the answer to one request."""
        seconds = self._service.options.timeout
        began, data = time.monotonic(), bytearray()
        with self._http.stream(
            "POST",
            self._service.url + path,
            content=content,
            headers={"Content-Type": "application/json"},
        ) as response:
            for part in response.iter_bytes():
                data += part
                if len(data) > most_bytes:
                    raise self._error(f"answers with more than {most_bytes >> 20:,} MiB")
                if time.monotonic() - began > seconds:
                    raise self._library.ReadTimeout(f"no whole answer in {seconds:,} seconds")
            return response.status_code, response.headers, bytes(data)

    def _read(self, headers: Mapping[str, str], data: bytes) -> dict[str, Any]:
        kind = headers.get("content-type", "").partition(";")[0].strip() or "no type"
        try:
            found = parsed_json("the answer", data)
        except InputError as error:
            raise self._error(
                f"answers with {kind} that is no JSON; is it the address of the API, such as "
                "https://host/v1?"
            ) from error
        if not isinstance(found, dict):
            raise self._error(f"answers with JSON that is no object but {type(found).__name__}")
        return found

    def _fault(self, status: int, headers: Mapping[str, str], data: bytes) -> str:
        """Return the fault of a request that may be tried again; raise where it may not."""
        if status in _REDIRECTS:
            target = headers.get("location", "nowhere").partition("?")[0]
            raise self._error(f"redirects to {self._shown(target)}; name the address that answers")
        told, code = _explanation(data)
        fault = f"HTTP {status}" + (f", {self._shown(told)}" if told else "")
        if status in _BUSY or status in _FAILURES:
            return fault
        if status in {401, 403} and self._service.key is None:
            fault += "; it needs a key, in the environment variable MEDSIM_API_KEY"
        raise RefusedError(f"{self._service.location} refuses: {fault}", status, code)

    def _rest(self, n_tries: int, pause: float | None, fault: str) -> None:
        """Wait before another try: as long as the service asks, of all threads, or a while."""
        if pause is not None and pause > LONGEST_PAUSE:
            raise self._error(f"asks to wait for {pause:,.0f} seconds ({fault}); run again then")
        if pause is not None:
            self._pace.pause(pause)
        self._pace.sleep(backoff(n_tries) if pause is None else 0)

    def _explained(self, error: httpx2.TransportError) -> str:
        if isinstance(error, self._library.TimeoutException):
            return str(error) or f"no answer in {self._service.options.timeout:,} seconds"
        return self._shown(str(error) or type(error).__name__)

    def _shown(self, text: str) -> str:
        """Return a text of a service as a message may show it: short, and without the key."""
        if self._service.key is not None:
            text = text.replace(self._service.key, "…")
        return text[:_TOLD]

    def _error(self, fault: str) -> ServiceError:
        return ServiceError(f"{self._service.location} {fault}")


class _Asking(Generic[Job, Answer]):
    """Jobs that threads share.

    Attributes:
        arrived: each job with its answer, and None from every thread that ends.
        failures: the errors of jobs.
    """

    def __init__(
        self, jobs: Iterable[Job], ask: Callable[[Job], Answer], stop: Callable[[], None]
    ) -> None:
        self._jobs, self._lock = iter(jobs), threading.Lock()
        self._ask, self._stop = ask, stop
        self.arrived: queue.SimpleQueue[tuple[Job, Answer] | None] = queue.SimpleQueue()
        self.failures: list[Exception] = []

    def work(self) -> None:
        """Do one job after the other, until none is left or one has failed."""
        try:
            while not self.failures and (job := self._next()) is not None:
                self.arrived.put((job, self._ask(job)))
        except StoppedError:
            pass
        except Exception as error:  # noqa: BLE001 — raised again by the thread that waits
            self.failures.append(error)
            self._stop()
        finally:
            self.arrived.put(None)

    def wait(self) -> list[tuple[Job, Answer] | None]:
        """Return the answers that have arrived: one or more."""
        found: list[tuple[Job, Answer] | None] = []
        while not found:
            with suppress(queue.Empty):  # looks up, as no signal ends a wait in some surroundings
                found.append(self.arrived.get(timeout=_SECONDS_A_LOOK))
        while not self.arrived.empty():
            found.append(self.arrived.get())
        return found

    def _next(self) -> Job | None:
        with self._lock:
            return next(self._jobs, None)


def _bearer(key: str) -> Callable[[httpx2.Request], httpx2.Request]:
    def signed(request: httpx2.Request) -> httpx2.Request:
        request.headers["Authorization"] = f"Bearer {key}"
        return request

    return signed


def _explanation(data: bytes) -> tuple[str, str]:
    """Return how a service explains an error, and its code; empty where it does not.

    OpenAI, vLLM, llama.cpp and Ollama answer {"error": {"message", "code", …}}, TEI {"message"}
    or {"error"}.
    """
    try:
        found = parsed_json("the answer", data)
    except InputError:
        return "", ""
    inner = found.get("error", found) if isinstance(found, dict) else found
    if isinstance(inner, dict):
        code = inner.get("code") or inner.get("type") or ""
        return str(inner.get("message") or inner.get("detail") or ""), str(code)
    return (inner, "") if isinstance(inner, str) else ("", "")
