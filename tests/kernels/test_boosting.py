"""Gradient boosting, against scikit-learn, and overlaps of sets, against Python's sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numba import config

from medsim.kernels.boosting import N_BINS, binned, boosted_trees, log_odds
from medsim.kernels.sparse import set_overlaps
from medsim.kernels.types import starts_of

pytestmark = pytest.mark.kernels

MANY_ROWS = 500 if config.DISABLE_JIT else 20_000  # plain Python takes long


def rows_of(n_rows: int, n_bins: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return bins of seven features, of which one says nothing, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    bins = rng.integers(0, n_bins, (7, n_rows)).astype(np.uint8)
    signal = bins[0] / n_bins + (bins[1] > n_bins // 3) * bins[2] / n_bins - bins[3] / n_bins
    return bins, signal + rng.normal(0, 0.5, n_rows) > 0.4


def fitted(bins: np.ndarray, labels: np.ndarray, n_trees: int) -> np.ndarray:
    share = labels.mean()
    start = float(np.log(share / (1 - share)))
    return log_odds(bins, boosted_trees(bins, labels, start, n_trees, len(bins)))


@pytest.mark.parametrize(("n_rows", "n_bins"), [(40, 2), (300, 9), (MANY_ROWS, 255)])
def test_log_odds_are_those_of_scikit_learn(n_rows: int, n_bins: int) -> None:
    ensemble = pytest.importorskip("sklearn.ensemble", reason="needs scikit-learn, of medsim[dev]")
    bins, labels = rows_of(n_rows, n_bins, n_rows)
    same = ensemble.HistGradientBoostingClassifier(
        max_iter=20,
        early_stopping=False,
        max_bins=255,
        learning_rate=0.05,
        max_leaf_nodes=127,
    ).fit(bins.T.astype(float), labels)

    odds = fitted(bins, labels, 20)

    np.testing.assert_allclose(odds, same.decision_function(bins.T.astype(float)), atol=1e-6)


def largest_gain(bins: np.ndarray, slopes: np.ndarray, weights: np.ndarray) -> float:
    """Return the largest gain of a split of rows that leaves 20 rows on both sides; 0 for none."""
    cuts = [(column, cut) for column in bins for cut in np.unique(column)[:-1]]
    gains = [gain_of(column <= cut, slopes, weights) for column, cut in cuts]
    return max([0.0, *gains])


def gain_of(below: np.ndarray, slopes: np.ndarray, weights: np.ndarray) -> float:
    if min(below.sum(), (~below).sum()) < 20:
        return 0.0
    sides = (below, ~below, np.ones_like(below))
    first, second, both = (slopes[side].sum() ** 2 / weights[side].sum() for side in sides)
    return first + second - both


@pytest.mark.parametrize(("n_rows", "n_bins"), [(90, 4), (700, 9), (2000, 30)])
def test_the_split_with_the_largest_gain_is_made_next(n_rows: int, n_bins: int) -> None:
    bins, labels = rows_of(n_rows, n_bins, n_rows)
    trees = boosted_trees(bins, labels, 0.0, 2, len(bins))
    odds = np.zeros(n_rows)
    for features, cuts, children, added in zip(*trees[1:], strict=True):
        chance = 1 / (1 + np.exp(-odds))
        slopes, weights = labels - chance, chance * (1 - chance)
        members = {0: np.arange(n_rows)}
        open_gains = {0: largest_gain(bins, slopes, weights)}
        for node in sorted(np.flatnonzero(children), key=children.__getitem__):
            rows = members.pop(node)
            below = bins[features[node], rows] <= cuts[node]
            gain = gain_of(below, slopes[rows], weights[rows])
            assert gain == pytest.approx(max(open_gains.values()), rel=1e-7)
            del open_gains[node]
            for child, part in enumerate((rows[below], rows[~below]), children[node]):
                members[child] = part
                open_gains[child] = largest_gain(bins[:, part], slopes[part], weights[part])
        assert max(open_gains.values()) < 1e-9  # no split is left
        for leaf, rows in members.items():
            step = 0.05 * slopes[rows].sum() / weights[rows].sum()
            assert added[leaf] == pytest.approx(step, abs=1e-9)
            odds[rows] += step
    np.testing.assert_allclose(log_odds(bins, trees), odds, atol=1e-8)


def test_rows_that_cannot_be_told_apart_have_the_odds_of_all() -> None:
    labels = np.arange(60) % 3 == 0
    for bins in (np.zeros((2, 60), np.uint8), np.arange(60, dtype=np.uint8)[None, :] // 45):
        odds = fitted(bins, labels, 3)

        np.testing.assert_allclose(odds, np.log(0.5), atol=1e-9)


def test_bins_of_rows_that_were_not_seen_follow_the_cuts() -> None:
    bins = np.repeat(np.array([[10, 20]], np.uint8), 30, axis=1)
    labels = bins[0] == 20
    labels[:3] = True
    trees = boosted_trees(bins, labels, 0.0, 5, 1)

    odds = log_odds(np.array([[0, 10, 11, 20, 254]], np.uint8), trees)

    assert odds[0] == odds[1] < 0 < odds[2] == odds[3] == odds[4]


def test_each_tree_is_that_of_the_features_that_it_sees() -> None:
    bins, labels = rows_of(2000, 9, 1)
    trees = boosted_trees(bins, labels, 0.0, 30, 2)
    seen = [
        np.unique(of_tree[children > 0])
        for of_tree, children in zip(trees.features, trees.children, strict=True)
    ]

    first = boosted_trees(bins[seen[0]], labels, 0.0, 1, 2)

    assert {len(features) for features in seen} == {2}
    assert {*np.concatenate(seen).tolist()} == {*range(7)}
    np.testing.assert_array_equal(
        log_odds(bins[seen[0]], first), log_odds(bins, trees._replace(children=trees.children[:1]))
    )


def test_bins_count_the_edges_below_a_value() -> None:
    rng = np.random.default_rng(2)
    edges = np.full((3, N_BINS), np.inf, np.float32)
    for of_feature, n_edges in zip(edges, (0, 7, N_BINS - 1), strict=True):
        of_feature[:n_edges] = np.sort(rng.choice(1000, n_edges, replace=False))
    values = rng.integers(-1, 1001, (3, 5000)).astype(np.float32)

    bins = binned(values, edges)

    for of_feature, *both in zip(bins, edges, values, strict=True):
        np.testing.assert_array_equal(of_feature, np.searchsorted(*both))


SETS = st.lists(st.lists(st.integers(0, 5), max_size=6), min_size=1, max_size=5)


@given(SETS, arrays(np.float64, 6, elements=st.floats(0.5, 8, width=16)))
def test_overlaps_are_those_of_sets(sets: list[list[int]], weights: np.ndarray) -> None:
    items = np.array([item for of_set in sets for item in sorted(of_set)], np.int32)
    first, second = (grid.ravel().astype(np.int32) for grid in np.indices([len(sets)] * 2))

    found = set_overlaps(items, starts_of([len(of_set) for of_set in sets]), first, second, weights)

    for pair, (a, b) in enumerate(zip(first, second, strict=True)):
        left, right = {*sets[a]}, {*sets[b]}
        parts = [
            [weights[item] for item in part] for part in (left & right, left - right, right - left)
        ]
        largest = [max(part, default=0) for part in parts[1:]]
        np.testing.assert_allclose(found[:, pair], [*map(sum, parts), *largest, *map(len, parts)])
