"""Tells instances apart by a multi-layer perceptron."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from medsim.core.errors import OptionError

if TYPE_CHECKING:
    from medsim.kernels.types import Flags, Table, Values

N_HIDDEN = 128
"""Units of the hidden layer (Rouhizadeh et al. 2024)."""

_MOST_EPOCHS = 200
_SEEDS = 1 << 32  # of NumPy's generator that scikit-learn takes


def perceptron_scores(features: Table, labels: Flags, asked: Table, seed: int) -> Values:
    """Return how probable a perceptron holds it that instances are True.

    It has one hidden layer, and is fitted by Adam until the loss on what it is fitted on falls no
    more, or for 200 epochs: scikit-learn's ``MLPClassifier`` as it stands. Features are scaled to
    mean 0 and deviation 1 over what it is fitted on; one that is constant there becomes 0. One
    thread computes, since the order of sums would change what is fitted.

    Args:
        features: float64[n_fitted, n_features], in an order that does not depend on the file's.
        labels: bool[n_fitted].
        asked: float64[n_asked, n_features].
        seed: of the first weights and of the order of batches.

    Returns:
        float64[n_asked]; 0 or 1 where all labels are the same, 0 where there are none.

    Raises:
        OptionError: the extra wic is not installed.
    """
    if labels.all() or not labels.any():
        return np.full(len(asked), float(len(labels) > 0 and labels.all()))
    try:
        from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 — an extra
        from sklearn.neural_network import MLPClassifier  # noqa: PLC0415 — as above
        from threadpoolctl import threadpool_limits  # noqa: PLC0415 — comes with it
    except ImportError as error:
        raise OptionError(
            "a perceptron on word vectors needs scikit-learn; install medsim with its extra wic"
        ) from error
    mean, deviation = features.mean(axis=0), features.std(axis=0)
    scale = np.where(deviation > 0, deviation, np.inf)
    model = MLPClassifier((N_HIDDEN,), max_iter=_MOST_EPOCHS, random_state=seed % _SEEDS)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 200 epochs are what is promised
        model.fit((features - mean) / scale, labels)
        scores: Values = model.predict_proba((asked - mean) / scale)[:, 1]
    return scores
