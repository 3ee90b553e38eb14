"""The pace of requests: so many a minute, and none while a service asks to wait."""

from __future__ import annotations

import random
import threading
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

FIRST_WAIT = 1.0
"""Seconds before the second try; each later wait is twice as long."""

LONGEST_WAIT = 60.0
"""Seconds that are waited at most where a service does not say how long."""

_jitter = random.SystemRandom()  # decides nothing that is computed


class StoppedError(Exception):
    """Waiting ended, as nobody needs the answer any more."""


class Pace:
    """The pace of requests of all threads that ask one service.

    Args:
        per_minute: requests a minute at most, at equal distances; None for any number.
    """

    def __init__(self, per_minute: int | None) -> None:
        self._distance = 0.0 if per_minute is None else 60 / per_minute
        self._next = 0.0
        self._lock = threading.Lock()
        self._stop = threading.Event()

    def wait(self) -> None:
        """Wait until a request may be sent; StoppedError where waiting was stopped."""
        with self._lock:
            at = max(self._next, time.monotonic())
            self._next = at + self._distance
        while (left := at - time.monotonic()) > 0 and not self._stop.is_set():
            self._stop.wait(min(left, 1.0))
        if self._stop.is_set():
            raise StoppedError

    def pause(self, seconds: float) -> None:
        """Send nothing for so long, from any thread."""
        with self._lock:
            self._next = max(self._next, time.monotonic() + seconds)

    def sleep(self, seconds: float) -> None:
        """Wait in this thread alone; StoppedError where waiting was stopped."""
        if self._stop.wait(seconds):
            raise StoppedError

    def stop(self) -> None:
        """End all waiting, now and later."""
        self._stop.set()


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
