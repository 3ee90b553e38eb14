"""Fine-tuning of sentence encoders on pairs of sentences that have one meaning or two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from medsim.core.reading import reading
from medsim.wic.models.training import Fitted, train

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from medsim.embeddings.formats.sentence_transformers import SentenceEncoder
    from medsim.kernels.types import Flags, Rows, Values
    from medsim.wic.models.training import Training

ONLINE_CONTRASTIVE, COSINE = "online-contrastive", "cosine"
LOSSES = (ONLINE_CONTRASTIVE, COSINE)
"""The losses of fine-tuning, the default first."""

MARGIN = 0.5
"""The cosine distance beyond which a pair with two meanings adds nothing to the contrastive loss.

It is that of the code of Rouhizadeh et al. (2024).
"""


_TEXTS_A_RUN = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPairs:
    """Pairs of texts that mean the same or do not."""

    left: Sequence[str]
    right: Sequence[str]
    labels: Flags


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """The options of fine-tuning: one of ``LOSSES``, and how it is minimised."""

    loss: str
    training: Training


def tune(
    encoder: SentenceEncoder,
    pairs: TextPairs,
    held_back: TextPairs,
    tuning: Tuning,
    *,
    seed: int,
    advance: Callable[[int], None],
) -> int:
    """Fit an encoder on pairs in place, and return the epoch whose weights are kept, from 1.

    See ``contrastive_loss`` and ``cosine_loss`` for the losses, and
    ``medsim.wic.models.training.train`` for the rest.
    """
    import torch  # noqa: PLC0415 — comes with an extra

    loss = {ONLINE_CONTRASTIVE: contrastive_loss, COSINE: cosine_loss}[tuning.loss]

    def loss_of(rows: Rows) -> Any:
        chosen = rows.tolist()
        texts = [side[row] for side in (pairs.left, pairs.right) for row in chosen]
        left, right = _embedded(encoder, texts).split(len(chosen))
        labels = torch.tensor(pairs.labels[rows].tolist(), device=left.device)
        return loss(torch.nn.functional.cosine_similarity(left, right), labels)

    def scores() -> Values:
        left, right = (encoder.encode(side) for side in (held_back.left, held_back.right))
        lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
        products: Values = np.einsum("ij,ij->i", left, right, dtype=np.float64)
        return products / np.where(lengths > 0, lengths, 1)

    fitted = Fitted(module=encoder.model, loss=loss_of, scores=scores, labels=held_back.labels)
    with reading(encoder.path, "model to fine-tune"):
        return train(fitted, len(pairs.labels), tuning.training, seed=seed, advance=advance)


def contrastive_loss(cosines: Any, labels: Any) -> Any:
    """Return the online contrastive loss of a batch of pairs, a tensor of one number.

    Only hard pairs count: those that differ in meaning and are nearer than the farthest pair that
    does not, and those of one meaning that are farther apart than the nearest pair that differs.
    The loss is the sum over them of the squared cosine distance where they have one meaning, and of
    the square of what it lacks of ``MARGIN`` where they have two. Where a batch has no pair of a
    label, those of the other are compared with their own mean. sentence-transformers defines it so,
    and Rouhizadeh et al. (2024) fine-tuned with it.

    Args:
        cosines: float tensor[n_pairs].
        labels: bool tensor[n_pairs], whether a pair has one meaning.
    """
    distances = 1 - cosines
    alike, unlike = distances[labels], distances[~labels]
    near = unlike[unlike < (alike.max() if len(alike) else unlike.mean())]
    far = alike[alike > (unlike.min() if len(unlike) else alike.mean())]
    return far.square().sum() + (MARGIN - near).clamp(min=0).square().sum()


def cosine_loss(cosines: Any, labels: Any) -> Any:
    """Return the mean squared difference of cosines from 1 or 0 (Reimers and Gurevych 2019).

    Args:
        cosines: float tensor[n_pairs].
        labels: bool tensor[n_pairs], whether a pair has one meaning.
    """
    return (cosines - labels.to(cosines.dtype)).square().mean()


def _embedded(encoder: SentenceEncoder, texts: Sequence[str]) -> Any:
    """Return the vectors of texts, with their gradients: tensor[n_texts, n_dimensions].

    Texts of about one length run together, since padding to the longest of a batch takes as long as
    the texts themselves.
    """
    import torch  # noqa: PLC0415 — comes with an extra

    model = encoder.model
    cut = getattr(model, "preprocess", None) or model.tokenize  # renamed within version 5
    order = sorted(range(len(texts)), key=lambda row: (len(texts[row]), texts[row]))
    parts = []
    for at in range(0, len(order), _TEXTS_A_RUN):
        run = [encoder.before + texts[row] for row in order[at : at + _TEXTS_A_RUN]]
        features = {
            name: one.to(model.device) if isinstance(one, torch.Tensor) else one
            for name, one in cut(run).items()
        }
        parts.append(model(features)["sentence_embedding"])
    return torch.cat(parts)[torch.tensor(np.argsort(order).tolist())]
