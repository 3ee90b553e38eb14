"""Threads that share out calls of one function."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

R = TypeVar("R")


@contextmanager
def thread_pool(
    threads: int, initializer: Callable[[], object] | None = None
) -> Iterator[ThreadPoolExecutor]:
    """Give the body threads; at its end, calls that have not begun are dropped, not waited for."""
    executor = ThreadPoolExecutor(threads, initializer=initializer)
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


def in_threads(threads: int, work: Callable[..., R], *arguments: Iterable[Any]) -> list[R]:
    """Return the results of ``work`` in the order of its arguments, as ``map`` takes them."""
    with thread_pool(threads) as executor:
        return list(executor.map(work, *arguments))
