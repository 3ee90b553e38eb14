"""What similarities show of an input: scores of every set of pairs, and which of them differ."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.schema import COMPARISON_COLUMNS, RESULT_COLUMNS
from medsim.evaluations.comparisons import Row, Side, defined, family_rows
from medsim.kernels.hashing import tie_hashes
from medsim.statistics.bootstrap import SpearmanBootstrap
from medsim.statistics.delong import delong
from medsim.statistics.scores import LabelledScores, RatedScores, labelled_scores, rated_scores
from medsim.statistics.significance import Test, mcnemar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from medsim.core.progress import Stage
    from medsim.evaluations.inputs import EvaluationInput, PairSet
    from medsim.kernels.types import Flags, Values
    from medsim.statistics.estimates import Estimate
    from medsim.statistics.resampling import Resampling

STATISTICS = {
    False: ("auc", "average_precision", "accuracy", "accuracy_heldout", "threshold"),
    True: ("spearman", "pearson", "kendall"),
}
"""What is computed of labelled pairs (False) and of rated ones (True)."""

TESTED = {False: ("auc", "accuracy"), True: ("spearman",)}
"""The statistics whose differences are tested, of labelled and of rated pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredModel:
    """An embedding under a metric.

    Attributes:
        embedding: its name.
        metric: its name.
        similarities: float32[n_pairs], of the input's pairs; NaN where a term is not covered.
        signature: what decides its scores, in a line.
    """

    embedding: str
    metric: str
    similarities: NDArray[np.float32]
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the similarities of an input show.

    Attributes:
        results: ``RESULT_COLUMNS``.
        comparisons: ``COMPARISON_COLUMNS``.
    """

    results: pl.DataFrame
    comparisons: pl.DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scored:
    """Contenders' scores on the same pairs of a set.

    Attributes:
        models: who is scored.
        values: float64[n_pairs], labels or ratings of the pairs.
        scores: of each model.
        bootstrap: of all models, where pairs are rated.
    """

    models: Sequence[ScoredModel]
    values: Values
    scores: Sequence[LabelledScores | RatedScores]
    bootstrap: SpearmanBootstrap | None

    def value(self, at: int, statistic: str) -> float:
        """Return a statistic of one of the models."""
        return self.estimate(at, statistic).value

    def estimate(self, at: int, statistic: str) -> Estimate:
        """Return a statistic of one of the models with its interval."""
        found: Estimate = getattr(self.scores[at], statistic)
        return found


def find(
    one: EvaluationInput,
    pair_ids: pl.Series,
    models: Sequence[ScoredModel],
    resampling: Resampling,
    stage: Stage,
) -> Findings:
    """Return the scores of all models on every set of an input, and their comparisons.

    Every model is scored on the pairs that its embedding covers ("own"), and on those that all
    embeddings of the input cover ("common"); comparisons are made on the latter.

    Args:
        one: the input.
        pair_ids: of its pairs, in the order of the models' similarities.
        models: embeddings under metrics.
        resampling: how chance enters.
        stage: told how far the work is.
    """
    covered = {c.embedding: ~np.isnan(c.similarities) for c in models}
    common = np.logical_and.reduce(list(covered.values()))
    held_out = held_out_half(pair_ids, resampling.seed)
    results: list[Row] = []
    comparisons: list[Row] = []
    sets = list(one.sets(pair_ids))
    stage.total(len(sets))
    for pair_set in sets:
        where: Row = {"input": one.name, **pair_set.named()}
        shared = _score(pair_set, common, models, held_out, resampling)
        results += (where | row for row in _result_rows(shared, "common", pair_set))
        comparisons += (where | row for row in _comparison_rows(shared, pair_set))
        for embedding, own in covered.items():
            members = [c for c in models if c.embedding == embedding]
            if (own & ~common)[pair_set.rows].any():
                scored = _score(pair_set, own, members, held_out, resampling)
            else:
                scored = _part(shared, members)
            results += (where | row for row in _result_rows(scored, "own", pair_set))
        stage.advance()
    return Findings(
        results=pl.DataFrame(results, schema=RESULT_COLUMNS, orient="row"),
        comparisons=pl.DataFrame(comparisons, schema=COMPARISON_COLUMNS, orient="row"),
    )


def held_out_half(pair_ids: pl.Series, seed: int) -> Flags:
    """Return which pairs no threshold is chosen on: a half drawn from their own content."""
    ids = np.array([int(pair_id, 16) for pair_id in pair_ids], np.uint64)
    held_out: Flags = tie_hashes(np.uint64(seed), np.uint64(0), ids) % np.uint64(2) == 1
    return held_out


def _score(
    pair_set: PairSet,
    mask: Flags,
    models: Sequence[ScoredModel],
    held_out: Flags,
    resampling: Resampling,
) -> _Scored:
    """Return models' scores on those pairs of a set that a mask takes."""
    taken = mask[pair_set.rows]
    rows, values = pair_set.rows[taken], pair_set.values[taken]
    sides = [c.similarities[rows].astype(np.float64) for c in models]
    if pair_set.rated:
        bootstrap = SpearmanBootstrap(
            sides,
            values,
            seed=resampling.seed,
            resamples=resampling.resamples,
            threads=resampling.threads,
        )
        rated = [
            rated_scores(side, values, bootstrap.correlation(at)) for at, side in enumerate(sides)
        ]
        return _Scored(models=models, values=values, scores=rated, bootstrap=bootstrap)
    with ThreadPoolExecutor(resampling.threads) as executor:
        score = partial(labelled_scores, labels=values == 1, held_out=held_out[rows])
        labelled = list(executor.map(score, sides))
    return _Scored(models=models, values=values, scores=labelled, bootstrap=None)


def _part(scored: _Scored, members: Sequence[ScoredModel]) -> _Scored:
    """Return the scores of some of the models."""
    places = [at for at, c in enumerate(scored.models) if any(c is one for one in members)]
    scores = [scored.scores[at] for at in places]
    return replace(scored, models=members, scores=scores, bootstrap=None)


def _result_rows(scored: _Scored, subset: str, pair_set: PairSet) -> Iterator[Row]:
    for at, model in enumerate(scored.models):
        for statistic in STATISTICS[pair_set.rated]:
            estimate = scored.estimate(at, statistic)
            yield {
                "subset": subset,
                "embedding": model.embedding,
                "metric": model.metric,
                "statistic": statistic,
                "value": defined(estimate.value),
                "low": defined(estimate.low),
                "high": defined(estimate.high),
                "n_pairs": len(pair_set.rows),
                "n_covered": len(scored.values),
                "signature": f"{model.signature}, {pair_set}, {subset}",
            }


def _comparison_rows(scored: _Scored, pair_set: PairSet) -> Iterator[Row]:
    """Yield comparisons of the metrics of each embedding, and of embeddings at their best metric.

    p-values are corrected for the number of comparisons of one statistic among the same models
    on the same set.
    """
    families: dict[str, list[int]] = {}
    for at, model in enumerate(scored.models):
        families.setdefault(model.embedding, []).append(at)
    for of in TESTED[pair_set.rated]:
        for members in families.values():
            yield from _family_rows("metrics", of, members, scored)
        best = [max(members, key=partial(_rank, scored, of)) for members in families.values()]
        yield from _family_rows("embeddings", of, best, scored)


def _rank(scored: _Scored, of: str, at: int) -> float:
    value = scored.value(at, of)
    return -math.inf if math.isnan(value) else value


def _family_rows(between: str, of: str, members: Sequence[int], scored: _Scored) -> Iterator[Row]:
    models = [scored.models[at] for at in members]
    sides = [
        Side(embedding=one.embedding, metric=one.metric, value=scored.value(at, of))
        for at, one in zip(members, models, strict=True)
    ]
    return family_rows(
        between,
        of,
        sides,
        lambda one, other: _test(of, scored, members[one], members[other]),
        len(scored.values),
    )


def _test(of: str, scored: _Scored, one: int, other: int) -> Test:
    """Return whether two models differ in a statistic of the same pairs."""
    if scored.bootstrap is not None:
        return scored.bootstrap.difference(one, other)
    first, second = scored.scores[one], scored.scores[other]
    if not (isinstance(first, LabelledScores) and isinstance(second, LabelledScores)):
        raise TypeError(f"{of} of rated pairs has no test")
    if of == "auc":
        return delong(first, second, scored.values == 1)
    return mcnemar(first.correct, second.correct)
