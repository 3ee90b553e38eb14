"""Time and memory of the search by the number of terms and of threads."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.harness import BENCHMARKS, Measured, MismatchError, Settings, UnavailableError
from benchmarks.harness.apart import apart
from benchmarks.harness.corpora import Corpus, invented, mesh
from benchmarks.harness.searching import SEED, candidates_of, warm_up
from medsim.core.progress import Progress
from medsim.neighbours.search import NearestSearch

_SIZES = (100_000, 200_000, 500_000, 1_000_000, 2_000_000)
_QUICK_SIZES = (10_000, 20_000, 50_000)
_WANTED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One search.

    Attributes:
        prepare_seconds: time of packing and layout.
        search_seconds: time for all first terms, the faster of two runs.
        peak_mib: peak memory of preparation and search, with the terms.
        fingerprint: hash of the texts that were found and their distances.
    """

    prepare_seconds: float
    search_seconds: float
    peak_mib: int
    fingerprint: str


def measure(settings: Settings) -> Measured:
    """Return seconds and memory by number of terms and of threads; see ``Measure``.

    The first terms are the same terms of MeSH at every size. Sizes beyond MeSH are filled with
    terms of an invented release.
    """
    sizes = _QUICK_SIZES if settings.quick else _SIZES
    n_queries = settings.size(20_000, 2_000)
    threads = sorted({1, settings.threads})
    with tempfile.TemporaryDirectory() as folder:
        terms = Path(folder) / "terms.txt"
        apart(_write_terms, terms, max(sizes), settings.cache)
        points = {
            (size, n): apart(_search, terms, size, n_queries, n) for size in sizes for n in threads
        }
    for size in sizes:
        if len({points[size, n].fingerprint for n in threads}) != 1:
            raise MismatchError(f"{size:,} terms: the nearest terms depend on threads")
    most = threads[-1]
    seconds = [points[size, most].search_seconds for size in sizes]
    exponent = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    times = [
        f"{size:,}: " + ", ".join(_times(n, points[size, n]) for n in threads) for size in sizes
    ]
    prints = "".join(points[size, most].fingerprint for size in sizes)
    return Measured(
        about=f"{n_queries:,} first terms in {sizes[0]:,} to {sizes[-1]:,} terms, k = {_WANTED}",
        times=f"{'; '.join(times)}; search grows as N^{exponent:.2f}, and with {most} threads is "
        f"{points[sizes[-1], 1].search_seconds / seconds[-1]:.2f} times as fast as with 1",
        peak=", ".join(f"{size:,}: {points[size, most].peak_mib} MiB" for size in sizes),
        fingerprint=hashlib.sha256(prints.encode()).hexdigest()[:16],
    )


def _times(threads: int, point: Point) -> str:
    return (
        f"{threads} thread{'s' * (threads > 1)} {point.search_seconds:.2f} s "
        f"(and {point.prepare_seconds:.1f} s of preparation)"
    )


def _write_terms(path: Path, n_terms: int, cache: Path) -> None:
    """Write terms in random order: those of MeSH, then invented ones."""
    rng = np.random.default_rng(0)
    known = mesh(cache).terms
    chosen = [known[row] for row in rng.permutation(len(known))[:n_terms]]
    if len(chosen) < n_terms:
        # A concept has about two unique names.
        more = sorted(set(invented((n_terms - len(chosen)) // 2 + 10_000).terms) - set(known))
        chosen += [more[row] for row in rng.permutation(len(more))[: n_terms - len(chosen)]]
    if len(chosen) < n_terms:
        raise UnavailableError(f"only {len(chosen):,} of {n_terms:,} terms could be made")
    path.write_text("\n".join(chosen), encoding="utf-8")


def _search(path: Path, n_terms: int, n_queries: int, threads: int) -> Point:
    """Search the first terms of the file for the nearest terms of the first few."""
    with path.open(encoding="utf-8", newline="\n") as lines:
        shuffled = [line.rstrip("\n") for line, _ in zip(lines, range(n_terms), strict=False)]
    firsts = shuffled[:n_queries]
    terms = sorted(shuffled)
    corpus = Corpus(name="growth", terms=terms, groups=np.arange(len(terms), dtype=np.int32))
    row_of = {term: row for row, term in enumerate(terms)}
    queries = np.array([row_of[first] for first in firsts], np.int32)
    del shuffled, row_of
    warm_up(corpus)
    progress = Progress()
    with progress.stage("prepare"):
        search = NearestSearch(candidates_of(corpus), seed=SEED, threads=threads)
    for _ in range(2):
        with progress.stage("search"):
            nearest = search.nearest(queries, np.full_like(queries, _WANTED))
    texts = "\n".join(terms[row] for row in nearest.ids.tolist()).encode()
    prepare, *searches = progress.records
    return Point(
        prepare_seconds=prepare.seconds,
        search_seconds=min(record.seconds for record in searches),
        peak_mib=max(record.peak_mib for record in progress.records),
        fingerprint=hashlib.sha256(texts + nearest.distances.tobytes()).hexdigest(),
    )


BENCHMARKS.register("growth", measure)
