"""Thousands of first terms of every kind against all terms: the same nearest ones, exactly."""

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
from medsim.builds.negatives.nearest import NearestSearch

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.kernels.types import Ids

_AT_ONCE = 32  # first terms whose distances to all terms are held


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The differences between the search and brute force on a corpus.

    Attributes:
        corpus: its name.
        n_terms: in it.
        n_queries: first terms that were compared, by stratum.
        wrong_distances: first terms whose nearest terms have other distances.
        wrong_terms: first terms whose nearest terms are others, or in another order.
        fingerprint: of what was found.
    """

    corpus: str
    n_terms: int
    n_queries: dict[str, int]
    wrong_distances: int
    wrong_terms: int
    fingerprint: str


def measure(settings: Settings) -> Measured:
    """Return the number of first terms that were compared, all of which agree; see ``Measure``."""
    n_each = settings.size(250, 8)
    found = [
        apart(_mesh, settings.cache, n_each, settings.threads),
        apart(_invented, settings.size(350_000, 20_000), n_each, settings.threads),
    ]
    for one in found:
        if one.wrong_distances or one.wrong_terms:
            raise MismatchError(
                f"{one.corpus}: of {sum(one.n_queries.values()):,} first terms "
                f"{one.wrong_distances} have other distances, {one.wrong_terms} other terms"
            )
    compared = [
        f"{sum(one.n_queries.values()):,} first terms in {one.n_terms:,} of {one.corpus} ("
        + ", ".join(f"{n:,} {name}" for name, n in one.n_queries.items())
        + ")"
        for one in found
    ]
    return Measured(
        about="; ".join(compared),
        times="0 mismatches in distances, 0 in terms",
        fingerprint=hashlib.sha256("".join(o.fingerprint for o in found).encode()).hexdigest()[:16],
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
        found = search.nearest(stratum.rows, np.full_like(stratum.rows, stratum.wanted))
        digest.update(found.ids.tobytes() + found.distances.tobytes())
        for begin in range(0, len(stratum.rows), _AT_ONCE):
            rows: Ids = stratum.rows[begin : begin + _AT_ONCE]
            for at, far in enumerate(distances(corpus.terms, rows, threads)):
                slots = slice(*found.starts[begin + at : begin + at + 2])
                expected = brute_force.nearest(int(rows[at]), far, stratum.wanted)
                wrong_terms += not np.array_equal(found.ids[slots], expected)
                wrong_distances += not np.array_equal(found.distances[slots], far[expected])
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
