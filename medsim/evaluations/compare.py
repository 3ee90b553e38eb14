"""The tables of an evaluation: which embedding, under which metric, and how surely."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.config import checked_threads
from medsim.core.errors import InputError
from medsim.core.opened import reading_output
from medsim.core.options import folder_of, public
from medsim.core.progress import Progress, progress_of
from medsim.evaluations.conclusions import (
    all_metrics,
    at_metrics,
    best_metrics,
    embedding_standings,
    metric_spread,
    metric_standings,
    standings_only,
)
from medsim.evaluations.options import CompareOptions
from medsim.evaluations.output import Evaluation
from medsim.evaluations.sets import (
    SET,
    in_order_of_parts,
    parts_of_sets,
    whole_sets,
    with_parts,
)
from medsim.evaluations.statistic import tabulated_names
from medsim.evaluations.stored import comparisons_at
from medsim.evaluations.tables.rated import rated_sets
from medsim.evaluations.tables.separation import TABLES as OF_SEPARATION
from medsim.evaluations.tables.separation import separation_table
from medsim.evaluations.tables.vocabularies import covered_sets

if TYPE_CHECKING:
    from collections.abc import Sequence

_USUAL = {"best", "standings", "parts"}  # tables with the usual statistic of each set


@public(CompareOptions)
def compare(options: CompareOptions) -> pl.DataFrame:
    """Return a table of an evaluation, a row per value with what it is of.

    "best" has every embedding at its best metric, by AUC or, for ratings, by Spearman's
    correlation; "standings" how each stands over all these sets of 30 pairs or more; a statistic,
    such as "auc", each at its best metric by that one; "all-auc" and so on every metric;
    "standings-auc" how many others of its embedding each metric is significantly better and worse
    than; "spread-auc" the least, median and greatest variance of it over an embedding's metrics;
    "metrics" the standings of metrics over all sets; "parts" the best metrics on the parts of rated
    sets, which no other table has; "rated" the rated sets themselves; "coverage" the pairs without
    vectors, and "overlap" the vocabularies in common; "separation" the errors of categories at each
    embedding's best and worst metric, "categories" the mean similarities there, "all-separation"
    and "all-categories" every metric, "separation-terms" the terms with fewest and most errors. The
    number of a table or figure of Schulz and Juric (AAAI 2020), such as "C.1" or "figure-B.1",
    stands for the table that has the same.

    At fixed metrics embeddings are compared anew, by the tests of ``evaluate`` and the similarities
    that the evaluation keeps.

    Raises:
        InputError: the folder holds no finished evaluation, or none with such results.
        OptionError: a name is unknown.
    """
    given = options.evaluation
    evaluation = given if isinstance(given, Evaluation) else Evaluation(folder_of(given))
    with reading_output(evaluation):
        return _table(evaluation, options)


def _table(evaluation: Evaluation, options: CompareOptions) -> pl.DataFrame:
    """Return the table that is asked for."""
    name = options.paper.table
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
    return _scores(evaluation, name, options)


def _scores(evaluation: Evaluation, name: str, options: CompareOptions) -> pl.DataFrame:
    """Return a table of scores."""
    wanted = parts_of_sets if name == "parts" else whole_sets
    results, comparisons = wanted(evaluation.results()), wanted(evaluation.comparisons())
    if options.paper.negatives:
        of_strategy = pl.col("negatives") == options.paper.negatives
        results, comparisons = results.filter(of_strategy), comparisons.filter(of_strategy)
    if name == "parts":
        _checked(results, evaluation, "words")
    if name == "metrics":
        every = all_metrics(results, comparisons, tabulated_names(), correction=options.correction)
        return metric_standings(every)
    kind, _, statistic = name.rpartition("-")
    statistics = tabulated_names(best=True) if name in _USUAL else (statistic,)
    results = results.filter(pl.col("statistic").is_in(list(statistics)))
    if results.is_empty():
        raise InputError(f"{evaluation.folder} has no {statistics[0]}: no input has such pairs")
    if kind == "spread":
        return metric_spread(results, statistics, subset=options.subset)
    if options.fixed_metrics:
        threads, progress = checked_threads(options.threads), progress_of(options.progress)
        results = results.filter(subset=options.subset)
        results, comparisons = at_fixed(
            evaluation, results, options.fixed_metrics, threads, progress
        )
    make = all_metrics if kind else best_metrics
    subset, correction = options.subset, options.correction
    found = make(results, comparisons, statistics, subset=subset, correction=correction)
    if name == "standings":
        return embedding_standings(found)
    if kind == "standings":
        return standings_only(found)
    if options.is_numbered:
        return with_sizes(found, results)
    return with_parts(in_order_of_parts(found)) if name == "parts" else found


def at_fixed(
    evaluation: Evaluation,
    results: pl.DataFrame,
    metrics: Sequence[str],
    threads: int,
    progress: Progress,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return results of one subset at one metric an embedding, and their comparisons.

    Raises:
        OptionError: a metric is unknown, or none or several fit an embedding.
    """
    results = at_metrics(results, metrics)
    common = results.filter(subset="common")
    return results, comparisons_at(evaluation, common, threads, progress)


def with_sizes(rows: pl.DataFrame, results: pl.DataFrame) -> pl.DataFrame:
    """Return rows with the number of all pairs of their sets, as ``n_in_set``."""
    sizes = results.select(*SET, n_in_set="n_pairs").unique()
    return rows.join(sizes, on=SET, how="left", nulls_equal=True, maintain_order="left")


def _checked(rows: pl.DataFrame, evaluation: Evaluation, option: str) -> pl.DataFrame:
    """Return rows; InputError where there are none."""
    if rows.is_empty():
        raise InputError(f"{evaluation.folder} has no such results; evaluate with `{option}`")
    return rows
