"""The data of an evaluation's report: its tables, and the data of its charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.config import SET_COLUMNS
from medsim.evaluations import sets
from medsim.evaluations.compare import common_pairs, kept_similarities, stored_input
from medsim.evaluations.conclusions import best_metrics
from medsim.evaluations.confusions import rare_kinds
from medsim.evaluations.output import COVERED_TERMS, RETRIEVED, SCORES, Evaluation
from medsim.evaluations.sentences import confusion_sentences
from medsim.evaluations.statistic import statistics_of
from medsim.kernels.types import Flags, Values
from medsim.statistics.ranks import histogram, roc_curve

if TYPE_CHECKING:
    from medsim.evaluations.inputs import EvaluationInput


_WORST_TERMS = 10  # terms whose nearest term is not linked, of an embedding


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationReportData:
    """The tables that the report of an evaluation shows, besides its manifest.

    Attributes:
        parts: of ``best_metrics``, on the parts of rated sets, which are not in the tables above.
        confusions: of ``best_metrics``, on negatives of one kind and on two rungs of the hierarchy,
            which are not there either.
        confused: see ``confusion_sentences``.
        rare_kinds: a sentence on the kinds that too few negatives have, if there are any.
        distributions: ``SET``, embedding, metric, kind ("positives" or "negatives"), x (a
            similarity), share (in per cent).
        quartiles: ``SET``, embedding, metric, kind, n, q1, median, q3.
        curves: ``SET``, embedding, metric, at, false_positives, true_positives.
        errors: ``SET``, embedding, metric, label, term1, term2, similarity.
        retrieved: input, embedding, index and ``RETRIEVED`` of a few of the worst.
        robustness: ``ROBUSTNESS``.
    """

    results: pl.DataFrame
    comparisons: pl.DataFrame
    coverage: pl.DataFrame
    parts: pl.DataFrame
    confusions: pl.DataFrame
    confused: Sequence[str]
    rare_kinds: Sequence[str]
    distributions: pl.DataFrame
    quartiles: pl.DataFrame
    curves: pl.DataFrame
    errors: pl.DataFrame
    separation: pl.DataFrame
    retrieval: pl.DataFrame
    retrieved: pl.DataFrame
    robustness: pl.DataFrame


def evaluation_data(evaluation: Evaluation) -> EvaluationReportData:
    """Return the data of an evaluation's report."""
    results, comparisons = evaluation.results(), evaluation.comparisons()
    confused = confusion_sentences(results.filter(subset=sets.WHOLE_SUBSET))
    rated = [statistic.name for statistic in statistics_of("rated") if statistic.table == "best"]
    of_parts = sets.parts_of_sets(results), sets.parts_of_sets(comparisons)
    parts, confusions = (
        sets.sort_parts(best_metrics(*of_parts, names, baseline=baseline))
        for names, baseline in ((rated, False), ((*sets.CONFUSIONS[:1], *sets.LADDER), True))
    )
    results, comparisons = sets.whole_sets(results), sets.whole_sets(comparisons)
    return EvaluationReportData(
        results=results,
        comparisons=comparisons,
        coverage=sets.whole_sets(evaluation.coverage()),
        parts=parts,
        confusions=confusions,
        confused=confused,
        rare_kinds=rare_kinds(evaluation.pairs()),
        **chart_data_of(evaluation, results, comparisons),
        separation=evaluation.separation(),
        retrieval=evaluation.retrieval(),
        retrieved=_retrieved(evaluation),
        robustness=evaluation.robustness(),
    )


def _retrieved(evaluation: Evaluation) -> pl.DataFrame:
    """Return a few terms whose nearest term is not linked to them, the nearest first."""
    named = {"input": pl.String, "embedding": pl.String, "index": pl.String}
    frames = [pl.DataFrame(schema={**named, **RETRIEVED.dtypes})]
    for path in sorted(evaluation.manifest.outputs):
        if not path.startswith("retrieval/"):
            continue
        keys = dict(part.split("=", 1) for part in path.split("/") if "=" in part)
        wrong = (
            evaluation.read(path, list(RETRIEVED.dtypes))
            .filter(pl.col("nearest_linked").not_())
            .drop_nulls("nearest_similarity")
            .sort("nearest_similarity", "term", descending=[True, False])
            .head(_WORST_TERMS)
        )
        frames.append(
            wrong.select(*(pl.lit(keys.get(n), pl.String).alias(n) for n in named), pl.all())
        )
    return pl.concat(frames)


_WORST_PAIRS = 5  # pairs of each kind
_HARDEST = (("hard", "levenshtein"), ("hard", "embedding"))  # sets whose errors are shown
_NAMED = (*sets.SET, "embedding", "metric")
_CHARTS = ("distributions", "quartiles", "curves", "errors")


def chart_data_of(
    evaluation: Evaluation, results: pl.DataFrame, comparisons: pl.DataFrame
) -> dict[str, pl.DataFrame]:
    """Return the data of charts, as ``EvaluationReportData`` has them, of labelled pairs.

    Each embedding is at the metric of its highest AUC. Only pairs that all embeddings cover are
    used. One file of similarities is in memory at a time.
    """
    best = best_metrics(results, comparisons, ("auc",)).drop_nulls("value")
    frames_of: dict[str, list[pl.DataFrame]] = {chart: [] for chart in _CHARTS}
    for of_input in best.partition_by("input", maintain_order=True):
        for chart, frame in _of_input(evaluation, of_input):
            frames_of[chart].append(frame)
    return {
        chart: pl.concat(frames).sort(*sets.SET, "embedding", maintain_order=True)
        if frames
        else pl.DataFrame(schema=dict.fromkeys(_NAMED, pl.String))
        for chart, frames in frames_of.items()
    }


def _of_input(evaluation: Evaluation, best: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    name = best["input"][0]
    input_ = stored_input(evaluation, name)
    pair_sets = {tuple(pair_set.key_columns().values()): pair_set for pair_set in input_.sets}
    common = common_pairs(evaluation, input_)
    for of_metric in best.partition_by("embedding", "metric", maintain_order=True):
        embedding, metric = of_metric.select("embedding", "metric").row(0)
        similarities = kept_similarities(evaluation, SCORES.path(name, embedding, metric), input_)
        whole = _whole(evaluation, embedding, input_)
        for key in of_metric.select(SET_COLUMNS).iter_rows():
            is_common = common[pair_sets[key].rows]
            rows, labels = pair_sets[key].rows[is_common], pair_sets[key].values[is_common] == 1
            names = dict(zip(_NAMED, (name, *key, embedding, metric), strict=True))
            named = [pl.lit(value, pl.String).alias(column) for column, value in names.items()]
            values = similarities[rows]
            for chart, frame in _of_set(values, labels):
                yield chart, frame.select(*named, pl.all())
            if key[1:] in _HARDEST:
                is_known = whole[rows] if whole[rows].any() else np.ones(len(rows), np.bool_)
                rows = rows[is_known]
                worst = _worst(values[is_known], labels[is_known])
                pairs = input_.pairs[rows[worst["at"]]].select("term1", "term2")
                frame = worst.select("label", *pairs, "similarity")
                yield "errors", frame.select(*named, pl.all())


def _whole(evaluation: Evaluation, embedding: str, input_: EvaluationInput) -> Flags:
    """Return whether an embedding knows all words of each pair, bool[n_pairs]."""
    path = COVERED_TERMS.path(input_.name, embedding)
    terms = evaluation.read(path, ("term", "n_unknown_words"))
    partly = terms.filter(pl.col("n_unknown_words") > 0)["term"].implode()
    lacking = pl.any_horizontal(pl.col("term1", "term2").is_in(partly))
    is_whole: Flags = input_.pairs.select(~lacking).to_series().to_numpy()
    return is_whole


def _of_set(similarities: Values, labels: Flags) -> Iterator[tuple[str, pl.DataFrame]]:
    middles, shares = histogram(similarities, labels)
    for kind, share, mask in zip(
        ("positives", "negatives"), shares, (labels, ~labels), strict=True
    ):
        yield "distributions", pl.DataFrame({"kind": kind, "x": middles, "share": 100 * share})
        q1, median, q3 = map(float, np.quantile(similarities[mask], (0.25, 0.5, 0.75)))
        ends = {"kind": [kind], "n": [int(mask.sum())], "q1": q1, "median": median, "q3": q3}
        yield "quartiles", pl.DataFrame(ends)
    false, true = roc_curve(similarities, labels)
    at = np.arange(len(false))
    yield "curves", pl.DataFrame({"at": at, "false_positives": false, "true_positives": true})


def _worst(similarities: Values, labels: Flags) -> pl.DataFrame:
    """Return the most similar negatives and the least similar positives, with their ranks.

    Ties are ordered by pair_id.
    """
    every = pl.DataFrame({"label": labels.astype(np.int8), "similarity": similarities})
    ranked = every.with_row_index("at").sort("similarity", maintain_order=True)
    least = ranked.filter(label=1).head(_WORST_PAIRS)
    most = ranked.sort("similarity", descending=True, maintain_order=True).filter(label=0)
    return pl.concat([most.head(_WORST_PAIRS), least])
