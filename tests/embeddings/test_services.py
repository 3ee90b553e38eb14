"""Embeddings services: requests, the cache, and errors."""

from __future__ import annotations

import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fixtures.encoders import Recording
from fixtures.release import random_release
from fixtures.services import Fault, Handler, LocalService, answer_to, vector_of

import medsim
from medsim.core.errors import InputError, OptionError, ServiceError
from medsim.embeddings import services as client
from medsim.embeddings.chats import LanguageModel
from medsim.embeddings.embedded_terms import open_source
from medsim.embeddings.formats import Request, TermVectors
from medsim.embeddings.options import parse_embedding

pytestmark = pytest.mark.slow

pytest.importorskip("httpx2", reason="medsim[api] is not installed")

TERMS = sorted(f"{word} {number}" for word in ("ab", "Ödem", "心臓") for number in range(40))


class MessageStage(Recording):
    """A stage that keeps its messages."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        """Keep a message."""
        self.lines.append(line)


def read(
    service: LocalService | str,
    terms: list[str] = TERMS,
    cache: Path | None = None,
    options: str = "batch=8",
    stage: Recording | None = None,
) -> TermVectors:
    """Return the vectors of terms from a service, or from the service at an address."""
    url = service if isinstance(service, str) else service.url
    spec = parse_embedding(f"x=api:{url},model=m,{options}")
    request = Request(
        terms=terms,
        words=(),
        options=spec.options,
        threads=1,
        cache=cache,
        stage=stage or Recording(),
    )
    return open_source(spec).read(request)


def expected(terms: list[str]) -> np.ndarray:
    return np.array([vector_of(term) for term in terms], np.float32)


def with_status(status: int, content: object = b"", **headers: str) -> Fault:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler, _body: handler.reply(content, status, named)


def changed(change: Callable[[dict[str, Any]], object]) -> Fault:
    """Return a function that changes one thing in the service's answer."""

    def fault(handler: Handler, body: dict[str, Any]) -> None:
        answer = answer_to(body)
        change(answer)
        handler.reply(answer)

    return fault


def cut(handler: Handler, _body: object) -> None:
    """Cut the connection in the middle of an answer."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')
    handler.close_connection = True


def test_vectors_are_those_of_the_service_in_the_order_of_the_request(
    service: LocalService,
) -> None:
    stage = MessageStage()

    result = read(service, TERMS[::-1], options="batch=7,concurrency=3", stage=stage)

    assert np.array_equal(result.vectors, expected(TERMS[::-1]))
    assert result.covered.all()
    assert sorted(service.answered) == TERMS
    assert stage.n_done == stage.n_units == len(TERMS)
    path, headers, body = service.requests[0]
    assert path == "/v1/embeddings"
    assert set(body) == {"model", "input", "encoding_format"}
    assert body["model"] == "m"
    assert body["encoding_format"] == "float"
    assert "Authorization" not in headers
    n_characters = sum(map(len, TERMS))
    assert stage.lines == [
        (
            f"120 terms go to api:{service.url}, an estimated {n_characters // 4:,} tokens "
            "(4 characters each)"
        ),
        "the service counted 120 tokens",
    ]


def test_prefix_and_dimensions_are_sent_and_decide_the_cache(
    service: LocalService, tmp_path: Path
) -> None:
    plain = read(service, ["a"], tmp_path)

    result = read(service, ["a"], tmp_path, "prefix=query: ,dimensions=4")

    assert service.requests[-1][2]["input"] == ["query: a"]
    assert service.requests[-1][2]["dimensions"] == 4
    assert np.array_equal(result.vectors, expected(["query: a"]))
    assert np.array_equal(read(service, ["a"], tmp_path).vectors, plain.vectors)
    assert len(service.requests) == 2


@pytest.mark.parametrize(
    "fault",
    [
        with_status(429, {"error": {"message": "slow down"}}, Retry_After="0"),
        with_status(429),
        with_status(500, b"<html>"),
        with_status(503, {"message": "overloaded"}, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"),
        cut,
    ],
)
def test_temporary_failures_are_retried(service: LocalService, fault: Fault) -> None:
    service.faults.extend([fault] * 3)

    result = read(service, options="batch=40,concurrency=1")

    assert np.array_equal(result.vectors, expected(TERMS))
    assert len(service.requests) == 6
    assert sorted(service.answered) == TERMS


def test_no_request_is_sent_before_the_time_a_service_requests(
    service: LocalService, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited = []

    async def at_once(_client: object, seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(client.ServiceClient, "_sleep", at_once)
    service.faults.append(with_status(429, Retry_After="17"))

    read(service, ["a"])

    assert waited == [pytest.approx(0, abs=1), pytest.approx(17, abs=1)]


def test_the_number_of_parallel_requests_is_limited(service: LocalService) -> None:
    under_way, most = 0, 0
    reached = threading.Event()

    def counted(handler: Handler, body: dict[str, Any]) -> None:
        nonlocal under_way, most
        with service.lock:
            under_way += 1
            most = max(most, under_way)
            if most == 3:
                reached.set()
        reached.wait(20)
        time.sleep(0.02)  # for a fourth to come
        with service.lock:
            under_way -= 1
        handler.reply(answer_to(body))

    service.always = counted

    read(service, options="batch=2,concurrency=3")

    assert most == 3


def test_a_limit_a_minute_holds_for_all_requests_together(service: LocalService) -> None:
    sent = list[float]()

    def timed(handler: Handler, body: dict[str, Any]) -> None:
        sent.append(time.monotonic())
        handler.reply(answer_to(body))

    service.always = timed

    read(service, TERMS[:10], options="batch=1,concurrency=3,rpm=6000")

    assert len(sent) == 10
    assert sent[-1] - sent[0] >= 9 * 0.01 - 0.02


def test_waits_are_as_requested_or_grow_to_a_maximum(monkeypatch) -> None:
    date = "Wed, 21 Oct 2015 07:28:00 GMT"
    for text, seconds in (("2.5", 2.5), ("soon", None), (date, None), ("-1", None), ("", None)):
        assert client.retry_after({"retry-after": text}) == seconds
    monkeypatch.setattr(client, "FIRST_WAIT", 1.0)
    for n_tries, least in ((1, 0.5), (2, 1), (5, 8), (50, 30)):
        assert least <= client.backoff(n_tries) <= 3 * least


def test_a_service_that_keeps_failing_ends_the_run_in_one_line(service: LocalService) -> None:
    service.always = with_status(500, {"error": {"message": "out of\nmemory"}})

    with pytest.raises(ServiceError, match=r"did not answer in 6 tries: HTTP 500, out of\\nmem"):
        read(service, ["a"])

    assert len(service.requests) == client.TRIES


ENDLESS = b'{"data": [' + b" " * (1 << 20)


def endless(handler: Handler, _body: object) -> None:
    """Answer with 10 GB."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(10**10))
    handler.end_headers()
    for _ in range(10_000):
        handler.wfile.write(ENDLESS)


def with_embedding(embedding: object) -> Fault:
    """Return a function that answers with this value for every vector."""
    return changed(lambda answer: [item.update(embedding=embedding) for item in answer["data"]])


NO_VECTORS = "did not answer with 2 vectors; it must give a list data with one vector per term"
BAD = {
    "a redirect to another host": (
        with_status(307, Location="https://elsewhere.invalid/v1?token=secret"),
        "redirects to https://elsewhere.invalid/v1; give that address",
    ),
    "HTML": (
        with_status(200, b"<html>", Content_Type="text/html; charset=utf-8"),
        "answered text/html that is not a JSON object; is it the address of the API",
    ),
    "nested too deeply": (with_status(200, b"[" * 10**6), "that is not a JSON object"),
    "10 GB": (endless, "answers with more than 2 MiB"),
    "no data": (with_status(200, {"error": "x"}), NO_VECTORS),
    "one more": (changed(lambda answer: answer["data"].append({"embedding": [1]})), NO_VECTORS),
    "an index twice": (changed(lambda answer: answer["data"][0].update(index=1)), NO_VECTORS),
    "another size": (changed(lambda answer: answer["data"][0]["embedding"].pop()), NO_VECTORS),
    "NaN": (
        changed(
            lambda answer: (
                answer["data"][1]["embedding"].append(float("nan"))
                or answer["data"][0]["embedding"].append(0.5)
            )
        ),
        "the vector of 'bb' is not finite",
    ),
    "too large": (with_embedding([0.5, 1e300]), "the vector of 'a' is not finite"),
    "a number of 400 digits": (with_embedding([10**400, 1]), NO_VECTORS),
    "a list in a list": (with_embedding([[True, 1.5]]), NO_VECTORS),
    "base64": (with_embedding("AAAA"), NO_VECTORS),
    "infinity": (with_embedding([0.5, float("inf")]), "the vector of 'a' is not finite"),
    "refused": (with_status(404, {"error": {"message": "no model m"}}), "HTTP 404, no model m"),
    "a key is missing": (with_status(401), "HTTP 401; it needs a key, in the environment variable"),
    "a long wait": (with_status(429, Retry_After="86400"), "asks to wait 86,400 seconds"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_answer_is_a_one_line_error_and_not_cached(
    service: LocalService, tmp_path: Path, name: str
) -> None:
    fault, message = BAD[name]
    service.faults.append(fault)

    with pytest.raises((InputError, ServiceError)) as raised:
        read(service, ["a", "bb"], tmp_path)

    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "secret" not in str(raised.value)
    assert not list(tmp_path.rglob("*.vectors"))


def test_vectors_are_taken_by_their_index_or_in_order(service: LocalService) -> None:
    service.always = changed(lambda answer: answer["data"].reverse())
    assert np.array_equal(read(service).vectors, expected(TERMS))
    service.always = changed(lambda answer: [item.pop("index") for item in answer["data"]])
    assert np.array_equal(read(service).vectors, expected(TERMS))


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("beginning", "part"), [(b"HTTP/1.1 200 OK\r\nX: ", b"a"), (CHUNKED, b"1\r\n \r\n")]
)
def test_a_slow_answer_times_out(
    service: LocalService, monkeypatch: pytest.MonkeyPatch, beginning: bytes, part: bytes
) -> None:
    def drawn_out(handler: Handler, _body: object) -> None:
        ends = time.monotonic() + 20  # otherwise the client would see the connection closed
        handler.close_connection = True
        handler.wfile.write(beginning)
        while time.monotonic() < ends:
            handler.wfile.write(part)
            time.sleep(0.05)

    monkeypatch.setattr(client, "TRIES", 1)
    service.always = drawn_out

    with pytest.raises(ServiceError, match="did not answer in 1 tries: no complete answer in 1"):
        read(service, ["a"], options="timeout=1")


@pytest.mark.parametrize("status", [413, 422, 400])
def test_a_batch_that_is_too_large_for_the_service_is_divided(
    service: LocalService, status: int
) -> None:
    def limited(handler: Handler, body: dict[str, Any]) -> None:
        if len(body["input"]) > 16:
            handler.reply({"message": "too many"}, status)
        else:
            handler.reply(answer_to(body))

    service.always = limited

    result = read(service, options="batch=64,concurrency=1")

    assert np.array_equal(result.vectors, expected(TERMS))
    batches = [body["input"] for _, _, body in service.requests]
    assert [len(batch) for batch in batches][:4] == [64, 32, 16, 16]
    assert max(map(len, batches[2:])) == 16
    lengths = [len(term) for batch in batches[2:] for term in batch]
    assert lengths == sorted(lengths)


def test_a_term_that_is_refused_is_named(service: LocalService) -> None:
    service.always = lambda handler, body: (
        handler.reply({"message": "too long"}, 413)
        if "bb" in body["input"]
        else handler.reply(answer_to(body))
    )

    with pytest.raises(ServiceError, match=r"HTTP 413, too long, asked for 'bb'"):
        read(service, ["a", "bb"])


def test_cached_terms_need_no_service(service: LocalService, tmp_path: Path) -> None:
    read(service, TERMS[:50], tmp_path)
    result = read(service, TERMS, tmp_path, options="batch=9,concurrency=1,rpm=1000000")

    assert np.array_equal(result.vectors, expected(TERMS))
    assert Counter(service.answered) == Counter(TERMS)
    service.always = with_status(500)
    assert np.array_equal(read(service, TERMS[3:9], tmp_path).vectors, expected(TERMS[3:9]))


def test_a_run_goes_on_after_the_service_was_down(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(client, "FIRST_WAIT", 0.001)
    service = LocalService()

    def die(handler: Handler, _body: object) -> None:
        service.always = cut
        cut(handler, _body)

    with service.running():
        service.faults.extend([lambda handler, body: handler.reply(answer_to(body))] * 6 + [die])
        with pytest.raises(ServiceError, match="in 6 tries"):
            read(service, cache=tmp_path)
    with pytest.raises(ServiceError, match=r"cannot be reached \(.+\); is it up\?"):
        read(service, cache=tmp_path)
    n_failed = len(service.requests)
    first = [term for _, _, body in service.requests[:6] for term in body["input"]]
    service.always = None
    with service.running():
        result = read(service, cache=tmp_path)

    assert np.array_equal(result.vectors, expected(TERMS))
    later = [term for _, _, body in service.requests[n_failed:] for term in body["input"]]
    assert sorted(first + later) == TERMS


class Interrupting(Recording):
    """A stage that is interrupted after a number of terms."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def advance(self, n_units: int = 1) -> None:
        """Count finished terms."""
        super().advance(n_units)
        if self.n_done > self._most:
            raise KeyboardInterrupt


def test_an_interrupt_loses_only_running_requests(service: LocalService, tmp_path: Path) -> None:
    def slowly(handler: Handler, body: dict[str, Any]) -> None:
        time.sleep(0.04)  # far longer than it takes to cache an answer
        with service.lock:
            service.answered += body["input"]
        handler.reply(answer_to(body))

    service.always = slowly
    with pytest.raises(KeyboardInterrupt):
        read(service, cache=tmp_path, stage=Interrupting(40), options="batch=4,concurrency=2")
    service.always = None
    threads = [running for running in threading.enumerate() if "work" in running.name]
    for thread in threads:
        thread.join(5)
    read(service, cache=tmp_path, options="batch=4")

    assert not any(thread.is_alive() for thread in threads)
    assert set(service.answered) == set(TERMS)
    assert len(service.answered) < 1.2 * len(TERMS)


def test_an_interrupt_does_not_wait_for_running_requests(service: LocalService) -> None:
    done, began = threading.Event(), time.monotonic()
    service.faults.append(lambda handler, body: handler.reply(answer_to(body)))
    service.always = lambda _handler, _body: done.wait(30)

    with pytest.raises(KeyboardInterrupt):
        read(service, stage=Interrupting(0), options="batch=8,concurrency=2")

    assert time.monotonic() - began < 20
    done.set()


def test_another_size_than_before_is_refused(service: LocalService, tmp_path: Path) -> None:
    read(service, ["a"], tmp_path)
    service.always = changed(
        lambda answer: [item.update(embedding=[1.0, 2.0]) for item in answer["data"]]
    )

    with pytest.raises(InputError, match=r"of 'b' has 2 dimensions and others have 4"):
        read(service, ["a", "b"], tmp_path)
    with pytest.raises(ServiceError, match="of 2 dimensions, not 4"):
        read(service, ["a", "b"], options="dimensions=4")


KEY = "sk-Very-Secret-0123456789"


def test_a_key_is_sent_and_never_shown(
    service: LocalService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    service.faults.append(with_status(429, {"error": {"message": f"slow: {KEY}"}}))
    read(service, ["a"], tmp_path, "key=MY_KEY")
    service.always = with_status(401, {"error": {"message": f"bad key {KEY}"}})

    with pytest.raises(ServiceError) as raised:
        read(service, ["b"], tmp_path, "key=MY_KEY")

    assert all(headers["Authorization"] == f"Bearer {KEY}" for _, headers, _ in service.requests)
    assert str(raised.value).endswith("HTTP 401, bad key …")
    source = open_source(parse_embedding(f"x=api:{service.url},model=m,key=MY_KEY"))
    assert KEY not in repr(source)
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert KEY.encode() not in kept


def echoed(key: str) -> dict[str, Fault]:
    """Return answers that contain a key; each ends the run."""

    def raw(content: str) -> Fault:
        return lambda handler, _body: handler.wfile.write(content.encode())

    return {
        "message": with_status(400, {"error": {"message": f"no {key}"}}),
        "code": with_status(400, {"error": {"message": "no", "code": key}}),
        "type": with_status(200, b"<", Content_Type=f"text/{key}"),
        "place": with_status(302, Location=f"https://elsewhere.invalid/{key}"),
        "status": raw(f"HTTP/1.1 {key}\r\n\r\n"),
        "header": raw(f"HTTP/1.1 200 OK\r\n{key}\r\n\r\n"),
    }


@pytest.mark.parametrize("name", echoed(KEY))
def test_a_key_that_a_service_echoes_is_masked_in_errors(
    service: LocalService, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("MEDSIM_API_KEY", KEY)
    monkeypatch.setattr(client, "TRIES", 1)
    service.always = echoed(KEY)[name]

    with pytest.raises(ServiceError) as raised:
        read(service, ["a"])

    shown = "".join(traceback.format_exception(raised.value)) + getattr(raised.value, "code", "")
    assert "…" in shown or name == "code"
    assert KEY[:12] not in shown
    assert KEY[-12:] not in shown


def test_a_key_by_default_goes_where_it_belongs(monkeypatch: pytest.MonkeyPatch) -> None:
    def key_for(url: str, options: str = "") -> str | None:
        return open_source(parse_embedding(f"x=api:{url},model=m{options}")).service.key  # type: ignore[attr-defined]

    monkeypatch.delenv("MEDSIM_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "of-openai")
    assert key_for("https://api.openai.com/v1") == "of-openai"
    assert key_for("https://api.openai.com.example.org/v1") is None
    assert key_for("http://localhost:11434/v1") is None
    monkeypatch.setenv("MEDSIM_API_KEY", "own")
    assert key_for("https://api.openai.com/v1") == "own"
    assert key_for("https://example.org/v1") == "own"
    assert key_for("http://127.0.0.1:1/v1") == key_for("http://[::1]:1/v1") == "own"
    assert key_for("http://example.org/v1", ",key=MEDSIM_API_KEY") == "own"
    with pytest.raises(OptionError, match="would get the key of MEDSIM_API_KEY unencrypted"):
        key_for("http://example.org/v1")
    monkeypatch.setenv("MEDSIM_API_KEY", "own key")
    with pytest.raises(OptionError, match=r"MEDSIM_API_KEY has no key that HTTP can send$"):
        key_for("https://example.org/v1")


NO_URL = "the address of a service must be like api:https://host/v1, without user, password"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x=api:https://h/v1", "needs the name of a model: add ,model=NAME"),
        ("x=api:ftp://h/v1,model=m", NO_URL),
        ("x=api:h/v1,model=m", NO_URL),
        ("x=api:,model=m", NO_URL),
        ("x=api:http://[::1/v1,model=m", NO_URL),
        ("x=api:https://ann:pass-word@h/v1,model=m", NO_URL),
        ("x=api:https://h/v1?key=pass-word,model=m", "environment variable MEDSIM_API_KEY"),
        ("x=api:https://h/v 1,model=m", NO_URL),
        ("x=api:https://h/v1,model=m,key=pass-word", "key= must name an environment variable"),
        ("x=api:https://h/v1,model=m,key=NOT_SET_X", "variable NOT_SET_X of key= is not set"),
        ("x=api:https://h/v1,key=pass-word,key=B,model=m", "embedding 'x' gives key twice"),
        ("x=api:https://h/v1,model=m,rpm=0", "`rpm` 0 is out of range"),
        ("x=api:https://h/v1,model=m,batch=many", "batch='many' is not a number"),
        ("x=api:https://h/v1,model=m,pooling=cls", "option pooling=cls does not fit"),
        ("x=api:https://h/v1,model=m,format=onnx", "option format=onnx does not fit"),
    ],
)
def test_a_wrong_address_or_option_is_a_one_line_error(text: str, message: str) -> None:
    with pytest.raises(OptionError) as raised:
        open_source(parse_embedding(text))

    assert message in str(raised.value)
    assert "pass-word" not in str(raised.value)


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ("nowhere.invalid", r"^api:http://nowhere.invalid/v1 cannot be reached \("),
        ("256.1.1.1:1", r"cannot be asked \("),
        ("[1.2]:1", r"cannot be asked \("),
        ("a" * 64 + ".org", r"cannot be reached \("),
    ],
)
def test_an_unknown_or_invalid_host_is_a_one_line_error(host: str, message: str) -> None:
    with pytest.raises(ServiceError, match=message):
        read(f"http://{host}/v1", ["a"])


def test_an_unusable_proxy_is_a_one_line_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for proxy in ("socks5://127.0.0.1:9", "socks://127.0.0.1:9"):
        monkeypatch.setenv("ALL_PROXY", proxy)
        with pytest.raises(OptionError, match=r"proxy named by .*ALL_PROXY cannot be used"):
            read("http://service.invalid/v1")


@pytest.fixture(params=["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def proxy(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LocalService]:
    """A proxy of the environment, which answers every request itself; and a key."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("MEDSIM_API_KEY", KEY)
    monkeypatch.setattr(client, "TRIES", 1)
    with LocalService().running() as running:
        monkeypatch.setenv(request.param, f"http://127.0.0.1:{running.port}")
        yield running


def test_a_proxy_of_the_environment_gets_requests_to_other_machines(proxy: LocalService) -> None:
    read("http://service.invalid/v1", ["a"], options="key=MEDSIM_API_KEY")

    assert [path for path, *_ in proxy.requests] == ["http://service.invalid/v1/embeddings"]


@pytest.mark.parametrize("host", ["localhost", "LocalHost", "127.0.0.1", "127.1"])
def test_a_service_on_this_machine_is_asked_without_a_proxy(
    service: LocalService, proxy: LocalService, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("MEDSIM_API_KEY", KEY)
    url = service.url.replace("127.0.0.1", host)

    result = read(url, ["a"])
    llm = LanguageModel.parse(f"x=api:{url},model=m")
    replies = llm.replies([[{"role": "user", "content": "b"}]], None, MessageStage())

    assert np.array_equal(result.vectors, expected(["a"]))
    assert replies[0].text == "TRUE"
    assert [headers["Authorization"] for _, headers, _ in service.requests] == [f"Bearer {KEY}"] * 2
    assert proxy.requests == []


@pytest.mark.parametrize(
    "host",
    [
        "localhost.",
        "LOCALHOST.",
        "127.0.0.2",
        "127.255.3.4",
        "127.0.0.1.",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",  # noqa: S104 — asked, not bound
        "[::]",
        "ip6-localhost",
        "service.localhost",
    ],
)
def test_no_address_of_this_machine_uses_a_proxy(proxy: LocalService, host: str) -> None:
    with pytest.raises(ServiceError):
        read(f"http://{host}:1/v1", ["a"])

    assert proxy.requests == []


def test_options_of_requests_do_not_change_the_identity() -> None:
    def fingerprint(text: str) -> str:
        return open_source(parse_embedding(f"x=api:{text}")).fingerprint()

    plain = fingerprint("https://H/v1/,model=m")
    assert plain == fingerprint("https://h/v1,model=m,batch=3,concurrency=9,rpm=5,timeout=3")
    others = ["https://h/v2,model=m", "https://h/v1,model=n", "https://h/v1,model=m,prefix=q"]
    others.append("https://h/v1,model=m,dimensions=8")
    assert len({plain, *map(fingerprint, others)}) == 5


@pytest.mark.full
def test_a_build_with_a_service_is_verified_from_the_cache(
    service: LocalService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEDSIM_API_KEY", KEY)
    build = medsim.build(
        random_release(3, 20).write_zip(tmp_path / "release.zip", "Snapshot"),
        tmp_path / "out",
        negatives=["embedding"],
        embedding=f"own=api:{service.url},model=m,batch=9,concurrency=2",
        cache=tmp_path / "cache",
    )
    service.always = with_status(500)
    n_requests = len(service.requests)

    verified = medsim.verify(build, cache=tmp_path / "cache")

    assert KEY not in (build.folder / "manifest.json").read_text(encoding="utf-8")
    assert n_requests > 1
    assert len(service.requests) == n_requests
    assert verified.findings["violations"].sum() == 0
    assert build.manifest.embedding == {"path": f"api:{service.url}", "format": "api"}
    named = build.manifest.options["embedding"]
    assert isinstance(named, dict)
    assert named["options"] == {"model": "m"}
    with pytest.raises(OptionError, match="model=n, but the build read it with m"):
        medsim.verify(build, embedding=f"own=api:{service.url},model=n")
    medsim.verify(
        build, embedding=f"own=api:{service.url},model=m,batch=7", cache=tmp_path / "cache"
    )
