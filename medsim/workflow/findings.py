"""What similarities show of an input: scores of every set of pairs, and which of them differ."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from medsim.evaluation.bootstrap import bca_spearman_difference
from medsim.evaluation.delong import delong
from medsim.evaluation.scores import LabelledScores, RatedScores, labelled_scores, rated_scores
from medsim.evaluation.significance import Test, bonferroni, holm, mcnemar
from medsim.kernels.hashing import tie_hashes
from medsim.schema import COMPARISON_COLUMNS, RESULT_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from medsim.evaluation.estimates import Estimate
    from medsim.kernels.types import Flags, Values
    from medsim.progress import Stage
    from medsim.workflow.inputs import EvaluationInput, PairSet

STATISTICS = {
    False: ("auc", "average_precision", "accuracy", "accuracy_heldout", "threshold"),
    True: ("spearman", "pearson", "kendall"),
}
"""What is computed of labelled pairs (False) and of rated ones (True)."""

TESTED = {False: ("auc", "accuracy"), True: ("spearman",)}
"""The statistics whose differences are tested, of labelled and of rated pairs."""

Row: TypeAlias = dict[str, str | int | float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
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
class Drawing:
    """How chance enters.

    Attributes:
        seed: of the bootstrap and of the held-out half.
        resamples: of the bootstrap.
        threads: how many compute; they never change a result.
    """

    seed: int
    resamples: int
    threads: int


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
    """A contender's scores on some pairs of a set, with what they were made from."""

    contender: Contender
    similarities: Values
    values: Values
    scores: LabelledScores | RatedScores

    def estimate(self, statistic: str) -> Estimate:
        found: Estimate = getattr(self.scores, statistic)
        return found


def find(
    one: EvaluationInput,
    pair_ids: pl.Series,
    contenders: Sequence[Contender],
    drawing: Drawing,
    stage: Stage,
) -> Findings:
    """Return the scores of all contenders on every set of an input, and their comparisons.

    Every contender is scored on the pairs that its embedding covers ("own"), and on those that all
    embeddings of the input cover ("common"); comparisons are made on the latter.

    Args:
        one: the input.
        pair_ids: of its pairs, in the order of the contenders' similarities.
        contenders: embeddings under metrics.
        drawing: how chance enters.
        stage: told how far the work is.
    """
    covered = {c.embedding: ~np.isnan(c.similarities) for c in contenders}
    common = np.logical_and.reduce(list(covered.values()))
    held_out = held_out_half(pair_ids, drawing.seed)
    results: list[Row] = []
    comparisons: list[Row] = []
    sets = list(one.sets(pair_ids))
    stage.total(len(sets))
    for pair_set in sets:
        where: Row = {"input": one.name, **pair_set.named()}
        score = partial(_score, pair_set, held_out, drawing)
        shared = _in_threads(score, contenders, [common] * len(contenders), drawing.threads)
        own = list(shared)
        partly = [
            at
            for at, c in enumerate(contenders)
            if (covered[c.embedding] & ~common)[pair_set.rows].any()
        ]
        more = [contenders[at] for at in partly]
        masks = [covered[c.embedding] for c in more]
        for at, scored in zip(
            partly, _in_threads(score, more, masks, drawing.threads), strict=True
        ):
            own[at] = scored
        for subset, every in (("own", own), ("common", shared)):
            results += (where | row for row in _result_rows(every, subset, pair_set))
        comparisons += (where | row for row in _comparison_rows(shared, pair_set, drawing))
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


def _in_threads(
    score: Callable[[Contender, Flags], _Scored],
    contenders: Sequence[Contender],
    masks: Sequence[Flags],
    threads: int,
) -> list[_Scored]:
    with ThreadPoolExecutor(threads) as executor:
        return list(executor.map(score, contenders, masks))


def _score(
    pair_set: PairSet,
    held_out: Flags,
    drawing: Drawing,
    contender: Contender,
    mask: Flags,
) -> _Scored:
    """Return a contender's scores on those pairs of a set that a mask takes."""
    taken = mask[pair_set.rows]
    rows, values = pair_set.rows[taken], pair_set.values[taken]
    similarities = contender.similarities[rows].astype(np.float64)
    if pair_set.rated:
        scores: LabelledScores | RatedScores = rated_scores(
            similarities, values, seed=drawing.seed, resamples=drawing.resamples, threads=1
        )
    else:
        scores = labelled_scores(similarities, values == 1, held_out[rows])
    return _Scored(contender=contender, similarities=similarities, values=values, scores=scores)


def _result_rows(every: Sequence[_Scored], subset: str, pair_set: PairSet) -> Iterator[Row]:
    for scored in every:
        for statistic in STATISTICS[pair_set.rated]:
            estimate = scored.estimate(statistic)
            yield {
                "subset": subset,
                "embedding": scored.contender.embedding,
                "metric": scored.contender.metric,
                "statistic": statistic,
                "value": _number(estimate.value),
                "low": _number(estimate.low),
                "high": _number(estimate.high),
                "n_pairs": len(pair_set.rows),
                "n_covered": len(scored.values),
                "signature": scored.contender.signature,
            }


def _comparison_rows(
    every: Sequence[_Scored], pair_set: PairSet, drawing: Drawing
) -> Iterator[Row]:
    """Yield comparisons of the metrics of each embedding, and of embeddings at their best metric.

    p-values are corrected for the number of comparisons of one statistic among the same contenders
    on the same set.
    """
    families = {
        name: [one for one in every if one.contender.embedding == name]
        for name in dict.fromkeys(one.contender.embedding for one in every)
    }
    for of in TESTED[pair_set.rated]:
        for members in families.values():
            yield from _family_rows("metrics", of, members, drawing)
        best = [max(members, key=lambda one: _rank(one, of)) for members in families.values()]
        yield from _family_rows("embeddings", of, best, drawing)


def _rank(scored: _Scored, of: str) -> float:
    value = scored.estimate(of).value
    return -math.inf if math.isnan(value) else value


def _family_rows(
    between: str, of: str, members: Sequence[_Scored], drawing: Drawing
) -> Iterator[Row]:
    matches = list(combinations(members, 2))
    tests = [_test(of, one, other, drawing) for one, other in matches]
    p = np.array([test.p for test in tests], np.float64)
    for (one, other), test, by_bonferroni, by_holm in zip(
        matches, tests, bonferroni(p), holm(p), strict=True
    ):
        value1, value2 = one.estimate(of).value, other.estimate(of).value
        yield {
            "between": between,
            "embedding1": one.contender.embedding,
            "metric1": one.contender.metric,
            "embedding2": other.contender.embedding,
            "metric2": other.contender.metric,
            "of": of,
            "value1": _number(value1),
            "value2": _number(value2),
            "difference": _number(value1 - value2),
            "test": test.method,
            "statistic": _number(test.statistic),
            "p": _number(test.p),
            "p_bonferroni": _number(by_bonferroni),
            "p_holm": _number(by_holm),
            "low": _number(test.low),
            "high": _number(test.high),
            "n_pairs": len(one.values),
        }


def _test(of: str, one: _Scored, other: _Scored, drawing: Drawing) -> Test:
    """Return whether two contenders differ in a statistic of the same pairs."""
    if isinstance(one.scores, LabelledScores) and isinstance(other.scores, LabelledScores):
        if of == "auc":
            return delong(one.scores, other.scores, one.values == 1)
        return mcnemar(one.scores.correct, other.scores.correct)
    return bca_spearman_difference(
        one.similarities,
        other.similarities,
        one.values,
        seed=drawing.seed,
        resamples=drawing.resamples,
        threads=drawing.threads,
    )


def _number(value: float) -> float | None:
    """Return a value for a table, in which what is not defined is missing."""
    return None if math.isnan(value) else float(value)
