"""Fine-tunes models of sentence-transformers on pairs of texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from medsim.kernels.types import Flags

_PAIRS_A_STEP = 16
_RATE = 2e-5  # of AdamW, as usual for models that are trained already
_LONGEST_STEP = 1.0  # the largest norm of a gradient


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPairs:
    """Pairs of texts that mean the same or do not."""

    left: Sequence[str]
    right: Sequence[str]
    labels: Flags


def tune(
    model: Any, pairs: TextPairs, *, epochs: int, seed: int, advance: Callable[[int], None]
) -> None:
    """Fit a model such that the cosine of a pair is near 1 where it means the same, else near 0.

    The loss is the mean squared difference (Reimers and Gurevych, EMNLP 2019, section 3), and the
    optimiser AdamW with 16 pairs a step. PyTorch's own random state, which decides about dropout,
    is put back afterwards. Sums are taken in an order that depends on threads and machine, and
    fitting makes more of such differences, so the same seed gives nearly but not always quite the
    same model.
    """
    import torch  # noqa: PLC0415 — comes with an extra
    from sentence_transformers.losses import CosineSimilarityLoss  # noqa: PLC0415 — an extra
    from sentence_transformers.util import batch_to_device  # noqa: PLC0415 — as above

    loss = CosineSimilarityLoss(model)
    cut = getattr(model, "preprocess", None) or model.tokenize  # renamed within version 5
    optimiser = torch.optim.AdamW(model.parameters(), lr=_RATE)
    draw = np.random.default_rng(seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model.train()
        for _ in range(epochs):
            order = draw.permutation(len(pairs.labels))
            for rows in np.split(order, range(_PAIRS_A_STEP, len(order), _PAIRS_A_STEP)):
                texts = [[side[row] for row in rows] for side in (pairs.left, pairs.right)]
                labels = torch.tensor(pairs.labels[rows].tolist(), dtype=torch.float32)
                features = [batch_to_device(cut(side), model.device) for side in texts]
                optimiser.zero_grad()
                loss(features, labels.to(model.device)).backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), _LONGEST_STEP)
                optimiser.step()
                advance(len(rows))
        model.eval()
