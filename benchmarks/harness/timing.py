"""Measures the elapsed time of a piece of work."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return the result of a piece of work, and its seconds."""
    began = time.perf_counter()
    result = work()
    return result, time.perf_counter() - began
