"""Krippendorff's alpha, Cohen's kappa, mean accuracies and majority votes, with their intervals."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import krippendorff
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from medsim.statistics.options import Resampling
from medsim.studies.agreement import agreements, cohens_kappa, mean_accuracy, nominal_alpha
from medsim.studies.judged import NO_TRUTH, majority
from medsim.studies.sheets import NOT_SAME, SAME

NO_INTERVAL = Resampling(seed=0, resamples=0, threads=1)


def resampling(resamples: int = 2000, seed: int = 0, threads: int = 1) -> Resampling:
    return Resampling(seed=seed, resamples=resamples, threads=threads)


def alpha(table: np.ndarray, n_values: int) -> float:
    return nominal_alpha(table.astype(np.int8), n_values, NO_INTERVAL).value


def of_the_library(table: np.ndarray, n_values: int) -> float:
    ratings = np.where(table < 0, np.nan, table.astype(np.float64)).T
    with np.errstate(invalid="ignore", divide="ignore"):
        return krippendorff.alpha(
            ratings, level_of_measurement="nominal", value_domain=np.arange(n_values)
        )


def judged(n_units: int, seed: int, n_annotators: int = 3, same: float = 0.7) -> np.ndarray:
    """Return answers of annotators who copy a unit's true value, or else guess."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 2, (n_units, 1))
    guessed = rng.integers(0, 3, (n_units, n_annotators))
    table = np.where(rng.random(guessed.shape) < same, true, guessed)
    table[rng.random(guessed.shape) < 0.05] = -1
    return table.astype(np.int8)


@given(
    arrays.arrays(
        np.int8, st.tuples(st.integers(1, 12), st.integers(2, 5)), elements=st.integers(-1, 2)
    )
)
def test_agreements_match_sums_over_pairs_of_answers(table: np.ndarray) -> None:
    units = [[value for value in unit.tolist() if value >= 0] for unit in table]
    units = [unit for unit in units if len(unit) >= (2 if table.shape[1] == 2 else 1)]
    alike = [np.mean([a == b for a, b in combinations(u, 2)]) for u in units if len(u) > 1]

    result = {name: each.value for name, each in agreements(table, 3, NO_INTERVAL).items()}

    if not alike:
        assert all(map(math.isnan, result.values()))
        return
    shares = [np.mean([unit.count(value) / len(unit) for unit in units]) for value in range(3)]
    n_others = max(1, np.count_nonzero(shares) - 1)
    p, by_luck = np.mean(alike), sum(share * (1 - share) for share in shares) / n_others
    assert result["percent_agreement"] == pytest.approx(p)
    assert result["ac1"] == pytest.approx((p - by_luck) / (1 - by_luck))
    of_squares = sum(share * share for share in shares)
    if max(shares) == 1:
        assert math.isnan(result["fleiss_kappa"])
    else:
        assert result["fleiss_kappa"] == pytest.approx((p - of_squares) / (1 - of_squares))


def test_agreements_are_those_of_statsmodels_and_of_gwets_package() -> None:
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    whole = np.random.default_rng(1).integers(0, 3, (40, 4)).astype(np.int8)
    counts, _ = aggregate_raters(whole)
    found = agreements(whole, 3, resampling(200))
    assert found["fleiss_kappa"].value == pytest.approx(fleiss_kappa(counts))
    for estimate in found.values():
        assert estimate.low < estimate.value < estimate.high
    two = np.array([[0, 0], [1, 1], [1, 0], *[[2, -1]] * 9, *[[-1, 0]] * 9], np.int8)
    of_two = agreements(two, 3, NO_INTERVAL)
    assert of_two["fleiss_kappa"].value == pytest.approx(
        fleiss_kappa(aggregate_raters(two[:3], n_cat=3)[0])
    )
    assert of_two["percent_agreement"].value == pytest.approx(2 / 3)
    same = agreements(np.array([[1, 1], [1, 1], [0, -1]], np.int8), 2, NO_INTERVAL)
    assert math.isnan(same["fleiss_kappa"].value)
    assert same["ac1"].value == 1
    rows = "000 001 111 1.1 21. .00 0.. 112 222 012"
    table = [[-1 if cell == "." else int(cell) for cell in row] for row in rows.split()]
    some = agreements(np.array(table, np.int8), 3, NO_INTERVAL)
    # irrCAC 0.4.4 with all three categories.
    assert some["ac1"].value == pytest.approx(0.452879223088)
    assert some["fleiss_kappa"].value == pytest.approx(0.426769848094)
    assert some["percent_agreement"].value == pytest.approx(17 / 27)


@given(
    arrays.arrays(
        np.int8, st.tuples(st.integers(1, 12), st.integers(2, 5)), elements=st.integers(-1, 2)
    )
)
def test_alpha_matches_the_library(table: np.ndarray) -> None:
    counts = np.array([[(unit == value).sum() for value in range(3)] for unit in table])
    occurring = counts[counts.sum(axis=1) > 1].sum(axis=0)

    result = alpha(table, 3)

    if (occurring > 0).sum() < 2:
        assert math.isnan(result)
    else:
        assert result == pytest.approx(of_the_library(table, 3), abs=1e-12)


def test_alpha_is_nan_without_pairs_or_variation_and_has_no_interval_if_all_agree() -> None:
    for table in ([[0, -1], [-1, 1]], [[-1, -1]], [[1, 1], [1, 1]]):
        result = nominal_alpha(np.array(table, np.int8), 2, resampling(200))
        assert math.isnan(result.value)
        assert math.isnan(result.low)
    assert math.isnan(alpha(np.empty((0, 3)), 2))
    agreed = nominal_alpha(np.array([[0, 0], [1, 1], [1, 1]], np.int8), 2, resampling(200))
    assert agreed.value == 1
    assert np.isnan([agreed.low, agreed.high]).all()


def test_interval_is_near_scipy_with_other_resamples() -> None:
    table = judged(60, seed=2)
    table = table[(table >= 0).sum(axis=1) >= 2]
    expected = stats.bootstrap(
        (np.arange(len(table)),),
        lambda units: of_the_library(table[units], 3),
        vectorized=False,
        n_resamples=1500,
        method="BCa",
        rng=np.random.default_rng(0),
    ).confidence_interval

    result = nominal_alpha(table, 3, resampling(seed=5))

    assert (result.low, result.high) == pytest.approx(tuple(expected), abs=0.03)
    assert result.low < result.value < result.high


def test_results_do_not_depend_on_threads_or_order() -> None:
    table = judged(50, seed=4)
    rng = np.random.default_rng(0)

    result = nominal_alpha(table, 3, resampling(300, threads=1))

    shuffled = rng.permuted(table[rng.permutation(50)], axis=1)
    assert nominal_alpha(table, 3, resampling(300, threads=4)) == result
    assert nominal_alpha(shuffled, 3, resampling(300)) == result
    assert nominal_alpha(table, 3, resampling(300, seed=1)) != result
    two = judged_by_two(60, 0.7, 3)
    kappa = cohens_kappa(two, 3, resampling())
    assert cohens_kappa(rng.permutation(two), 3, resampling(threads=3)) == kappa
    assert cohens_kappa(two, 3, resampling(seed=1)) != kappa


def judged_by_two(n: int, share: float, seed: int) -> np.ndarray:
    """Return answers of two annotators who agree on a share of units and else guess."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 3, n)
    second = np.where(rng.random(n) < share, first, rng.integers(0, 3, n))
    return np.column_stack([first, second]).astype(np.int8)


@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 2)), min_size=1, max_size=30))
def test_kappa_matches_scikit_learn(answers: list[tuple[int, int]]) -> None:
    from sklearn.metrics import cohen_kappa_score

    both = [pair for pair in answers if -1 not in pair]
    result = cohens_kappa(np.array(answers, np.int8), 3, NO_INTERVAL).value

    if len({value for pair in both for value in pair}) < 2:
        assert math.isnan(result)
    else:
        assert result == pytest.approx(cohen_kappa_score(*zip(*both, strict=True)))


def naive_kappa(table: np.ndarray) -> float:
    first, second = table.T
    by_chance = sum((first == value).mean() * (second == value).mean() for value in range(3))
    return ((first == second).mean() - by_chance) / (1 - by_chance)


def naive_accuracy(correct: np.ndarray) -> float:
    return np.mean([(answers[answers >= 0] == 1).mean() for answers in correct.T])


def test_kappa_and_mean_accuracy_are_near_a_plain_bootstrap() -> None:
    rng = np.random.default_rng(5)
    correct = rng.choice([-1, 0, 1], (200, 3), p=[0.3, 0.2, 0.5]).astype(np.int8)
    table = judged_by_two(400, 0.7, 1)
    for estimate, naive, units in (
        (cohens_kappa(table, 3, resampling()), naive_kappa, table),
        (mean_accuracy(correct, resampling()), naive_accuracy, correct),
    ):
        n = len(units)
        again = [naive(units[rng.integers(0, n, n)]) for _ in range(500)]
        assert estimate.value == pytest.approx(naive(units))
        assert [estimate.low, estimate.high] == pytest.approx(
            np.quantile(again, [0.025, 0.975]), abs=0.02
        )


@given(
    arrays.arrays(
        np.int8, st.tuples(st.integers(1, 9), st.integers(1, 5)), elements=st.integers(-1, 2)
    )
)
@example(np.array([[SAME, SAME, NOT_SAME, NOT_SAME], [SAME, SAME, -1, -1]], np.int8))
def test_majority_is_more_than_half_of_those_who_were_asked(table: np.ndarray) -> None:
    n_shown = np.maximum((table != -1).sum(axis=1), table.shape[1] - 1)
    for votes, n_asked, judgement in zip(
        table.tolist(), n_shown, majority(table, n_shown), strict=True
    ):
        winners = [v for v, n in Counter(votes).items() if 2 * n > n_asked]
        assert [judgement] == ([v for v in winners if v in {SAME, NOT_SAME}] or [NO_TRUTH])
