"""Correlates intrinsic scores of models with their scores on extrinsic tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple
from itertools import chain
from pathlib import Path

import numpy as np
import polars as pl

from medsim.core.errors import InputError, OptionError, check_known, counted, listed
from medsim.core.kinds import Columns, columns
from medsim.core.opened import reading_output
from medsim.core.options import public
from medsim.core.progress import Progress, progress_of
from medsim.core.tables import TextTable, is_missing, number_in, read_table, table_of_frame
from medsim.evaluations.conclusions import best_metrics
from medsim.evaluations.options import CorrelateOptions
from medsim.evaluations.output import SET_COMPARISONS, Evaluation
from medsim.evaluations.sets import SET, whole_sets
from medsim.evaluations.statistic import BASELINE, SampleKind, statistics_of, tabulated_names
from medsim.kernels.types import Values
from medsim.pages.sentences import ALPHA
from medsim.statistics import estimates
from medsim.statistics.significance import holm

STRONG = 0.5
"""A large correlation (Cohen 1988, section 3.2); with too few models, tests cannot show it."""

CORRELATION_COLUMNS: Columns = (
    columns(pl.String, "set", "statistic", "task")
    | columns(pl.Float64, "r", "low", "high", "t", "p", "p_holm")
    | columns(pl.Int64, "n_models")
    | columns(pl.Float64, "smallest_r")
    | columns(pl.String, "verdict")
)
"""The columns of correlations, a row per intrinsic set and extrinsic task."""

_MAX_NAMED = 5
_TOO_FEW = "too few models: "


@public(CorrelateOptions)
def correlate(options: CorrelateOptions) -> pl.DataFrame:
    """Return Pearson's correlation of every intrinsic set with every extrinsic task.

    Each correlation is over the models with both scores and has a two-tailed t-test. Holm's
    procedure corrects the p-values for the number of tests; without it, as with ``correction``
    none, they are those of tables 6, 8 and 9 of Chiu et al. (BMC Bioinformatics 2018). Every column
    of numbers in a table is used, and cells may be empty. Warnings name the models and scores that
    are left out, and say if there are too few models.

    Returns:
        ``CORRELATION_COLUMNS``, in the order of the sets and tasks. ``smallest_r`` is
        the smallest correlation that this many models can show in one test at 80% power.

    Raises:
        InputError: a table is malformed, or fewer than 3 models are in both.
        OptionError: a name is unknown, or an option of evaluations is given for a table.
    """
    progress = progress_of(options.progress)
    set_scores = _intrinsic_scores(options, progress)
    task_scores = read_model_scores(options.extrinsic, progress)
    models = _common_models(set_scores, task_scores, progress)
    sides = _by_set(set_scores, models), _by_set(task_scores, models)
    for (name, _), values in chain.from_iterable(side.items() for side in sides):
        missing = [model for model, value in zip(models, values, strict=True) if np.isnan(value)]
        if missing:
            without = f"{len(missing)} of {counted(len(models), 'model')}"
            progress.warn(
                f"{name}: left out {without} without a score: {listed(missing, _MAX_NAMED)}"
            )
    names, tests = [], []
    for key, scores in sides[0].items():
        for (task, _), performance in sides[1].items():
            both = ~np.isnan(scores) & ~np.isnan(performance)
            names.append((*key, task))
            tests.append(estimates.pearson_test(scores[both], performance[both]))
    if (reach := _reach(max(test.n for test in tests))).startswith(_TOO_FEW):
        progress.warn(reach)
    corrected = holm(np.array([test.p for test in tests]))
    n_tests = int(np.count_nonzero(~np.isnan(corrected)))
    is_corrected = options.correction == "holm"
    rows = [
        (
            *name,
            *astuple(test.r),
            test.t,
            test.p,
            p_holm,
            test.n,
            estimates.smallest_detectable(test.n),
            _verdict(test, p_holm if is_corrected else test.p, n_tests),
        )
        for name, test, p_holm in zip(names, tests, corrected.tolist(), strict=True)
    ]
    return pl.DataFrame(rows, schema=CORRELATION_COLUMNS, orient="row").fill_nan(None)


def _intrinsic_scores(options: CorrelateOptions, progress: Progress) -> pl.DataFrame:
    """Return the scores of models on intrinsic sets, ``SCORE_COLUMNS``."""
    intrinsic = options.intrinsic
    if isinstance(intrinsic, (str, Path)) and Path(intrinsic).is_dir():
        intrinsic = Evaluation(intrinsic)
    if isinstance(intrinsic, Evaluation):
        with reading_output(intrinsic):
            return _evaluation_scores(intrinsic, options)
    for name, value in (("metric", options.metric), ("statistic", options.statistic)):
        if value is not None:
            raise OptionError(f"`{name}` applies to the folder of an evaluation, not to a table")
    if not isinstance(intrinsic, (str, Path, pl.DataFrame)):
        raise OptionError(f"`intrinsic` {intrinsic.folder} is not an evaluation")
    return read_model_scores(intrinsic, progress)


def _evaluation_scores(evaluation: Evaluation, options: CorrelateOptions) -> pl.DataFrame:
    """Return the scores of embeddings on all whole sets, at their best or the chosen metric."""
    results = whole_sets(evaluation.results()).filter(pl.col("embedding") != BASELINE)
    metric, statistic = options.metric, options.statistic
    kinds: tuple[SampleKind, ...] = ("matched", "beyond", "labelled", "rated")
    pair_statistics = [statistic for kind in kinds for statistic in statistics_of(kind)]
    if metric is not None:
        check_known("metric", sorted(results["metric"].unique()), metric)
        results = results.filter(metric=metric)
    if statistic is not None:
        measures = [one.name for one in pair_statistics if one.higher_is_better]
        check_known("statistic", measures, statistic)
    statistics = tabulated_names(best=True) if statistic is None else (statistic,)
    untested = pl.DataFrame(schema=SET_COMPARISONS.dtypes)  # standings are not used
    best = best_metrics(results, untested, statistics, subset=options.subset)
    if best.is_empty():
        raise InputError(f"{evaluation.folder} has no {statistics[0]} under {metric or 'a metric'}")
    set_name = pl.concat_str(*SET, separator="/", ignore_nulls=True).alias("set")
    return best.select(set_name, "statistic", pl.col("embedding").alias("model"), "value").cast(
        pl.Schema(SCORE_COLUMNS)
    )


def _common_models(sets: pl.DataFrame, tasks: pl.DataFrame, progress: Progress) -> list[str]:
    """Return the models with both kinds of scores, in the order of ``sets``."""
    sides = {"intrinsic": sets["model"], "extrinsic": tasks["model"]}
    models = {side: [*dict.fromkeys(names)] for side, names in sides.items()}
    common = [model for model in models["intrinsic"] if model in models["extrinsic"]]
    only = {
        side: listed([model for model in names if model not in common], _MAX_NAMED)
        for side, names in models.items()
    }
    if len(common) < estimates.FEWEST_FOR_TEST:
        others = "; ".join(f"only {side}: {names or 'none'}" for side, names in only.items())
        raise InputError(
            f"{counted(len(common), 'model has', 'models have')} both scores, but a correlation "
            f"needs {estimates.FEWEST_FOR_TEST}; use the same names; {others}"
        )
    left_out = ((side, names) for side, names in only.items() if names)
    progress.warn(*(f"only {side} scores, so left out: {names}" for side, names in left_out))
    return common


def _by_set(scores: pl.DataFrame, models: Sequence[str]) -> dict[tuple[str, str | None], Values]:
    """Return the values of the models by set and statistic, NaN if missing."""
    order = pl.DataFrame({"model": models}, {"model": pl.String})
    return {
        (name, statistic): order.join(rows, on="model", how="left", maintain_order="left")["value"]
        .fill_null(np.nan)
        .to_numpy()
        for (name, statistic), rows in scores.group_by("set", "statistic", maintain_order=True)
    }


def _reach(n_models: int) -> str:
    """Return a sentence on the correlations that this number of models can show."""
    if n_models <= estimates.FEWEST_FOR_TEST:
        return f"{_TOO_FEW}{n_models} models cannot show any correlation"
    smallest = estimates.smallest_detectable(n_models)
    only = "" if smallest <= STRONG else f"{_TOO_FEW}only "
    return f"{only}|r| ≥ {smallest:.2f} is detectable at 80% power"


def _verdict(test: estimates.PearsonTest, p: float, n_tests: int) -> str:
    """Return the meaning of a correlation in words; ``p`` may be corrected for ``n_tests``."""
    if test.n < estimates.FEWEST_FOR_TEST:
        both = counted(test.n, "model has", "models have")
        return f"undefined: {both} both scores; {estimates.FEWEST_FOR_TEST} are needed"
    if math.isnan(test.r.value):
        return "undefined: all models have the same score on one side"
    if p < ALPHA:
        return "significant"
    before = f" after correction for {counted(n_tests, 'test')}" if test.p < ALPHA else ""
    return f"not significant{before}; {_reach(test.n)}"


SCORE_COLUMNS = columns(pl.String, "set", "statistic", "model") | columns(pl.Float64, "value")
"""The columns of models' scores: a row per set and model; a missing value is null."""

MODEL = "model"
"""The name of the column of models; if it is missing, the first text column is used."""


def read_model_scores(table: str | Path | pl.DataFrame, progress: Progress) -> pl.DataFrame:
    """Return the scores of a table, column by column in its order.

    Args:
        table: a frame, or a file that ``read_table`` reads.
        progress: receives warnings about columns without numbers, which are left out.

    Returns:
        ``SCORE_COLUMNS``, with ``statistic`` null.
    """
    if isinstance(table, pl.DataFrame):
        text = table_of_frame(Path("the table"), table)
    else:
        text = read_table(Path(table), extra=None)
    progress.warn(*text.warnings)
    named = [name for name in text.frame.columns if name.strip().lower() == MODEL]
    model = next(iter(named or [column.name for column in text.frame if _has_text(column)]), None)
    if model is None:
        raise InputError(f"{text.path} has no column of models; name it {MODEL!r}")
    models = text.frame[model].alias("model")
    text.refuse(models == "", model, "names no model")
    text.refuse(~models.is_first_distinct(), model, "is there twice; each model must have one row")
    others = [_numbers(text, name) for name in text.frame.columns if name != model]
    numbers = [column for column in others if column.dtype != pl.String]
    if not numbers:
        raise InputError(f"{text.path} has no column of numbers beside {model!r}")
    for column in others:
        if column.dtype == pl.String:
            progress.warn(f"{text.path}: column {column.name!r} has no number and is left out")
    return (
        pl.DataFrame([models, *numbers])
        .unpivot(index="model", variable_name="set", value_name="value")
        .with_columns(statistic=pl.lit(None, pl.String))
        .select(*SCORE_COLUMNS)
    )


def _has_text(cells: pl.Series) -> bool:
    return any(not is_missing(cell) and number_in(cell) is None for cell in cells)


def _numbers(table: TextTable, name: str) -> pl.Series:
    """Return a column as numbers if it has any, else as text."""
    cells = table.frame[name]
    numbers = pl.Series(name, map(number_in, cells), pl.Float64)
    if not numbers.count() and _has_text(cells):
        return cells
    are_given = ~pl.Series(map(is_missing, cells), dtype=pl.Boolean)
    expected = "is not a number such as 0.85; leave the cell empty if there is no score"
    table.refuse(are_given & numbers.is_null(), name, expected)
    return numbers
