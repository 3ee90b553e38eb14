"""Encoders whose vectors of both sides are compared by cosine, also after fine-tuning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from medsim.core.errors import OptionError
from medsim.core.reading import reading
from medsim.embeddings.embedded_terms import embed_terms, path_of
from medsim.embeddings.formats import TERMS, VectorSource
from medsim.embeddings.formats.onnx import NAME as ONNX
from medsim.embeddings.formats.onnx import OnnxEncoder, Target
from medsim.embeddings.formats.sentence_transformers import NAME as SENTENCE_TRANSFORMERS
from medsim.embeddings.formats.sentence_transformers import SentenceEncoder
from medsim.embeddings.metrics.averages import cosines
from medsim.kernels.types import Flags, Ids, Rows, Values, Vectors
from medsim.wic.models import (
    MODELS,
    QUOTED,
    TARGET_WORD,
    EmbeddedModel,
    TrainedModel,
    threshold_answers,
)
from medsim.wic.models.training import Training, precision_of, train

if TYPE_CHECKING:
    from medsim.wic.dataset import Round, WicDataset
    from medsim.wic.models import Context, Fit, ModelAnswers

T = TypeVar("T")

A_BATCH = 256
"""The number of texts or targets to embed at once: about a second for a small model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CosineModel(EmbeddedModel):
    """An encoder whose vectors are compared by cosine."""

    way: ClassVar[str] = "cosine"
    needs: ClassVar[tuple[str, ...]] = ("dev",)
    gives: ClassVar[str] = TERMS
    accepts: ClassVar[tuple[str, ...]] = ("input", "tune")
    inputs: ClassVar[tuple[str, ...]] = (TARGET_WORD, QUOTED)

    @classmethod
    def readable(cls, source: VectorSource) -> tuple[str, ...]:
        """Return the ``inputs`` that it can read with a source: the target only with ONNX."""
        return cls.inputs if source.format_name == ONNX else (QUOTED,)

    def answers(self, dataset: WicDataset, context: Context) -> ModelAnswers:
        """Return True if the cosine of both sides is at or above a threshold.

        A side is the mean vector of the target's tokens in its sentence; or the encoder's vector of
        the sentence with its target in double quotes.
        """
        rows = dataset.answered_rows
        if self.reads == TARGET_WORD:
            left, right = (
                [Target(sentence=s, start=at, end=end) for s, at, end in dataset.sentences(n, rows)]
                for n in (1, 2)
            )
            # in order of length, so that the targets of a batch have similar lengths
            targets, first, second = distinct_items(
                left, right, lambda side: (len(side.sentence), side.sentence, side.start, side.end)
            )
            vectors, covered = self._target_vectors(targets, context)
        else:
            first_texts, second_texts = (dataset.quoted(side, rows) for side in (1, 2))
            texts, first, second = distinct_items(first_texts, second_texts, str)
            result = embed_terms(
                context.embeddings[self.name],
                texts,
                context.progress,
                threads=context.threads,
                cache=context.cache,
            )
            embedded: Any = result.embedded  # vectors of terms, by its source
            vectors, covered = embedded.vectors, result.covered
        scores = np.full(dataset.instances.height, np.nan)
        both = covered[first] & covered[second]
        scores[rows[both]] = cosines(vectors, first[both], second[both], context.threads)
        return threshold_answers(dataset, lambda _round: scores, lambda round_: round_.dev)

    def _target_vectors(self, targets: Sequence[Target], context: Context) -> tuple[Vectors, Flags]:
        """Return the vectors of targets, and whether each has one."""
        named, progress = context.embeddings[self.name], context.progress
        with progress.stage(f"embed {len(targets):,} targets with {self.name}") as stage:
            encoder = OnnxEncoder(path_of(named.source), named.spec.options, context.threads)
            stage.total(len(targets))
            parts = []
            for at in range(0, len(targets), A_BATCH):
                parts.append(encoder.encode_targets(batch := targets[at : at + A_BATCH]))
                stage.advance(len(batch))
            vectors, covered, cut = (np.concatenate(each) for each in zip(*parts, strict=True))
            stage.note(f"{np.count_nonzero(covered):,} covered, {vectors.shape[1]} dimensions")
        if n_cut := int(cut.sum()):
            progress.warn(f"{self.name} truncates {n_cut:,} targets")
        return vectors, covered


MODELS.register(CosineModel.way, CosineModel)


def distinct_items(
    left: Sequence[T], right: Sequence[T], key: Callable[[T], Any]
) -> tuple[list[T], Ids, Ids]:
    """Return the items of both sides, each once and in order, and the item of each row."""
    distinct = sorted({*left, *right}, key=key)
    numbers = {item: number for number, item in enumerate(distinct)}
    first = np.array([numbers[item] for item in left], np.int32)
    return distinct, first, np.array([numbers[item] for item in right], np.int32)


TUNABLE = (SENTENCE_TRANSFORMERS, "transformers")
"""The formats of embeddings that can be fine-tuned."""

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
    accepts: ClassVar[tuple[str, ...]] = ("input", "tune")
    inputs: ClassVar[tuple[str, ...]] = (QUOTED,)
    default: ClassVar[Training] = Training(epochs=10, rate=2e-5, batch=32)

    @classmethod
    def readable(cls, source: VectorSource) -> tuple[str, ...]:
        """Return the ``inputs`` that it can read with a source; raise OptionError if none."""
        if source.format_name not in TUNABLE:
            raise OptionError(f"tune=yes needs {' or '.join(TUNABLE)}, not {source.describes}")
        return cls.inputs

    def fitting(self, dataset: WicDataset, context: Context) -> tuple[Flags, Fit]:
        """Return that all instances can be used, and a function that tunes an encoder.

        Scores are cosines. It reads the sentence with its target in double quotes.
        """
        named = context.embeddings[self.name]
        path, labels = path_of(named.source), dataset.labels
        left, right = (dataset.quoted(side) for side in (1, 2))

        def pairs_of(rows: Rows) -> TextPairs:
            sides = [[side[row] for row in rows] for side in (left, right)]
            return TextPairs(left=sides[0], right=sides[1], labels=labels[rows])

        def fit(round_: Round, advance: Callable[[int], None]) -> tuple[Values, int]:
            encoder = SentenceEncoder(path, named.spec.options, context.threads)
            epoch = tune(
                encoder,
                pairs_of(round_.train),
                pairs_of(round_.held_back),
                self.training,
                seed=context.seed,
                advance=advance,
            )
            scored = pairs_of(np.concatenate([round_.held_back, round_.test]))
            texts, first, second = distinct_items(
                scored.left, scored.right, lambda text: (len(text), text)
            )
            return cosines(encoder.encode(texts), first, second, context.threads), epoch

        return np.ones(len(labels), np.bool_), fit


MODELS.register(TunedModel.way, TunedModel)


def tune(
    encoder: SentenceEncoder,
    pairs: TextPairs,
    held_back: TextPairs,
    training: Training,
    *,
    seed: int,
    advance: Callable[[int], None],
) -> int:
    """Fit an encoder on pairs in place, and return the epoch whose weights are kept, from 1.

    See ``contrastive_loss`` for the loss, and ``medsim.wic.models.training.train`` for the rest.
    """
    import torch  # noqa: PLC0415 — comes with an extra

    def loss_of(rows: Rows) -> Any:
        chosen = rows.tolist()
        texts = [side[row] for side in (pairs.left, pairs.right) for row in chosen]
        left, right = _embed(encoder, texts).split(len(chosen))
        labels = torch.tensor(pairs.labels[rows].tolist(), device=left.device)
        return contrastive_loss(torch.nn.functional.cosine_similarity(left, right), labels)

    def quality() -> float:
        left, right = (encoder.encode(side) for side in (held_back.left, held_back.right))
        lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
        products: Values = np.einsum("ij,ij->i", left, right, dtype=np.float64)
        return precision_of(products / np.where(lengths > 0, lengths, 1), held_back.labels)

    model, n_pairs = encoder.model, len(pairs.labels)
    with reading(encoder.path, "model to fine-tune"):
        return train(model, loss_of, quality, n_pairs, training, seed=seed, advance=advance)


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
