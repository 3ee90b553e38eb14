"""Reads the tables of the paper off an evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.core.errors import InputError, OptionError, unknown_name
from medsim.core.opened import Evaluation
from medsim.evaluations.conclusions import all_metrics, best_metrics, metric_standings
from medsim.evaluations.options import CORRECTIONS, PAPER, SUBSETS, TABLES
from medsim.evaluations.sets import parts_of_sets, whole_sets
from medsim.evaluations.statistic import tabulated_names
from medsim.evaluations.tables.readable import categories_of

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

_AS_THEY_LIE = ("coverage", "overlap", "retrieval", "separation", "categories")


def compare(
    evaluation: str | Path | Evaluation,
    table: str = "best",
    *,
    subset: str = "common",
    correction: str = CORRECTIONS[0],
) -> pl.DataFrame:
    """Return a table of an evaluation, a row per value with what it is of.

    Args:
        evaluation: opened, or its folder.
        table: "best": every embedding at its best metric, by AUC or, for ratings, by Spearman's
            correlation; "auc", "accuracy" or "spearman": the same by one statistic; "all-auc" and
            so on: under every metric; "metrics": how metrics stand over all sets; "parts": as
            "best", on the parts of rated sets, which no other table has; "coverage"; "overlap";
            "retrieval"; "separation", overlap errors of categories, and "categories", their mean
            similarities; or the number of the paper's table of that shape, as "A.1".
        subset: "common" for the pairs that all embeddings cover, or "own".
        correction: of p-values for the number of comparisons, "bonferroni" or "holm".

    Raises:
        InputError: the folder holds no finished evaluation.
        OptionError: a name is unknown.
    """
    for kind, value, known in (
        ("subset", subset, SUBSETS),
        ("correction", correction, CORRECTIONS),
    ):
        if value not in known:
            raise OptionError(unknown_name(kind, value, list(known)))
    name = PAPER.get(table.upper(), table)
    if name not in TABLES:
        raise OptionError(unknown_name("table", name, [*TABLES, *PAPER]))
    if not isinstance(evaluation, Evaluation):
        evaluation = Evaluation(evaluation)
    if name in _AS_THEY_LIE:
        return _as_it_lies(evaluation, name, subset)
    wanted = parts_of_sets if name == "parts" else whole_sets
    results = wanted(evaluation.results())
    comparisons = wanted(evaluation.comparisons())
    if name == "parts":
        _there(results, evaluation, "--words")
    if name == "metrics":
        every = all_metrics(results, comparisons, tabulated_names(), correction=correction)
        return metric_standings(every)
    every_metric = name.startswith("all-")
    main = name in {"best", "parts"}
    statistics = tabulated_names(best=True) if main else (name.removeprefix("all-"),)
    if not results["statistic"].is_in(list(statistics)).any():
        raise InputError(f"{evaluation.folder} has no {statistics[0]}: no input has such pairs")
    make = all_metrics if every_metric else best_metrics
    return make(results, comparisons, statistics, subset=subset, correction=correction)


def _as_it_lies(evaluation: Evaluation, name: str, subset: str) -> pl.DataFrame:
    """Return a table that the evaluation holds as it is, or nearly so."""
    if name == "coverage":
        return whole_sets(evaluation.coverage())
    if name == "overlap":
        return evaluation.overlap()
    if name == "retrieval":
        return _there(evaluation.retrieval().filter(subset=subset), evaluation, "--retrieval")
    separation = _there(evaluation.separation(), evaluation, "--separation")
    return separation if name == "separation" else categories_of(separation)


def _there(rows: pl.DataFrame, evaluation: Evaluation, option: str) -> pl.DataFrame:
    """Return rows as they are, if there are any."""
    if rows.is_empty():
        raise InputError(f"{evaluation.folder} has no such results; run medsim eval with {option}")
    return rows
