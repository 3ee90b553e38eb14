"""Times the search against comparing all terms, and compares their results."""

from __future__ import annotations

import hashlib
import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import MismatchError
from benchmarks.harness.brute_force import BruteForce, distances
from medsim.core.progress import Progress
from medsim.neighbours.search import NearestSearch, Terms

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.harness.corpora import Corpus
    from medsim.kernels.best import Nearest
    from medsim.kernels.types import Ids

SEED = 0
_WARM_UP = 20_000  # terms; fewer would not use every kernel


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The sizes of a search.

    Attributes:
        n_queries: first terms, drawn from the corpus.
        wanted: nearest terms per first term.
        n_compared: first terms that are compared with all terms.
        n_plain: first terms for the plain search; 0 leaves it out.
        rounds: number of rounds.
        threads: threads of every side.
    """

    n_queries: int
    wanted: int
    n_compared: int
    n_plain: int = 0
    rounds: int = 1
    threads: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """The times of a race; seconds are medians over the rounds.

    Attributes:
        n_terms: terms in the corpus.
        prepare_seconds: time of packing and layout.
        search_seconds: time for all first terms.
        cdist_seconds: extrapolated time of RapidFuzz for all first terms.
        plain_seconds: extrapolated time of the plain search for all first terms, or 0.
        cdist: median of RapidFuzz's ratio to the search.
        plain: median of the plain search's ratio to the search.
        mean_distance: mean distance of the nearest terms.
        peak_mib: peak memory of preparation and search, with the terms.
        fingerprint: hash of the results.
    """

    n_terms: int
    prepare_seconds: float
    search_seconds: float
    cdist_seconds: float
    plain_seconds: float
    cdist: float
    plain: float
    mean_distance: float
    peak_mib: int
    fingerprint: str


def candidates_of(corpus: Corpus) -> Terms:
    """Return the terms of a corpus as candidates of a search."""
    return Terms.from_terms(corpus.terms, corpus.groups)


def warm_up(corpus: Corpus, *, sliced: bool | None = None) -> None:
    """Compile the kernels that a search of this corpus needs."""
    some = slice(0, None, -(-len(corpus.terms) // _WARM_UP))
    few = Terms.from_terms(corpus.terms[some], corpus.groups[some])
    rows = np.arange(min(8, len(few.terms)), dtype=np.int32)
    NearestSearch(few, seed=SEED, threads=1, sliced=sliced).nearest(rows, np.full_like(rows, 2))


def drawn_queries(n_terms: int, n_queries: int, seed: int = 0) -> Ids:
    """Return rows of randomly drawn terms, in order."""
    rng = np.random.default_rng(seed)
    return np.sort(rng.choice(n_terms, min(n_queries, n_terms), replace=False)).astype(np.int32)


def fingerprint(nearest: Nearest) -> str:
    """Return a hash of the results of a search."""
    digest = hashlib.sha256()
    for part in (nearest.starts, nearest.ids, nearest.distances):
        digest.update(part.tobytes())
    return digest.hexdigest()[:16]


def race(corpus: Corpus, job: Job) -> Race:
    """Return the times of the search and its rivals, which take turns.

    Raises:
        MismatchError: their results differ.
    """
    progress = Progress()
    queries = drawn_queries(len(corpus.terms), job.n_queries)
    compared = np.arange(0, len(queries), max(1, len(queries) // job.n_compared))
    warm_up(corpus)
    with progress.stage("prepare"):
        search = NearestSearch(candidates_of(corpus), seed=SEED, threads=job.threads)
    with progress.stage("search"):
        nearest = search.nearest(queries, np.full_like(queries, job.wanted))
    plain = _plain_search(corpus, queries, nearest, job)
    brute_force = BruteForce(corpus.terms, corpus.groups, SEED)
    turns = []
    for _ in range(job.rounds):
        began = time.perf_counter()
        search.nearest(queries, np.full_like(queries, job.wanted))
        ours = time.perf_counter() - began
        began = time.perf_counter()
        far = distances(corpus.terms, queries[compared], job.threads)
        cdist = (time.perf_counter() - began) / len(compared) * len(queries)
        turns.append((ours, cdist, plain()))
    for at, row in zip(compared.tolist(), far, strict=True):
        expected = brute_force.nearest(int(queries[at]), row, job.wanted)
        if nearest.ids[nearest.starts[at] : nearest.starts[at + 1]].tolist() != expected.tolist():
            raise MismatchError(f"{corpus.name}: row {queries[at]} has wrong nearest terms")
    ours_seconds, cdist_seconds, plain_seconds = (
        statistics.median(side) for side in zip(*turns, strict=True)
    )
    return Race(
        n_terms=len(corpus.terms),
        prepare_seconds=progress.records[0].seconds,
        search_seconds=ours_seconds,
        cdist_seconds=cdist_seconds,
        plain_seconds=plain_seconds,
        cdist=statistics.median(cdist / ours for ours, cdist, _ in turns),
        plain=statistics.median(other / ours for ours, _, other in turns),
        mean_distance=float(nearest.distances.mean()),
        peak_mib=max(record.peak_mib for record in progress.records),
        fingerprint=fingerprint(nearest),
    )


def _plain_search(corpus: Corpus, queries: Ids, nearest: Nearest, job: Job) -> Callable[[], float]:
    """Return a function that runs the plain search and returns its extrapolated seconds."""
    if not job.n_plain:
        return lambda: 0.0
    at = np.arange(0, len(queries), max(1, len(queries) // job.n_plain))
    warm_up(corpus, sliced=False)
    search = NearestSearch(candidates_of(corpus), seed=SEED, threads=job.threads, sliced=False)
    wanted = np.full(len(at), job.wanted, np.int32)
    starts = nearest.starts
    slots = np.concatenate([np.arange(starts[query], starts[query + 1]) for query in at])

    def run() -> float:
        began = time.perf_counter()
        other = search.nearest(queries[at], wanted)
        seconds = (time.perf_counter() - began) / len(at) * len(queries)
        if other.ids.tolist() != nearest.ids[slots].tolist():
            raise MismatchError(f"{corpus.name}: the plain search finds other terms")
        return seconds

    return run
