"""Chunks of bytes written to a pipe by a thread, while another reads them."""

from __future__ import annotations

import os
from collections import deque
from typing import TYPE_CHECKING

from medsim.core.config import thread_pool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from concurrent.futures import ThreadPoolExecutor

_CHUNKS_AHEAD = 64  # DuckDB reads many megabytes at once and parses them before it reads on


def close_unclaimed(ends: list[int]) -> bool:
    """Close the end of a pipe that no pump has taken; return whether there was one.

    An interrupt may come before the pump's thread runs. If it runs later, it finds nothing to do:
    taking an element out of a list happens once, whichever thread is first.
    """
    try:
        os.close(ends.pop())
    except IndexError:
        return False
    return True


def pump(chunks: Iterable[bytes], unclaimed: list[int], failures: list[BaseException]) -> None:
    """Write chunks to a pipe until they end or nobody reads."""
    try:
        writing = unclaimed.pop()
    except IndexError:
        return
    try:
        with thread_pool(1) as maker, os.fdopen(writing, "wb", buffering=0) as pipe:
            for chunk in _made_ahead(chunks, maker):
                _write_all(pipe.fileno(), chunk)
    except BrokenPipeError:
        return
    except BaseException as error:  # noqa: BLE001 — raised again in the thread that asked
        failures.append(error)


def _made_ahead(chunks: Iterable[bytes], maker: ThreadPoolExecutor) -> Iterator[bytes]:
    """Yield chunks that the one thread of ``maker`` makes before they are asked for."""
    rest = iter(chunks)
    ahead = deque(maker.submit(next, rest, None) for _ in range(_CHUNKS_AHEAD))
    while (chunk := ahead.popleft().result()) is not None:
        ahead.append(maker.submit(next, rest, None))
        yield chunk


def _write_all(descriptor: int, chunk: bytes) -> None:
    rest = memoryview(chunk)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
