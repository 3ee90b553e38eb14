"""The output of an evaluation: its kind, its tables and their columns, its manifest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from medsim.core.kinds import Kind, View
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.core.schema import TERM_COLUMNS, Columns, columns
from medsim.evaluations.sets import SET, SET_COLUMNS

EVALUATED_COLUMNS: Columns = (
    columns(pl.String, "pair_id", "term1", "term2", *SET_COLUMNS)
    | columns(pl.Int8, "label")
    | columns(pl.Float64, "rating")
)
"""The columns of an evaluation's pairs; input comes from their folder."""

RESULT_COLUMNS: Columns = (
    columns(pl.String, *SET, "subset", "embedding", "metric", "statistic")
    | columns(pl.Float64, "value", "low", "high")
    | columns(pl.Int64, "n_pairs", "n_covered")
    | columns(pl.String, "signature")
)
"""The columns of ``results.parquet``; low and high are the ends of a 95% interval."""

COMPARISON_COLUMNS: Columns = (
    columns(pl.String, *SET, "between", "embedding1", "metric1", "embedding2", "metric2", "of")
    | columns(pl.Float64, "value1", "value2", "difference")
    | columns(pl.String, "test")
    | columns(pl.Float64, "statistic", "p", "p_bonferroni", "p_holm", "low", "high")
    | columns(pl.Int64, "n_pairs")
)
"""The columns of ``comparisons.parquet``; low and high are of the difference."""

COVERAGE_COLUMNS: Columns = columns(pl.String, *SET, "embedding") | columns(
    pl.Int64, "n_terms", "n_terms_uncovered", "n_pairs", "n_pairs_uncovered", "n_pairs_common"
)
"""The columns of ``coverage.parquet``."""

OVERLAP_COLUMNS: Columns = (
    columns(pl.String, "input", "of", "embedding1", "embedding2")
    | columns(pl.Int64, "n1", "n2", "n_both")
    | columns(pl.Float64, "share1", "share2")
)
"""The columns of ``overlap.parquet``; a share is of what both have in what one has."""

RETRIEVAL_COLUMNS: Columns = (
    columns(pl.String, "input", "embedding", "metric", "index")
    | columns(pl.String, "subset", "difficulty", "length", "statistic")
    | columns(pl.Float64, "value", "low", "high")
    | columns(pl.Int64, "n_terms", "n_covered")
    | columns(pl.Float64, "recall")
    | columns(pl.String, "signature")
)
"""The columns of ``retrieval.parquet``; a missing difficulty or length stands for all of them."""

RETRIEVED_COLUMNS: Columns = (
    columns(pl.String, "term", "difficulty")
    | columns(pl.Int32, "n_words", "component")
    | columns(pl.Boolean, "covered")
    | columns(pl.Int64, "rank")
    | columns(pl.String, "linked_term")
    | columns(pl.Float32, "linked_similarity")
    | columns(pl.String, "nearest_term")
    | columns(pl.Float32, "nearest_similarity")
    | columns(pl.Boolean, "nearest_linked")
    | columns(pl.Float32, "recall")
)
"""The columns of what an embedding finds for each term that is linked to another.

The recall of a sampled term is the share of its ten nearest terms that an approximate index found.
"""

SEPARATION_COLUMNS: Columns = (
    columns(pl.String, "input", "embedding", "metric", "category1", "category2")
    | columns(pl.Int64, "n_terms1", "n_terms2", "n_triples", "n_errors")
    | columns(pl.Float64, "overlap_error", "mean_similarity")
    | columns(pl.String, "signature")
)
"""The columns of ``separation.parquet``; a row without categories is of all triples together."""

WORD_COLUMNS: Columns = {"word": pl.String}
"""The columns of the words of an input's terms that an embedding has."""

SIMILARITY_COLUMNS: Columns = {"pair_id": pl.String, "similarity": pl.Float32}
"""The columns of a file of similarities; they are null where a pair is not covered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationManifest(RunManifest):
    """The manifest of an evaluation.

    Attributes:
        inputs: builds and rated files by name: where they lay, a fingerprint of their content,
            rows that were skipped, whether they may be passed on.
        embeddings: by name: where they lay, the hash of their files, options, sizes.
    """

    kind: ClassVar[str] = "evaluation"
    inputs: dict[str, dict[str, object]]
    embeddings: dict[str, dict[str, object]]


EVALUATION = Kind(
    noun="evaluation",
    command="medsim eval",
    manifest=EvaluationManifest,
    views={
        name: View(files, columns, optional=True)  # those of earlier versions have fewer
        for name, files, columns in (
            ("results", "results.parquet", RESULT_COLUMNS),
            ("comparisons", "comparisons.parquet", COMPARISON_COLUMNS),
            ("coverage", "coverage.parquet", COVERAGE_COLUMNS),
            ("overlap", "overlap.parquet", OVERLAP_COLUMNS),
            ("pair", "pairs/input=*/data.parquet", EVALUATED_COLUMNS),
            ("term", "coverage/input=*/embedding=*/terms.parquet", TERM_COLUMNS),
            ("word", "coverage/input=*/embedding=*/words.parquet", WORD_COLUMNS),
            ("retrieval", "retrieval.parquet", RETRIEVAL_COLUMNS),
            (
                "retrieved",
                "retrieval/input=*/embedding=*/metric=*/index=*/data.parquet",
                RETRIEVED_COLUMNS,
            ),
            ("separation", "separation.parquet", SEPARATION_COLUMNS),
            ("score", "scores/input=*/embedding=*/metric=*/data.parquet", SIMILARITY_COLUMNS),
        )
    },
    resumed_by="scores",
    grows=True,
)


class Evaluation(Opened[EvaluationManifest]):
    """A finished evaluation; what it holds is read when it is asked for.

    Args:
        folder: where it lies.

    Raises:
        InputError: the folder holds no finished evaluation.

    Attributes:
        folder: where it lies.
        manifest: the account that it gives of itself.
    """

    kind = EVALUATION

    def results(self) -> pl.DataFrame:
        """Return a row per input, dataset, subset, embedding, metric and statistic."""
        return self._checked("results.parquet")

    def comparisons(self) -> pl.DataFrame:
        """Return a row per two embeddings, or two metrics of one, that a test compared."""
        return self._checked("comparisons.parquet")

    def coverage(self) -> pl.DataFrame:
        """Return a row per dataset and embedding: terms and pairs without vectors."""
        return self._checked("coverage.parquet")

    def overlap(self) -> pl.DataFrame:
        """Return a row per two embeddings: how many words of the terms both have."""
        return self._checked("overlap.parquet")

    def retrieval(self) -> pl.DataFrame:
        """Return a row per input, embedding, subset, difficulty, length and statistic."""
        return self._checked("retrieval.parquet")

    def separation(self) -> pl.DataFrame:
        """Return a row per input, embedding, metric and two categories."""
        return self._checked("separation.parquet")

    def retrieved(self) -> pl.LazyFrame:
        """Return the findings of every embedding for each term that is linked to another."""
        return self._scan(EVALUATION.views["retrieved"].files)

    def pairs(self) -> pl.LazyFrame:
        """Return the pairs of all inputs, a row per pair of a dataset."""
        return self._scan(EVALUATION.views["pair"].files)

    def scores(self) -> pl.LazyFrame:
        """Return the similarity of every pair under every embedding and metric."""
        return self._scan(EVALUATION.views["score"].files)
