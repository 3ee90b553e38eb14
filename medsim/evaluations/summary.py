"""The tables and the manifest of an evaluation, from all that was computed."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core import manifest
from medsim.embeddings.lookup import INDEXES
from medsim.embeddings.metrics import METRICS
from medsim.embeddings.metrics.averages import COSINES
from medsim.evaluations.inputs import EvaluationInput
from medsim.evaluations.output import (
    COVERAGE,
    OVERLAP,
    EvaluationManifest,
    coverage_path,
    pairs_path,
    retrieval_path,
    scores_path,
    vocabulary_path,
)
from medsim.evaluations.retrieval import Retrieved, comparisons_of, results_of, retrieval_of
from medsim.evaluations.run_key import resampling_of
from medsim.evaluations.scoring import ScoredModel, dominated_sets, score_sets, warn_of_reach
from medsim.evaluations.separation import separation_of, separation_results
from medsim.evaluations.sets import SET_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from medsim.core.progress import Progress
    from medsim.evaluations.output import EvaluationFiles
    from medsim.evaluations.run_key import RunKey
    from medsim.evaluations.scoring import Row
    from medsim.kernels.types import Flags


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
        independent=bool(key.options["independent_pairs"]),
    )
    models = [
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
    resampling = resampling_of(key.options, threads)
    with progress.stage(f"score {name}") as stage:
        results, comparisons = score_sets(one, models, resampling, stage)
        stage.found(f"{results.height:,} results, {comparisons.height:,} comparisons")
    empty = results.filter(pl.col("subset") == "common", pl.col("n_covered") == 0)
    for of_set in empty.select(SET_COLUMNS).unique(maintain_order=True).iter_rows():
        where = "/".join(part for part in of_set if part is not None)
        progress.warn(f"no pair of {name} {where} is covered by all embeddings: nothing to compare")
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


def coverage_of(
    one: EvaluationInput,
    covered: Mapping[str, Flags],
    terms: Mapping[str, pl.DataFrame],
) -> pl.DataFrame:
    """Return ``COVERAGE``: terms and pairs of each set that embeddings lack (table A.1).

    Pairs in common are those that all embeddings cover. By embedding, ``covered`` has whether both
    terms of each pair have vectors, bool[n_pairs], and ``terms`` has ``TERM_COLUMNS``.
    """
    common = np.logical_and.reduce(list(covered.values()))
    lacking = {
        embedding: frame.filter(~pl.col("covered"))["term"] for embedding, frame in terms.items()
    }
    is_oov = ~pl.col("covered") | (pl.col("n_unknown_words").fill_null(0) > 0)
    oov = {embedding: frame.filter(is_oov)["term"] for embedding, frame in terms.items()}
    rows = []
    for pair_set in one.sets():
        of_set = one.pairs[pair_set.rows]
        in_set = pl.concat([of_set["term1"], of_set["term2"]]).unique()
        rows += [
            {
                "input": one.name,
                **pair_set.named(),
                "embedding": embedding,
                "n_terms": len(in_set),
                "n_terms_uncovered": int(in_set.is_in(lacking[embedding].implode()).sum()),
                "n_pairs": len(pair_set.rows),
                "n_pairs_uncovered": int(np.count_nonzero(~has[pair_set.rows])),
                "n_pairs_common": int(np.count_nonzero(common[pair_set.rows])),
                "n_pairs_oov": of_set.filter(
                    pl.any_horizontal(pl.col("term1", "term2").is_in(oov[embedding].implode()))
                ).height,
            }
            for embedding, has in covered.items()
        ]
    return pl.DataFrame(rows, schema=COVERAGE.dtypes, orient="row")


def overlap_of(
    name: str, terms: Mapping[str, pl.DataFrame], words: Mapping[str, pl.DataFrame]
) -> pl.DataFrame:
    """Return the overlap of vocabularies, as far as an input uses them.

    Two word embeddings are compared by the words of the input's terms that they know, ignoring
    case, others by the terms that they cover. Returned are ``OVERLAP``.
    """
    known_words = {one: set(frame["word"].str.to_lowercase()) for one, frame in words.items()}
    known_terms = {one: set(frame.filter("covered")["term"]) for one, frame in terms.items()}
    rows = []
    for left, right in combinations(terms, 2):
        of_words = bool(known_words[left] and known_words[right])
        known = known_words if of_words else known_terms
        sizes = len(known[left]), len(known[right])
        n_both = len(known[left] & known[right])
        of = "words" if of_words else "terms"
        rows.append(_overlap(name, of, (left, right), sizes, n_both))
    return pl.DataFrame(rows, schema=OVERLAP.dtypes, orient="row")


def overlap_of_vocabularies(vocabularies: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the overlap of whole vocabularies of word embeddings, by name (table A.2).

    Words are compared as they stand. Returned are ``OVERLAP`` without an input.
    """
    rows = []
    for left, right in combinations(vocabularies, 2):
        both = vocabularies[left].join(vocabularies[right], on="word", how="semi").height
        sizes = vocabularies[left].height, vocabularies[right].height
        rows.append(_overlap(None, "vocabulary", (left, right), sizes, both))
    return pl.DataFrame(rows, schema=OVERLAP.dtypes, orient="row")


def _overlap(
    name: str | None, of: str, embeddings: tuple[str, str], sizes: tuple[int, int], n_both: int
) -> Row:
    """Return a row of ``OVERLAP``."""
    shares = [n_both / size if size else None for size in sizes]
    return dict(zip(OVERLAP.dtypes, (name, of, *embeddings, *sizes, n_both, *shares), strict=True))
