"""Benchmarked embedding negatives at a small size: both sides agree, and errors are noticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import hard_negatives
from benchmarks.harness import MismatchError
from benchmarks.harness.embedded import Sizes, invented_families
from benchmarks.harness.mining import Lookup, nearest_by_numpy

SIZES = Sizes(n_pairs=120, n_terms=300, n_words=0, n_dimensions=8)
JOB = hard_negatives.Job(sizes=SIZES, n_compared=60, rounds=2, threads=1)


def test_negatives_are_numpy_s_and_do_not_depend_on_threads() -> None:
    one, two = hard_negatives.race(JOB), hard_negatives.race(replace(JOB, threads=2))

    assert one.fingerprint == two.fingerprint
    assert one.n_negatives > SIZES.n_pairs
    assert one.others["NumPy"] > 0
    assert one.ratios["NumPy"] > 0


def test_negatives_that_are_not_the_nearest_are_noticed() -> None:
    vectors, families = invented_families(SIZES)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    positives = hard_negatives._positives(SIZES, families)
    made = hard_negatives._negatives(vectors, families, positives, 1)
    hard_negatives.check(units, families, positives, made, SIZES.n_pairs)

    others = np.where(families[made.term2_ids] == 70, 0, 299).astype(np.int32)
    with pytest.raises(MismatchError, match="by NumPy"):
        hard_negatives.check(
            units, families, positives, replace(made, term2_ids=others), SIZES.n_pairs
        )


def test_numpy_s_nearest_are_of_other_families_and_in_order() -> None:
    units = np.array([[1, 0], [0.96, 0.28], [0.8, 0.6], [0, 1]], np.float32)
    families = np.array([0, 0, 1, 1], np.int32)

    found = nearest_by_numpy(units, families, np.array([0, 3], np.int32), 2)

    assert found.tolist() == [[2, 3], [1, 0]]


def test_families_lie_nearer_to_themselves_than_to_others() -> None:
    vectors, families = invented_families(replace(SIZES, n_dimensions=64))
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = units @ units.T
    same = families[:, None] == families
    assert cosines[same].mean() > cosines[~same].mean() + 0.2
    assert np.bincount(families).max() == 4


def test_a_text_is_looked_up_by_its_number() -> None:
    lookup = Lookup(units=np.eye(3, dtype=np.float32))
    assert lookup.encode_document(["2", "0"]).argmax(axis=1).tolist() == [2, 0]
    assert lookup.encode_query(["1"], prompt=None).argmax() == 1
    assert lookup.get_embedding_dimension() == 3
