"""Models of choice, against SciPy and simulated choices."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from medsim.statistics.choice import choice_shares, fitted_choice, shares_of_lists


def lists_of(seed: int, n_lists: int) -> tuple[np.ndarray, ...]:
    """Return features, starts, chosen and true utilities; the last alternative is none."""
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, 6, n_lists)
    starts = np.append(0, sizes.cumsum())
    features = draw.normal(size=(starts[-1], 3))
    features[starts[1:] - 1] = 0
    is_none = np.zeros(len(features))
    is_none[starts[1:] - 1] = 1
    features = np.column_stack([features, is_none])
    utilities = features @ np.array([1.5, -0.5, 0.0, 0.7])
    chosen = np.zeros(len(features), bool)
    for start, end in pairwise(starts):
        chosen[draw.choice(np.arange(start, end), p=softmax(utilities[start:end]))] = True
    return features, starts, chosen, utilities


def parts(starts: np.ndarray) -> list[slice]:
    return [slice(start, end) for start, end in pairwise(starts)]


def test_shares_are_the_softmax_of_each_list() -> None:
    _, starts, _, utilities = lists_of(0, 50)
    expected = np.concatenate([softmax(400 * utilities[part]) for part in parts(starts)])
    np.testing.assert_allclose(choice_shares(400 * utilities, starts), expected, atol=1e-12)


def test_fit_has_the_highest_penalized_likelihood() -> None:
    features, starts, chosen, _ = lists_of(1, 300)

    def loss(coefficients: np.ndarray) -> float:
        known = [log_softmax(features[part] @ coefficients) for part in parts(starts)]
        return coefficients @ coefficients / 2 - np.concatenate(known)[chosen].sum()

    expected = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-8}).x
    np.testing.assert_allclose(fitted_choice(features, starts, chosen), expected, atol=1e-4)


def test_separated_alternatives_have_finite_coefficients() -> None:
    features = np.array([[1.0], [0.0], [1.0], [0.0]])
    fitted = fitted_choice(features, np.array([0, 2, 4]), features[:, 0] == 1)
    assert 0 < fitted[0] < 5


@pytest.mark.parametrize(("of_none", "of_others"), [(1.0, 1.0), (0.2, 1.0), (1.0, 0.2)])
def test_share_of_none_is_estimated_from_the_lists(of_none: float, of_others: float) -> None:
    features, starts, chosen, utilities = lists_of(2, 8000)
    known = chosen[starts[1:] - 1].mean()
    draw = np.random.default_rng(4)
    kept = np.where(chosen[starts[1:] - 1], of_none, of_others) > draw.random(len(starts) - 1)
    of_kept = np.repeat(kept, np.diff(starts))
    starts = np.append(0, np.diff(starts)[kept].cumsum())
    features, chosen, utilities = features[of_kept], chosen[of_kept], utilities[of_kept]
    shares = shares_of_lists(utilities, starts, known)
    assert shares[starts[1:] - 1].mean() == pytest.approx(chosen[starts[1:] - 1].mean(), abs=0.03)
    shifted = utilities + features[:, -1] * np.log(of_none / of_others)
    np.testing.assert_allclose(shares, choice_shares(shifted, starts), atol=0.05)


def test_few_lists_keep_the_known_share() -> None:
    shares = shares_of_lists(np.array([0.0, 0.0]), np.array([0, 2]), 0.5)
    np.testing.assert_allclose(shares, 0.5, atol=0.02)
