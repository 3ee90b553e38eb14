"""What a build is asked to do, as frozen dataclasses."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from medsim.errors import OptionError, unknown_name

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

STRATEGIES = ("random", "levenshtein")
"""The strategies of negatives that a build makes, in the order in which it makes them."""

POOLS = ("set", "terminology")
"""What negatives are drawn from: the terms of their own set, or all terms of the terminology."""

DIFFICULTIES = ("easy", "hard")
"""The difficulties of a dataset, in the order in which their negatives are made."""

EASY_DISTANCE = 5
"""The largest Levenshtein distance of an easy positive (Schulz and Juric 2020, section 3.1)."""

_SEEDS = 1 << 63
_MOST_THREADS = 1024
_MOST_SHARDS = 100_000

SYNONYM_SCOPES = ("exact", "narrow", "broad", "related")
"""The scopes that OBO gives to synonyms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """How a terminology is read.

    Attributes:
        language: the language code whose names make terms.
        as_of: the day whose state is taken from full history; None takes the newest state.
        synonym_scopes: the scopes of OBO synonyms that count as synonyms.
    """

    language: str = "en"
    as_of: date | None = None
    synonym_scopes: tuple[str, ...] = ("exact",)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildConfig:
    """Everything that decides what a build does.

    Attributes:
        source: path or built-in name of the terminology.
        out: the folder to write.
        reading: how the terminology is read.
        pool: what second terms of negatives are drawn from, one of ``POOLS``.
        seed: of the random draws, of ties and of the order of rows.
        threads: how many threads compute; it never changes the result.
        overwrite: whether an earlier build at ``out`` may be replaced.
        dask: where nearest terms are searched for: "local", or the address of a Dask scheduler;
            None searches here. It never changes the result.
    """

    source: str
    out: Path
    reading: SourceOptions
    pool: str = "set"
    seed: int = 0
    threads: int
    overwrite: bool = False
    dask: str | None = None

    def check(self) -> None:
        """Raise OptionError for an option that is out of range."""
        check_seed(self.seed)
        if self.pool not in POOLS:
            raise OptionError(unknown_name("pool", self.pool, list(POOLS)))
        if self.dask not in {None, "local"} and "://" not in str(self.dask):
            raise OptionError(
                f"--dask {self.dask!r} is neither local nor an address such as tcp://host:8786"
            )
        scopes = self.reading.synonym_scopes
        for scope in scopes:
            if scope not in SYNONYM_SCOPES:
                raise OptionError(unknown_name("synonym scope", scope, list(SYNONYM_SCOPES)))

    def options(self) -> dict[str, object]:
        """Return the options that decide the rows, as plain JSON values."""
        reading = asdict(self.reading)
        as_of = self.reading.as_of
        return {
            **reading,
            "as_of": None if as_of is None else as_of.isoformat(),
            "synonym_scopes": list(self.reading.synonym_scopes),
            "pool": self.pool,
            "seed": self.seed,
            "easy_distance": EASY_DISTANCE,
            "strategies": list(STRATEGIES),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One share of a search.

    Attributes:
        number: which, from 1.
        total: of how many.
    """

    number: int
    total: int

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"


def parse_shard(text: str) -> Shard:
    """Return the shard that a text such as "3/7" names.

    Raises:
        OptionError: it names none.
    """
    number, slash, total = text.strip().partition("/")
    if slash and number.isdecimal() and total.isdecimal():
        shard = Shard(number=int(number), total=int(total))
        if 1 <= shard.number <= shard.total <= _MOST_SHARDS:
            return shard
    raise OptionError(
        f"--shard {text!r} names no shard; 3/7 is the third of seven, up to {_MOST_SHARDS:,}"
    )


def check_seed(seed: int) -> None:
    """Raise OptionError for a seed that is out of range."""
    if not 0 <= seed < _SEEDS:
        raise OptionError(f"--seed {seed} is out of range; 0 to {_SEEDS - 1} are accepted")


def checked_threads(threads: int | None) -> int:
    """Return how many threads to use: as many as asked for, or all that are available.

    Raises:
        OptionError: the number is out of range.
    """
    if threads is None:
        return available_threads()
    if not 1 <= threads <= _MOST_THREADS:
        raise OptionError(f"--threads {threads} is out of range; 1 to {_MOST_THREADS} are accepted")
    return threads


def available_threads() -> int:
    """Return how many CPUs this process may use, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)
