"""Calls distributed over threads."""

from __future__ import annotations

from threading import Event

import pytest

from medsim.core.config import in_threads, thread_pool


def test_results_are_in_the_order_of_the_arguments() -> None:
    ended = Event()

    def work(first: int, second: int) -> int:
        if first:
            ended.set()
        else:
            assert ended.wait(60)
        return 10 * first + second

    assert in_threads(2, work, range(3), range(5, 8)) == [5, 16, 27]


def test_waiting_calls_are_cancelled_if_the_body_fails() -> None:
    dropped = Event()
    calls = []

    def fail() -> None:
        with thread_pool(1) as executor:
            calls.extend(executor.submit(dropped.wait, 10) for _ in range(2))
            calls[1].add_done_callback(lambda _: dropped.set())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert calls[0].result()
    assert calls[1].cancelled()
