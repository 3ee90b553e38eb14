"""Correlations of ranks by definition are SciPy's."""

import numpy as np
import pytest
from oracles.ranks import average_ranks, spearman
from scipy import stats


def test_ranks_and_their_correlation_are_those_of_scipy() -> None:
    rng = np.random.default_rng(4)
    for n_values in range(2, 30):
        left, right = rng.integers(0, 4, (2, n_values)).astype(np.float64)
        left[0], right[-1] = 4, 5  # neither is constant
        assert (average_ranks(left) + 1).tolist() == stats.rankdata(left).tolist()
        assert spearman(left, right) == pytest.approx(stats.spearmanr(left, right).statistic)


def test_constant_values_and_none_have_no_correlation() -> None:
    for n_values in (0, 1, 3):
        assert np.isnan(spearman(np.ones(n_values), np.arange(n_values)))
        assert np.isnan(spearman(np.arange(n_values), np.ones(n_values)))
