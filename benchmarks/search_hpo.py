"""The nearest terms of HPO, beside RapidFuzz comparing every pair in the same run."""

from __future__ import annotations

import hashlib
import tempfile
import time
from pathlib import Path

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from medsim.config import SourceOptions, available_threads
from medsim.kernels.hashing import term_hashes
from medsim.negatives.nearest import Candidates, nearest
from medsim.sources import find_source
from medsim.store import Store
from medsim.terms import pack

SAMPLE = 1_000
QUERIES = 15_000


def measure() -> tuple[str, str, str, str]:
    """Return input, times and their ratio, nothing on memory, and a fingerprint of what is found.

    Raises:
        AssertionError: the distances are not those of brute force.
    """
    terms = _terms()
    packed = pack(terms)
    candidates = Candidates(
        terms=packed,
        components=np.arange(len(terms), dtype=np.int32),
        hashes=term_hashes(packed.codes, packed.starts),
    )
    queries = np.linspace(0, len(terms) - 1, QUERIES).astype(np.int32)
    wanted = np.full(QUERIES, 2, np.int32)
    threads = available_threads()
    nearest(candidates, queries[:10], wanted[:10], seed=0, threads=1)
    began = time.perf_counter()
    found = nearest(candidates, queries, wanted, seed=0, threads=threads)
    ours = time.perf_counter() - began
    sample = queries[:: QUERIES // SAMPLE]
    began = time.perf_counter()
    distances = cdist(
        [terms[q] for q in sample],
        terms,
        scorer=Levenshtein.distance,
        workers=threads,
        dtype=np.int32,
    )
    theirs = (time.perf_counter() - began) / len(sample) * QUERIES
    distances[np.arange(len(sample)), sample] = np.iinfo(np.int32).max
    exact = np.sort(np.partition(distances, 2, axis=1)[:, :2], axis=1)
    got = found.distances.reshape(-1, 2)[:: QUERIES // SAMPLE]
    assert np.array_equal(exact, got), "not the distances of brute force"  # noqa: S101
    return (
        f"hpo, {QUERIES:,} in {len(terms):,} terms, k = 2",
        f"{ours:.1f} s; cdist {theirs:.0f} s (from {len(sample):,}); {theirs / ours:.1f} times",
        "",
        hashlib.sha256(found.ids.tobytes() + found.distances.tobytes()).hexdigest()[:16],
    )


def _terms() -> list[str]:
    source, path = find_source("hpo")
    with tempfile.TemporaryDirectory() as folder, Store(threads=1, spill=Path(folder)) as store:
        source.load(path, store, SourceOptions())
        return sorted({term.lower() for term in store.table("description")["term"]})
