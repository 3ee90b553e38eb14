"""Draws the conclusions of all that an evaluation computed: its tables and its manifest."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core import manifest
from medsim.core.manifest import EvaluationManifest
from medsim.embeddings.lookup import INDEXES
from medsim.embeddings.metrics import METRICS
from medsim.embeddings.metrics.averages import COSINES
from medsim.evaluations.categories import n_terms_of
from medsim.evaluations.coverage import coverage_of, overlap_of
from medsim.evaluations.inputs import SET_COLUMNS, EvaluationInput
from medsim.evaluations.retrieval import retrieval_path
from medsim.evaluations.retrieval_results import (
    Retrieved,
    comparisons_of,
    results_of,
    retrieval_of,
)
from medsim.evaluations.scoring import ScoredModel, find
from medsim.evaluations.separation import overlap_errors, separation_of
from medsim.evaluations.similarities import coverage_path, pairs_path, scores_path
from medsim.statistics.resampling import Resampling

if TYPE_CHECKING:
    from medsim.core.output import OutputFolder
    from medsim.core.progress import Progress
    from medsim.evaluations.run_key import EvaluationConfig, RunKey

TABLES = (
    "results.parquet",
    "comparisons.parquet",
    "coverage.parquet",
    "overlap.parquet",
    "retrieval.parquet",
    "separation.parquet",
)
"""The tables that are made anew from all that was computed."""


def summarize(
    config: EvaluationConfig, output: OutputFolder, key: RunKey, progress: Progress
) -> None:
    """Write what was found on all inputs, of this run and of those before, and the manifest."""
    resampling = Resampling(seed=config.seed, resamples=config.resamples, threads=config.threads)
    tables: dict[str, list[pl.DataFrame]] = {table: [] for table in TABLES}
    for name in sorted(key.inputs):
        for frames in (
            _of_pairs(name, output, key, resampling, progress),
            _of_retrieval(name, output, key),
            _of_separation(name, output, key),
        ):
            for table, frame in frames.items():
                tables[table].append(frame)
    for table, parts in tables.items():
        output.write(table, pl.concat(parts), key.metadata)
    EvaluationManifest(
        medsim=manifest.medsim_version(),
        libraries=json.loads(key.metadata["libraries"]),
        inputs=key.inputs,
        embeddings=key.embeddings,
        options=key.options,
        threads=config.threads,
        warnings=list(progress.warnings),
        outputs=dict(sorted(output.outputs.items())),
        stages=[asdict(record) for record in progress.records],
    ).write(output.folder)


def _of_pairs(
    name: str, output: OutputFolder, key: RunKey, resampling: Resampling, progress: Progress
) -> dict[str, pl.DataFrame]:
    """Return what the similarities of an input's pairs show, by table."""
    one = EvaluationInput(
        name=name,
        rated=key.inputs[name]["kind"] == "rated",
        frame=output.taken(pairs_path(name)),
        provenance=key.inputs[name],
    )
    pair_ids = one.pairs()["pair_id"]
    models = _contenders(name, output, key)
    with progress.stage(f"score {name}") as stage:
        found = find(one, pair_ids, models, resampling, stage)
        stage.found(f"{found.results.height:,} results, {found.comparisons.height:,} comparisons")
    _warn_of_empty(name, found.results, progress)
    has = {c.embedding: ~np.isnan(c.similarities) for c in models}
    terms = {e: output.taken(coverage_path(name, e, "terms")) for e in has}
    words = {e: output.taken(coverage_path(name, e, "words")) for e in has}
    return {
        "results.parquet": found.results,
        "comparisons.parquet": found.comparisons,
        "coverage.parquet": coverage_of(one, pair_ids, has, terms),
        "overlap.parquet": overlap_of(name, terms, words),
    }


def _of_retrieval(name: str, output: OutputFolder, key: RunKey) -> dict[str, pl.DataFrame]:
    """Return what was found for an input's linked terms, by table."""
    retrieved = _retrieved(name, output, key)
    retrieval = retrieval_of(name, retrieved)
    return {
        "retrieval.parquet": retrieval,
        "results.parquet": results_of(retrieval),
        "comparisons.parquet": comparisons_of(name, retrieved),
    }


def _of_separation(name: str, output: OutputFolder, key: RunKey) -> dict[str, pl.DataFrame]:
    """Return how far an input's categories are apart, by table."""
    separation = separation_of(name, key.embeddings, output, partial(_separation_line, key))
    n_terms = n_terms_of(key.inputs[name].get("categories"))
    return {
        "separation.parquet": separation,
        "results.parquet": overlap_errors(separation, n_terms),
    }


def _warn_of_empty(name: str, results: pl.DataFrame, progress: Progress) -> None:
    empty = results.filter(pl.col("subset") == "common", pl.col("n_covered") == 0)
    sets = empty.select(SET_COLUMNS).unique(maintain_order=True)
    for key in sets.iter_rows():
        where = "/".join(part for part in key if part is not None)
        progress.warn(f"no pair of {name} {where} is covered by all embeddings: nothing to compare")


def _contenders(name: str, output: OutputFolder, key: RunKey) -> list[ScoredModel]:
    """Return all embeddings under all metrics by which an input's pairs were compared."""
    return [
        ScoredModel(
            embedding=embedding,
            metric=metric,
            similarities=output.taken(path)["similarity"].fill_null(np.nan).to_numpy(),
            signature=key.signature(name, embedding, metric),
        )
        for embedding in key.embeddings
        for metric in METRICS.all()
        if (path := scores_path(name, embedding, metric)) in output.outputs
    ]


def _retrieved(name: str, output: OutputFolder, key: RunKey) -> list[Retrieved]:
    """Return what every embedding found for the linked terms of an input."""
    return [
        Retrieved(
            embedding=embedding,
            metric=metric,
            index=index,
            terms=output.taken(path),
            signature=f"{key.signature(name, embedding, metric)}, retrieval, {index} index",
        )
        for embedding in key.embeddings
        for metric in COSINES.values()
        for index in INDEXES
        if (path := retrieval_path(name, embedding, metric, index)) in output.outputs
    ]


def _separation_line(key: RunKey, name: str, embedding: str, metric: str) -> str:
    """Return in a line what decides how far categories are apart."""
    return f"{key.signature(name, embedding, metric)}, separation"
