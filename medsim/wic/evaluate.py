"""Scores models on words in context."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from medsim.core import manifest
from medsim.core.errors import InputError, OptionError, check_unique
from medsim.core.opened import Opened, open_output
from medsim.core.options import folder_of, public
from medsim.core.output import claimed_by
from medsim.core.progress import Progress, progress_of
from medsim.core.tables import read_table
from medsim.embeddings.embedded_terms import NamedEmbedding, identify, with_fingerprint
from medsim.embeddings.encoders import cache_folder
from medsim.embeddings.replies import COUNTED
from medsim.kernels.types import FlagTable
from medsim.statistics.bca import accuracy_of
from medsim.statistics.estimates import interval_of
from medsim.statistics.significance import against_best, mcnemar_of_runs
from medsim.wic import GROUPS
from medsim.wic.dataset import SEEN, WicDataset, read_dataset
from medsim.wic.models import Context, EmbeddedModel, ModelAnswers, WicModel, model_of
from medsim.wic.models.llm import LlmModel
from medsim.wic.models.predicted import PredictedModel
from medsim.wic.options import WicEvaluateOptions
from medsim.wic.output import (
    ACCURACIES,
    ALL_INSTANCES,
    INSTANCE_REPLIES,
    PREDICTIONS,
    WIC_EVALUATION,
    WicEvaluationManifest,
    WicScores,
)

_SCORES, _TABLE = "scores", "accuracy.csv"


@public(WicEvaluateOptions)
def evaluate_wic(options: WicEvaluateOptions) -> WicScores:
    """Return the accuracy of models on words in context.

    If ``data`` is a folder, models are fitted on its train.json, thresholds are chosen on its
    dev.json, and models are tested on its test.json. If it is one file, models are cross-validated
    in ten folds that share no sentence and no pair of terms: each is tested with models fitted on
    the others. A model, a file of predictions or a language model is a text such as
    "minilm=model.onnx,input=quoted".

    Raises:
        InputError: a file or model is missing, damaged, or does not fit the instances.
        OptionError: an option is out of range or does not fit, or the benchmark lacks a split that
            a model needs.
        OutputError: ``out`` is taken or cannot be written.
        ServiceError: a service cannot be reached, or gives an invalid answer.
    """
    context = Context(
        seed=options.seed,
        n_seeds=options.seeds,
        threads=options.n_threads,
        cache=cache_folder(options.cache),
        progress=progress_of(options.progress),
    )
    models = _models(options)
    folder = Path(options.out)
    with claimed_by(options, WIC_EVALUATION) as output:
        dataset = _read_dataset(options, context)
        people = _people(options, dataset)
        _check_splits(models, dataset)
        context = replace(context, embeddings=_embeddings(models, dataset, context))
        answers = {model.name: _runs(model, dataset, context) for model in models}
        with context.progress.stage("score"):
            predictions = predictions_of(dataset, answers)
            results = accuracies_of(dataset.name, predictions, answers)
        tables = {ACCURACIES.files: results, PREDICTIONS.files: predictions}
        if replies := [run.replies for run, *_ in answers.values() if run.replies is not None]:
            tables[INSTANCE_REPLIES.files] = pl.concat(replies)
        for path, table in tables.items():
            output.write(path, table, {"fitted": dataset.fitted})
        _warn_of_uncovered(dataset, answers, context.progress)
        recorded = {"seed": options.seed, "seeds": options.seeds, "people": people}
        WicEvaluationManifest(
            data=dataset.name,
            fitted=dataset.fitted,
            files=dataset.files,
            models={item.name: item.recorded(answers[item.name][0], context) for item in models},
            **output.run_facts(
                recorded, context.progress, context.threads, *manifest.ENCODERS, "scikit-learn"
            ),
        ).write(output.folder)
    return WicScores(folder)


def _models(options: WicEvaluateOptions) -> list[WicModel]:
    """Return the models, at least one, with unique names."""
    items = options.models
    named = items.items() if isinstance(items, Mapping) else ((None, item) for item in items)
    models: list[WicModel] = [model_of(item, name) for name, item in named]
    models += map(LlmModel.parse, options.llms)
    models += map(PredictedModel.parse, options.predictions)
    if not models:
        raise OptionError("name at least one model, such as `models` random")
    check_unique("models", [model.name for model in models])
    return models


def _read_dataset(options: WicEvaluateOptions, context: Context) -> WicDataset:
    data = folder_of(options.data)
    with context.progress.stage(f"read {data.name}") as stage:
        dataset = read_dataset(
            data,
            train=options.train,
            dev=options.dev,
            more_train=options.more_train,
            seed=context.seed,
        )
        n_tested = len(dataset.tested)
        stage.note(f"{n_tested:,} instances to judge, {dataset.fitted}")
    if n_leaked := dataset.n_leaked():
        context.progress.warn(
            f"{n_leaked:,} of {n_tested:,} instances share a sentence or pair of terms with train "
            "or dev: data leakage; medsim wic verify lists them"
        )
    return dataset


def _check_splits(models: Sequence[WicModel], dataset: WicDataset) -> None:
    """Raise OptionError if a model needs a split that is missing."""
    for model in models:
        for split in model.needs:
            if not len(getattr(dataset.rounds[0], split)):
                raise OptionError(f"{model.name} needs {split}.json, which {dataset.name} lacks")


def _people(options: WicEvaluateOptions, dataset: WicDataset) -> float | None:
    """Return the accuracy of people, from an option or the scores of a study of the test split."""
    if options.people is None or options.accuracy_of_people is not None:
        return options.accuracy_of_people
    folder, test = Path(str(options.people)), dataset.files["test"]
    opened: Opened[Any] = open_output(folder)
    if opened.kind.name != _SCORES or _TABLE not in opened.manifest.outputs:
        raise InputError(f"{folder} has no scores of medsim study instances; give its scores")
    if opened.manifest.source["fingerprint"] != test["fingerprint"]:
        raise InputError(f"{folder} scores other instances than {test['path']}")
    table = read_table(folder / _TABLE, ("annotator", "accuracy")).frame
    return float(table.filter(annotator="mean")["accuracy"].item())


def _embeddings(
    models: Sequence[WicModel], dataset: WicDataset, context: Context
) -> dict[str, NamedEmbedding]:
    """Return the embeddings of models with their fingerprints, by the name of the model."""
    embeddings = {}
    for model in (model for model in models if isinstance(model, EmbeddedModel)):
        named = identify(model.embedding, context.progress)
        if not named.fingerprint:
            rows = dataset.answered_rows
            texts = sorted({*dataset.quoted(1, rows), *dataset.quoted(2, rows)})
            named = with_fingerprint(named, texts, context.progress, threads=context.threads)
        embeddings[model.name] = named
    return embeddings


def _runs(model: WicModel, dataset: WicDataset, context: Context) -> list[ModelAnswers]:
    """Return the answers of a model for each seed, or once if it is not fitted."""
    if not model.is_fitted:
        return [model.answers(dataset, context)]
    return [
        replace(model.answers(dataset, replace(context, seed=seed)), seed=seed)
        for seed in range(context.seed, context.seed + context.n_seeds)
    ]


def _warn_of_uncovered(
    dataset: WicDataset, answers: Mapping[str, list[ModelAnswers]], progress: Progress
) -> None:
    for name, (run, *_) in answers.items():
        if n_uncovered := int((~run.covered[dataset.tested]).sum()):
            fault = "cannot score" if run.replies is None else "gives no clear answer to"
            progress.warn(
                f"{name} {fault} {n_uncovered:,} instances, which get the most frequent label"
            )


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
            row: dict[str, object] = {"data": name, "model": model, "subset": subset}
            row |= interval_of(accuracy_of(correct), "accuracy")
            if len(correct) > 1:
                row["deviation"] = float(correct.mean(axis=1).std(ddof=1))
            row["n_instances"] = correct.shape[1]
            row["n_uncovered"] = int((~part["covered"]).sum()) // len(correct)
            rows.append(row | of_all if subset == ALL_INSTANCES else row)
    return pl.DataFrame(rows, ACCURACIES.dtypes)


def _subsets(predictions: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the non-empty subsets of a model's predictions, by name."""
    yield ALL_INSTANCES, predictions
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
