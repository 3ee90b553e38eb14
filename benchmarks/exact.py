"""Compares the nearest terms of thousands of first terms of every kind with brute force."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import BENCHMARKS, Measured, MismatchError, Settings
from benchmarks.harness.apart import apart
from benchmarks.harness.brute_force import BruteForce, distances
from benchmarks.harness.corpora import Corpus, invented, mesh
from benchmarks.harness.searching import SEED, candidates_of
from benchmarks.harness.strata import strata
from medsim.neighbours.search import NearestSearch

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.kernels.types import Ids

_AT_ONCE = 32  # first terms whose distances to all terms are in memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The differences between the search and brute force on a corpus.

    Attributes:
        corpus: name of the corpus.
        n_terms: number of its terms.
        n_queries: number of compared first terms, by stratum.
        wrong_distances: number of first terms with wrong distances of the nearest terms.
        wrong_terms: number of first terms with wrong nearest terms, or in the wrong order.
        fingerprint: hash of the results.
    """

    corpus: str
    n_terms: int
    n_queries: dict[str, int]
    wrong_distances: int
    wrong_terms: int
    fingerprint: str


def measure(settings: Settings) -> Measured:
    """Return the number of compared first terms; all must agree; see ``Measure``."""
    n_each = settings.size(250, 8)
    results = [
        apart(_mesh, settings.cache, n_each, settings.threads),
        apart(_invented, settings.size(350_000, 20_000), n_each, settings.threads),
    ]
    for result in results:
        if result.wrong_distances or result.wrong_terms:
            raise MismatchError(
                f"{result.corpus}: of {sum(result.n_queries.values()):,} first terms "
                f"{result.wrong_distances} have other distances, {result.wrong_terms} other terms"
            )
    compared = [
        f"{sum(result.n_queries.values()):,} first terms in {result.n_terms:,} of {result.corpus} ("
        + ", ".join(f"{n:,} {name}" for name, n in result.n_queries.items())
        + ")"
        for result in results
    ]
    prints = "".join(result.fingerprint for result in results)
    return Measured(
        about="; ".join(compared),
        times="0 mismatches in distances, 0 in terms",
        fingerprint=hashlib.sha256(prints.encode()).hexdigest()[:16],
    )


def compare(corpus: Corpus, n_each: int, threads: int) -> Compared:
    """Return the differences between the search and brute force on every stratum of a corpus."""
    search = NearestSearch(candidates_of(corpus), seed=SEED, threads=threads)
    brute_force = BruteForce(corpus.terms, corpus.groups, SEED)
    digest = hashlib.sha256()
    n_queries = {}
    wrong_distances = wrong_terms = 0
    for stratum in strata(corpus.terms, n_each):
        n_queries[stratum.name] = len(stratum.rows)
        nearest = search.nearest(stratum.rows, np.full_like(stratum.rows, stratum.wanted))
        digest.update(nearest.ids.tobytes() + nearest.distances.tobytes())
        for begin in range(0, len(stratum.rows), _AT_ONCE):
            rows: Ids = stratum.rows[begin : begin + _AT_ONCE]
            for at, far in enumerate(distances(corpus.terms, rows, threads)):
                slots = slice(*nearest.starts[begin + at : begin + at + 2])
                expected = brute_force.nearest(int(rows[at]), far, stratum.wanted)
                wrong_terms += not np.array_equal(nearest.ids[slots], expected)
                wrong_distances += not np.array_equal(nearest.distances[slots], far[expected])
    return Compared(
        corpus=corpus.name,
        n_terms=len(corpus.terms),
        n_queries=n_queries,
        wrong_distances=wrong_distances,
        wrong_terms=wrong_terms,
        fingerprint=digest.hexdigest(),
    )


def _mesh(cache: Path, n_each: int, threads: int) -> Compared:
    return compare(mesh(cache), n_each, threads)


def _invented(concepts: int, n_each: int, threads: int) -> Compared:
    return compare(invented(concepts), n_each, threads)


BENCHMARKS.register("exact", measure)
