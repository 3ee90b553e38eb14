"""Scores of taggers: trials, means with confidence intervals, and a table of tasks."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.shown import MISSING
from medsim.statistics.entity_scores import ENTITY_STATISTICS, estimates_of
from medsim.statistics.estimates import defined, interval_of
from medsim.tagging.corpus import entities_of
from medsim.tagging.output import ENTITY_SCORES, TASK_MODEL, TRIALS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from medsim.statistics.entity_scores import EntityCounts

ALL_TYPES = "all"
"""The type for the entities of all types together."""


def counts_of(predictions: pl.DataFrame, kinds: Sequence[str]) -> EntityCounts:
    """Return the numbers of right, predicted and gold entities of a corpus's test split.

    Args:
        predictions: ``PREDICTION`` of all trials, in order of trial, sentence and word.
        kinds: the types of entities.

    Returns:
        int64[n_documents, 1 + n_kinds, n_trials, 3], documents in their order, or sentences if
        there is only one document; the first type is ``ALL_TYPES``.
    """
    if predictions["document_id"].n_unique() == 1:  # resamples of one document never differ
        predictions = predictions.with_columns(pl.col("sentence").cast(str).alias("document_id"))
    documents = predictions["document_id"].unique(maintain_order=True).to_list()
    row_of = {document: row for row, document in enumerate(documents)}
    at_kind = {kind: at for at, kind in enumerate(kinds, start=1)}
    n_trials = predictions["trial"].n_unique()
    counts = np.zeros((len(documents), 1 + len(kinds), n_trials, 3), np.int64)
    sentences = predictions.group_by("trial", "document_id", "sentence", maintain_order=True).agg(
        "gold", "predicted"
    )
    for trial, document, _, gold, predicted in sentences.iter_rows():
        expected, tagged = set(entities_of(gold)), set(entities_of(predicted))
        for column, entities in enumerate((expected & tagged, tagged, expected)):
            for kind, number in Counter(entity.kind for entity in entities).items():
                counts[row_of[document], [0, at_kind[kind]], trial - 1, column] += number
    return counts


def trials_of(
    corpus: str, embedding: str, epochs: pl.DataFrame, counts: EntityCounts
) -> pl.DataFrame:
    """Return the scores of each trial: ``TRIALS``."""
    whole = counts[:, 0].sum(axis=0)
    scores = epochs.with_columns(
        pl.lit(corpus).alias("corpus"),
        pl.lit(embedding).alias("embedding"),
        *(pl.Series(name, statistic(whole)) for name, statistic in ENTITY_STATISTICS.items()),
    )
    return scores.select(list(TRIALS.dtypes)).cast(pl.Schema(TRIALS.dtypes))


def tagger_scores(
    corpus: str, kinds: Sequence[str], counts: Mapping[str, EntityCounts], seed: int
) -> pl.DataFrame:
    """Return the scores of all embeddings on a corpus: ``ENTITY_SCORES``.

    Args:
        corpus: its name.
        kinds: the types of its entities.
        counts: by embedding, see ``counts_of``; of the same documents.
        seed: of the bootstrap, in which all embeddings have the same resamples.
    """
    every = np.concatenate(list(counts.values()), axis=1)
    estimates = iter(estimates_of(every, seed=seed))
    rows = []
    for embedding, embedding_counts in counts.items():
        for at, kind in enumerate((ALL_TYPES, *kinds)):
            whole = embedding_counts[:, at].sum(axis=0)
            n_trials = embedding_counts.shape[2]
            for name, estimate in next(estimates).items():
                values = ENTITY_STATISTICS[name](whole)
                deviation = defined(float(np.std(values, ddof=1))) if n_trials > 1 else None
                rows.append(
                    {
                        "corpus": corpus,
                        "embedding": embedding,
                        "type": kind,
                        "statistic": name,
                        **interval_of(estimate),
                        "deviation": deviation,
                        "n_trials": n_trials,
                        "n_entities": int(whole[0, 2]),
                        "n_documents": len(embedding_counts),
                    }
                )
    return pl.DataFrame(rows, ENTITY_SCORES.dtypes)


def tasks_of(results: pl.DataFrame) -> pl.DataFrame:
    """Return F1 of all entities: a row per embedding, a column per corpus."""
    f1 = results.filter(type=ALL_TYPES, statistic="f1").select("corpus", "embedding", "value")
    table = f1.pivot("corpus", index="embedding", values="value")
    return table.rename({"embedding": TASK_MODEL})


def readable_f1(results: pl.DataFrame) -> pl.DataFrame:
    """Return F1 in percent: mean ± deviation of trials, and the mean's 95% interval."""
    rows: dict[str, dict[str, str]] = {}
    n_types = pl.col("type").n_unique().over("corpus")
    several = pl.col("type").eq(ALL_TYPES) | n_types.gt(2)  # else one type is all
    for row in results.filter(several, statistic="f1").iter_rows(named=True):
        name = row["corpus"] if row["type"] == ALL_TYPES else f"{row['corpus']} {row['type']}"
        cells = rows.setdefault(row["embedding"], {"embedding": row["embedding"]})
        cells[name] = _cell(row)
    return pl.DataFrame(list(rows.values()), infer_schema_length=None)


def _cell(row: Mapping[str, float | None]) -> str:
    value, deviation, low, high = (row[name] for name in ("value", "deviation", "low", "high"))
    text = MISSING if value is None else f"{100 * value:.1f}"
    if deviation is not None:
        text += f" ± {100 * deviation:.1f}"
    return text if low is None or high is None else f"{text} [{100 * low:.1f}, {100 * high:.1f}]"
