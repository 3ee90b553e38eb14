"""Encoders that are fine-tuned on pairs of sentences, and then compared by cosine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from medsim.core.errors import OptionError
from medsim.core.reading import reading
from medsim.embeddings.embedded_terms import path_of
from medsim.embeddings.formats.sentence_transformers import NAME, SentenceEncoder
from medsim.embeddings.sources import TERMS
from medsim.wic.models import MODELS, QUOTED, TrainedModel, round_name, threshold_answers
from medsim.wic.models.cosine import A_BATCH, cosines, distinct_items
from medsim.wic.models.training import TRAINING_OPTIONS, Fitted, Training, train

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from medsim.embeddings.sources import VectorSource
    from medsim.kernels.types import Flags, Rows, Values
    from medsim.wic.dataset import Round, WicDataset
    from medsim.wic.models import Context, ModelAnswers

TUNABLE = (NAME, "transformers")
"""The formats of embeddings that can be fine-tuned."""

ONLINE_CONTRASTIVE, COSINE = "online-contrastive", "cosine"  # losses

_MARGIN = 0.5  # cosine distance of two meanings without loss, as Rouhizadeh et al. (2024) have it
_TEXTS_A_RUN = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPairs:
    """Pairs of texts, and whether both mean the same."""

    left: Sequence[str]
    right: Sequence[str]
    labels: Flags


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedModel(TrainedModel):
    """An encoder that is fine-tuned in every round, and then compared by cosine.

    It is trained as in the code of Rouhizadeh et al. (2024).
    """

    way: ClassVar[str] = "fine-tuned"
    gives: ClassVar[str] = TERMS
    accepts: ClassVar[tuple[str, ...]] = ("input", "tune", "loss", *TRAINING_OPTIONS)
    inputs: ClassVar[tuple[str, ...]] = (QUOTED,)
    default: ClassVar[Training] = Training(epochs=10, rate=2e-5, batch=32)
    losses: ClassVar[tuple[str, ...]] = (ONLINE_CONTRASTIVE, COSINE)

    @classmethod
    def readable(cls, source: VectorSource) -> tuple[str, ...]:
        """Return the ``inputs`` that it can read with a source; raise OptionError if none."""
        if source.format_name not in TUNABLE:
            raise OptionError(f"tune=yes needs {' or '.join(TUNABLE)}, not {source.describes}")
        return cls.inputs

    def answers(self, dataset: WicDataset, context: Context) -> ModelAnswers:
        """Return the answers by cosine and threshold.

        It reads the sentence with its target in double quotes. Thresholds are chosen on instances
        that it was not fitted on.
        """
        named = context.embeddings[self.name]
        path, labels = path_of(named.source), dataset.labels
        left, right = (dataset.quoted(side) for side in (1, 2))

        def pairs_of(rows: Rows) -> TextPairs:
            sides = [[side[row] for row in rows] for side in (left, right)]
            return TextPairs(left=sides[0], right=sides[1], labels=labels[rows])

        def scores_in(round_: Round) -> Values:
            encoder = SentenceEncoder(path, named.spec.options, context.threads)
            train = pairs_of(round_.train[~np.isin(round_.train, round_.held_back)])
            with context.progress.stage(f"fine-tune {round_name(self.name, round_)}") as stage:
                stage.total(self.training.epochs * len(train.labels))
                epoch = tune(
                    encoder,
                    train,
                    pairs_of(round_.held_back),
                    self.loss,
                    self.training,
                    seed=context.seed,
                    advance=stage.advance,
                )
                stage.note(f"{len(train.labels):,} instances, epoch {epoch} kept")
            rows = np.concatenate([round_.held_back, round_.test])
            texts, first, second = distinct_items(
                [left[row] for row in rows],
                [right[row] for row in rows],
                lambda text: (len(text), text),
            )
            parts = [
                encoder.encode(texts[at : at + A_BATCH]) for at in range(0, len(texts), A_BATCH)
            ]
            scores = np.full(len(labels), np.nan)
            scores[rows] = cosines(np.concatenate(parts), first, second, context.threads)
            return scores

        return threshold_answers(dataset, scores_in, lambda round_: round_.held_back)


MODELS.register(TunedModel.way, TunedModel)


def tune(
    encoder: SentenceEncoder,
    pairs: TextPairs,
    held_back: TextPairs,
    loss: str,
    training: Training,
    *,
    seed: int,
    advance: Callable[[int], None],
) -> int:
    """Fit an encoder on pairs in place, and return the epoch whose weights are kept, from 1.

    See ``contrastive_loss`` and ``cosine_loss`` for the losses, and
    ``medsim.wic.models.training.train`` for the rest.
    """
    import torch  # noqa: PLC0415 — comes with an extra

    loss_of_cosines = {ONLINE_CONTRASTIVE: contrastive_loss, COSINE: cosine_loss}[loss]

    def loss_of(rows: Rows) -> Any:
        chosen = rows.tolist()
        texts = [side[row] for side in (pairs.left, pairs.right) for row in chosen]
        left, right = _embed(encoder, texts).split(len(chosen))
        labels = torch.tensor(pairs.labels[rows].tolist(), device=left.device)
        return loss_of_cosines(torch.nn.functional.cosine_similarity(left, right), labels)

    def scores() -> Values:
        left, right = (encoder.encode(side) for side in (held_back.left, held_back.right))
        lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
        products: Values = np.einsum("ij,ij->i", left, right, dtype=np.float64)
        return products / np.where(lengths > 0, lengths, 1)

    fitted = Fitted(module=encoder.model, loss=loss_of, scores=scores, labels=held_back.labels)
    with reading(encoder.path, "model to fine-tune"):
        return train(fitted, len(pairs.labels), training, seed=seed, advance=advance)


def contrastive_loss(cosines: Any, labels: Any) -> Any:
    """Return the online contrastive loss of a batch of pairs, a tensor of one number.

    Only hard pairs count: negatives nearer than the farthest positive, and positives farther apart
    than the nearest negative. The loss is the sum over them of the squared cosine distance for
    positives, and of the squared difference from a margin for negatives. If a batch has no pair
    of one label, the pairs of the other are compared with their mean. It is defined as in
    sentence-transformers, and Rouhizadeh et al. (2024) fine-tuned with it.

    Args:
        cosines: float tensor[n_pairs].
        labels: bool tensor[n_pairs], whether a pair has one meaning.
    """
    distances = 1 - cosines
    alike, unlike = distances[labels], distances[~labels]
    near = unlike[unlike < (alike.max() if len(alike) else unlike.mean())]
    far = alike[alike > (unlike.min() if len(unlike) else alike.mean())]
    return far.square().sum() + (_MARGIN - near).clamp(min=0).square().sum()


def cosine_loss(cosines: Any, labels: Any) -> Any:
    """Return the mean squared difference of cosines from 1 or 0 (Reimers and Gurevych 2019).

    Args:
        cosines: float tensor[n_pairs].
        labels: bool tensor[n_pairs], whether a pair has one meaning.
    """
    return (cosines - labels.to(cosines.dtype)).square().mean()


def _embed(encoder: SentenceEncoder, texts: Sequence[str]) -> Any:
    """Return the vectors of texts, with their gradients: tensor[n_texts, n_dimensions].

    Texts of similar lengths run together, since padding takes as long as text.
    """
    import torch  # noqa: PLC0415 — comes with an extra

    model = encoder.model
    cut = getattr(model, "preprocess", None) or model.tokenize  # renamed within version 5
    order = sorted(range(len(texts)), key=lambda row: (len(texts[row]), texts[row]))
    parts = []
    for at in range(0, len(order), _TEXTS_A_RUN):
        run = [encoder.before + texts[row] for row in order[at : at + _TEXTS_A_RUN]]
        features = {
            name: value.to(model.device) if isinstance(value, torch.Tensor) else value
            for name, value in cut(run).items()
        }
        parts.append(model(features)["sentence_embedding"])
    return torch.cat(parts)[torch.tensor(np.argsort(order).tolist())]
