"""Sets as numbers: their ids and order, and the texts of their files in batches."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from fixtures.release import random_release

import medsim
from medsim.builds import datasets, positives
from medsim.builds.datasets import pair_id, pair_keys

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.core.store import Store

pytestmark = pytest.mark.slow

TERMS = pl.Series("term", ["Ague", "caf\u00e9", "knee", "\u75c5"])


def expected_order(pairs: list[tuple[int, int]], seed: int) -> tuple[list[str], list[int]]:
    """Return the ids and the order of pairs, computed with hashlib and sorted texts."""
    texts = [(TERMS[first], TERMS[second]) for first, second in pairs]
    ids = [
        hashlib.md5(f"{len(first)}:{first}{second}".encode()).hexdigest()[:16]  # noqa: S324  # an identifier
        for first, second in texts
    ]
    places = [hashlib.md5(f"{seed} {first}".encode()).hexdigest() for first in ids]  # noqa: S324  # no secret
    return ids, sorted(range(len(ids)), key=lambda row: (places[row], ids[row], *texts[row]))


@pytest.mark.parametrize("batch", [1, 5, 100])
def test_pairs_have_the_ids_and_the_order_of_their_hashes(
    store: Store, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(datasets, "_BATCH_ROWS", batch)
    pairs = [(left, right) for left in range(4) for right in range(4)]
    ids, order = expected_order(pairs, 7)
    first, second = np.array(pairs, np.int32).T
    numbers, places = pair_keys(first, second, TERMS, store, 7)
    assert pair_id(numbers).to_list() == ids
    assert places.tolist() == order


def test_a_set_without_pairs_has_no_ids(store: Store) -> None:
    none = np.empty(0, np.int32)
    ids, places = pair_keys(none, none, TERMS, store, 0)
    assert pair_id(ids).to_list() == places.tolist() == []


def test_pairs_with_equal_first_halves_are_sorted_by_the_rest() -> None:
    columns = np.array([[1, 1, 1, 1, 0], [9, 8, 8, 8, 9], [0, 5, 4, 4, 9], [0, 0, 2, 1, 0]])
    halves, ids, terms = columns[:2].astype(np.uint64), columns[2].astype(np.uint64), columns[3]
    order = datasets._order(halves, ids, terms.astype(np.int32), np.zeros(5, np.int32))
    assert order.tolist() == [4, 3, 2, 1, 0]


def test_ids_keep_their_zeros() -> None:
    ids = pair_id(np.array([0, 255, 2**64 - 1], np.uint64))
    assert ids.to_list() == ["0" * 16, "0" * 14 + "ff", "f" * 16]


@pytest.mark.full
def test_sets_made_in_batches_have_the_same_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random_release(5, 40).write_folder(tmp_path / "release", "Snapshot")
    whole = medsim.build(tmp_path / "release", tmp_path / "whole", negatives=["random"])
    monkeypatch.setattr(datasets, "_BATCH_ROWS", 7)
    monkeypatch.setattr(positives, "_COMPARED_PAIRS", 7)
    parts = medsim.build(tmp_path / "release", tmp_path / "parts", negatives=["random"])
    assert whole.stats()["n_positives"].max() > 7
    assert parts.manifest.tables == whole.manifest.tables
    assert parts.pairs().equals(whole.pairs())
