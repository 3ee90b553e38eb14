"""Scores ranked lists of concepts, of searches, pipelines or rules, for mentions or local codes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from medsim.core.errors import counted
from medsim.core.kinds import M, declared_tables
from medsim.core.opened import Opened
from medsim.core.shown import MISSING, number
from medsim.pages.sentences import leader_sentence, ordered_differences
from medsim.statistics.estimates import Estimate, clustered_mean, defined, interval_of
from medsim.statistics.ranks import NOT_FOUND, RankSample
from medsim.statistics.selective import AnswerSample
from medsim.statistics.significance import Test, test_columns

RANKING_TABLES = declared_tables(__package__)
"""The tables of scores of ranked lists: results, comparison and curve."""


class RankedOutput(Opened[M]):
    """An output with scores of ranked lists."""

    def results(self) -> pl.DataFrame:
        """Return a row per corpus, type, stratum, model and statistic; none without scores."""
        return self._scored("results")

    def comparisons(self) -> pl.DataFrame:
        """Return a row per corpus, statistic and two models; none without scores."""
        return self._scored("comparison")

    def curves(self) -> pl.DataFrame:
        """Return a row per corpus, stratum, model and threshold; none without scores."""
        return self._scored("curve")

    def _scored(self, name: str) -> pl.DataFrame:
        table = self.kind.views[name]
        if table.optional and table.files not in self.manifest.outputs:
            return pl.DataFrame(schema=table.dtypes)
        return self.read_checked(table.files)


ALL = "all"
"""The type of all items, and the stratum of all items of one known concept."""

WITH_NO_MATCH = "with_no_match"
"""The stratum of these and of the items without a concept of the terminology."""

IS_KNOWN = pl.col("status") == "known"
"""Whether an item has one known concept."""

_IS_NONE = pl.col("status").is_in(["unknown_concept", "no_concept"])

STRATA = {
    ALL: IS_KNOWN,
    "name": IS_KNOWN & (pl.col("n_named") > 0),
    "not_name": IS_KNOWN & (pl.col("n_named") == 0),
    "no_match": _IS_NONE,
    WITH_NO_MATCH: IS_KNOWN | _IS_NONE,
}
"""The strata of all ranked lists."""

_PRECISION = 0.95
_MAX_THRESHOLDS = 200
_NEAR_MISSES = ("parent", "child", "sibling")
_ACCURACIES = {
    "accuracy_at_1": lambda sample: sample.accuracy_at(1),
    "accuracy_at_5": lambda sample: sample.accuracy_at(5),
    "mrr": RankSample.mean_reciprocal_rank,
}
_TESTS = {
    "accuracy_at_1": lambda one, other: one.accuracy_difference(other, 1),
    "mrr": RankSample.reciprocal_difference,
}
_SHOWN_FIRST = ("accuracy_at_1", "accuracy_at_5", "mrr", "accuracy_at_1_or_parent")
_OF_CONFIDENCE = [
    *("answered", "precision", "coverage_at_95", "aurc", "no_match_auc", "calibration_error")
]


def ranking_tables(
    items: pl.DataFrame,
    lists: Mapping[str, pl.DataFrame],
    strata: Mapping[str, pl.Expr],
    *,
    has_hierarchy: bool,
    calibrated: Collection[str] = (),
) -> dict[str, pl.DataFrame]:
    """Return the scores of the ranked lists of several models for the same items.

    Args:
        items: item_id, corpus, type, cluster and status, and the columns of the strata.
        lists: by model, in order, a row per item: item_id, rank, score and near_miss.
        strata: the condition of each stratum.
        has_hierarchy: whether near misses are known.
        calibrated: models whose scores are probabilities.

    Returns:
        The tables of ``RANKING_TABLES`` by name.
    """
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in RANKING_TABLES}
    for part, members in _parts(items, strata):
        counts = {"n_items": members.height, "n_clusters": members["cluster"].n_unique()}
        of_corpus, is_whole = {"corpus": part["corpus"]}, part["type"] == ALL
        samples: dict[str, RankSample] = {}
        for model, rows in lists.items():
            scored = members.join(rows, on="item_id", how="left", maintain_order="left")
            estimates = _estimates(part["stratum"], scored, has_hierarchy=has_hierarchy)
            if is_whole and part["stratum"] in {ALL, WITH_NO_MATCH}:
                answers = answer_sample(scored)
                at_thresholds = answers.at_thresholds(_PRECISION)
                estimates |= dict(zip(("coverage_at_95", "aurc"), at_thresholds, strict=True))
                if model in calibrated:
                    estimates["calibration_error"] = answers.calibration_error()
                named = of_corpus | {"stratum": part["stratum"], "model": model}
                tables["curve"] += (named | point for point in _points(answers))
                samples[model] = _ranks(scored)
            tables["results"] += (
                part | counts | {"model": model, "statistic": name} | interval_of(estimate)
                for name, estimate in estimates.items()
            )
        if part["stratum"] == ALL:
            tables["comparison"] += (of_corpus | row for row in _comparisons(samples))
    return {name: pl.DataFrame(rows, RANKING_TABLES[name].dtypes) for name, rows in tables.items()}


def _parts(
    items: pl.DataFrame, strata: Mapping[str, pl.Expr]
) -> Iterator[tuple[dict[str, Any], pl.DataFrame]]:
    """Yield the items of each corpus, type and stratum, with their names."""
    every = items.with_columns(type=pl.lit(ALL))
    if items["type"].n_unique() > 1:
        every = pl.concat([every, items.sort("type", maintain_order=True)])
    for (corpus, kind), of_type in every.group_by("corpus", "type", maintain_order=True):
        for stratum, chosen in strata.items():
            yield {"corpus": corpus, "type": kind, "stratum": stratum}, of_type.filter(chosen)


def _estimates(stratum: str, scored: pl.DataFrame, *, has_hierarchy: bool) -> dict[str, Estimate]:
    """Return the statistics of a model on the items of a stratum that need no threshold."""
    answers, is_none = answer_sample(scored), scored.select(_IS_NONE).to_series()
    estimates = {"answered": answers.answered()}
    if is_none.all():  # or there are no items
        return estimates
    estimates["precision"] = answers.precision()
    if stratum == WITH_NO_MATCH:
        return estimates | {"no_match_auc": answers.detection((~is_none).to_numpy())}
    sample = _ranks(scored)
    if has_hierarchy:
        missed = {name: scored["near_miss"].eq_missing(name) for name in _NEAR_MISSES}
        right = scored["rank"].eq_missing(1) | missed["parent"]
        for name, hits in {"accuracy_at_1_or_parent": right, **missed}.items():
            found = hits.cast(pl.Float64).to_numpy()
            estimates[name] = clustered_mean(found, sample.clusters)
    return {name: compute(sample) for name, compute in _ACCURACIES.items()} | estimates


def _points(answers: AnswerSample) -> Iterator[dict[str, float]]:
    """Yield points of the curve of a model, with equal steps between them."""
    curve = answers.curve()
    n = len(curve["threshold"])
    steps = np.linspace(0, n - 1, min(n, _MAX_THRESHOLDS)).astype(np.int64)
    lowest = np.flatnonzero(curve["precision"] >= _PRECISION)[-1:]
    kept = np.union1d(steps, lowest)
    yield from pl.DataFrame(curve)[kept].iter_rows(named=True)


def _comparisons(samples: Mapping[str, RankSample]) -> Iterator[dict[str, Any]]:
    """Yield the paired comparisons of all models on the same items."""
    pairs = [*combinations(samples, 2)]
    for statistic, test in _TESTS.items():
        tests: list[Test] = [test(samples[one], samples[other]) for one, other in pairs]
        for (one, other), columns in zip(pairs, test_columns(tests), strict=True):
            values = [_ACCURACIES[statistic](samples[model]).value for model in (one, other)]
            yield {
                "statistic": statistic,
                "model1": one,
                "model2": other,
                "value1": defined(values[0]),
                "value2": defined(values[1]),
                "difference": defined(values[0] - values[1]),
                **{name: columns[name] for name in ("low", "high", "p", "p_bonferroni", "p_holm")},
                "n_items": len(samples[one].ranks),
            }


def _clusters(scored: pl.DataFrame) -> np.ndarray[Any, Any]:
    return scored["cluster"].rank("dense").cast(pl.Int64).to_numpy() - 1


def _ranks(scored: pl.DataFrame) -> RankSample:
    ranks = scored["rank"].fill_null(NOT_FOUND).cast(pl.Int64).to_numpy()
    return RankSample(ranks=ranks, clusters=_clusters(scored))


def answer_sample(scored: pl.DataFrame) -> AnswerSample:
    """Return answers as a sample, from their rank, score and cluster."""
    return AnswerSample(
        scores=scored["score"].cast(pl.Float64).fill_null(np.nan).to_numpy(),
        right=scored["rank"].eq_missing(1).to_numpy(),
        clusters=_clusters(scored),
    )


def ranking_sentences(results: pl.DataFrame, comparisons: pl.DataFrame, items: str) -> list[str]:
    """Return for each corpus which model finds the most, and what can be answered surely.

    Args:
        results: the table of results.
        comparisons: that of comparisons.
        items: what is looked up, such as "mention".
    """
    sentences = []
    whole = results.filter(type=ALL, stratum=ALL).rename({"n_items": "n"})
    for (corpus,), rows in whole.group_by("corpus", maintain_order=True):
        ranked = rows.filter(statistic="accuracy_at_1").drop_nulls("value")
        ranked = ranked.sort("value", descending=True, maintain_order=True)
        if not ranked.height:
            continue
        ranking = ranked.to_dicts()
        tests = comparisons.filter(corpus=corpus, statistic="accuracy_at_1")
        differences = ordered_differences(ranked["model"].to_list(), tests, "model", "holm")
        on = f"{counted(ranking[0]['n'], items)} of {corpus}"
        said = [leader_sentence(ranking, differences, on, "accuracy@1")]
        every = results.filter(corpus=corpus, stratum=WITH_NO_MATCH, statistic="coverage_at_95")
        best = every.sort("value", descending=True, maintain_order=True).row(0, named=True)
        if coverage := best["value"]:
            n_items, percent = best["n_items"], number(100 * coverage, ".0f")
            of_all = f"all {n_items:,}" if n_items > ranking[0]["n"] else "them"
            answers = "answers most," if len(ranking) > 1 else "answers"
            share = f"{best['model']} {answers} {percent}% of {of_all}"
            said.append(f"At {_PRECISION:.0%} precision {share}.")
        else:
            said.append(f"No model reaches {_PRECISION:.0%} precision.")
        sentences.append(" ".join(said))
    return sentences


def readable_rankings(results: pl.DataFrame) -> Sequence[pl.DataFrame]:
    """Return in percent: accuracy, near misses, abstention, and accuracy@1 of strata."""
    value, low, high = (
        (100 * pl.col(name)).round(1).cast(pl.String) for name in ("value", "low", "high")
    )
    cell = pl.coalesce(pl.format("{} [{}, {}]", value, low, high), value, pl.lit(MISSING))
    shown = results.rename({"n_items": "items"}).with_columns(cell=cell)
    total, whole = shown.filter(stratum=ALL), shown.filter(type=ALL)
    sure = whole.filter(pl.col("stratum").is_in([ALL, WITH_NO_MATCH]))
    chosen = (
        (total, "type", _SHOWN_FIRST),
        (total.filter(type=ALL), "type", _NEAR_MISSES),
        (sure, "stratum", _OF_CONFIDENCE),
    )
    shares = [
        rows.filter(pl.col("statistic").is_in(statistics)).pivot(
            "statistic", index=["corpus", part, "items", "model"], values="cell"
        )
        for rows, part, statistics in chosen
    ]
    # A model's column needs another name than those of the index.
    names = {name: f"{name} (model)" for name in ("corpus", "items", "stratum")}
    strata = whole.filter(statistic="accuracy_at_1").with_columns(pl.col("model").replace(names))
    shares.append(strata.pivot("model", index=["corpus", "items", "stratum"], values="cell"))
    return [frame for frame in shares if frame.height]
