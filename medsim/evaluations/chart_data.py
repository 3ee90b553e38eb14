"""Data of the report's charts: distributions, ROC curves and the worst errors of embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.errors import InputError
from medsim.evaluations.conclusions import best_metrics
from medsim.evaluations.inputs import EvaluationInput
from medsim.evaluations.layout import coverage_path, pairs_path, scores_path
from medsim.evaluations.sets import SET, SET_COLUMNS
from medsim.statistics.curves import histogram, roc_curve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from medsim.evaluations.output import Evaluation
    from medsim.kernels.types import Flags, Values

_WORST = 5  # pairs of each kind
_HARDEST = (("hard", "levenshtein"), ("hard", "embedding"))  # sets whose errors are shown
_NAMED = dict.fromkeys((*SET, "embedding", "metric"), pl.String)
_CHARTS: dict[str, dict[str, type[pl.DataType]]] = {
    "distributions": {"kind": pl.String, "x": pl.Float64, "share": pl.Float64},
    "quartiles": {"kind": pl.String, "n": pl.Int64}
    | dict.fromkeys(("q1", "median", "q3"), pl.Float64),
    "curves": {"at": pl.Int64, "false_positives": pl.Float64, "true_positives": pl.Float64},
    "errors": {"label": pl.Int8, "term1": pl.String, "term2": pl.String, "similarity": pl.Float64},
}  # columns beside those that name a set, embedding and metric


def chart_data_of(
    evaluation: Evaluation, results: pl.DataFrame, comparisons: pl.DataFrame
) -> dict[str, pl.DataFrame]:
    """Return the data of charts, as ``EvaluationReportData`` has them, of labelled pairs.

    Each embedding is at the metric of its highest AUC. Only pairs count that all embeddings cover.
    One file of similarities is held at a time.
    """
    best = best_metrics(results, comparisons, ("auc",)).drop_nulls("value")
    found = {chart: [pl.DataFrame(schema={**_NAMED, **own})] for chart, own in _CHARTS.items()}
    for of_input in best.partition_by("input", maintain_order=True):
        for chart, frame in _of_input(evaluation, of_input):
            found[chart].append(frame)
    return {
        chart: pl.concat(frames).sort(*SET, "embedding", maintain_order=True)
        for chart, frames in found.items()
    }


def _of_input(evaluation: Evaluation, best: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    name = best["input"][0]
    frame = evaluation.read(pairs_path(name))
    one = EvaluationInput(name=name, rated=False, frame=frame, provenance={})
    sets = {tuple(pair_set.named().values()): pair_set for pair_set in one.sets()}
    common = _common(evaluation, one)
    for of_metric in best.partition_by("embedding", "metric", maintain_order=True):
        embedding, metric = of_metric.select("embedding", "metric").row(0)
        similarities = _similarities(evaluation, scores_path(name, embedding, metric), one)
        whole = _whole(evaluation, embedding, one)
        for key in of_metric.select(SET_COLUMNS).iter_rows():
            taken = common[sets[key].rows]
            rows, labels = sets[key].rows[taken], sets[key].values[taken] == 1
            of = dict(zip(_NAMED, (name, *key, embedding, metric), strict=True))
            named = [pl.lit(value, pl.String).alias(column) for column, value in of.items()]
            values = similarities[rows]
            for chart, frame in _of_set(values, labels):
                yield chart, frame.select(*named, pl.all())
            if key[1:] in _HARDEST:
                known = whole[rows] if whole[rows].any() else np.ones(len(rows), np.bool_)
                rows = rows[known]
                worst = _worst(values[known], labels[known])
                pairs = one.pairs[rows[worst["at"]]].select("term1", "term2")
                frame = worst.select("label", *pairs, "similarity")
                yield "errors", frame.select(*named, pl.all())


def _common(evaluation: Evaluation, one: EvaluationInput) -> Flags:
    """Return which pairs all embeddings cover, bool[n_pairs]; the same under any metric."""
    below = f"scores/input={one.name}/embedding="
    paths = {
        path.removeprefix(below).split("/")[0]: path
        for path in evaluation.manifest.outputs
        if path.startswith(below)
    }
    common = np.ones(one.pairs.height, np.bool_)
    for path in paths.values():
        common &= ~np.isnan(_similarities(evaluation, path, one))
    return common


def _whole(evaluation: Evaluation, embedding: str, one: EvaluationInput) -> Flags:
    """Return whether an embedding knows all words of each pair, bool[n_pairs]."""
    path = coverage_path(one.name, embedding, "terms")
    terms = evaluation.read(path, ("term", "n_unknown_words"))
    partly = terms.filter(pl.col("n_unknown_words") > 0)["term"].implode()
    lacking = pl.any_horizontal(pl.col("term1", "term2").is_in(partly))
    found: Flags = one.pairs.select(~lacking).to_series().to_numpy()
    return found


def _similarities(evaluation: Evaluation, path: str, one: EvaluationInput) -> Values:
    """Return the similarities of an input's pairs, NaN where a term is not covered."""
    frame = evaluation.read(path, ("pair_id", "similarity"))
    if not frame["pair_id"].equals(one.pairs["pair_id"]):
        raise InputError(f"{evaluation.folder / path} does not hold the pairs of its input")
    values: Values = frame["similarity"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    return values


def _of_set(similarities: Values, labels: Flags) -> Iterator[tuple[str, pl.DataFrame]]:
    binned = histogram(similarities, labels)
    for kind, shares, of in (
        ("positives", binned.positives, labels),
        ("negatives", binned.negatives, ~labels),
    ):
        drawn = {"kind": kind, "x": binned.middles, "share": 100 * shares}
        yield "distributions", pl.DataFrame(drawn)
        q1, median, q3 = map(float, np.quantile(similarities[of], (0.25, 0.5, 0.75)))
        ends = {"kind": [kind], "n": [int(of.sum())], "q1": q1, "median": median, "q3": q3}
        yield "quartiles", pl.DataFrame(ends)
    curve = roc_curve(similarities, labels)
    axes = {name: getattr(curve, name) for name in ("false_positives", "true_positives")}
    yield "curves", pl.DataFrame({"at": np.arange(len(curve.false_positives)), **axes})


def _worst(similarities: Values, labels: Flags) -> pl.DataFrame:
    """Return negatives of the highest similarity and positives of the lowest, with their places.

    Of equal ones those come first whose pair_id does.
    """
    every = pl.DataFrame({"label": labels.astype(np.int8), "similarity": similarities})
    ranked = every.with_row_index("at").sort("similarity", maintain_order=True)
    least = ranked.filter(label=1).head(_WORST)
    most = ranked.sort("similarity", descending=True, maintain_order=True).filter(label=0)
    return pl.concat([most.head(_WORST), least])
