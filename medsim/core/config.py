"""Constants that packages share, such as the names of datasets, and the number of threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from medsim.core.errors import OptionError

Strategy = Literal["random", "levenshtein", "embedding", "minimal"]
PoolScope = Literal["set", "terminology"]
"""The terms that negatives are drawn from: the terms of the set, or of the whole terminology."""

Difficulty = Literal["easy", "hard"]
_OfRetired = Literal["possibly_equivalent_to", "replaced_by", "same_as"]
DatasetName = Literal[_OfRetired, "fsn_syn", "syn_syn", "cross_language", "parent_child"]
"""The names of datasets, which SQL files declare; see ``queries.datasets``."""

SET_COLUMNS = ("dataset", "difficulty", "negatives")
"""The columns that name a set of pairs within a build."""

CROSS_LANGUAGE = "cross_language"
"""The dataset that only builds in several languages have."""

PARENT_CHILD: DatasetName = "parent_child"
"""The dataset that only builds with a hierarchy have; its positives do not mean the same."""

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
"""The strategies of negatives, in the order in which a build makes them."""

DEFAULT_STRATEGIES: tuple[Strategy, ...] = ("random", "levenshtein")
"""The strategies that a build uses by default."""

MINIMAL: Strategy = "minimal"
"""The strategy that makes all the negatives there are, not one for each positive."""

DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)
"""The difficulties of a dataset, in the order in which their negatives are made."""

EASY_DISTANCE = 5
"""The largest Levenshtein distance of an easy positive (Schulz and Juric 2020, section 3.1)."""

TIMEOUT = 600.0
"""The default time limit of a statement, in seconds."""

MAX_THREADS = 1024
MAX_SEED = (1 << 63) - 1
MAX_COUNT = 1_000_000_000
"""The largest number that an option accepts if it has no other limit."""


def checked_threads(threads: int | None) -> int:
    """Return the number of threads to use: the requested number, or all available."""
    if threads is None:
        return available_threads()
    if not isinstance(threads, int) or not 1 <= threads <= MAX_THREADS:
        raise OptionError(f"`threads` {threads} is out of range; 1 to {MAX_THREADS} are accepted")
    return threads


def available_threads() -> int:
    """Return the number of CPUs that this process or its container may use, at least 1."""
    has_affinity = hasattr(os, "sched_getaffinity")
    n_cpus = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    for quota, period in _CPU_LIMITS:  # microseconds of CPU time in a period
        with suppress(OSError, ValueError, ZeroDivisionError):  # no such file, or no limit ("max")
            numbers = f"{quota.read_text(encoding='ascii')} {period.read_text(encoding='ascii')}"
            n_quota, n_period, *_ = map(int, numbers.split())
            n_cpus = min(n_cpus, -(-n_quota // n_period) if n_quota > 0 else n_cpus)
    return max(1, n_cpus)


_CPU = Path("/sys/fs/cgroup/cpu")
_CPU_LIMITS = (
    (_CPU.with_name("cpu.max"), Path(os.devnull)),
    (_CPU / "cpu.cfs_quota_us", _CPU / "cpu.cfs_period_us"),
)
_MEMORY_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def available_memory() -> int:
    """Return the memory that this process may use, in bytes: the machine's or the container's."""
    limits = [1 << 40]  # if the system reports nothing
    with suppress(AttributeError, OSError, ValueError):
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for path in _MEMORY_LIMITS:
        with suppress(OSError, ValueError):  # no such file, or no limit ("max")
            limits.append(int(Path(path).read_text(encoding="ascii")))
    return min(limits)


R = TypeVar("R")


@contextmanager
def thread_pool(
    threads: int, initializer: Callable[[], object] | None = None
) -> Iterator[ThreadPoolExecutor]:
    """Give the body a thread pool; calls that have not begun at its end are cancelled."""
    executor = ThreadPoolExecutor(threads, initializer=initializer)
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


def in_threads(threads: int, work: Callable[..., R], *arguments: Iterable[Any]) -> list[R]:
    """Return the results of ``work`` in the order of its arguments, as ``map`` takes them."""
    calls = list(zip(*arguments, strict=False))
    if threads == 1 or len(calls) < 2:  # noqa: PLR2004 — a single call needs no threads
        return [work(*call) for call in calls]
    with thread_pool(threads) as executor:
        return list(executor.map(work, *zip(*calls, strict=True)))
