"""The tables of an evaluation: which embedding, under which metric, and how surely."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.core.options import public
from medsim.evaluations.conclusions import all_metrics, best_metrics, metric_standings
from medsim.evaluations.options import CompareOptions
from medsim.evaluations.output import Evaluation
from medsim.evaluations.sets import parts_of_sets, whole_sets, with_parts
from medsim.evaluations.statistic import tabulated_names
from medsim.evaluations.tables.rated import rated_sets
from medsim.evaluations.tables.separation import TABLES as OF_SEPARATION
from medsim.evaluations.tables.separation import separation_table
from medsim.evaluations.tables.vocabularies import covered_sets

if TYPE_CHECKING:
    import polars as pl


@public(CompareOptions)
def compare(options: CompareOptions) -> pl.DataFrame:
    """Return a table of an evaluation, a row per value with what it is of.

    "best" has every embedding at its best metric, by AUC or, for ratings, by Spearman's
    correlation; a statistic, such as "auc", the same by that one; "all-auc" and so on every metric;
    "metrics" the standings of metrics over all sets; "parts" the best metrics on the parts of rated
    sets, which no other table has; "rated" the rated sets themselves; "coverage" the pairs without
    vectors, and "overlap" the vocabularies in common; "separation" the errors of categories at each
    embedding's best and worst metric, "categories" the mean similarities there, "all-separation"
    and "all-categories" every metric, "separation-terms" the terms with fewest and most errors.

    Raises:
        InputError: the folder holds no finished evaluation, or none with such results.
        OptionError: a name is unknown.
    """
    given = options.evaluation
    folder = given if isinstance(given, (str, Path)) else given.folder
    evaluation = given if isinstance(given, Evaluation) else Evaluation(folder)
    name = options.table_name
    if name == "rated":
        return rated_sets(evaluation)
    if name == "coverage":
        return covered_sets(evaluation)
    if name == "overlap":
        return evaluation.overlap()
    if name == "retrieval":
        rows = evaluation.retrieval().filter(subset=options.subset)
        return _checked(rows, evaluation, "retrieval")
    if name in OF_SEPARATION:
        return separation_table(evaluation, name)
    return _scores(evaluation, name, options.subset, options.correction)


def _scores(evaluation: Evaluation, name: str, subset: str, correction: str) -> pl.DataFrame:
    """Return a table of scores."""
    wanted = parts_of_sets if name == "parts" else whole_sets
    results, comparisons = wanted(evaluation.results()), wanted(evaluation.comparisons())
    if name == "parts":
        _checked(results, evaluation, "words")
    if name == "metrics":
        every = all_metrics(results, comparisons, tabulated_names(), correction=correction)
        return metric_standings(every)
    of_all = name.startswith("all-")
    is_main = name in {"best", "parts"}
    statistics = tabulated_names(best=True) if is_main else (name.removeprefix("all-"),)
    if not results["statistic"].is_in(list(statistics)).any():
        raise InputError(f"{evaluation.folder} has no {statistics[0]}: no input has such pairs")
    make = all_metrics if of_all else best_metrics
    found = make(results, comparisons, statistics, subset=subset, correction=correction)
    return with_parts(found) if name == "parts" else found


def _checked(rows: pl.DataFrame, evaluation: Evaluation, option: str) -> pl.DataFrame:
    """Return rows; InputError where there are none."""
    if rows.is_empty():
        raise InputError(f"{evaluation.folder} has no such results; evaluate with `{option}`")
    return rows
