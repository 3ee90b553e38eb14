"""Scores models on words in context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core import manifest
from medsim.core.config import checked_threads
from medsim.core.errors import InputError, OptionError, check_unique
from medsim.core.opened import open_output
from medsim.core.options import folder_of, public
from medsim.core.output import claimed_by
from medsim.core.progress import Progress, progress_of
from medsim.core.tables import read_table
from medsim.embeddings.embedded_terms import identify, with_fingerprint
from medsim.embeddings.encoders import cache_folder
from medsim.wic.dataset import read_dataset
from medsim.wic.models import Context, EmbeddedModel, model_of
from medsim.wic.models.llm import LlmModel
from medsim.wic.models.predicted import PredictedModel
from medsim.wic.options import WicEvaluateOptions
from medsim.wic.output import (
    ACCURACIES,
    INSTANCE_REPLIES,
    PREDICTIONS,
    WIC_EVALUATION,
    WicEvaluationManifest,
    WicScores,
)
from medsim.wic.scores import accuracies_of, predictions_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from medsim.core.opened import Opened
    from medsim.embeddings.embedded_terms import NamedEmbedding
    from medsim.wic.dataset import WicDataset
    from medsim.wic.models import ModelAnswers, WicModel

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
        threads=checked_threads(options.threads),
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
        metadata = {"medsim": manifest.medsim_version(), "fitted": dataset.fitted}
        for path, table in tables.items():
            output.write(path, table, metadata)
        _warn_of_uncovered(dataset, answers, context.progress)
        facts = manifest.run_facts(
            context.progress, output.outputs, context.threads, *manifest.ENCODERS, "scikit-learn"
        )
        WicEvaluationManifest(
            data=dataset.name,
            fitted=dataset.fitted,
            files=dataset.files,
            models={item.name: item.recorded(answers[item.name][0], context) for item in models},
            options={"seed": options.seed, "seeds": options.seeds, "people": people},
            **facts,
        ).write(output.folder)
        output.publish()
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
                raise OptionError(
                    f"{model.name} needs {split}, which {dataset.name} lacks; add `{split}`"
                )


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
