"""Scores models on words in context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core import manifest
from medsim.core.config import checked_threads
from medsim.core.errors import OptionError, counted, listed
from medsim.core.options import folder_of, public
from medsim.core.output import claimed
from medsim.core.progress import Progress, progress_of
from medsim.core.shown import Shown, Summary
from medsim.embeddings.embedded_terms import identify, settled
from medsim.embeddings.encoders import cache_folder
from medsim.wic.dataset import coin_flips, read_dataset
from medsim.wic.models.answers import Setting, file_answers, unscored
from medsim.wic.models.encoder_answers import cosine_answers, quoted_texts, tuned_answers
from medsim.wic.models.llm_answers import llm_answers, replies_of, said_in_short
from medsim.wic.models.model_specs import (
    BilstmModel,
    CoinModel,
    CosineModel,
    EmbeddedModel,
    FileModel,
    FittedModel,
    LlmModel,
    TunedModel,
    WordModel,
    model_of,
    parse_llm,
    parse_predictions,
)
from medsim.wic.models.word_answers import bilstm_answers, word_answers
from medsim.wic.options import WicEvaluateOptions
from medsim.wic.output import WIC_EVALUATION, WicEvaluationManifest
from medsim.wic.people import accuracy_of_people
from medsim.wic.scores import comparisons_of, predictions_of, results_of

if TYPE_CHECKING:
    from medsim.core.manifest import Output
    from medsim.embeddings.embedded_terms import NamedEmbedding
    from medsim.wic.dataset import WicDataset
    from medsim.wic.models.answers import ModelAnswers
    from medsim.wic.models.model_specs import ModelSpec
    from medsim.wic.models.training import Training


_FEW = 4  # names that a summary lists


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WicScores(Shown):
    """Scores of models on words in context.

    Attributes:
        folder: with the files of the tables.
        results: ``medsim.wic.output.RESULTS``.
        comparisons: ``medsim.wic.output.COMPARISONS``.
        predictions: ``medsim.wic.output.PREDICTIONS``.
        people: the accuracy of people; None where it is not known.
        replies: ``medsim.wic.output.REPLIES``; None where no language model was asked.
    """

    folder: Path
    results: pl.DataFrame
    comparisons: pl.DataFrame
    predictions: pl.DataFrame
    people: float | None = None
    replies: pl.DataFrame | None = None

    def _summary(self) -> Summary:
        models = self.results["model"].unique(maintain_order=True).to_list()
        facts = [
            f"{counted(len(models), 'model')} ({listed(models, _FEW)})",
            counted(self.predictions.height, "prediction"),
        ]
        whole = self.results.filter(subset="all")
        shown = whole.select(
            "model", "statistic", "value", pl.exclude("model", "statistic", "value")
        )
        calls = [".results", ".comparisons", "medsim.write_report(scores.folder, …)"]
        what = f"WicScores({str(self.folder)!r})"
        return Summary(what=what, facts=facts, calls=calls, table=lambda: shown)


@public(WicEvaluateOptions)
def evaluate_wic(options: WicEvaluateOptions) -> WicScores:
    """Return how accurately models judge whether terms have one meaning in two sentences.

    Where ``data`` is a folder, models are fitted on its train.json, thresholds are chosen on its
    dev.json, and test.json is asked about. Where it is one file, it is cross-fitted in ten folds
    that share no sentence and no pair of terms: each is asked about by models fitted on the others.
    A model, a file of predictions or a language model is a text such as
    "minilm=model.onnx,input=quoted".

    Raises:
        InputError: a file or model is missing, damaged, or does not fit the instances.
        OptionError: an option is out of range or does not fit, or a split is missing that a model
            needs.
        OutputError: ``out`` is taken or cannot be written.
        ServiceError: a service cannot be reached, or does not answer as it should.
    """
    setting = Setting(
        seed=options.seed,
        n_seeds=options.seeds,
        threads=checked_threads(options.threads),
        cache=cache_folder(options.cache),
        progress=progress_of(options.progress),
    )
    specs = _specs(options)
    folder = Path(options.out)
    with claimed(
        folder, WIC_EVALUATION, overwrite=options.overwrite, read=options.paths_read()
    ) as output:
        dataset = _read(options, setting)
        people = options.accuracy_of_people
        if people is None and options.people is not None:
            people = accuracy_of_people(str(options.people), dataset)
        for spec in specs:
            _check_splits(spec, dataset)
        embeddings = {
            spec.name: _identified(spec, dataset, setting)
            for spec in specs
            if isinstance(spec, EmbeddedModel)
        }
        answers = {spec.name: _runs(spec, embeddings, dataset, setting) for spec in specs}
        scores = _scores(folder, dataset, answers, people, setting.progress)
        metadata = {"medsim": manifest.medsim_version(), "fitted": dataset.fitted}
        for name in ("results", "comparisons", "predictions", "replies"):
            if (table := getattr(scores, name)) is not None:
                output.write(f"{name}.parquet", table, metadata)
        models = {spec.name: _recorded(spec, embeddings, answers[spec.name][0]) for spec in specs}
        _manifest(dataset, models, scores, output.outputs, setting).write(output.folder)
        output.publish()
    return scores


def _specs(options: WicEvaluateOptions) -> list[ModelSpec]:
    """Return the models, of which there is one at least, each with a name of its own."""
    models = options.models
    if isinstance(models, Mapping):
        specs: list[ModelSpec] = [model_of(given, name) for name, given in models.items()]
    else:
        specs = [model_of(given) for given in models]
    specs += [*map(parse_llm, options.llms), *map(parse_predictions, options.predictions)]
    if not specs:
        raise OptionError("name at least one model, such as `models` random")
    name, times = Counter(spec.name for spec in specs).most_common(1)[0]
    if times > 1:
        raise OptionError(f"two models are named {name!r}; a name is for one")
    return specs


def _read(options: WicEvaluateOptions, setting: Setting) -> WicDataset:
    data = folder_of(options.data)
    with setting.progress.stage(f"read {data.name}") as stage:
        found = read_dataset(
            data,
            train=options.train,
            dev=options.dev,
            more_train=options.more_train,
            seed=setting.seed,
        )
        n_tested = len(found.tested)
        stage.found(f"{n_tested:,} instances to judge, {found.fitted}")
    if n_known := found.n_known():
        setting.progress.warn(
            f"{n_known:,} of {n_tested:,} instances share a sentence or pair of terms with train "
            "or dev, so models may know the answer; medsim wic verify lists them"
        )
    return found


def _check_splits(spec: ModelSpec, dataset: WicDataset) -> None:
    """Raise OptionError where a model needs a split that is not there."""
    needs = {
        "train": (
            isinstance(spec, FittedModel)
            or (isinstance(spec, LlmModel) and spec.options.shots > 0),
            "has its examples" if isinstance(spec, LlmModel) else "is fitted",
        ),
        "dev": (
            isinstance(spec, CosineModel | BilstmModel | TunedModel),
            "has its threshold chosen",
        ),
    }
    for split, (is_needed, why) in needs.items():
        if is_needed and not len(getattr(dataset.rounds[0], split)):
            raise OptionError(
                f"{dataset.name} has no instances of {split}, on which {spec.name} {why}; add "
                f"`{split}` FILE"
            )


def _identified(spec: EmbeddedModel, dataset: WicDataset, setting: Setting) -> NamedEmbedding:
    """Return the embedding of a model with its fingerprint."""
    named = identify(spec.embedding, setting.progress)
    if named.fingerprint:
        return named
    texts = quoted_texts(dataset).texts
    return settled(named, texts, setting.progress, threads=setting.threads)


def _runs(
    spec: ModelSpec,
    embeddings: Mapping[str, NamedEmbedding],
    dataset: WicDataset,
    setting: Setting,
) -> list[ModelAnswers]:
    """Return the answers of a model for each seed, or its only ones where it is not fitted."""
    match spec:
        case CoinModel():
            return [unscored(coin_flips(dataset.instances, setting.seed))]
        case FileModel():
            return [file_answers(dataset, spec)]
        case LlmModel():
            return [llm_answers(dataset, spec, setting)]
        case CosineModel():
            return [cosine_answers(dataset, spec, embeddings[spec.name], setting)]
        case _:
            return [
                _fitted(spec, embeddings[spec.name], dataset, replace(setting, seed=seed))
                for seed in range(setting.seed, setting.seed + setting.n_seeds)
            ]


def _fitted(
    spec: FittedModel, named: NamedEmbedding, dataset: WicDataset, setting: Setting
) -> ModelAnswers:
    """Return the answers of a model that is fitted from a seed."""
    match spec:
        case TunedModel():
            answers = tuned_answers(dataset, spec, named, setting)
        case WordModel():
            answers = word_answers(dataset, spec, named, setting)
        case BilstmModel():
            answers = bilstm_answers(dataset, spec, named, setting)
    return replace(answers, seed=setting.seed)


def _scores(
    folder: Path,
    dataset: WicDataset,
    answers: Mapping[str, list[ModelAnswers]],
    people: float | None,
    progress: Progress,
) -> WicScores:
    """Return the tables of all answers."""
    with progress.stage("score"):
        predictions = predictions_of(dataset, answers)
        scores = WicScores(
            folder=folder,
            results=results_of(dataset, predictions, answers),
            comparisons=comparisons_of(dataset, predictions, people),
            predictions=predictions,
            people=people,
            replies=replies_of({name: runs[0] for name, runs in answers.items()}),
        )
    for name, (one, *_) in answers.items():
        if n_uncovered := int((~one.covered[dataset.tested]).sum()):
            fault = "sees nothing of" if one.replies is None else "gives no clear answer to"
            progress.warn(
                f"{name} {fault} {n_uncovered:,} instances, which count as answered by the "
                "most frequent label"
            )
    return scores


def _recorded(
    spec: ModelSpec, embeddings: Mapping[str, NamedEmbedding], answers: ModelAnswers
) -> dict[str, object]:
    """Return the facts that decide a model's answers, and its path, for the manifest."""
    if isinstance(spec, CoinModel | FileModel):
        return {"way": spec.answer_kind, "files": dict(answers.digests)}
    if isinstance(spec, LlmModel):
        return {
            "way": spec.answer_kind,
            "path": spec.service.location,
            "model": spec.service.model,
            "options": {"shots": spec.options.shots, "tokens": spec.options.tokens},
            **({} if answers.replies is None else said_in_short(answers.replies)),
        }
    about = embeddings[spec.name].provenance()
    if isinstance(spec, TunedModel):
        about["options"]["loss"] = spec.tuning.loss
        about["options"] |= _as_text(spec.tuning.training)
    if isinstance(spec, BilstmModel):
        about["options"] |= _as_text(spec.training)
    return {"way": spec.answer_kind, "input": spec.reads, **about}


def _as_text(training: Training) -> dict[str, str]:
    return {name: str(value) for name, value in asdict(training).items()}


def _manifest(
    dataset: WicDataset,
    models: dict[str, dict[str, object]],
    scores: WicScores,
    outputs: dict[str, Output],
    setting: Setting,
) -> WicEvaluationManifest:
    return WicEvaluationManifest(
        medsim=manifest.medsim_version(),
        libraries=manifest.library_versions(*manifest.ENCODERS, "scikit-learn"),
        data=dataset.name,
        fitted=dataset.fitted,
        files=dataset.files,
        models=models,
        options={"seed": setting.seed, "seeds": setting.n_seeds, "people": scores.people},
        threads=setting.threads,
        warnings=list(setting.progress.warnings),
        outputs=dict(sorted(outputs.items())),
        stages=[asdict(record) for record in setting.progress.records],
    )
