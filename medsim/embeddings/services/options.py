"""The options of asking a service, and the address that it has."""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

from medsim.core.errors import OptionError, unknown_name
from medsim.core.hints import types_of
from medsim.core.options import Option, Options

if TYPE_CHECKING:
    from collections.abc import Mapping
    from urllib.parse import SplitResult

SERVICE = "api:"
"""The beginning of a text that names a service, before its address."""

KEY, OPENAI_KEY = "MEDSIM_API_KEY", "OPENAI_API_KEY"
"""The environment variables of a key: of any service, and of OpenAI's alone."""

ASKING = ("key", "concurrency", "rpm", "timeout")
"""The options that say how a service is asked, and do not decide what it answers."""

MOST_CONCURRENT = 256
MOST_PER_MINUTE = 1_000_000
MOST_SECONDS = 86_400

_OPENAI_HOST = "api.openai.com"
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,99}")
_NUMBER = re.compile(r"[0-9]{1,9}")
_TEXT_OF_KEY = re.compile(r"[\x21-\x7e]{1,10000}")  # as a header of HTTP may have it
_HOST = re.compile(r"[A-Za-z0-9._:-]{1,253}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceOptions(Options):
    """The options that every service has."""

    model: Annotated[
        str | None, Option("Of a service: the model that is asked for, as the service names it.")
    ] = None
    key: Annotated[
        str | None,
        Option(
            "Of a service: the environment variable that has its key; by default "
            f"{KEY}, else {OPENAI_KEY} where the host is {_OPENAI_HOST}."
        ),
    ] = None
    concurrency: Annotated[
        int,
        Option("Of a service: requests under way at a time.", least=1, most=MOST_CONCURRENT),
    ] = 4
    rpm: Annotated[
        int | None,
        Option(
            "Of a service: requests a minute at most; any number by default.",
            least=1,
            most=MOST_PER_MINUTE,
        ),
    ] = None
    timeout: Annotated[
        int, Option("Of a service: seconds that an answer may take.", least=1, most=MOST_SECONDS)
    ] = 300

    def check(self) -> None:
        """Raise OptionError for a key that is no name of an environment variable."""
        if self.key is not None and not _VARIABLE.fullmatch(self.key):  # it may be the key itself
            raise OptionError(
                "key= names no environment variable in capitals, such as MEDSIM_API_KEY; keys "
                "are given in the environment alone"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A service, and how it is asked.

    Attributes:
        url: without user, query, fragment, and slash at its end.
        model: as the service names it.
        key: sent with every request; None where it needs none. No text shows it.
    """

    url: str
    model: str
    key: str | None = field(repr=False)
    options: ServiceOptions = field(repr=False)

    @property
    def location(self) -> str:
        """The text that names the address, as a user gives it."""
        return f"{SERVICE}{self.url}"


def is_service(place: object) -> bool:
    """Return whether a place is the address of a service."""
    return isinstance(place, str) and place.startswith(SERVICE)


def open_service(place: str, options: ServiceOptions) -> Service:
    """Return the service of a text such as "api:https://host/v1"; it is not asked yet.

    Raises:
        OptionError: the address, the model or the key are not as they must be.
    """
    url, parts = _checked_url(place.removeprefix(SERVICE))
    if not options.model:
        raise OptionError(f"{SERVICE}{url} needs the name of a model: add ,model=NAME")
    return Service(url=url, model=options.model, key=_key(url, parts, options), options=options)


def parsed_numbers(
    given: Mapping[str, str], kind: type[Options], noun: str
) -> dict[str, str | int]:
    """Return options given as text by name, those that are whole numbers as such.

    Raises:
        OptionError: there is no such option, or a number is none.
    """
    known, hints = [one.name for one in fields(kind)], types_of(kind)
    values: dict[str, str | int] = {}
    for name, value in given.items():
        if name not in known:
            raise OptionError(unknown_name(noun, name, known))
        values[name] = value
        if hints[name] in {int, int | None}:
            if not _NUMBER.fullmatch(value):
                raise OptionError(f"{noun} {name}={value!r} is no whole number, such as 16")
            values[name] = int(value)
    return values


def _checked_url(text: str) -> tuple[str, SplitResult]:
    """Return an address as it is kept and shown, and its parts."""
    example = "such as api:https://host/v1"
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise OptionError(f"the address of a service is no URL, {example}") from error
    if parts.username is not None or parts.password is not None or "@" in parts.netloc:
        raise OptionError(
            f"the address of a service has a user or password; give a key in the environment "
            f"variable {KEY}"
        )
    if parts.query or parts.fragment or "?" in text or "#" in text:
        raise OptionError(
            f"the address of a service has a ? or #; give {host or 'it'} without, and a key in the "
            f"environment variable {KEY}"
        )
    if parts.scheme not in {"http", "https"} or not _HOST.fullmatch(host):
        raise OptionError(f"the address of a service is no URL of http or https, {example}")
    shown = f"[{host}]" if ":" in host else host
    shown += "" if port is None else f":{port}"
    path = parts.path.rstrip("/")
    if re.search(r"[^\x21-\x7e]", path):
        raise OptionError(
            f"the address of a service has a space or a letter that is not ASCII in "
            f"its path; write it with %, {example}"
        )
    return f"{parts.scheme}://{shown}{path}", parts


def _key(url: str, parts: SplitResult, options: ServiceOptions) -> str | None:
    """Return the key that is sent to a service; None where the environment has none."""
    host = parts.hostname or ""
    names = [options.key] if options.key else [KEY]
    if options.key is None and host == _OPENAI_HOST:
        names.append(OPENAI_KEY)
    for name in names:
        found = os.environ.get(name, "").strip()
        if not found:
            continue
        if not _TEXT_OF_KEY.fullmatch(found):
            raise OptionError(f"the environment variable {name} has no key that HTTP can send")
        if options.key is None and parts.scheme == "http" and not _is_near(host):
            raise OptionError(
                f"{url} would get the key of {name} unencrypted; use https, or add ,key={name} to "
                "send it all the same"
            )
        return found
    if options.key is not None:
        raise OptionError(f"the environment variable {options.key} of key= is not set")
    return None


def _is_near(host: str) -> bool:
    """Return whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
