"""What retrieval shows of embeddings: scores by difficulty and length, and which of them differ."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.config import DIFFICULTIES
from medsim.evaluations.comparisons import Row, Side, defined, family_rows
from medsim.evaluations.output import COMPARISON_COLUMNS, RESULT_COLUMNS, RETRIEVAL_COLUMNS
from medsim.evaluations.retrieval_ranks import (
    LENGTHS,
    NOT_FOUND,
    hits_at,
    reciprocal,
    retrieval_scores,
)
from medsim.statistics.clusters import clustered_difference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from medsim.kernels.types import Counts, Values

DATASET = "retrieval"
"""What results and comparisons have as the dataset of retrieval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """What an embedding found for the linked terms of an input.

    Attributes:
        embedding: its name.
        metric: by which terms were compared.
        index: that was asked.
        terms: ``RETRIEVED_COLUMNS``; the same terms for every embedding of an input.
        signature: what decides the scores, in a line.
    """

    embedding: str
    metric: str
    index: str
    terms: pl.DataFrame
    signature: str

    @property
    def ranks(self) -> Counts:
        """The rank for each term, or ``NOT_FOUND``: int64[n_terms]."""
        return self.terms["rank"].fill_null(NOT_FOUND).to_numpy()


def retrieval_of(name: str, every: Sequence[Retrieved]) -> pl.DataFrame:
    """Return the scores of retrieval on an input: ``RETRIEVAL_COLUMNS``.

    In the subset "common" are all terms that are linked to another, the same for every embedding;
    one without a vector counts as not found. In "own" are those that have a vector, and one that
    they are linked to has one.

    Args:
        name: of the input.
        every: what embeddings found.
    """
    rows = [{"input": name, **row} for one in every for row in _score_rows(one)]
    return pl.DataFrame(rows, schema=RETRIEVAL_COLUMNS, orient="row")


def results_of(retrieval: pl.DataFrame) -> pl.DataFrame:
    """Return the scores of terms of any length by exact search as ``RESULT_COLUMNS`` have them."""
    return (
        retrieval.filter(pl.col("length").is_null(), pl.col("index") == "flat")
        .rename({"n_terms": "n_pairs"})
        .with_columns(pl.lit(DATASET).alias("dataset"), pl.lit(None, pl.String).alias("negatives"))
        .select(*RESULT_COLUMNS)
    )


def comparisons_of(name: str, every: Sequence[Retrieved]) -> pl.DataFrame:
    """Return whether embeddings differ in what exact search finds, on all linked terms of an input.

    Args:
        name: of the input.
        every: what embeddings found.

    Returns:
        ``COMPARISON_COLUMNS``
    """
    exact = [one for one in every if one.index == "flat"]
    rows: list[Row] = []
    for of, values_of in (("accuracy_at_1", _first), ("mrr", reciprocal)):
        values = [values_of(one.ranks) for one in exact]
        where: Row = {"input": name, "dataset": DATASET, "difficulty": None, "negatives": None}
        rows += (where | row for row in _tested(of, exact, values))
    return pl.DataFrame(rows, schema=COMPARISON_COLUMNS, orient="row")


def _first(ranks: Counts) -> Values:
    return hits_at(ranks, 1)


def _tested(of: str, exact: Sequence[Retrieved], values: Sequence[Values]) -> Iterator[Row]:
    if not exact or exact[0].terms.is_empty():
        return iter(())
    clusters = exact[0].terms["component"].to_numpy()
    sides = [
        Side(embedding=one.embedding, metric=one.metric, value=float(value.mean()))
        for one, value in zip(exact, values, strict=True)
    ]
    return family_rows(
        "embeddings",
        of,
        sides,
        lambda one, other: clustered_difference(values[one], values[other], clusters),
        len(clusters),
    )


def _score_rows(one: Retrieved) -> Iterator[Row]:
    """Yield a row per subset, difficulty, length and statistic; missing ones stand for all."""
    length = pl.col("n_words").clip(1, len(LENGTHS)) - 1
    terms = one.terms.with_columns(length.alias("length"))
    is_own = pl.col("covered") & pl.col("linked_term").is_not_null()
    recall = one.terms["recall"].mean()
    for difficulty, at in product((None, *DIFFICULTIES), (None, *range(len(LENGTHS)))):
        wanted = {"difficulty": difficulty, "length": at}
        group = {column: value for column, value in wanted.items() if value is not None}
        of_group = terms.filter(**group)
        own = of_group.filter(is_own)
        for subset, chosen in (("common", of_group), ("own", own)):
            ranks = chosen["rank"].fill_null(NOT_FOUND).to_numpy()
            scores = retrieval_scores(ranks, chosen["component"].to_numpy())
            for statistic, estimate in scores.items():
                yield {
                    "embedding": one.embedding,
                    "metric": one.metric,
                    "index": one.index,
                    "subset": subset,
                    "difficulty": difficulty,
                    "length": None if at is None else LENGTHS[at],
                    "statistic": statistic,
                    "value": defined(estimate.value),
                    "low": defined(estimate.low),
                    "high": defined(estimate.high),
                    "n_terms": of_group.height,
                    "n_covered": own.height,
                    "recall": recall if isinstance(recall, float) else None,
                    "signature": f"{one.signature}, {subset}",
                }
