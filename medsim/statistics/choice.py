"""A model of choice: which alternative of a list is the right one, by their features."""

from __future__ import annotations

import numpy as np

from medsim.kernels.types import Flags, FloatTable, Starts, Values

_PENALTY = 1.0
_MAX_STEPS = 100
_LARGEST_STEP = 2.0
_SMALL = 1e-8  # a step or share that changes nothing
_OTHERS = 20  # lists with the known share of none, which a share of few lists is averaged with


def choice_shares(utilities: Values, starts: Starts) -> Values:
    """Return the probability of each alternative to be chosen from its list.

    Args:
        utilities: float64[n_alternatives]; list ``i`` has those from ``starts[i]`` to
            ``starts[i + 1]``.
        starts: int64[n_lists + 1]; no list is empty.

    Returns:
        float64[n_alternatives], with the sum 1 in each list.
    """
    begins, sizes = starts[:-1], np.diff(starts)
    weights = np.exp(utilities - np.repeat(np.maximum.reduceat(utilities, begins), sizes))
    shares: Values = weights / np.repeat(np.add.reduceat(weights, begins), sizes)
    return shares


def fitted_choice(features: FloatTable, starts: Starts, chosen: Flags) -> Values:
    """Return the coefficients of a conditional logit model (McFadden 1974).

    The utility of an alternative is the sum of its features times the coefficients. Large
    coefficients cost a little, so that they are finite where features separate the alternatives.

    Args:
        features: float64[n_alternatives, n_features].
        starts: int64[n_lists + 1], as for ``choice_shares``.
        chosen: bool[n_alternatives], one in each list.

    Returns:
        float64[n_features].
    """
    begins, sizes = starts[:-1], np.diff(starts)
    coefficients = np.zeros(features.shape[1])
    for _ in range(_MAX_STEPS):
        shares = choice_shares(features @ coefficients, starts)[:, None]
        gradient = features.T @ (chosen[:, None] - shares)[:, 0] - _PENALTY * coefficients
        centred = features - np.repeat(np.add.reduceat(features * shares, begins), sizes, axis=0)
        curvature = centred.T @ (centred * shares) + _PENALTY * np.eye(len(coefficients))
        step = np.linalg.solve(curvature, gradient)
        step *= min(1.0, _LARGEST_STEP / max(np.abs(step).max(), _SMALL))
        coefficients += step
        if np.abs(step).max() < _SMALL:
            break
    return coefficients


def shares_of_lists(utilities: Values, starts: Starts, known_share: float) -> Values:
    """Return ``choice_shares`` for lists in which "none" is chosen more or less often than known.

    How often it is chosen is estimated from the lists themselves (Saerens, Latinne and Decaestecker
    2002). The estimate of few lists is drawn to the known share.

    Args:
        utilities: float64[n_alternatives]; the last one of each list is "none".
        starts: int64[n_lists + 1].
        known_share: share of "none" in the lists that the model was fitted on.
    """
    share, is_none = known_share, np.zeros(len(utilities))
    is_none[starts[1:] - 1] = 1
    for _ in range(_MAX_STEPS):
        shift = np.log(share / (1 - share)) - np.log(known_share / (1 - known_share))
        shares = choice_shares(utilities + shift * is_none, starts)
        counted = float(shares @ is_none) + _OTHERS * known_share
        before, share = share, counted / (len(starts) - 1 + _OTHERS)
        if abs(share - before) < _SMALL:
            break
    return shares
