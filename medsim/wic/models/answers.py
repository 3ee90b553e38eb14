"""Answers to instances: by a coin, from a file, or by a threshold on scores."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from medsim.core.errors import OptionError
from medsim.statistics.ranks import ranked
from medsim.statistics.scores import best_threshold
from medsim.wic.models.predicted import read_predictions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import polars as pl

    from medsim.core.progress import Progress
    from medsim.kernels.types import Flags, Rows, Values
    from medsim.wic.dataset import Round, WicDataset
    from medsim.wic.models.model_specs import FileModel, NamedModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The setting in which models answer.

    Attributes:
        n_seeds: from how many seeds each model is fitted, one after the other.
    """

    seed: int
    threads: int
    cache: Path | None
    progress: Progress
    n_seeds: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswers:
    """The answers of a model; rows that no round asks about have no meaning.

    Attributes:
        positive: bool[n_instances], whether both terms have one meaning. Where an instance is not
            covered it is what most labels are that the model knew, False if they are even.
        scores: float64[n_instances], by which it answers; NaN where it has none.
        covered: bool[n_instances], whether the model could see something of the instance.
        thresholds: float64[n_rounds], scores at or above which it says True; empty where there are
            none, NaN where there was nothing to choose one by.
        replies: what was said to a language model and what it said, a row per instance that is
            asked about; None for any other model.
        digests: SHA-256 of the files that it answers from, in hex, by their path.
        seed: from which the model was fitted; None where it was not.
    """

    positive: Flags
    scores: Values
    covered: Flags
    thresholds: Values
    replies: pl.DataFrame | None = None
    digests: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None


def file_answers(dataset: WicDataset, spec: FileModel) -> ModelAnswers:
    """Return the answers in a file to the test split, or those that follow from its scores."""
    if spec.dev not in {None, spec.file} and dataset.is_crossed:
        raise OptionError(
            f"{dataset.name} is one file, of which every part is tested by a threshold of the "
            f"others, so there is no dev split; leave dev={spec.dev} out, or add `dev`"
        )
    found = read_predictions(spec.file, dataset.instances[dataset.tested])
    digests = {str(spec.file): found.sha256}
    scores = np.full(dataset.instances.height, np.nan)
    if found.scores is not None:
        scores[dataset.tested] = found.scores
    if found.answers is not None:
        if spec.dev is not None:
            raise OptionError(
                f"{spec.file} has a column 'prediction', so needs no threshold; leave "
                f"dev={spec.dev} out, or the column"
            )
        positive = np.zeros(len(scores), np.bool_)
        positive[dataset.tested] = found.answers
        return replace(unscored(positive, scores), digests=digests)
    if spec.dev is not None:
        if not len(dataset.dev):
            raise OptionError(
                f"{spec.dev} has scores of a dev split, and {dataset.name} has none; add `dev`"
            )
        of_dev = read_predictions(spec.dev, dataset.instances[dataset.dev])
        if of_dev.scores is None:
            raise OptionError(f"{spec.dev} has no column 'score', as {spec.file} has")
        scores[dataset.dev] = of_dev.scores
        digests[str(spec.dev)] = of_dev.sha256
    elif not dataset.is_crossed:
        raise OptionError(
            f"{spec.file} has scores alone, and a threshold is chosen on scores of the dev split: "
            f"`predictions` {spec.name}={spec.file},dev=PATH"
        )
    answers = threshold_answers(dataset, lambda _round: scores, lambda one: one.dev)
    return replace(answers, digests=digests)


def threshold_answers(
    dataset: WicDataset, scores_in: Callable[[Round], Values], chosen_on: Callable[[Round], Rows]
) -> ModelAnswers:
    """Return True where a score is at or above the threshold that is best elsewhere.

    The best is the most accurate, the lowest of equally accurate ones, midway between two scores
    that occur, so that equal scores are never told apart (``medsim.statistics.scores``).

    ``scores_in`` returns float64[n_instances] for a round, NaN where there is no score, and
    ``chosen_on`` the rows on which its threshold is chosen.
    """
    labels = dataset.labels
    positive, scores = np.zeros(len(labels), np.bool_), np.full(len(labels), np.nan)
    thresholds = []
    for one in dataset.rounds:
        found, rows = scores_in(one), chosen_on(one)
        threshold = _threshold(found[rows], labels[rows])
        asked = found[one.test]
        known = ~np.isnan(asked) & (not math.isnan(threshold))
        positive[one.test] = np.where(known, asked >= threshold, majority(labels[rows]))
        scores[one.test] = asked
        thresholds.append(threshold)
    return ModelAnswers(
        positive=positive, scores=scores, covered=~np.isnan(scores), thresholds=np.array(thresholds)
    )


def round_name(spec: NamedModel, one: Round) -> str:
    """Return the name of a model in a round, for the progress."""
    return spec.name if one.fold is None else f"{spec.name} for fold {one.fold}"


def majority(labels: Flags) -> bool:
    """Return the label that most have, False where they are even."""
    return bool(2 * np.count_nonzero(labels) > len(labels))


def unscored(positive: Flags, scores: Values | None = None) -> ModelAnswers:
    """Return answers to all instances that need no threshold."""
    return ModelAnswers(
        positive=positive,
        scores=np.full(len(positive), np.nan) if scores is None else scores,
        covered=np.ones(len(positive), np.bool_),
        thresholds=np.zeros(0),
    )


def _threshold(scores: Values, labels: Flags) -> float:
    known = ~np.isnan(scores)
    distinct, ranks = ranked(scores[known])
    n_positive = np.bincount(ranks[labels[known]], minlength=len(distinct))
    n_negative = np.bincount(ranks[~labels[known]], minlength=len(distinct))
    return best_threshold(distinct, n_positive, n_negative)
