"""The matched AUC, compared with counting every pair of pairs and with scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from fixtures.sizes import sized
from sklearn.metrics import roc_auc_score

from medsim.statistics.matched import MatchedPairs


def counted_auc(
    similarities: np.ndarray, labels: np.ndarray, strata: np.ndarray, *, by_precision: bool = False
) -> float:
    """Return the AUC within strata by comparing each positive with each negative of its stratum."""
    shares, weights = [], []
    for stratum in np.unique(strata):
        positives = similarities[labels & (strata == stratum)][:, None]
        negatives = similarities[~labels & (strata == stratum)][None, :]
        if positives.size and negatives.size:
            wins = np.where(positives == negatives, 0.5, positives > negatives)
            wins[np.isnan(negatives) | np.isnan(positives)] = 0.5
            n1, n0 = positives.size, negatives.size
            shares.append(wins.mean())
            weights.append(n1 * n0 / (n1 + n0) if by_precision else n1)
    return float(np.average(shares, weights=weights)) if shares else np.nan


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return similarities with ties and gaps, labels, strata and clusters of random sizes."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    similarities = rng.integers(0, 6, n).astype(np.float64)
    similarities[rng.random(n) < rng.choice([0, 0.2])] = np.nan
    strata = rng.integers(0, rng.integers(1, 6), n)
    return similarities, rng.random(n) < 0.5, strata, rng.integers(0, rng.integers(1, 25), n)


@pytest.mark.sized
@pytest.mark.parametrize("by_precision", [False, True])
@pytest.mark.parametrize("seed", range(sized(150)))
def test_value_and_jackknife_are_those_of_counting(seed: int, *, by_precision: bool) -> None:
    similarities, labels, strata, clusters = drawn(seed)
    weighted = {"by_precision": by_precision}

    sample = MatchedPairs(labels, strata, clusters, **weighted).sample(similarities)

    expected = counted_auc(similarities, labels, strata, **weighted)
    np.testing.assert_allclose(sample.auc.value, expected, rtol=1e-12)
    matched = np.isin(strata, np.intersect1d(strata[labels], strata[~labels]))
    if len(sample.left_out):
        kept = [matched & (clusters != cluster) for cluster in dict.fromkeys(clusters[matched])]
        parts = [counted_auc(similarities[k], labels[k], strata[k], **weighted) for k in kept]
        np.testing.assert_allclose(sample.left_out, parts, rtol=1e-12)
    if labels.any():
        assert sample.share.value == (labels & matched).sum() / labels.sum()


def test_value_is_the_mean_of_scikit_learns_areas_weighted_by_positives() -> None:
    rng = np.random.default_rng(7)
    labels, strata = rng.random(400) < 0.4, rng.integers(0, 8, 400)
    similarities = np.round(rng.normal(size=400) + labels, 1)

    sample = MatchedPairs(labels, strata).sample(similarities)

    areas = [roc_auc_score(labels[strata == s], similarities[strata == s]) for s in range(8)]
    weights = [labels[strata == s].sum() for s in range(8)]
    assert sample.auc.value == pytest.approx(np.average(areas, weights=weights), abs=1e-12)
    assert sample.auc.low < sample.auc.value < sample.auc.high


def test_pairs_without_a_similarity_count_as_chance() -> None:
    rng = np.random.default_rng(3)
    labels, strata = rng.random(500) < 0.5, np.zeros(500, np.int64)
    similarities, covered = rng.normal(size=500) + labels, rng.random(500) < 0.7

    pairs = MatchedPairs(labels, strata)
    sample = pairs.sample(np.where(covered, similarities, np.nan))

    both = covered[labels].mean() * covered[~labels].mean()
    area = roc_auc_score(labels[covered], similarities[covered])
    assert sample.auc.value == pytest.approx(both * area + (1 - both) / 2, abs=1e-12)
    assert pairs.sample(np.full(500, np.nan)).auc.value == 0.5


def test_similarity_that_only_tells_strata_apart_has_one_half_without_an_interval() -> None:
    rng = np.random.default_rng(5)
    labels, strata = rng.random(300) < 0.5, rng.integers(0, 10, 300)

    sample = MatchedPairs(labels, strata).sample(strata * 3.0)

    assert sample.auc.value == 0.5
    assert np.isnan(sample.auc.low)
    assert np.isnan(sample.auc.high)


def test_perfect_similarity_has_an_interval_and_differs_from_chance() -> None:
    labels, strata = np.arange(200) % 2 == 0, np.arange(200) // 20
    pairs = MatchedPairs(labels, strata)
    perfect, chance = pairs.sample(labels * 1.0), pairs.sample(np.zeros(200))

    test = perfect.difference(chance)

    assert perfect.auc.value == 1
    assert 0.9 < perfect.auc.low < 1
    assert test.p < 1e-6
    assert 0 < test.low < 0.5
    assert chance.difference(chance).p == 1


@pytest.mark.parametrize(
    ("labels", "strata"), [([], []), ([True], [0]), ([True, False], [0, 1]), ([False] * 3, [0] * 3)]
)
def test_without_matched_pairs_there_is_no_value(labels: list[bool], strata: list[int]) -> None:
    pairs = MatchedPairs(np.array(labels, np.bool_), np.array(strata, np.int64))

    sample = pairs.sample(np.zeros(len(labels)))

    assert np.isnan(sample.auc.value)
    assert np.isnan(sample.difference(sample).p)
