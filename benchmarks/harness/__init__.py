"""The settings of benchmarks, their results and their registry."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from medsim.core.registry import Registry

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a run of benchmarks.

    Attributes:
        quick: whether to use small sizes, for a check in minutes.
        threads: number of threads, on both sides of a comparison.
        cache: folder for downloads, outside the repository.
        prototype: program to compare with the search, if given.
    """

    quick: bool
    threads: int
    cache: Path
    prototype: Path

    def size(self, full: int, quick: int) -> int:
        """Return one of two sizes."""
        return quick if self.quick else full


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The result of a benchmark.

    Attributes:
        about: the input in words.
        times: the times in words; ratios are appended to them.
        ratios: by name, how many times as long something else took in the same run; a fall means a
            loss of speed, even on a busy machine.
        peak: peak memory in words.
        fingerprint: hash of the results, which depend neither on the machine nor on threads.
    """

    about: str
    times: str
    ratios: dict[str, float] = field(default_factory=dict)
    peak: str = ""
    fingerprint: str


class MismatchError(Exception):
    """Results differ that must be equal."""


class UnavailableError(Exception):
    """Something that a benchmark needs is not available here."""


class Measure(Protocol):
    """Runs a benchmark."""

    def __call__(self, settings: Settings) -> Measured:
        """Return the result of the benchmark.

        Raises:
            MismatchError: results are wrong.
            UnavailableError: something that the benchmark needs is not available.
        """


BENCHMARKS: Registry[Measure] = Registry("benchmark", "benchmarks")
