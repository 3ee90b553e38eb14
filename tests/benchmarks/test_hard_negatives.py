"""Benchmarked embedding negatives at a small size: both sides agree, and errors are noticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import hard_negatives
from benchmarks.harness import MismatchError
from benchmarks.harness.embedded import Sizes, invented_families

pytestmark = pytest.mark.slow

SIZES = Sizes(n_pairs=120, n_terms=300, n_words=0, n_dimensions=8)
JOB = hard_negatives.Job(sizes=SIZES, n_compared=60, rounds=2, threads=1)


def test_negatives_are_numpy_s_and_do_not_depend_on_threads() -> None:
    single, double = hard_negatives.race(JOB), hard_negatives.race(replace(JOB, threads=2))

    assert single.fingerprint == double.fingerprint
    assert single.n_negatives > SIZES.n_pairs
    assert single.others["NumPy"] > 0
    assert single.ratios["NumPy"] > 0


def test_negatives_that_are_not_the_nearest_are_noticed() -> None:
    vectors, families = invented_families(SIZES)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    positives = hard_negatives._positives(SIZES, families)
    made = hard_negatives._negatives(vectors, families, positives, 1)
    hard_negatives.check(units, families, positives, made, SIZES.n_pairs)

    made[1] = np.where(families[made[1]] == 70, 0, 299)
    with pytest.raises(MismatchError, match="by NumPy"):
        hard_negatives.check(units, families, positives, made, SIZES.n_pairs)
