"""Scores of retrieval by difficulty and length, and which embeddings differ in them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.config import DIFFICULTIES
from medsim.evaluations.comparisons import Compared, Row, family_rows
from medsim.evaluations.output import COMPARISON_COLUMNS, RESULT_COLUMNS, RETRIEVAL_COLUMNS
from medsim.evaluations.retrieval_ranks import LENGTHS, NOT_FOUND, RankSample
from medsim.evaluations.statistic import statistics_of
from medsim.statistics.estimates import interval_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DATASET = "retrieval"
"""The dataset of retrieval in results and comparisons."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """The terms that an embedding found for the linked terms of an input.

    Attributes:
        metric: by which terms were compared.
        terms: ``RETRIEVED_COLUMNS``; the same terms for every embedding of an input.
        signature: of the scores, see ``RunKey.signature``.
    """

    embedding: str
    metric: str
    index: str
    terms: pl.DataFrame
    signature: str


def retrieval_of(name: str, every: Sequence[Retrieved]) -> pl.DataFrame:
    """Return the scores of retrieval on an input: ``RETRIEVAL_COLUMNS``.

    In the subset "common" are all terms that are linked to another, the same for every embedding;
    one without a vector counts as not found. In "own" are those that have a vector, and one that
    they are linked to has one.
    """
    rows = [{"input": name, **row} for one in every for row in _score_rows(one)]
    return pl.DataFrame(rows, schema=RETRIEVAL_COLUMNS, orient="row")


def results_of(retrieval: pl.DataFrame) -> pl.DataFrame:
    """Return the scores of terms of any length by exact search as ``RESULT_COLUMNS`` have them."""
    n_scored = pl.when(pl.col("subset") == "own").then("n_covered").otherwise("n_terms")
    return (
        retrieval.filter(pl.col("length").is_null(), pl.col("index") == "flat")
        .with_columns(n_scored.alias("n_covered"))
        .rename({"n_terms": "n_pairs"})
        .with_columns(pl.lit(DATASET).alias("dataset"), pl.lit(None, pl.String).alias("negatives"))
        .select(*RESULT_COLUMNS)
    )


def comparisons_of(name: str, every: Sequence[Retrieved]) -> pl.DataFrame:
    """Return ``COMPARISON_COLUMNS`` of embeddings by exact search, on all linked terms."""
    exact = [one for one in every if one.index == "flat" and not one.terms.is_empty()]
    samples = [_sample(one.terms) for one in exact]
    where: Row = {"input": name, "dataset": DATASET, "difficulty": None, "negatives": None}
    rows: list[Row] = []
    for statistic in statistics_of("retrieval", tested=True):
        family = [
            Compared(
                embedding=one.embedding,
                metric=one.metric,
                sample=sample,
                value=statistic.compute(sample).value,
            )
            for one, sample in zip(exact, samples, strict=True)
        ]
        n_terms = exact[0].terms.height if exact else 0
        rows += (where | row for row in family_rows("embeddings", statistic, family, n_terms))
    return pl.DataFrame(rows, schema=COMPARISON_COLUMNS, orient="row")


def _sample(terms: pl.DataFrame) -> RankSample:
    ranks = terms["rank"].fill_null(NOT_FOUND).to_numpy()
    return RankSample(ranks=ranks, clusters=terms["component"].to_numpy())


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
            sample = _sample(chosen)
            for statistic in statistics_of("retrieval"):
                yield {
                    "embedding": one.embedding,
                    "metric": one.metric,
                    "index": one.index,
                    "subset": subset,
                    "difficulty": difficulty,
                    "length": None if at is None else LENGTHS[at],
                    "statistic": statistic.name,
                    **interval_of(statistic.compute(sample)),
                    "n_terms": of_group.height,
                    "n_covered": own.height,
                    "recall": recall if isinstance(recall, float) else None,
                    "signature": f"{one.signature}, {subset}",
                }
