"""JSON lines: hard negatives with the keys of FlagEmbedding, or multiple-choice questions."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl

from medsim.exports.formats import Export, ExportFormat
from medsim.exports.output import TRAINING_TABLES
from medsim.exports.pairs import (
    OPTIONS_OF_QUESTIONS,
    OPTIONS_OF_TUPLES,
    Tuples,
    check_some,
    exported_terms,
    questions_by_split,
    tuples_of,
)
from medsim.questions.output import QUESTION


def write_json_lines(run: Export) -> None:
    """Write a file of JSON lines per split; see ``medsim.exports.formats.ExportFormat``.

    The first keys are query, pos and neg (the last two are lists), as in the format for training
    embedders and rerankers with FlagEmbedding, which other trainers read too.
    """
    n_positives = 0
    for name, build in run.splits.items():
        tuples = tuples_of(run, build, exported_terms(run, build))
        n_positives += tuples.pairs.height
        with run.progress.stage(f"write {name}.jsonl"):

            def write(path: Path, tuples: Tuples = tuples) -> int:
                no_terms = pl.lit([], pl.List(pl.String))
                negatives = pl.concat_list(tuples.names) if tuples.names else no_terms
                with path.open("wb") as file:
                    for batch in tuples.batches():
                        batch.select(
                            pl.col("anchor").alias("query"),
                            pl.concat_list("positive").alias("pos"),
                            negatives.alias("neg"),
                            *("pair_id", "concept1", "concept2", "distance"),  # for people
                        ).write_ndjson(file)
                return len(tuples.rows)

            run.output.write_file(f"{name}.jsonl", write)
    check_some(run, n_positives)


def write_questions(run: Export) -> None:
    """Write a file of multiple-choice questions per split, as JSON lines."""
    for name, questions in questions_by_split(run).items():
        run.output.write_file(f"{name}.jsonl", partial(write_lines, questions))


def write_lines(rows: pl.DataFrame, path: Path) -> int:
    """Write rows as JSON lines, and return their number."""
    with path.open("wb") as file:
        rows.write_ndjson(file)
    return rows.height


ExportFormat(
    write=write_json_lines,
    next="train on {file}, which has one object per line",
    accepts=OPTIONS_OF_TUPLES,
    tables={"tuples": TRAINING_TABLES["tuples"]},
    questions=ExportFormat(
        write=write_questions,
        next="ask a language model the questions of {file}, which has one object per line",
        accepts=OPTIONS_OF_QUESTIONS,
        tables={"questions": replace(QUESTION, files="SPLIT.jsonl")},
    ),
).register("jsonl")
