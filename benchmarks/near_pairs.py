"""All pairs of an invented release's names within one and two edits, beside two libraries.

RapidFuzz compares a sample of names with all names, and SymSpell looks up a sample in an index of
deletions; their times are extrapolated to all names.
"""

from __future__ import annotations

import hashlib
import time
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

import medsim
from benchmarks.harness import BENCHMARKS, Measured, MismatchError, Settings
from benchmarks.harness.apart import apart
from benchmarks.harness.corpora import invented
from medsim.core.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

_LIMITS = (1, 2)


def measure(settings: Settings) -> Measured:
    """Return the seconds for one and two edits, and the ratios; see ``Measure``."""
    n_concepts, n_compared = settings.size(350_000, 20_000), settings.size(300, 50)
    return apart(_measured, n_concepts, n_compared, settings.threads)


def _measured(n_concepts: int, n_compared: int, threads: int) -> Measured:
    names = list(invented(n_concepts).terms)
    rng = np.random.default_rng(0)
    sample = [names[row] for row in np.sort(rng.choice(len(names), n_compared, replace=False))]
    medsim.Pool(names[::50], threads=threads).pairs(1)  # compiles
    progress, digest = Progress(), hashlib.sha256()
    said, ratios = [], {}
    for limit in _LIMITS:
        with progress.stage(f"{limit}"):
            pairs = medsim.Pool(names, threads=threads).pairs(limit)
        ours = progress.records[-1].seconds
        digest.update(pairs.write_csv().encode())
        expected, theirs = _timed(partial(_by_rapidfuzz, sample, names, limit, threads))
        if _partners(pairs, sample) != expected:
            raise MismatchError(f"RapidFuzz finds other pairs within {limit}")
        said.append(f"{limit}: {pairs.height:,} pairs in {ours:.1f} s")
        ratios[f"RapidFuzz {limit}"] = theirs / n_compared * len(names) / ours
        if find_spec("symspellpy") is not None and limit == _LIMITS[-1]:
            index, indexing = _timed(partial(_index, names, limit))
            found, looking = _timed(partial(_look_up, index, sample, limit))
            if found != expected:
                raise MismatchError(f"SymSpell finds other pairs within {limit}")
            ratios[f"SymSpell {limit}"] = (indexing + looking / n_compared * len(names)) / ours
    return Measured(
        about=f"{len(names):,} names of an invented release of {n_concepts:,} concepts",
        times="; ".join(said),
        ratios=ratios,
        peak=f"{max(record.peak_mib for record in progress.records)} MiB",
        fingerprint=digest.hexdigest()[:16],
    )


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    result = call()
    return result, time.perf_counter() - began


def _partners(pairs: pl.DataFrame, sample: Sequence[str]) -> list[list[str]]:
    """Return the names that each name of a sample is in a pair with, in order."""
    partners: dict[str, list[str]] = {name: [] for name in sample}
    both = pairs.vstack(pairs.select(query="match", match="query", distance="distance"))
    for query, match, _ in both.filter(both["query"].is_in(sample)).iter_rows():
        partners[query].append(match)
    return [sorted(partners[name]) for name in sample]


def _by_rapidfuzz(
    sample: Sequence[str], names: Sequence[str], limit: int, threads: int
) -> list[list[str]]:
    found = []
    for first in range(0, len(sample), 50):
        distances = cdist(
            sample[first : first + 50],
            names,
            scorer=Levenshtein.distance,
            score_cutoff=limit,
            workers=threads,
            dtype=np.uint8,
        )
        found += [
            sorted(names[row] for row in np.flatnonzero((line >= 1) & (line <= limit)).tolist())
            for line in distances
        ]
    return found


def _index(names: Sequence[str], limit: int) -> Any:
    from symspellpy import SymSpell  # noqa: PLC0415 — not a dependency

    index = SymSpell(max_dictionary_edit_distance=limit, prefix_length=12)
    for name in names:
        index.create_dictionary_entry(name, 1)
    return index


def _look_up(index: Any, sample: Sequence[str], limit: int) -> list[list[str]]:
    from symspellpy import Verbosity  # noqa: PLC0415 — not a dependency

    return [
        sorted(
            match.term
            for match in index.lookup(name, Verbosity.ALL, max_edit_distance=limit)
            if match.distance > 0
        )
        for name in sample
    ]


BENCHMARKS.register("near_pairs", measure)
