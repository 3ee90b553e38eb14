"""Checks that rows do not depend on threads, shards, the order of input, or vector code."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import numpy as np

import medsim
from benchmarks.harness import BENCHMARKS, Measured, MismatchError, Settings
from benchmarks.harness.apart import apart
from benchmarks.harness.building import fingerprint_of
from benchmarks.harness.corpora import invented
from benchmarks.harness.searching import SEED, candidates_of
from medsim.neighbours.search import NearestSearch

if TYPE_CHECKING:
    from benchmarks.harness.corpora import Corpus
    from medsim.kernels.types import Ids

_SHARDS = 7


def measure(settings: Settings) -> Measured:
    """Return the fingerprint shared by all ways of searching and building; see ``Measure``."""
    concepts = settings.size(50_000, 1_000)
    searches = apart(searched_in_all_ways, invented(concepts))
    with tempfile.TemporaryDirectory() as folder:
        release, shuffled = Path(folder) / "release.zip", Path(folder) / "shuffled.zip"
        medsim.synth(release, concepts=concepts, seed=1)
        shuffle_release(release, shuffled, seed=1)
        builds = {
            "1 thread": apart(_built, release, 1),
            "2 threads": apart(_built, release, 2),
            f"{_SHARDS} shards": apart(_merged, release),
            "shuffled input": apart(_built, shuffled, 2),
        }
    for what, ways in (("search", searches), ("build", builds)):
        reference, *others = ways.values()
        if any(other != reference for other in others):
            differing = ", ".join(f"{name} {result}" for name, result in ways.items())
            raise MismatchError(f"the results of a {what} differ: {differing}")
    shared = next(iter(searches.values())) + next(iter(builds.values()))
    return Measured(
        about=f"synth of {concepts:,} concepts",
        times=f"searches agree: {', '.join(searches)}; builds agree: {', '.join(builds)}",
        fingerprint=hashlib.sha256(shared.encode()).hexdigest()[:16],
    )


def searched_in_all_ways(corpus: Corpus, n_queries: int = 5_000) -> dict[str, str]:
    """Return the fingerprint of each way of searching."""
    candidates = candidates_of(corpus)
    rng = np.random.default_rng(0)
    n_drawn = min(n_queries, len(corpus.terms))
    queries = np.sort(rng.choice(len(corpus.terms), n_drawn, replace=False)).astype(np.int32)
    shuffled = rng.permutation(queries)
    single, double, plain = (
        NearestSearch(candidates, seed=SEED, threads=threads, sliced=sliced)
        for threads, sliced in ((1, None), (2, None), (2, False))
    )
    return {
        "1 thread": _result(single, [queries], queries),
        "2 threads": _result(double, [queries], queries),
        f"{_SHARDS} shards": _result(double, np.array_split(queries, _SHARDS), queries),
        "shuffled first terms": _result(double, [shuffled], queries),
        "plain twin": _result(plain, [queries], queries),
    }


def shuffle_release(release: Path, shuffled: Path, seed: int) -> None:
    """Write a release again with the rows of every file in random order."""
    rng = np.random.default_rng(seed)
    with ZipFile(release) as source, ZipFile(shuffled, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name.endswith(".txt"):
                header, *rows = content.splitlines(keepends=True)
                content = header + b"".join([rows[at] for at in rng.permutation(len(rows))])
            target.writestr(name, content)


def _result(search: NearestSearch, shards: list[Ids], queries: Ids) -> str:
    """Return a fingerprint of the results of the queries in their order."""
    results: dict[int, bytes] = {}
    for shard in shards:
        nearest = search.nearest(shard, (shard % 4).astype(np.int32))
        for at, query in enumerate(shard.tolist()):
            slots = slice(*nearest.starts[at : at + 2])
            results[query] = nearest.ids[slots].tobytes() + nearest.distances[slots].tobytes()
    whole = b"".join(results[query] for query in queries.tolist())
    return hashlib.sha256(whole).hexdigest()[:16]


def _built(release: Path, threads: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return fingerprint_of(medsim.build(release, Path(folder) / "out", threads=threads))


def _merged(release: Path) -> str:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        for number in range(_SHARDS):
            medsim.build_shard(release, out, shard=f"{number + 1}/{_SHARDS}")
        return fingerprint_of(medsim.merge(out))


BENCHMARKS.register("same_rows", measure)
