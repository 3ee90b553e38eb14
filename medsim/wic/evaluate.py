"""Scores models on words in context."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from medsim.core import manifest
from medsim.core.config import check_seed, checked_threads
from medsim.core.errors import OptionError
from medsim.core.manifest import WIC_EVALUATION, WicEvaluationManifest
from medsim.core.output import claimed
from medsim.core.progress import Progress
from medsim.embeddings.embedded_terms import identify
from medsim.wic.models.answers import coin_answers, file_answers
from medsim.wic.models.encoder_answers import cosine_answers, tuned_answers
from medsim.wic.models.model_specs import (
    CoinModel,
    CosineModel,
    EmbeddedModel,
    FileModel,
    TunedModel,
    WordModel,
    parse_model,
    parse_predictions,
)
from medsim.wic.models.questions import read_questions
from medsim.wic.models.scores import comparisons_of, predictions_of, results_of
from medsim.wic.models.word_answers import word_answers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from medsim.core.manifest import Output
    from medsim.embeddings.embedded_terms import NamedEmbedding
    from medsim.wic.models.answers import Answers
    from medsim.wic.models.model_specs import ModelSpec
    from medsim.wic.models.questions import Questions


@dataclass(frozen=True, slots=True, kw_only=True)
class WicScores:
    """How well models tell words in context.

    Attributes:
        folder: with the files of the tables.
        results: ``medsim.core.schema.WIC_RESULT_COLUMNS``.
        comparisons: ``medsim.core.schema.WIC_COMPARISON_COLUMNS``.
        predictions: ``medsim.core.schema.WIC_PREDICTION_COLUMNS``.
    """

    folder: Path
    results: pl.DataFrame
    comparisons: pl.DataFrame
    predictions: pl.DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What every model of a run needs.

    Attributes:
        seed: of folds, coins and fitting.
        threads: how many compute.
        cache: the folder that keeps what encoders made; None keeps nothing.
        progress: told of every stage.
    """

    seed: int
    threads: int
    cache: Path | None
    progress: Progress


def evaluate_wic(  # noqa: PLR0913 — an argument an option
    data: str | Path,
    out: str | Path,
    *,
    models: Sequence[str] = (),
    predictions: Sequence[str] = (),
    train: str | Path | None = None,
    dev: str | Path | None = None,
    seed: int = 0,
    threads: int | None = None,
    cache: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> WicScores:
    """Return how well models tell whether terms have one meaning in two sentences.

    Where ``data`` is a folder, models are fitted on its train.json, thresholds are chosen on its
    dev.json, and test.json is asked about. Where it is one file, it is cross-fitted in ten folds
    that share no sentence and no pair of terms: each is asked about by models fitted on the others.

    Args:
        data: the folder or file, in the layout that BioWiC is published in.
        out: the folder to write; it appears whole or not at all.
        models: "random", or "NAME=PATH" with options behind it, see ``model_specs.parse_model``.
        predictions: "NAME=PATH" of files with what other models said.
        train: a file to fit on in place of the folder's.
        dev: a file to choose thresholds on in place of the folder's.
        seed: of folds, of the coin and of what is fitted, from 0 to 2**63 - 1.
        threads: how many to use, all available ones by default. They change no result, but for
            rounding of encoders' vectors and what fine-tuning makes of it.
        cache: the folder that keeps what encoders made of sentences; by default nothing is kept.
        overwrite: whether an earlier evaluation at ``out`` may be replaced.
        progress: told of every stage; silent by default.

    Raises:
        InputError: a file or model is missing, damaged, or does not fit the instances.
        OptionError: an option is out of range or does not fit, or a split is missing that a model
            needs.
        OutputError: ``out`` is taken or cannot be written.
    """
    check_seed(seed)
    run = _Run(
        seed=seed,
        threads=checked_threads(threads),
        cache=None if cache is None else Path(cache),
        progress=progress or Progress(),
    )
    specs = [*map(parse_model, models), *map(parse_predictions, predictions)]
    _check_names(specs)
    with claimed(Path(out), overwrite=overwrite, kind=WIC_EVALUATION) as output:
        questions = _read(Path(data), train, dev, run)
        for spec in specs:
            _check_splits(spec, questions)
        embeddings = {
            spec.name: identify(spec.embedding, run.progress)
            for spec in specs
            if isinstance(spec, EmbeddedModel)
        }
        answers = {spec.name: _answers(spec, embeddings, questions, run) for spec in specs}
        scores = _scores(Path(out), questions, answers, run)
        output.resume({})
        metadata = {"medsim": manifest.medsim_version(), "fitted": questions.fitted}
        for name in ("results", "comparisons", "predictions"):
            output.write(f"{name}.parquet", getattr(scores, name), metadata)
        told = {spec.name: _told(spec, embeddings) for spec in specs}
        _manifest(questions, told, output.outputs, run).write(output.folder)
        output.publish()
    return scores


def _check_names(specs: Sequence[ModelSpec]) -> None:
    """Raise OptionError where there is no model, or two have one name."""
    names = [spec.name for spec in specs]
    if not names:
        raise OptionError("name at least one model, such as --model random")
    for name in names:
        if names.count(name) > 1:
            raise OptionError(f"two models are named {name!r}; a name is for one")


def _read(data: Path, train: str | Path | None, dev: str | Path | None, run: _Run) -> Questions:
    with run.progress.stage(f"read {data.name}") as stage:
        found = read_questions(
            data,
            train=None if train is None else Path(train),
            dev=None if dev is None else Path(dev),
            seed=run.seed,
        )
        n_tested = found.tested.stop - found.tested.start
        stage.found(f"{n_tested:,} instances to tell, {found.fitted}")
    if n_known := found.n_known():
        run.progress.warn(
            f"{n_known:,} of {n_tested:,} instances share a sentence or pair of terms with train "
            "or dev, so models may know the answer; medsim wic verify lists them"
        )
    return found


def _check_splits(spec: ModelSpec, questions: Questions) -> None:
    """Raise OptionError where a model needs a split that is not there."""
    needs = {
        "train": (isinstance(spec, WordModel | TunedModel), "is fitted"),
        "dev": (isinstance(spec, CosineModel | TunedModel), "has its threshold chosen"),
    }
    for split, (is_needed, why) in needs.items():
        if is_needed and not len(getattr(questions.rounds[0], split)):
            raise OptionError(
                f"{questions.name} has no instances of {split}, on which {spec.name} {why}; add "
                f"--{split} FILE"
            )


def _answers(
    spec: ModelSpec, embeddings: Mapping[str, NamedEmbedding], questions: Questions, run: _Run
) -> Answers:
    """Return what a model answers."""
    progress, seed, threads = run.progress, run.seed, run.threads
    match spec:
        case CoinModel():
            return coin_answers(questions, seed)
        case FileModel():
            return file_answers(questions, spec)
        case TunedModel():
            return tuned_answers(questions, spec, progress, seed=seed, threads=threads)
        case WordModel():
            named = embeddings[spec.name]
            return word_answers(questions, spec, named, progress, seed=seed, threads=threads)
        case CosineModel():
            named, cache = embeddings[spec.name], run.cache
            return cosine_answers(questions, spec, named, progress, threads=threads, cache=cache)


def _scores(
    folder: Path, questions: Questions, answers: Mapping[str, Answers], run: _Run
) -> WicScores:
    """Return the tables of all answers."""
    with run.progress.stage("score"):
        predictions = predictions_of(questions, answers)
        scores = WicScores(
            folder=folder,
            results=results_of(questions, predictions, answers),
            comparisons=comparisons_of(questions, predictions),
            predictions=predictions,
        )
    for name, one in answers.items():
        if n_uncovered := int((~one.covered[questions.tested]).sum()):
            run.progress.warn(
                f"{name} sees nothing of {n_uncovered:,} instances and answers them as most are "
                "labelled that it knows"
            )
    return scores


def _told(spec: ModelSpec, embeddings: Mapping[str, NamedEmbedding]) -> dict[str, object]:
    """Return what decides a model's answers, and where it lay."""
    if isinstance(spec, CoinModel | FileModel):
        files = spec.files if isinstance(spec, FileModel) else ()
        digests = {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
        return {"way": spec.way, "files": digests}
    named = embeddings[spec.name]
    options = replace(named.spec.options, format=None).chosen()
    if isinstance(spec, TunedModel):
        options["epochs"] = str(spec.epochs)
    return {
        "way": spec.way,
        "input": spec.reads,
        "path": str(named.spec.path),
        "format": named.format_name,
        "fingerprint": named.fingerprint,
        "options": options,
    }


def _manifest(
    questions: Questions,
    models: dict[str, dict[str, object]],
    outputs: dict[str, Output],
    run: _Run,
) -> WicEvaluationManifest:
    return WicEvaluationManifest(
        medsim=manifest.medsim_version(),
        libraries={
            **manifest.library_versions(),
            **manifest.encoder_versions(),
            **manifest.fitter_versions(),
        },
        data=questions.name,
        fitted=questions.fitted,
        files=questions.files,
        models=models,
        options={"seed": run.seed},
        threads=run.threads,
        warnings=list(run.progress.warnings),
        outputs=dict(sorted(outputs.items())),
        stages=[asdict(record) for record in run.progress.records],
    )
