"""Encoders whose vectors of both sides are compared by cosine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from medsim.embeddings.embedded_terms import embed_terms, path_of
from medsim.embeddings.formats.onnx import NAME, OnnxEncoder, Target
from medsim.embeddings.metrics import METRICS, TermPoints, Workers
from medsim.embeddings.sources import TERMS
from medsim.wic.models import MODELS, QUOTED, TARGET, EmbeddedModel, threshold_answers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from medsim.embeddings.sources import VectorSource
    from medsim.kernels.types import Flags, Ids, Values, Vectors
    from medsim.wic.dataset import WicDataset
    from medsim.wic.models import Context, ModelAnswers

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
    inputs: ClassVar[tuple[str, ...]] = (TARGET, QUOTED)

    @classmethod
    def readable(cls, source: VectorSource) -> tuple[str, ...]:
        """Return the ``inputs`` that it can read with a source: the target only with ONNX."""
        return cls.inputs if source.format_name == NAME else (QUOTED,)

    def answers(self, dataset: WicDataset, context: Context) -> ModelAnswers:
        """Return True if the cosine of both sides is at or above a threshold.

        A side is the mean vector of the target's tokens in its sentence; or the encoder's vector of
        the sentence with its target in double quotes.
        """
        rows = dataset.answered_rows
        if self.reads == TARGET:
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
                parts.append(encoder.encode_targets(targets[at : at + A_BATCH]))
                stage.advance(len(parts[-1].covered))
            vectors = np.concatenate([part.vectors for part in parts])
            covered = np.concatenate([part.covered for part in parts])
            stage.note(f"{np.count_nonzero(covered):,} covered, {vectors.shape[1]} dimensions")
        if n_cut := sum(int(part.cut.sum()) for part in parts):
            progress.warn(f"{self.name} truncates {n_cut:,} targets")
        return vectors, covered


MODELS.register(CosineModel.way, CosineModel)


def distinct_items(
    left: Sequence[T], right: Sequence[T], key: Callable[[T], Any]
) -> tuple[list[T], Ids, Ids]:
    """Return the items of both sides, each once and in order, and the item of each row."""
    distinct = sorted({*left, *right}, key=key)
    places = {item: place for place, item in enumerate(distinct)}
    first = np.array([places[item] for item in left], np.int32)
    return distinct, first, np.array([places[item] for item in right], np.int32)


def cosines(vectors: Vectors, first: Ids, second: Ids, threads: int) -> Values:
    """Return the cosine of each pair of vectors."""
    workers = Workers(threads=threads)
    return METRICS.get("cos").similarities(TermPoints(vectors=vectors), first, second, workers)
