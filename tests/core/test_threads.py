"""Calls distributed over threads."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from medsim.core import config
from medsim.core.config import available_threads, in_threads, thread_pool


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


@pytest.mark.parametrize(
    ("of_container", "expected"),
    [
        ({}, 64),
        ({"cpu.max": "max 100000\n"}, 64),
        ({"cpu.max": "200000 100000\n"}, 2),
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "1000 100000\n"}, 1),
        ({"cpu.max": "9900000 100000\n"}, 64),
        ({"cpu.max": ""}, 64),
        ({"cpu.max": "200000 0\n"}, 64),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 64),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ({"cpu/cpu.cfs_quota_us": "300000\n"}, 64),
    ],
)
def test_threads_are_those_of_the_container(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    of_container: dict[str, str],
    expected: int,
) -> None:
    for name, content in of_container.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    root = Path("/sys/fs/cgroup")
    limits = [
        [tmp_path / path.relative_to(root) if path.is_relative_to(root) else path for path in pair]
        for pair in config._CPU_LIMITS
    ]
    monkeypatch.setattr(config, "_CPU_LIMITS", limits)
    monkeypatch.setattr(config.os, "sched_getaffinity", lambda _: range(64), raising=False)

    assert available_threads() == expected
