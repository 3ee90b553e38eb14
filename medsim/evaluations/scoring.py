"""Scores of embeddings on every set of pairs of an input, and their comparisons."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from medsim.core.config import in_threads
from medsim.core.errors import listed
from medsim.core.progress import Progress, Stage
from medsim.embeddings.metrics.averages import COSINES
from medsim.evaluations.baselines import BASELINES
from medsim.evaluations.output import SET_COMPARISONS, SET_RESULTS, TableRow
from medsim.evaluations.sets import HEADLINE, WHOLE_SUBSET
from medsim.evaluations.statistic import BASELINE, SampleKind, Statistic, statistics_of
from medsim.kernels.packing import tie_hashes
from medsim.kernels.types import Flags
from medsim.pages.sentences import ALPHA
from medsim.statistics.estimates import FEWEST_CLUSTERS, defined, effective_clusters, interval_of
from medsim.statistics.matched import MatchedPairs
from medsim.statistics.options import Resampling, fewest_for
from medsim.statistics.scores import labelled_sample, rated_samples, redrawn
from medsim.statistics.significance import test_columns

if TYPE_CHECKING:
    from medsim.evaluations.inputs import EvaluationInput, PairSet
    from medsim.statistics.estimates import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The scores of an embedding under a metric.

    Attributes:
        sample: the pairs or terms that the statistics are computed from.
        estimates: by statistic.
        n_pairs: the number of pairs in the sample.
        n_in_set: the number of pairs of the set, or of its strata with both labels.
        signature: see ``EvaluationRun.signature``.
    """

    embedding: str
    metric: str
    sample: Any
    estimates: dict[str, Estimate]
    n_pairs: int
    n_in_set: int = 0
    signature: str = ""


def family_rows(
    between: str,
    statistic: Statistic[Any],
    family: Sequence[Score],
    resampling: Resampling | None = None,
    baseline: Score | None = None,
) -> Iterator[TableRow]:
    """Yield a row of ``SET_COMPARISONS`` for every two of a family, or for each with a baseline.

    Rows lack the columns of the set. p-values are corrected for the number of rows. For statistics
    of rated pairs, ``resampling`` draws as many resamples as the family needs.
    """
    if statistic.test is None:
        return
    members = [*family] if baseline is None else [*family, baseline]
    samples: Sequence[Any] = [score.sample for score in members]
    if statistic.kind == "rated" and resampling is not None:
        samples = redrawn(samples, resampling)
    pairs = [*combinations(range(len(members)), 2)]
    if baseline is not None:
        pairs = [(index, len(family)) for index in range(len(family))]
    tests = [statistic.test(samples[first], samples[second]) for first, second in pairs]
    for two, columns in zip(pairs, test_columns(tests), strict=True):
        first, second = (members[index] for index in two)
        values = [score.estimates[statistic.name].value for score in (first, second)]
        yield {
            "between": between,
            "embedding1": first.embedding,
            "metric1": first.metric,
            "embedding2": second.embedding,
            "metric2": second.metric,
            "of": statistic.name,
            "value1": defined(values[0]),
            "value2": defined(values[1]),
            "difference": defined(values[0] - values[1]),
            **columns,
            "n_pairs": first.n_pairs,
        }


_N_NAMED = 3
"""The number of terms that a warning names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredModel:
    """An embedding under a metric.

    Attributes:
        similarities: float32[n_pairs], of the input's pairs; NaN if a term is not covered.
        signature: see ``EvaluationRun.signature``.
    """

    embedding: str
    metric: str
    similarities: NDArray[np.float32]
    signature: str = ""


def score_sets(
    input_: EvaluationInput,
    pair_sets: Sequence[PairSet],
    models: Sequence[ScoredModel],
    resampling: Resampling,
    stage: Stage,
) -> tuple[pl.DataFrame, pl.DataFrame, list[Score]]:
    """Return the scores of all models on sets of an input, and their comparisons.

    Every model is scored on the pairs that its embedding covers ("own"), and on those that all
    embeddings cover ("common"); comparisons use the common pairs. A baseline is left out of sets in
    which a pair lacks its score.

    Returns:
        ``SET_RESULTS``, ``SET_COMPARISONS``, and the headline scores with their samples.
    """
    covered = {m.embedding: ~np.isnan(m.similarities) | (m.embedding == BASELINE) for m in models}
    common = np.logical_and.reduce(list(covered.values()))
    # The content of a pair determines its half for held-out accuracy.
    ids = np.array([int(pair_id, 16) for pair_id in input_.pairs["pair_id"]], np.uint64)
    held_out: Flags = tie_hashes(np.uint64(resampling.seed), np.uint64(0), ids) % np.uint64(2) == 1
    results: list[TableRow] = []
    comparisons: list[TableRow] = []
    headlines: list[Score] = []
    stage.total(sum(len(pair_set.rows) for pair_set in pair_sets))
    for pair_set in pair_sets:
        where: TableRow = {"input": input_.name, **pair_set.key_columns()}
        compared = [
            model
            for model in models
            if model.embedding != BASELINE or not np.isnan(model.similarities[pair_set.rows]).any()
        ]
        mask, subset = common, "common"
        if pair_set.strata is not None:
            mask, subset = np.ones_like(common), WHOLE_SUBSET
            compared = at_headline_metric(compared)
        shared = _scores(pair_set, mask, compared, held_out, resampling)
        results += (where | row for row in _result_rows(shared, subset, pair_set))
        comparisons += (where | row for row in _comparison_rows(shared, pair_set.kind, resampling))
        headlines += (score for score in shared if HEADLINE in score.estimates)
        for embedding, covered_pairs in covered.items() if pair_set.strata is None else ():
            scored = [score for score in shared if score.embedding == embedding]
            if (covered_pairs & ~common)[pair_set.rows].any():
                members = [model for model in models if model.embedding == embedding]
                scored = _scores(pair_set, covered_pairs, members, held_out, resampling)
            results += (where | row for row in _result_rows(scored, "own", pair_set))
        stage.advance(len(pair_set.rows))
    return (
        pl.DataFrame(results, schema=SET_RESULTS.dtypes, orient="row"),
        pl.DataFrame(comparisons, schema=SET_COMPARISONS.dtypes, orient="row"),
        headlines,
    )


def baseline_models(
    input_: EvaluationInput, signature: Callable[[str, str, str], str]
) -> list[ScoredModel]:
    """Return the similarities of an input's pairs by each baseline, with its ``signature``.

    Without scores of a spelling classifier, the baseline of these is left out.
    """
    similarities = {
        name: baseline.similarities(input_.spelling) for name, baseline in BASELINES.items()
    }
    return [
        ScoredModel(
            embedding=BASELINE,
            metric=name,
            similarities=values,
            signature=signature(input_.name, BASELINE, name),
        )
        for name, values in similarities.items()
        if not np.isnan(values).all() or not len(values)
    ]


def at_headline_metric(models: Sequence[ScoredModel]) -> list[ScoredModel]:
    """Return each embedding at the metric of its headline score, and all baselines.

    The metric is the cosine of one vector per term or, if that was not computed, the first by name.
    """
    chosen: dict[str, ScoredModel] = {}
    for model in sorted(
        models, key=lambda model: (model.metric not in COSINES.values(), model.metric)
    ):
        chosen.setdefault(model.embedding, model)
    return [
        model for model in models if model.embedding == BASELINE or model is chosen[model.embedding]
    ]


def dominated_sets(input_: EvaluationInput) -> Iterator[str]:
    """Yield a warning for each set with enough clusters but too few effective ones."""
    for pair_set in input_.scored_sets:
        if pair_set.clusters is None or pair_set.kind not in {"labelled", "matched"}:
            continue
        sizes = np.bincount(pair_set.clusters)
        n_clusters, largest = np.count_nonzero(sizes), int(sizes.argmax())
        if n_clusters < FEWEST_CLUSTERS or effective_clusters(pair_set.clusters) >= FEWEST_CLUSTERS:
            continue
        rows = pair_set.rows[pair_set.clusters == largest]
        terms = input_.pairs[rows]["term1"].unique().sort().head(_N_NAMED)
        named = listed([repr(term) for term in terms])
        share = sizes[largest] / len(pair_set.rows)
        yield (
            f"{input_.name} {pair_set}: {share:.0%} of the pairs share terms, such as {named}; "
            "this cluster decides every score, so there are no confidence intervals and no tests"
        )


def _scores(
    pair_set: PairSet,
    mask: Flags,
    models: Sequence[ScoredModel],
    held_out: Flags,
    resampling: Resampling,
) -> list[Score]:
    """Return the scores of models on the pairs of a set that a mask selects."""
    in_mask = mask[pair_set.rows]
    rows, values = pair_set.rows[in_mask], pair_set.values[in_mask]
    similarities = [model.similarities[rows].astype(np.float64) for model in models]
    samples: Sequence[Any]
    counted, n_in_set = np.ones_like(rows, np.bool_), len(pair_set.rows)
    clusters = None if pair_set.clusters is None else pair_set.clusters[in_mask]
    if pair_set.kind == "rated":
        samples = rated_samples(similarities, values, resampling)
    elif pair_set.strata is not None:
        by_precision = pair_set.kind in {"beyond", "of_kind"}
        strata = pair_set.strata
        matched = MatchedPairs(values == 1, strata, clusters, by_precision=by_precision)
        samples = in_threads(resampling.threads, matched.sample, similarities)
        counted, n_in_set = matched.matched, int(np.count_nonzero(matched.matched))
    else:
        sample = partial(
            labelled_sample,
            labels=values == 1,
            held_out=held_out[rows],
            clusters=clusters,
        )
        samples = in_threads(resampling.threads, sample, similarities)
    return [
        Score(
            embedding=model.embedding,
            metric=model.metric,
            sample=sample,
            estimates={s.name: s.compute(sample) for s in statistics_of(pair_set.kind)},
            n_pairs=int(np.count_nonzero(counted & ~np.isnan(of_model))),
            n_in_set=n_in_set,
            signature=model.signature,
        )
        for model, sample, of_model in zip(models, samples, similarities, strict=True)
    ]


def _result_rows(scores: Sequence[Score], subset: str, pair_set: PairSet) -> Iterator[TableRow]:
    for score in scores:
        for name, estimate in score.estimates.items():
            yield {
                "subset": subset,
                "embedding": score.embedding,
                "metric": score.metric,
                "statistic": name,
                **interval_of(estimate),
                "n_pairs": score.n_in_set,
                "n_covered": score.n_pairs,
                "signature": f"{score.signature}, {pair_set}, {subset}",
            }


def _comparison_rows(
    scores: Sequence[Score], kind: SampleKind, resampling: Resampling
) -> Iterator[TableRow]:
    """Yield comparisons of each embedding's metrics, of embeddings, and of these with the baseline.

    Embeddings are at their best metric, and the baseline is the best one on the set.

    p-values are corrected for the number of comparisons of one statistic among the same models on
    the same set.
    """
    families: dict[str, list[Score]] = {}
    for score in scores:
        families.setdefault(score.embedding, []).append(score)
    for statistic in statistics_of(kind, tested=True):
        name, sign = statistic.name, 1 if statistic.higher_is_better else -1
        best = [
            max(family, key=lambda s: np.nan_to_num(sign * s.estimates[name].value, nan=-np.inf))
            for family in families.values()
        ]
        for embedding, family in families.items():
            if embedding != BASELINE:
                yield from family_rows("metrics", statistic, family, resampling)
        baselines = [score for score in best if score.embedding == BASELINE]
        best = [score for score in best if score.embedding != BASELINE]
        yield from family_rows("embeddings", statistic, best, resampling)
        if baselines:
            yield from family_rows("baseline", statistic, best, resampling, baselines[0])


def warn_of_reach(
    models: Sequence[ScoredModel], resampling: Resampling, progress: Progress
) -> None:
    """Warn once per run if no difference on rated pairs can be significant."""
    metrics = Counter(model.embedding for model in models)
    n_largest = math.comb(max(len(metrics), *metrics.values(), 2), 2)
    if resampling.least_p(n_largest) < ALPHA:
        return
    enough = fewest_for(n_largest, ALPHA)
    line = (
        f"with {resampling.resamples:,} resamples none of {n_largest:,} comparisons on rated pairs "
        f"can reach p < {ALPHA} after Bonferroni's correction; {enough:,} `resamples` are enough"
    )
    if line not in progress.warnings:
        progress.warn(line)
