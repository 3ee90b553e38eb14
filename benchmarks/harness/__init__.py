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
        quick: whether to take a small piece of the work, for a check in minutes.
        threads: how many compute, on either side of a comparison.
        cache: the folder that keeps downloads; outside of the repository.
        prototype: the program to run beside the search, where there is one.
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
        about: the input, in words.
        times: in words; the ratios are added to them.
        ratios: how many times as long something else took in the same run, by its name; a fall is
            a loss of speed whatever the machine is busy with.
        peak: memory, in words.
        fingerprint: of the results, which depend neither on the machine nor on threads.
    """

    about: str
    times: str
    ratios: dict[str, float] = field(default_factory=dict)
    peak: str = ""
    fingerprint: str


class MismatchError(Exception):
    """Results differ where they must not."""


class UnavailableError(Exception):
    """Something that a benchmark needs is not available here."""


class Measure(Protocol):
    """Runs a benchmark."""

    def __call__(self, settings: Settings) -> Measured:
        """Return its result.

        Raises:
            MismatchError: results are wrong, which is worse than slow.
            UnavailableError: something that it needs cannot be had.
        """


BENCHMARKS: Registry[Measure] = Registry("benchmark", "benchmarks")
