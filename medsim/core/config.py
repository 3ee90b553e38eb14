"""What a build is asked to do, as frozen dataclasses."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from medsim.core.errors import OptionError, unknown_name

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

STRATEGIES = ("random", "levenshtein", "embedding")
"""The strategies of negatives, in the order in which a build makes those that it is asked for."""

DEFAULT_STRATEGIES = ("random", "levenshtein")
"""The strategies that a build makes where nothing else is said."""

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
"""The scopes that synonyms have, as OBO names them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """How a terminology is read.

    Attributes:
        language: the language code whose names make terms.
        as_of: the day whose state is taken from full history; None takes the newest state.
        synonym_scopes: the scopes of OBO and MeSH synonyms that count as synonyms.
        vocabularies: of UMLS, those whose names count, as UMLS names them; empty takes all.
    """

    language: str = "en"
    as_of: date | None = None
    synonym_scopes: tuple[str, ...] = ("exact",)
    vocabularies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What people say of a pair of terms, against the terminology.

    Attributes:
        term1: one of them.
        term2: the other; neither their order nor their case matters.
        same: whether they mean the same.
    """

    term1: str
    term2: str
    same: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildConfig:
    """Everything that decides what a build does.

    Attributes:
        source: path or built-in name of the terminology.
        out: the folder to write.
        reading: how the terminology is read.
        pool: what second terms of negatives are drawn from, one of ``POOLS``.
        negatives: the strategies of negatives, of ``STRATEGIES``, in any order.
        embedding: the embedding of embedding negatives as a user names it, such as
            "glove=vectors.txt,case=lower"; None where there are none.
        cache: the folder that keeps what encoders made of terms; None keeps nothing.
        corrections: pairs that people judged otherwise: those that do not mean the same are no
            positives, and those that do are no negatives.
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
    negatives: tuple[str, ...] = DEFAULT_STRATEGIES
    embedding: str | None = None
    cache: Path | None = None
    corrections: tuple[Correction, ...] = ()
    seed: int = 0
    threads: int
    overwrite: bool = False
    dask: str | None = None

    @property
    def strategies(self) -> tuple[str, ...]:
        """The strategies of negatives in the order in which they are made."""
        return tuple(name for name in STRATEGIES if name in self.negatives)

    def check(self) -> None:
        """Raise OptionError for an option that is out of range, or does not fit the others."""
        self._check_negatives()
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

    def _check_negatives(self) -> None:
        for name in self.negatives:
            if name not in STRATEGIES:
                raise OptionError(unknown_name("strategy of negatives", name, list(STRATEGIES)))
            if self.negatives.count(name) > 1:
                raise OptionError(f"--negatives names {name} twice; once is enough")
        if not self.negatives:
            raise OptionError(f"--negatives names none; known: {', '.join(STRATEGIES)}")
        if "embedding" in self.negatives and self.embedding is None:
            raise OptionError(
                "--negatives embedding needs the embedding that finds them hard; add --embedding "
                "NAME=PATH"
            )
        if self.embedding is not None and "embedding" not in self.negatives:
            raise OptionError(
                f"--embedding {self.embedding!r} is for embedding negatives alone; add --negatives "
                f"{','.join((*self.strategies, 'embedding'))}"
            )
        if self.dask is not None and "levenshtein" not in self.negatives:
            raise OptionError(
                "--dask shares out the search for Levenshtein negatives, which --negatives "
                f"{','.join(self.strategies)} does not ask for; leave it out"
            )

    def options(self) -> dict[str, object]:
        """Return the options that decide the rows, as plain JSON values."""
        corrections = [[one.term1, one.term2, one.same] for one in self.corrections]
        return {
            **options_of(self.reading),
            "pool": self.pool,
            "seed": self.seed,
            "easy_distance": EASY_DISTANCE,
            "strategies": list(self.strategies),
            **({"corrections": corrections} if corrections else {}),
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


def options_of(reading: SourceOptions) -> dict[str, object]:
    """Return how a terminology is read, as plain JSON values."""
    plain = asdict(reading)
    vocabularies = list(plain.pop("vocabularies"))
    return {
        **plain,
        "as_of": None if reading.as_of is None else reading.as_of.isoformat(),
        "synonym_scopes": list(reading.synonym_scopes),
        **({"vocabularies": vocabularies} if vocabularies else {}),
    }


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


BROADER = ("direct", "any")
"""Which concepts are broader than a concept: its parents, or all its ancestors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WicConfig:
    """Everything that decides what a benchmark of words in context is.

    Attributes:
        corpora: files in PubTator format.
        terminology: path or built-in name.
        out: the folder to write.
        reading: how the terminology is read.
        broader: which concepts are broader than another, one of ``BROADER``; an instance has no
            two concepts of which one is broader than the other.
        most_train: instances of either label that a group has in train at most; None takes all.
        seed: of all draws.
        threads: how many compute; it never changes the result.
        overwrite: whether an earlier benchmark at ``out`` may be replaced.
    """

    corpora: tuple[Path, ...]
    terminology: str
    out: Path
    reading: SourceOptions
    broader: str = "direct"
    most_train: int | None = None
    seed: int = 0
    threads: int
    overwrite: bool = False

    def check(self) -> None:
        """Raise OptionError for an option that is out of range."""
        check_seed(self.seed)
        if self.broader not in BROADER:
            raise OptionError(unknown_name("meaning of broader", self.broader, list(BROADER)))
        if self.most_train is not None and self.most_train < 1:
            raise OptionError(f"--most-train {self.most_train} is out of range; at least 1 is")

    def options(self) -> dict[str, object]:
        """Return the options that decide the instances, as plain JSON values."""
        return {
            **options_of(self.reading),
            "broader": self.broader,
            "most_train": self.most_train,
            "seed": self.seed,
        }
