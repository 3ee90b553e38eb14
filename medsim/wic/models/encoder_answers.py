"""The answers of encoders, by the cosine of both sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from medsim.core.errors import OptionError
from medsim.embeddings.embedded_terms import embed_terms, path_of
from medsim.embeddings.formats.onnx import OnnxEncoder, Target
from medsim.embeddings.formats.sentence_transformers import SentenceEncoder
from medsim.embeddings.metrics import METRICS, TermPoints, Workers
from medsim.wic.models.answers import round_name, threshold_answers
from medsim.wic.models.model_specs import TARGET
from medsim.wic.models.tuning import TextPairs, tune

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from medsim.core.progress import Progress
    from medsim.embeddings.embedded_terms import NamedEmbedding
    from medsim.kernels.types import Flags, Ids, Rows, Values, Vectors
    from medsim.wic.dataset import Round, WicDataset
    from medsim.wic.models.answers import ModelAnswers, Setting
    from medsim.wic.models.model_specs import CosineModel, TunedModel

T = TypeVar("T")

_A_BATCH = 256  # of texts or targets: a second or so of a small model


def cosine_answers(
    dataset: WicDataset, spec: CosineModel, named: NamedEmbedding, setting: Setting
) -> ModelAnswers:
    """Return True where the cosine of both sides is at or above a threshold.

    A side is the target in its sentence, the mean of the vectors of its tokens; or the sentence
    with its target in double quotes, as the encoder pools it.
    """
    progress, threads = setting.progress, setting.threads
    rows = _asked_rows(dataset)
    if spec.reads == TARGET:
        left, right = (targets_of(dataset.instances[rows], side) for side in (1, 2))
        targets, first, second = _numbered(left, right, _in_order)
        vectors, covered = _target_vectors(named, targets, progress, threads)
    else:
        asked = quoted_texts(dataset)
        first, second = asked.first, asked.second
        found = embed_terms(named, asked.texts, progress, threads=threads, cache=setting.cache)
        if not isinstance(found.embedded, TermPoints):
            raise OptionError(
                f"{spec.name} has vectors of words; a sentence with its target in quotes needs an "
                "encoder"
            )
        vectors, covered = found.embedded.vectors, found.covered
    scores = np.full(dataset.instances.height, np.nan)
    known = covered[first] & covered[second]
    scores[rows[known]] = _cosines(vectors, first[known], second[known], threads)
    return threshold_answers(dataset, lambda _round: scores, lambda one: one.dev)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTexts:
    """The texts that encoders read, distinct and in order, and those of both sides: int32[n]."""

    texts: list[str]
    first: Ids
    second: Ids


def quoted_texts(dataset: WicDataset) -> AskedTexts:
    """Return the sentences of dev and test, each with its target in double quotes."""
    instances = dataset.instances[_asked_rows(dataset)]
    left, right = (quoted(targets_of(instances, side)) for side in (1, 2))
    texts, first, second = _numbered(left, right, str)
    return AskedTexts(texts=texts, first=first, second=second)


def _asked_rows(dataset: WicDataset) -> Rows:
    """Return the rows of instances that are asked about, or that thresholds are chosen on."""
    return np.unique(np.concatenate([[*one.dev, *one.test] for one in dataset.rounds]))


def tuned_answers(
    dataset: WicDataset, spec: TunedModel, named: NamedEmbedding, setting: Setting
) -> ModelAnswers:
    """Return the answers of an encoder that is fine-tuned in every round, by cosine and threshold.

    It reads the sentence with its target in double quotes. Thresholds are chosen on instances
    that it was not fitted on.
    """
    path, labels = path_of(named.source), dataset.labels
    left, right = (quoted(targets_of(dataset.instances, side)) for side in (1, 2))

    def pairs_of(rows: Rows) -> TextPairs:
        sides = [[side[row] for row in rows] for side in (left, right)]
        return TextPairs(left=sides[0], right=sides[1], labels=labels[rows])

    def scores_in(one: Round) -> Values:
        encoder = SentenceEncoder(path, named.spec.options, setting.threads)
        train = pairs_of(one.train[~np.isin(one.train, one.held_back)])
        with setting.progress.stage(f"fine-tune {round_name(spec, one)}") as stage:
            stage.total(spec.tuning.training.epochs * len(train.labels))
            kept = tune(
                encoder,
                train,
                pairs_of(one.held_back),
                spec.tuning,
                seed=setting.seed,
                advance=stage.advance,
            )
            stage.found(f"{len(train.labels):,} instances, epoch {kept} kept")
        rows = np.concatenate([one.held_back, one.test])
        texts, first, second = _numbered(
            [left[row] for row in rows],
            [right[row] for row in rows],
            lambda text: (len(text), text),
        )
        parts = [encoder.encode(texts[at : at + _A_BATCH]) for at in range(0, len(texts), _A_BATCH)]
        scores = np.full(len(labels), np.nan)
        scores[rows] = _cosines(np.concatenate(parts), first, second, setting.threads)
        return scores

    return threshold_answers(dataset, scores_in, lambda one: one.held_back)


def targets_of(instances: pl.DataFrame, side: int) -> list[Target]:
    """Return the target of each instance on side 1 or 2."""
    columns = instances.select(f"{name}{side}" for name in ("sentence", "start", "end"))
    return [
        Target(sentence=sentence, start=start, end=end)
        for sentence, start, end in columns.iter_rows()
    ]


def quoted(targets: Sequence[Target]) -> list[str]:
    """Return each sentence with its target in double quotes."""
    return [
        f'{one.sentence[: one.start]}"{one.sentence[one.start : one.end]}"{one.sentence[one.end :]}'
        for one in targets
    ]


def _in_order(target: Target) -> tuple[int, str, int, int]:
    """Return a key to sort targets by, so that a batch has targets of about one length."""
    return len(target.sentence), target.sentence, target.start, target.end


def _numbered(
    left: Sequence[T], right: Sequence[T], key: Callable[[T], Any]
) -> tuple[list[T], Ids, Ids]:
    """Return the items of both sides, each once and in order, and the item of each row."""
    distinct = sorted({*left, *right}, key=key)
    places = {one: place for place, one in enumerate(distinct)}
    first = np.array([places[one] for one in left], np.int32)
    return distinct, first, np.array([places[one] for one in right], np.int32)


def _target_vectors(
    named: NamedEmbedding, targets: Sequence[Target], progress: Progress, threads: int
) -> tuple[Vectors, Flags]:
    """Return the vectors of targets, and whether each has one."""
    name, path = named.spec.name, path_of(named.source)
    with progress.stage(f"embed {len(targets):,} targets by {name}") as stage:
        encoder = OnnxEncoder(path, named.spec.options, threads)
        stage.total(len(targets))
        parts = []
        for at in range(0, len(targets), _A_BATCH):
            parts.append(encoder.encode_targets(targets[at : at + _A_BATCH]))
            stage.advance(len(parts[-1].covered))
        vectors = np.concatenate([one.vectors for one in parts])
        covered = np.concatenate([one.covered for one in parts])
        stage.found(f"{np.count_nonzero(covered):,} covered, {vectors.shape[1]} dimensions")
    if n_cut := sum(int(one.cut.sum()) for one in parts):
        progress.warn(f"{name} reads less than the whole of {n_cut:,} targets")
    return vectors, covered


def _cosines(vectors: Vectors, first: Ids, second: Ids, threads: int) -> Values:
    """Return the cosine of each pair of vectors."""
    workers = Workers(threads=threads)
    return METRICS.get("cos").similarities(TermPoints(vectors=vectors), first, second, workers)
