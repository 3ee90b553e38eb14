"""Times a piece of work by the clock on the wall."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return the result of a piece of work, and the seconds that it took."""
    began = time.perf_counter()
    found = work()
    return found, time.perf_counter() - began
