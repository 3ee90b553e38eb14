"""The tables and the manifest of an evaluation, from all that was computed."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core import manifest
from medsim.embeddings.lookup import INDEXES
from medsim.embeddings.metrics import METRICS
from medsim.embeddings.metrics.averages import COSINES
from medsim.evaluations.coverage import coverage_of, overlap_of, overlap_of_vocabularies
from medsim.evaluations.inputs import EvaluationInput
from medsim.evaluations.layout import (
    coverage_path,
    pairs_path,
    retrieval_path,
    scores_path,
    vocabulary_path,
)
from medsim.evaluations.output import EvaluationManifest
from medsim.evaluations.retrieval_results import (
    Retrieved,
    comparisons_of,
    results_of,
    retrieval_of,
)
from medsim.evaluations.run_key import are_independent, resampling_of
from medsim.evaluations.scoring import ScoredModel, dominated_sets, score_sets, warn_of_reach
from medsim.evaluations.separation import separation_of, separation_results
from medsim.evaluations.sets import SET_COLUMNS

if TYPE_CHECKING:
    from medsim.core.progress import Progress
    from medsim.evaluations.layout import EvaluationFiles
    from medsim.evaluations.run_key import RunKey

TABLES = (
    "results.parquet",
    "comparisons.parquet",
    "coverage.parquet",
    "overlap.parquet",
    "retrieval.parquet",
    "separation.parquet",
)
"""The tables that are made anew from all that was computed."""


def summarize(key: RunKey, files: EvaluationFiles, threads: int, progress: Progress) -> None:
    """Write the tables of all inputs, of this run and of those before, and the manifest."""
    tables: dict[str, list[pl.DataFrame]] = {table: [] for table in TABLES}
    for name in sorted(key.inputs):
        for frames in (
            _of_pairs(name, files, key, threads, progress),
            _of_retrieval(name, files, key),
            _of_separation(name, files, key),
        ):
            for table, frame in frames.items():
                tables[table].append(frame)
    vocabularies = {
        embedding: files.load(path)
        for embedding in key.embeddings
        if (path := vocabulary_path(embedding)) in files
    }
    tables["overlap.parquet"].append(overlap_of_vocabularies(vocabularies))
    for table, parts in tables.items():
        files.write(table, pl.concat(parts))
    EvaluationManifest(
        medsim=manifest.medsim_version(),
        libraries=json.loads(key.metadata["libraries"]),
        inputs=key.inputs,
        embeddings=key.embeddings,
        options=key.options,
        threads=threads,
        warnings=list(progress.warnings),
        outputs=dict(sorted(files.output.outputs.items())),
        stages=[asdict(record) for record in progress.records],
    ).write(files.output.folder)


def _of_pairs(
    name: str, files: EvaluationFiles, key: RunKey, threads: int, progress: Progress
) -> dict[str, pl.DataFrame]:
    """Return the results of the similarities of an input's pairs, by table."""
    one = EvaluationInput(
        name=name,
        rated=key.inputs[name]["kind"] == "rated",
        frame=files.load(pairs_path(name)),
        provenance=key.inputs[name],
        independent=are_independent(key.options),
    )
    models = _models(name, files, key)
    resampling = resampling_of(key.options, threads)
    with progress.stage(f"score {name}") as stage:
        results, comparisons = score_sets(one, models, resampling, stage)
        stage.found(f"{results.height:,} results, {comparisons.height:,} comparisons")
    _warn_of_empty(name, results, progress)
    for warning in dominated_sets(one):
        progress.warn(warning)
    if one.rated:
        warn_of_reach(models, resampling, progress)
    has = {model.embedding: ~np.isnan(model.similarities) for model in models}
    terms = {e: files.load(coverage_path(name, e, "terms")) for e in has}
    words = {e: files.load(coverage_path(name, e, "words")) for e in has}
    return {
        "results.parquet": results,
        "comparisons.parquet": comparisons,
        "coverage.parquet": coverage_of(one, has, terms),
        "overlap.parquet": overlap_of(name, terms, words),
    }


def _of_retrieval(name: str, files: EvaluationFiles, key: RunKey) -> dict[str, pl.DataFrame]:
    """Return the scores of retrieval among an input's linked terms, by table."""
    retrieved = [
        Retrieved(
            embedding=embedding,
            metric=metric,
            index=index,
            terms=files.load(path),
            signature=f"{key.signature(name, embedding, metric)}, retrieval, {index} index",
        )
        for embedding in key.embeddings
        for metric in COSINES.values()
        for index in INDEXES
        if (path := retrieval_path(name, embedding, metric, index)) in files
    ]
    retrieval = retrieval_of(name, retrieved)
    return {
        "retrieval.parquet": retrieval,
        "results.parquet": results_of(retrieval),
        "comparisons.parquet": comparisons_of(name, retrieved),
    }


def _of_separation(name: str, files: EvaluationFiles, key: RunKey) -> dict[str, pl.DataFrame]:
    """Return the separation of an input's categories, by table."""

    def signature(name: str, embedding: str, metric: str) -> str:
        return f"{key.signature(name, embedding, metric)}, separation"

    separation = separation_of(name, key.embeddings, files, signature)
    return {
        "separation.parquet": separation,
        "results.parquet": separation_results(separation, key.inputs[name].get("categories")),
    }


def _warn_of_empty(name: str, results: pl.DataFrame, progress: Progress) -> None:
    empty = results.filter(pl.col("subset") == "common", pl.col("n_covered") == 0)
    for key in empty.select(SET_COLUMNS).unique(maintain_order=True).iter_rows():
        where = "/".join(part for part in key if part is not None)
        progress.warn(f"no pair of {name} {where} is covered by all embeddings: nothing to compare")


def _models(name: str, files: EvaluationFiles, key: RunKey) -> list[ScoredModel]:
    """Return all embeddings under all metrics by which an input's pairs were compared."""
    return [
        ScoredModel(
            embedding=embedding,
            metric=metric,
            similarities=files.load(path)["similarity"].fill_null(np.nan).to_numpy(),
            signature=key.signature(name, embedding, metric),
        )
        for embedding in key.embeddings
        for metric in METRICS.all()
        if (path := scores_path(name, embedding, metric)) in files
    ]
