"""McNemar's test, and corrections for many tests."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from medsim.core.errors import OptionError
from medsim.statistics.significance import bonferroni, holm, mcnemar, mcnemar_of_runs

Probabilities = st.lists(st.one_of(st.floats(0, 1), st.just(math.nan)), max_size=12)


def answers(n_only1: int, n_only2: int, n_both: int = 3) -> tuple[np.ndarray, np.ndarray]:
    correct1 = [True] * n_only1 + [False] * n_only2 + [True] * n_both
    correct2 = [False] * n_only1 + [True] * n_only2 + [True] * n_both
    return np.array(correct1, np.bool_), np.array(correct2, np.bool_)


@given(st.integers(0, 24), st.integers(0, 24))
def test_few_disagreements_are_held_against_the_binomial_law(only1: int, only2: int) -> None:
    only2 = min(only2, 24 - only1)

    found = mcnemar(*answers(only1, only2))

    expected = stats.binomtest(only1, only1 + only2).pvalue if only1 + only2 else 1.0
    assert found.method == "mcnemar_exact"
    assert found.statistic == min(only1, only2)
    assert found.p == pytest.approx(expected, rel=1e-12)
    assert np.isnan([found.low, found.high]).all()


@given(st.integers(0, 200), st.integers(0, 200))
def test_many_disagreements_are_held_against_the_chi_square_law(only1: int, only2: int) -> None:
    from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

    only1 = max(only1, 25 - only2)

    found = mcnemar(*answers(only1, only2))

    assert found.method == "mcnemar"
    if only1 == only2:
        assert (found.statistic, found.p) == (0, 1)
    else:
        table = [[3, only1], [only2, 0]]
        expected = statsmodels_mcnemar(table, exact=False, correction=True)
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-12)
        assert found.p == pytest.approx(expected.pvalue, rel=1e-9)


def students_p(chi_square: float, clusters: np.ndarray) -> float:
    """Return the least p that a test of clusters may have; NaN of fewer than five effective."""
    _, sizes = np.unique(clusters, return_counts=True)
    effective = sizes.sum() ** 2 / (sizes**2).sum()
    if effective < 5 - 1e-12:
        return math.nan
    return float(2 * stats.t.sf(math.sqrt(chi_square), effective / 2))


Answer = st.tuples(st.booleans(), st.booleans(), st.integers(0, 7))


@given(st.lists(Answer, min_size=1, max_size=60))
def test_few_clusters_that_differ_are_held_against_all_signs(rows) -> None:
    correct1, correct2, clusters = (np.array(one) for one in zip(*rows, strict=True))

    found = mcnemar(correct1, correct2, clusters)

    sums = [
        sum(int(a) - int(b) for a, b, cluster in rows if cluster == name) for name in set(clusters)
    ]
    signs = list(product((-1, 1), repeat=len(sums)))
    totals = [abs(sum(s * one for s, one in zip(sign, sums, strict=True))) for sign in signs]
    assert found.method == "mcnemar_clusters_exact"
    of_signs = sum(t >= abs(sum(sums)) for t in totals) / len(totals)
    chi_square = max(0, abs(sum(sums)) - 1) ** 2 / max(1, sum(one * one for one in sums))
    expected = np.maximum(of_signs, students_p(chi_square, clusters))  # NaN if it is
    assert found.p == pytest.approx(expected, nan_ok=True)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(5, 9))
def test_clusters_of_one_pair_each_are_tested_nearly_as_pairs(
    only1: int, only2: int, both: int
) -> None:
    correct = answers(only1, only2, both)
    clusters = np.arange(len(correct[0])) + 3

    found = mcnemar(*correct, clusters)

    expected = mcnemar(*correct)
    chi_square = max(0, abs(only1 - only2) - 1) ** 2 / max(1, only1 + only2)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert found.p == pytest.approx(max(expected.p, students_p(chi_square, clusters)))


def test_many_clusters_are_tested_by_the_squares_of_their_differences() -> None:
    rng = np.random.default_rng(4)
    clusters = np.repeat(np.arange(80), 5)
    correct1, correct2 = rng.random((2, 400)) < [[0.7], [0.6]]

    found = mcnemar(correct1, correct2, clusters)

    sums = (correct1.astype(int) - correct2).reshape(80, 5).sum(axis=1)
    expected = (abs(sums.sum()) - 1) ** 2 / (sums**2).sum()
    assert found.statistic == pytest.approx(expected)
    assert found.p == pytest.approx(2 * stats.t.sf(math.sqrt(expected), 40))


def test_copies_of_pairs_within_their_clusters_tell_nothing_new() -> None:
    correct1, correct2 = answers(14, 3, 9)
    clusters = np.repeat(np.arange(26), 6)

    found = mcnemar(np.repeat(correct1, 6), np.repeat(correct2, 6), clusters)

    # Only the correction for continuity is smaller beside larger differences.
    assert mcnemar(correct1, correct2).p < found.p < mcnemar(correct1, correct2, np.arange(26)).p


def test_one_cluster_of_most_pairs_leaves_no_test() -> None:
    clusters = np.r_[np.zeros(300, np.int64), np.arange(1, 100)]
    correct1, correct2 = np.ones(399, np.bool_), np.arange(399) % 5 > 0

    assert mcnemar(correct1, correct2).p < 1e-9
    assert math.isnan(mcnemar(correct1, correct2, clusters).p)


def test_a_single_run_each_is_tested_as_it_stands() -> None:
    correct1, correct2 = answers(40, 12)

    found, expected = mcnemar_of_runs(correct1[None], correct2[None]), mcnemar(correct1, correct2)

    assert repr(found) == repr(expected)  # of which some numbers are nan


def test_runs_are_tested_by_the_differences_of_their_instances() -> None:
    correct1 = np.array([[1, 1, 0, 1], [1, 0, 0, 1], [1, 1, 0, 0]], np.bool_)
    correct2 = np.array([[0, 1, 1, 1], [0, 1, 0, 1]], np.bool_)

    found = mcnemar_of_runs(correct1, correct2)

    differences = [1 - 0, 2 / 3 - 1, 0 - 1 / 2, 2 / 3 - 1]
    chi_square = sum(differences) ** 2 / sum(one**2 for one in differences)
    assert found.method == "mcnemar_runs"
    assert found.statistic == pytest.approx(chi_square)
    assert found.p == pytest.approx(stats.chi2(1).sf(chi_square))
    assert mcnemar_of_runs(correct1[[0, 0]], correct1[:1]).p == 1


def test_the_test_of_runs_rejects_a_true_hypothesis_as_often_as_it_says() -> None:
    draw = np.random.default_rng(8)
    hard = draw.uniform(0.2, 0.9, size=(400, 1, 300))  # of instances, which runs have in common
    right1, right2 = (draw.random((400, 3, 300)) < hard for _ in range(2))

    p = [mcnemar_of_runs(one, other).p for one, other in zip(right1, right2, strict=True)]

    assert 0.02 < np.mean(np.array(p) < 0.05) < 0.08


def test_no_disagreement_has_a_p_of_1() -> None:
    assert mcnemar(*answers(0, 0)).p == 1
    assert mcnemar(*answers(0, 0, 0)).p == 1


def test_answers_must_be_of_the_same_pairs() -> None:
    with pytest.raises(OptionError, match="there are 2 truths for 3 pairs"):
        mcnemar(np.ones(3, np.bool_), np.ones(2, np.bool_))


@given(Probabilities)
def test_corrections_are_those_of_the_textbook_and_pass_over_nan(values: list[float]) -> None:
    tested = [p for p in values if not math.isnan(p)]

    of_bonferroni, of_holm = bonferroni(np.array(values)), holm(np.array(values))

    for at, p in enumerate(values):
        if math.isnan(p):
            assert np.isnan([of_bonferroni[at], of_holm[at]]).all()
            continue
        assert of_bonferroni[at] == min(1, p * len(tested))
        steps = [q * sum(another >= q for another in tested) for q in tested if q <= p]
        assert of_holm[at] == min(1, max(steps))


@pytest.mark.parametrize("wrong", [-0.1, 1.5, math.inf])
def test_what_is_no_probability_is_refused(wrong: float) -> None:
    for correct in (bonferroni, holm):
        with pytest.raises(OptionError, match=f"p-value {wrong} is out of range"):
            correct(np.array([0.5, wrong]))
