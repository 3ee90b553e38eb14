"""The tables and the manifest of an evaluation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from itertools import combinations, product
from typing import Any

import numpy as np
import polars as pl

from medsim.core import manifest
from medsim.core.config import SET_COLUMNS
from medsim.core.terms import lowered_column
from medsim.embeddings.metrics import METRICS
from medsim.evaluations import output, scoring
from medsim.evaluations.inputs import EvaluationInput
from medsim.evaluations.output import SUMMARIES, EvaluationManifest
from medsim.evaluations.result_file import values_of, write_result
from medsim.evaluations.run import EvaluationRun, resampling_of
from medsim.kernels.types import Flags
from medsim.systems.scorers import PREDICTED


def summarize(run: EvaluationRun) -> None:
    """Write the tables of all inputs, of this run and of earlier ones, and the manifest."""
    tables = {table.files: [pl.DataFrame(schema=table.dtypes)] for table in SUMMARIES}
    tables[output.RESULT] = [values_of("", ())]
    makers = [_of_pairs]
    kinds = {path.split("/")[0] for path in run.output.outputs}
    if output.RETRIEVED.files.split("/")[0] in kinds:
        from medsim.evaluations.retrieval import retrieval_tables  # noqa: PLC0415 — if asked for

        makers.append(retrieval_tables)
    if output.NOISY.files.split("/")[0] in kinds:
        from medsim.evaluations.robustness import robustness_tables  # noqa: PLC0415 — if asked for

        makers.append(robustness_tables)
    if output.SEPARATION_PARTS.files.split("/")[0] in kinds:
        from medsim.evaluations.separation import separation_tables  # noqa: PLC0415 — if asked for

        makers.append(separation_tables)
    for name, make in product(run.inputs, makers):
        for table, frame in make(run, name).items():
            tables[table].append(frame)
    vocabularies = {
        embedding: run.output.load(path)
        for embedding in run.embeddings
        if (path := output.VOCABULARY_WORDS.path(embedding)) in run.output.outputs
    }
    tables[output.OVERLAP.files].append(overlap_of_vocabularies(vocabularies))
    joined = {table: pl.concat(parts) for table, parts in tables.items()}
    headlines = joined.pop(output.RESULT)
    for table, frame in joined.items():
        run.write(table, frame)
    results, comparisons = (joined[table.files] for table in SUMMARIES[:2])
    write_result(run, results, comparisons, headlines)
    EvaluationManifest(
        medsim=manifest.medsim_version(),
        libraries=json.loads(run.metadata["libraries"]),
        inputs=run.inputs,
        embeddings=run.embeddings,
        options=run.options.recorded(),
        threads=run.options.n_threads,
        warnings=list(run.progress.warnings),
        outputs=dict(sorted(run.output.outputs.items())),
        stages=[asdict(record) for record in run.progress.records],
    ).write(run.output.folder)


def _of_pairs(run: EvaluationRun, name: str) -> dict[str, pl.DataFrame]:
    """Return the results from the similarities of an input's pairs, by table."""
    load, progress, options = run.output.load, run.progress, run.options.recorded()
    pairs = load(output.SET_PAIRS.path(name))
    input_ = EvaluationInput.of_run(name, run.inputs[name], pairs, options)
    models = [
        scoring.ScoredModel(
            embedding=embedding,
            metric=metric,
            similarities=load(path)["similarity"].fill_null(np.nan).to_numpy(),
            signature=run.signature(name, embedding, metric),
        )
        for embedding, metric in product(run.embeddings, (*METRICS.all(), PREDICTED))
        if (path := output.SCORES.path(name, embedding, metric)) in run.output.outputs
    ]
    resampling = resampling_of(options, run.options.n_threads)
    with progress.stage(f"score {name}") as stage:
        every = [*models, *scoring.baseline_models(input_, run.signature)]
        results, comparisons, headlines = scoring.score_sets(input_, every, resampling, stage)
        stage.note(f"{results.height:,} results, {comparisons.height:,} comparisons")
    empty = results.filter(pl.col("subset") == "common", pl.col("n_covered") == 0)
    for of_set in empty.select(SET_COLUMNS).unique(maintain_order=True).iter_rows():
        where = "/".join(part for part in of_set if part is not None)
        progress.warn(f"no pair of {name} {where} is covered by all embeddings: nothing to compare")
    progress.warn(*scoring.dominated_sets(input_))
    if input_.rated:
        scoring.warn_of_reach(models, resampling, progress)
    is_covered = {model.embedding: ~np.isnan(model.similarities) for model in models}
    terms, words = (
        {embedding: load(table.path(name, embedding)) for embedding in is_covered}
        for table in (output.COVERED_TERMS, output.COVERED_WORDS)
    )
    return {
        output.SET_RESULTS.files: results,
        output.SET_COMPARISONS.files: comparisons,
        output.COVERAGE.files: coverage_of(input_, is_covered, terms),
        output.OVERLAP.files: overlap_of(name, terms, words),
        output.RESULT: values_of(name, headlines),
    }


def coverage_of(
    input_: EvaluationInput, covered: Mapping[str, Flags], terms: Mapping[str, pl.DataFrame]
) -> pl.DataFrame:
    """Return ``COVERAGE``: terms and pairs of each set without vectors (table A.1).

    Pairs in common are those that all embeddings cover. By embedding, ``covered`` has whether both
    terms of each pair have vectors, bool[n_pairs], and ``terms`` has ``TERM_COLUMNS``.
    """
    common = np.logical_and.reduce(list(covered.values()))
    is_oov = ~pl.col("covered") | (pl.col("n_unknown_words").fill_null(0) > 0)
    lacking, oov = (
        {embedding: frame.filter(chosen)["term"] for embedding, frame in terms.items()}
        for chosen in (~pl.col("covered"), is_oov)
    )
    rows = []
    counted = {"labelled", "rated", "matched"}
    for pair_set in (each for each in input_.scored_sets if each.kind in counted):
        of_set = input_.pairs[pair_set.rows]
        in_set = pl.concat([of_set["term1"], of_set["term2"]]).unique()
        rows += [
            {
                "input": input_.name,
                **pair_set.key_columns(),
                "embedding": embedding,
                "n_terms": len(in_set),
                "n_terms_uncovered": int(in_set.is_in(lacking[embedding].implode()).sum()),
                "n_pairs": len(pair_set.rows),
                "n_pairs_uncovered": int(np.count_nonzero(~is_covered[pair_set.rows])),
                "n_pairs_common": int(np.count_nonzero(common[pair_set.rows])),
                "n_pairs_oov": of_set.filter(
                    pl.any_horizontal(pl.col("term1", "term2").is_in(oov[embedding].implode()))
                ).height,
            }
            for embedding, is_covered in covered.items()
        ]
    return pl.DataFrame(rows, schema=output.COVERAGE.dtypes, orient="row")


def overlap_of(
    name: str, terms: Mapping[str, pl.DataFrame], words: Mapping[str, pl.DataFrame]
) -> pl.DataFrame:
    """Return the overlap of vocabularies on an input's terms.

    Two word embeddings are compared by the words of the input's terms that they know, ignoring
    case, others by the terms that they cover. Returns ``OVERLAP``.
    """
    known_words = {
        embedding: set(lowered_column(frame["word"])) for embedding, frame in words.items()
    }
    known_terms = {
        embedding: set(frame.filter("covered")["term"]) for embedding, frame in terms.items()
    }
    rows = []
    for first, second in combinations(terms, 2):
        of_words = bool(known_words[first] and known_words[second])
        vocabulary = known_words if of_words else known_terms
        sizes = len(vocabulary[first]), len(vocabulary[second])
        key = (name, "words" if of_words else "terms", first, second)
        rows.append(_overlap(key, sizes, len(vocabulary[first] & vocabulary[second])))
    return pl.DataFrame(rows, schema=output.OVERLAP.dtypes, orient="row")


def overlap_of_vocabularies(vocabularies: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the overlap of whole vocabularies of word embeddings, by name (table A.2).

    Words are compared with their case. Returns ``OVERLAP`` without an input.
    """
    rows = []
    for first, second in combinations(vocabularies, 2):
        both = vocabularies[first].join(vocabularies[second], on="word", how="semi").height
        sizes = vocabularies[first].height, vocabularies[second].height
        rows.append(_overlap((None, "vocabulary", first, second), sizes, both))
    return pl.DataFrame(rows, schema=output.OVERLAP.dtypes, orient="row")


def _overlap(key: tuple[str | None, ...], sizes: tuple[int, int], n_both: int) -> tuple[Any, ...]:
    """Return a row of ``OVERLAP``."""
    return (*key, *sizes, n_both, *(n_both / size if size else None for size in sizes))
