"""Evaluates embeddings on builds and rated files, from their files to a folder of results."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim import manifest
from medsim.config import checked_threads
from medsim.embeddings import WORDS, find_format, fingerprint
from medsim.embeddings.options import parse_embedding
from medsim.errors import OptionError
from medsim.evaluation.bootstrap import RESAMPLES
from medsim.manifest import EVALUATION, EvaluationManifest
from medsim.metrics import METRICS, TermPoints, WordBags, metrics_of
from medsim.metrics.workers import Workers
from medsim.progress import Progress
from medsim.workflow.coverage import coverage_of, overlap_of
from medsim.workflow.evaluation_job import (
    EvaluationConfig,
    EvaluationJob,
    earlier_results,
    job_of,
)
from medsim.workflow.findings import Contender, Drawing, find
from medsim.workflow.inputs import SET_COLUMNS, EvaluationInput, read_inputs
from medsim.workflow.opened import Evaluation
from medsim.workflow.output import OutputFolder, claimed
from medsim.workflow.similarities import (
    NamedEmbedding,
    coverage_path,
    embed_terms,
    scores_path,
    write_similarities,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from medsim.embeddings.options import EmbeddingSpec
    from medsim.metrics import Metric

_TABLES = ("results.parquet", "comparisons.parquet", "coverage.parquet", "overlap.parquet")


def evaluate(  # noqa: PLR0913 — an argument an option
    inputs: str | Path | Sequence[str | Path],
    embeddings: Mapping[str, str | Path],
    out: str | Path,
    *,
    metrics: Sequence[str] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    threads: int | None = None,
    overwrite: bool = False,
    cache: str | Path | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Return the evaluation that it writes to ``out``: embeddings scored on builds and rated files.

    Where ``out`` is an evaluation already, inputs and embeddings are added to it, and what it has
    is not computed again.

    Args:
        inputs: folders of builds and files of rated pairs; columns of a file that is in no known
            layout stand behind its path as in "rated.csv,term1=A,term2=B,rating=score".
        embeddings: paths by name; options stand behind a path as in "model.onnx,pooling=cls".
        out: the folder to write; it changes whole or not at all.
        metrics: names of the metrics; all that an embedding can have by default.
        seed: of the bootstrap and of the held-out half, from 0 to 2**63 - 1.
        resamples: of the bootstrap, at least 100.
        threads: how many to use, all available ones by default; never changes the result.
        overwrite: whether earlier results at ``out`` are replaced instead of added to.
        cache: the folder that keeps what encoders made of terms; by default nothing is kept.
        progress: told of every stage; silent by default.

    Raises:
        InputError: an input or an embedding is missing, damaged or in no known format.
        OptionError: an option is out of range or does not fit.
        OutputError: ``out`` is taken, holds results that cannot be added to, or cannot be written.
    """
    config = EvaluationConfig(
        inputs=(inputs,) if isinstance(inputs, (str, Path)) else tuple(inputs),
        embeddings=tuple(parse_embedding(f"{name}={path}") for name, path in embeddings.items()),
        out=Path(out),
        metrics=None if metrics is None else tuple(metrics),
        seed=seed,
        resamples=resamples,
        threads=checked_threads(threads),
        overwrite=overwrite,
        cache=None if cache is None else Path(cache),
    )
    return run_evaluation(config, progress or Progress())


def users_cache() -> Path | None:
    """Return where a user's caches keep what encoders made; None where nothing can be kept."""
    try:
        caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        place = Path(caches, "medsim", "vectors")
        place.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return place if os.access(place, os.W_OK) else None


def run_evaluation(config: EvaluationConfig, progress: Progress) -> Evaluation:
    """Return the evaluation that a config asks for; see ``evaluate``."""
    config.check()
    with claimed(config.out, overwrite=config.overwrite, kind=EVALUATION) as output:
        earlier = earlier_results(config)
        inputs = _read(config, progress)
        embeddings = [_identified(spec, config, progress) for spec in config.embeddings]
        job = job_of(config, inputs, embeddings, earlier)
        output.resume(job.content())
        _carry_over(output, earlier)
        for one in inputs:
            output.write(_pairs_path(one.name), one.frame, job.metadata)
        for named in embeddings:
            _compare(config, named, inputs, output, job, progress)
        _conclude(config, output, job, progress)
        output.publish()
    return Evaluation(config.out)


def _read(config: EvaluationConfig, progress: Progress) -> list[EvaluationInput]:
    with progress.stage("read inputs") as stage:
        inputs = read_inputs(config.inputs)
        stage.found(", ".join(f"{one.name}: {one.frame.height:,} pairs" for one in inputs))
    for one in inputs:
        for warning in one.warnings:
            progress.warn(warning)
    return inputs


def _identified(
    spec: EmbeddingSpec, config: EvaluationConfig, progress: Progress
) -> NamedEmbedding:
    with progress.stage(f"identify {spec.name}") as stage:
        name, found = find_format(spec.path, spec.options)
        if found.gives is not None:
            _chosen(config, spec.name, WordBags if found.gives == WORDS else TermPoints)
        digest = fingerprint(spec.path, found, spec.options)
        stage.found(f"{found.describes}, {digest[:12]}")
    return NamedEmbedding(spec=spec, format_name=name, format=found, fingerprint=digest)


def _carry_over(output: OutputFolder, earlier: Evaluation | None) -> None:
    """Take what an earlier run found, and what else lies in its folder, over as it is."""
    if earlier is None:
        return
    rewritten = {manifest.MANIFEST, *_TABLES}
    names = [
        path.relative_to(earlier.folder).as_posix()
        for path in earlier.folder.rglob("*")
        if path.is_file()
    ]
    output.carry_over(
        {
            name: earlier.manifest.outputs.get(name)
            for name in sorted(names)
            if name not in rewritten
        }
    )


def _compare(
    config: EvaluationConfig,
    named: NamedEmbedding,
    inputs: Sequence[EvaluationInput],
    output: OutputFolder,
    job: EvaluationJob,
    progress: Progress,
) -> None:
    """Write the similarities of all inputs' pairs under an embedding, where they are not there."""
    name = named.spec.name
    about = job.embeddings[name]
    known = about.get("metrics", [])
    missing = [one for one in inputs if not _is_done(one.name, name, known, config, output)]
    if not missing:
        progress.say(f"{name} was compared before")
        return
    sides = [one.frame[side] for one in missing for side in ("term1", "term2")]
    terms = pl.concat(sides).unique().sort().to_list()
    has = embed_terms(named, terms, progress, threads=config.threads, cache=config.cache)
    metrics = _chosen(config, name, type(has.embedded))
    about |= {
        "metrics": list(metrics_of(type(has.embedded))),
        "n_dimensions": has.n_dimensions,
        "n_vocabulary": has.n_vocabulary,
    }
    for one in missing:
        with progress.stage(f"compare {one.name} by {name}") as stage:
            n_pairs = one.frame["pair_id"].n_unique()
            stage.total(n_pairs * len(metrics))
            workers = Workers(threads=config.threads, advance=stage.advance)
            write_similarities(one, name, has, metrics, output, job.metadata, workers)
            stage.found(f"{n_pairs:,} pairs under {len(metrics)} metrics")


def _chosen(
    config: EvaluationConfig, name: str, kind: type[WordBags | TermPoints]
) -> dict[str, Metric]:
    """Return the metrics by which an embedding is compared.

    Raises:
        OptionError: none of those that are asked for is for such embeddings.
    """
    fitting = metrics_of(kind)
    chosen = {
        metric: one
        for metric, one in fitting.items()
        if config.metrics is None or metric in config.metrics
    }
    if not chosen:
        raise OptionError(
            f"no metric fits {name}; those that do: {', '.join(fitting)}; give --metric one of "
            "each kind"
        )
    return chosen


def _is_done(
    name: str, embedding: str, known: object, config: EvaluationConfig, output: OutputFolder
) -> bool:
    """Return whether all similarities of an input under an embedding are there already."""
    metrics = [
        metric
        for metric in (known if isinstance(known, list) else [])
        if config.metrics is None or metric in config.metrics
    ]
    return bool(metrics) and all(
        output.done(scores_path(name, embedding, metric)) for metric in metrics
    )


def _conclude(
    config: EvaluationConfig, output: OutputFolder, job: EvaluationJob, progress: Progress
) -> None:
    """Write what the similarities of all inputs show, and the manifest."""
    drawing = Drawing(seed=config.seed, resamples=config.resamples, threads=config.threads)
    tables: dict[str, list[pl.DataFrame]] = {table: [] for table in _TABLES}
    for name in sorted(job.inputs):
        frame = output.taken(_pairs_path(name))
        one = EvaluationInput(
            name=name,
            rated=job.inputs[name]["kind"] == "rated",
            frame=frame,
            provenance=job.inputs[name],
        )
        pair_ids = one.pairs()["pair_id"]
        contenders = _contenders(name, output, job)
        with progress.stage(f"score {name}") as stage:
            found = find(one, pair_ids, contenders, drawing, stage)
            stage.found(
                f"{found.results.height:,} results, {found.comparisons.height:,} comparisons"
            )
        _warn_of_empty(name, found.results, progress)
        has = {c.embedding: ~np.isnan(c.similarities) for c in contenders}
        terms = {e: output.taken(coverage_path(name, e, "terms")) for e in has}
        words = {e: output.taken(coverage_path(name, e, "words")) for e in has}
        tables["results.parquet"].append(found.results)
        tables["comparisons.parquet"].append(found.comparisons)
        tables["coverage.parquet"].append(coverage_of(one, pair_ids, has, terms))
        tables["overlap.parquet"].append(overlap_of(name, terms, words))
    for table, frames in tables.items():
        output.write(table, pl.concat(frames), job.metadata)
    EvaluationManifest(
        medsim=manifest.medsim_version(),
        libraries=json.loads(job.metadata["libraries"]),
        inputs=job.inputs,
        embeddings=job.embeddings,
        options=job.options,
        threads=config.threads,
        warnings=list(progress.warnings),
        outputs=dict(sorted(output.outputs.items())),
        stages=[asdict(record) for record in progress.records],
    ).write(output.folder)


def _warn_of_empty(name: str, results: pl.DataFrame, progress: Progress) -> None:
    empty = results.filter(pl.col("subset") == "common", pl.col("n_covered") == 0)
    sets = empty.select(SET_COLUMNS).unique(maintain_order=True)
    for key in sets.iter_rows():
        where = "/".join(part for part in key if part is not None)
        progress.warn(f"no pair of {name} {where} is covered by all embeddings: nothing to compare")


def _contenders(name: str, output: OutputFolder, job: EvaluationJob) -> list[Contender]:
    """Return all embeddings under all metrics by which an input's pairs were compared."""
    return [
        Contender(
            embedding=embedding,
            metric=metric,
            similarities=output.taken(path)["similarity"].fill_null(np.nan).to_numpy(),
            signature=job.signature(name, embedding, metric),
        )
        for embedding in job.embeddings
        for metric in METRICS.all()
        if (path := scores_path(name, embedding, metric)) in output.outputs
    ]


def _pairs_path(name: str) -> str:
    return f"pairs/input={name}/data.parquet"
