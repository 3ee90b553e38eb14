"""The data of an evaluation's report: its tables, and the data of its charts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.evaluations.chart_data import chart_data_of
from medsim.evaluations.conclusions import best_metrics
from medsim.evaluations.output import RETRIEVAL_COLUMNS, RETRIEVED_COLUMNS, SEPARATION_COLUMNS
from medsim.evaluations.sets import parts_of_sets, whole_sets
from medsim.evaluations.statistic import statistics_of

if TYPE_CHECKING:
    from medsim.evaluations.output import Evaluation

_WORST = 10  # terms whose nearest term is not linked, of an embedding


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationReportData:
    """The tables that the report of an evaluation shows, besides its manifest.

    Attributes:
        parts: of ``best_metrics``, on the parts of rated sets, which the above lack.
        distributions: ``SET``, embedding, metric, kind ("positives" or "negatives"), x (a
            similarity), share (in per cent).
        quartiles: ``SET``, embedding, metric, kind, n, q1, median, q3.
        curves: ``SET``, embedding, metric, at, false_positives, true_positives.
        errors: ``SET``, embedding, metric, label, term1, term2, similarity.
        retrieved: input, embedding, index and ``RETRIEVED_COLUMNS`` of a few of the worst.
    """

    results: pl.DataFrame
    comparisons: pl.DataFrame
    coverage: pl.DataFrame
    parts: pl.DataFrame
    distributions: pl.DataFrame
    quartiles: pl.DataFrame
    curves: pl.DataFrame
    errors: pl.DataFrame
    separation: pl.DataFrame
    retrieval: pl.DataFrame
    retrieved: pl.DataFrame


def report_data_of(evaluation: Evaluation) -> EvaluationReportData:
    """Return the data of an evaluation's report."""
    results, comparisons = evaluation.results(), evaluation.comparisons()
    rated = [one.name for one in statistics_of("rated") if one.table == "best"]
    parts = best_metrics(parts_of_sets(results), parts_of_sets(comparisons), rated)
    results, comparisons = whole_sets(results), whole_sets(comparisons)
    there = evaluation.manifest.outputs  # evaluations of earlier versions lack some tables
    separation = evaluation.separation() if "separation.parquet" in there else None
    retrieval = evaluation.retrieval() if "retrieval.parquet" in there else None
    return EvaluationReportData(
        results=results,
        comparisons=comparisons,
        coverage=whole_sets(evaluation.coverage()),
        parts=parts,
        **chart_data_of(evaluation, results, comparisons),
        separation=pl.DataFrame(separation, SEPARATION_COLUMNS),
        retrieval=pl.DataFrame(retrieval, RETRIEVAL_COLUMNS),
        retrieved=_retrieved(evaluation),
    )


def _retrieved(evaluation: Evaluation) -> pl.DataFrame:
    """Return a few terms whose nearest term is not linked to them, the nearest first."""
    named = {"input": pl.String, "embedding": pl.String, "index": pl.String}
    frames = [pl.DataFrame(schema={**named, **RETRIEVED_COLUMNS})]
    for path in sorted(evaluation.manifest.outputs):
        if not path.startswith("retrieval/"):
            continue
        of = dict(part.split("=", 1) for part in path.split("/") if "=" in part)
        wrong = (
            evaluation.read(path, list(RETRIEVED_COLUMNS))
            .filter(pl.col("nearest_linked").not_())
            .drop_nulls("nearest_similarity")
            .sort("nearest_similarity", "term", descending=[True, False])
            .head(_WORST)
        )
        frames.append(
            wrong.select(*(pl.lit(of.get(n), pl.String).alias(n) for n in named), pl.all())
        )
    return pl.concat(frames)
