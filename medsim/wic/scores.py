"""Accuracies of models on every part of a benchmark, and differences between models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.errors import counted, listed
from medsim.core.shown import MISSING
from medsim.embeddings.replies import COUNTED
from medsim.pages.charts import CHANCE
from medsim.pages.readable import rounded, with_ends
from medsim.pages.sentences import accuracy_sentences, p_shown
from medsim.statistics.bca import accuracy_of
from medsim.statistics.estimates import interval_of
from medsim.statistics.significance import against_best, mcnemar_of_runs
from medsim.wic import GROUPS
from medsim.wic.dataset import SEEN
from medsim.wic.output import ACCURACIES, PREDICTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from medsim.kernels.types import FlagTable
    from medsim.wic.dataset import WicDataset
    from medsim.wic.models import ModelAnswers


_ALL = "all"

_NAMED = 5  # models that a sentence names at most

_REPLY_LABELS = {
    "refused": "refused",
    "unclear": "unclear",
    "prompt_tokens": "tokens in",
    "completion_tokens": "tokens out",
}

WHY_MISSING = {
    "over seeds": "a model is fitted from one seed, or not fitted",
    **dict.fromkeys(_REPLY_LABELS.values(), "a model is not a language model"),
    "p": "a model has the highest accuracy, or no test is possible",
}
"""Reasons for missing values in columns: a clause after "where"."""


def predictions_of(
    dataset: WicDataset, answers: Mapping[str, Sequence[ModelAnswers]]
) -> pl.DataFrame:
    """Return a row per model, seed and instance: ``PREDICTIONS``."""
    tested = dataset.tested
    fold_of = np.zeros(dataset.instances.height, np.int32)
    for round_ in dataset.rounds:
        fold_of[round_.test] = round_.fold or 0
    instances = dataset.instances[tested].select(
        pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("instance"),
        "cat",
        pl.Series("seen_terms", dataset.seen_terms(), pl.Int8),
        "label",
        pl.Series("fold", fold_of[tested]).replace(0, None),
    )
    frames = [
        instances.with_columns(
            pl.lit(name).alias("model"),
            pl.Series("prediction", run.positive[tested].astype(np.int8)),
            pl.Series("score", run.scores[tested]).fill_nan(None),
            pl.Series("threshold", run.thresholds[tested]).fill_nan(None),
            pl.Series("covered", run.covered[tested]),
            pl.lit(run.seed, pl.Int64).alias("seed"),
        )
        for name, runs in answers.items()
        for run in runs
    ]
    return pl.concat(frames).select(list(PREDICTIONS.dtypes)).cast(pl.Schema(PREDICTIONS.dtypes))


def accuracies_of(
    name: str, predictions: pl.DataFrame, answers: Mapping[str, Sequence[ModelAnswers]]
) -> pl.DataFrame:
    """Return the accuracies of every model on a benchmark: ``ACCURACIES``.

    They are on all instances, on groups, and on instances with seen or unseen terms (``SEEN``); a
    subset without instances has no row.
    """
    by_model = [predictions.filter(model=model) for model in answers]
    p_values = against_best(list(map(_correct, by_model)), mcnemar_of_runs)
    rows = []
    for (model, (run, *_)), of_model, p in zip(answers.items(), by_model, p_values, strict=True):
        of_all: dict[str, object] = {"p": p}
        if run.replies is not None:
            of_all |= run.replies.select(**COUNTED).row(0, named=True)
        for subset, part in _subsets(of_model):
            correct = _correct(part)
            estimate = interval_of(accuracy_of(correct))
            row: dict[str, object] = {"data": name, "model": model, "subset": subset}
            row |= {"accuracy": estimate.pop("value"), **estimate}
            if len(correct) > 1:
                row["deviation"] = float(correct.mean(axis=1).std(ddof=1))
            row["n_instances"] = correct.shape[1]
            row["n_uncovered"] = int((~part["covered"]).sum()) // len(correct)
            rows.append(row | of_all if subset == _ALL else row)
    return pl.DataFrame(rows, ACCURACIES.dtypes)


def _subsets(predictions: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the non-empty subsets of a model's predictions, by name."""
    yield _ALL, predictions
    by_group = {name: pl.col("cat") == name for name in GROUPS}
    by_terms = {name: pl.col("seen_terms").is_in(numbers) for name, numbers in SEEN.items()}
    for name, is_in in (by_group | by_terms).items():
        if (part := predictions.filter(is_in)).height:
            yield name, part


def _correct(predictions: pl.DataFrame) -> FlagTable:
    """Return a mask of a model's right answers: bool[n_seeds, n_instances]."""
    n_seeds = predictions["seed"].n_unique()
    right = predictions["prediction"] == predictions["label"]
    return right.to_numpy().reshape(n_seeds, -1)


def leader_sentences(results: pl.DataFrame, people: float | None) -> list[str]:
    """Return which model leads on all instances, and which are like guessing or like people."""
    quoted = pl.format("“{}”", "model").alias("model")  # a name may be a common word
    whole = results.filter(subset=_ALL).with_columns(quoted, chance=pl.lit(CHANCE))
    instances = f"the {counted(whole['n_instances'][0], 'instance')}"
    sentences = accuracy_sentences(whole, instances)
    if people is not None:
        alike = whole.filter(pl.lit(people).is_between("low", "high"))["model"].to_list()
        said = f"Not significantly different from human accuracy ({people:.3f})"
        sentences.append(f"{said}: {listed(alike, _NAMED) or 'no model'}.")
    return sentences


def readable_accuracies(results: pl.DataFrame, people: float | None = None) -> pl.DataFrame:
    """Return accuracies for reading: a row per model, a column per subset of the benchmark.

    The accuracy on all instances has its 95% confidence interval and, if human accuracy is known,
    the difference from it. Columns without any value are left out.
    """
    parts = results.filter(pl.col("subset") != _ALL).with_columns(rounded("accuracy"))
    parts = parts.pivot("subset", index="model", values="accuracy")
    whole = results.filter(subset=_ALL).join(parts, on="model", maintain_order="left")
    table = whole.with_columns(to_people=pl.col("accuracy") - people).select(
        "model",
        with_ends("accuracy", "low", "high"),
        pl.format("± {}", rounded("deviation")).alias("over seeds"),
        rounded("to_people", "+.3f").alias("to people"),
        p_shown("p"),
        *(pl.col(part).alias(part.replace("_", " ")) for part in parts.columns[1:]),
        *(rounded(name, ",").alias(label) for name, label in _REPLY_LABELS.items()),
    )
    present = [column.name for column in table if column.null_count() < table.height]
    return table.select(present).fill_null(MISSING)
