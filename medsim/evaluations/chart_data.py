"""What similarities look like: distributions, ROC curves and the worst errors of each embedding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.errors import InputError
from medsim.evaluations.conclusions import best_metrics
from medsim.evaluations.inputs import SET_COLUMNS
from medsim.evaluations.sets import SET
from medsim.evaluations.similarities import coverage_path, pairs_path, scores_path
from medsim.statistics.curves import histogram, roc_curve

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from medsim.core.opened import Evaluation
    from medsim.kernels.types import Flags, Ids, Values

_WORST = 5  # pairs of each kind
_HARDEST = (("hard", "levenshtein"), ("hard", "embedding"))  # sets whose errors are shown
_NAMED = dict.fromkeys((*SET, "embedding", "metric"), pl.String)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartData:
    """What similarities look like; columns as ``EvaluationProfile`` has them."""

    distributions: pl.DataFrame
    quartiles: pl.DataFrame
    curves: pl.DataFrame
    errors: pl.DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pairs:
    """The labelled pairs of an input.

    Attributes:
        pair_ids: of the different pairs, in order, as files of similarities have them.
        sets: by dataset, difficulty and negatives: rows in ``pair_ids``, and labels.
    """

    pair_ids: pl.Series
    sets: Mapping[tuple[object, ...], tuple[Ids, Flags]]


def chart_data_of(
    evaluation: Evaluation, results: pl.DataFrame, comparisons: pl.DataFrame
) -> ChartData:
    """Return what similarities look like, of each embedding at the metric of its highest AUC.

    Only pairs count that all embeddings cover. One file of similarities is held at a time.
    """
    best = best_metrics(results, comparisons, ("auc",)).drop_nulls("value")
    found: dict[str, list[pl.DataFrame]] = {
        "distributions": [
            pl.DataFrame(schema={**_NAMED, "kind": pl.String, "x": pl.Float64, "share": pl.Float64})
        ],
        "quartiles": [
            pl.DataFrame(
                schema={**_NAMED, "kind": pl.String, "n": pl.Int64}
                | dict.fromkeys(("q1", "median", "q3"), pl.Float64)
            )
        ],
        "curves": [
            pl.DataFrame(
                schema={**_NAMED, "at": pl.Int64}
                | dict.fromkeys(("false_positives", "true_positives"), pl.Float64)
            )
        ],
        "errors": [
            pl.DataFrame(
                schema={**_NAMED, "label": pl.Int8, "pair_id": pl.String, "similarity": pl.Float64}
            )
        ],
    }
    for of_input in best.partition_by("input", maintain_order=True):
        for picture, frame in _of_input(evaluation, of_input):
            found[picture].append(frame)
    joined = {picture: pl.concat(frames) for picture, frames in found.items()}
    joined["errors"] = _with_terms(evaluation, joined["errors"])
    return ChartData(
        **{
            name: frame.sort(*SET, "embedding", maintain_order=True)
            for name, frame in joined.items()
        }
    )


def _of_input(evaluation: Evaluation, best: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    name = best["input"][0]
    pairs = _pairs(evaluation, name)
    common = _common(evaluation, name, pairs)
    for of_metric in best.partition_by("embedding", "metric", maintain_order=True):
        embedding, metric = of_metric.select("embedding", "metric").row(0)
        similarities = _similarities(evaluation, scores_path(name, embedding, metric), pairs)
        whole = _whole(evaluation, name, embedding, pairs)
        for key in of_metric.select(SET_COLUMNS).iter_rows():
            rows, labels = pairs.sets[key]
            taken = common[rows]
            rows, labels = rows[taken], labels[taken]
            of = dict(zip(_NAMED, (name, *key, embedding, metric), strict=True))
            named = [pl.lit(value, pl.String).alias(column) for column, value in of.items()]
            values = similarities[rows]
            for picture, frame in _of_set(values, labels):
                yield picture, frame.select(*named, pl.all())
            if key[1:] in _HARDEST:
                known = whole[rows] if whole[rows].any() else np.ones(len(rows), np.bool_)
                rows = rows[known]
                worst = _worst(values[known], labels[known])
                frame = worst.select(
                    "label", pairs.pair_ids[rows[worst["at"]]].alias("pair_id"), "similarity"
                )
                yield "errors", frame.select(*named, pl.all())


def _pairs(evaluation: Evaluation, name: str) -> _Pairs:
    columns = ("pair_id", *SET_COLUMNS, "label")
    frame = evaluation.read(pairs_path(name), columns)
    pair_ids = frame["pair_id"].unique().sort()
    numbered = pair_ids.to_frame().with_row_index("row")
    rows = frame.join(numbered, on="pair_id", maintain_order="left")
    groups = rows.partition_by(SET_COLUMNS, as_dict=True, include_key=False)
    return _Pairs(
        pair_ids=pair_ids,
        sets={
            key: (group["row"].to_numpy().astype(np.int32), group["label"].to_numpy() == 1)
            for key, group in ((key, group.sort("row")) for key, group in groups.items())
        },
    )


def _common(evaluation: Evaluation, name: str, pairs: _Pairs) -> Flags:
    """Return which pairs all embeddings cover, bool[n_pairs]; any metric tells."""
    below = f"scores/input={name}/embedding="
    paths = {
        path.removeprefix(below).split("/")[0]: path
        for path in evaluation.manifest.outputs
        if path.startswith(below)
    }
    common = np.ones(len(pairs.pair_ids), np.bool_)
    for path in paths.values():
        common &= ~np.isnan(_similarities(evaluation, path, pairs))
    return common


def _whole(evaluation: Evaluation, name: str, embedding: str, pairs: _Pairs) -> Flags:
    """Return of which pairs an embedding knows all words, bool[n_pairs]."""
    terms = evaluation.read(coverage_path(name, embedding, "terms"), ("term", "n_unknown_words"))
    partly = terms.filter(pl.col("n_unknown_words") > 0)["term"].implode()
    texts = evaluation.read(pairs_path(name), ("pair_id", "term1", "term2")).unique("pair_id")
    lacking = pl.any_horizontal(pl.col("term1", "term2").is_in(partly))
    found: Flags = texts.sort("pair_id").select(~lacking).to_series().to_numpy()
    if len(found) != len(pairs.pair_ids):
        raise InputError(f"{evaluation.folder / pairs_path(name)} does not hold the pairs")
    return found


def _similarities(evaluation: Evaluation, path: str, pairs: _Pairs) -> Values:
    """Return the similarities of an input's pairs, NaN where a term is not covered.

    Raises:
        InputError: the file is missing, damaged, or of other pairs.
    """
    frame = evaluation.read(path, ("pair_id", "similarity"))
    if not frame["pair_id"].equals(pairs.pair_ids):
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
        told = {"kind": [kind], "n": [int(of.sum())], "q1": q1, "median": median, "q3": q3}
        yield "quartiles", pl.DataFrame(told)
    curve = roc_curve(similarities, labels)
    yield (
        "curves",
        pl.DataFrame(
            {
                "at": np.arange(len(curve.false_positives)),
                "false_positives": curve.false_positives,
                "true_positives": curve.true_positives,
            }
        ),
    )


def _worst(similarities: Values, labels: Flags) -> pl.DataFrame:
    """Return negatives of the highest similarity and positives of the lowest, with their places.

    Of equal ones those come first whose pair_id does.
    """
    frames = []
    for label, sign in ((0, -1), (1, 1)):
        places = np.flatnonzero(labels == label)
        worst = places[np.argsort(sign * similarities[places], kind="stable")[:_WORST]]
        frames.append(
            pl.DataFrame({"at": worst, "similarity": similarities[worst]}).select(
                pl.lit(label, pl.Int8).alias("label"), "at", "similarity"
            )
        )
    return pl.concat(frames)


def _with_terms(evaluation: Evaluation, errors: pl.DataFrame) -> pl.DataFrame:
    """Return errors with the terms of their pairs in place of their ids."""
    terms = (
        evaluation.pairs()
        .filter(pl.col("pair_id").is_in(errors["pair_id"].unique().implode()))
        .select("input", "pair_id", "term1", "term2")
        .unique()
        .collect()
    )
    return errors.join(terms, on=["input", "pair_id"], maintain_order="left").select(
        *_NAMED, "label", "term1", "term2", "similarity"
    )
