"""The output of an evaluation: its kind, its tables and their columns, its manifest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from medsim.core.kinds import Kind, View
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.core.schema import TERM_COLUMNS, Columns

EVALUATED_COLUMNS: Columns = {
    "pair_id": pl.String,
    "term1": pl.String,
    "term2": pl.String,
    "dataset": pl.String,
    "difficulty": pl.String,
    "negatives": pl.String,
    "label": pl.Int8,
    "rating": pl.Float64,
}
"""The columns of an evaluation's pairs; input comes from their folder."""

RESULT_COLUMNS: Columns = {
    "input": pl.String,
    "dataset": pl.String,
    "difficulty": pl.String,
    "negatives": pl.String,
    "subset": pl.String,
    "embedding": pl.String,
    "metric": pl.String,
    "statistic": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n_pairs": pl.Int64,
    "n_covered": pl.Int64,
    "signature": pl.String,
}
"""The columns of ``results.parquet``; low and high are the ends of a 95% interval."""

COMPARISON_COLUMNS: Columns = {
    "input": pl.String,
    "dataset": pl.String,
    "difficulty": pl.String,
    "negatives": pl.String,
    "between": pl.String,
    "embedding1": pl.String,
    "metric1": pl.String,
    "embedding2": pl.String,
    "metric2": pl.String,
    "of": pl.String,
    "value1": pl.Float64,
    "value2": pl.Float64,
    "difference": pl.Float64,
    "test": pl.String,
    "statistic": pl.Float64,
    "p": pl.Float64,
    "p_bonferroni": pl.Float64,
    "p_holm": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n_pairs": pl.Int64,
}
"""The columns of ``comparisons.parquet``; low and high are of the difference."""

COVERAGE_COLUMNS: Columns = {
    "input": pl.String,
    "dataset": pl.String,
    "difficulty": pl.String,
    "negatives": pl.String,
    "embedding": pl.String,
    "n_terms": pl.Int64,
    "n_terms_uncovered": pl.Int64,
    "n_pairs": pl.Int64,
    "n_pairs_uncovered": pl.Int64,
    "n_pairs_common": pl.Int64,
}
"""The columns of ``coverage.parquet``."""

OVERLAP_COLUMNS: Columns = {
    "input": pl.String,
    "of": pl.String,
    "embedding1": pl.String,
    "embedding2": pl.String,
    "n1": pl.Int64,
    "n2": pl.Int64,
    "n_both": pl.Int64,
    "share1": pl.Float64,
    "share2": pl.Float64,
}
"""The columns of ``overlap.parquet``; a share is of what both have in what one has."""

RETRIEVAL_COLUMNS: Columns = {
    "input": pl.String,
    "embedding": pl.String,
    "metric": pl.String,
    "index": pl.String,
    "subset": pl.String,
    "difficulty": pl.String,
    "length": pl.String,
    "statistic": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n_terms": pl.Int64,
    "n_covered": pl.Int64,
    "recall": pl.Float64,
    "signature": pl.String,
}
"""The columns of ``retrieval.parquet``; a missing difficulty or length stands for all of them."""

RETRIEVED_COLUMNS: Columns = {
    "term": pl.String,
    "difficulty": pl.String,
    "n_words": pl.Int32,
    "component": pl.Int32,
    "covered": pl.Boolean,
    "rank": pl.Int64,
    "linked_term": pl.String,
    "linked_similarity": pl.Float32,
    "nearest_term": pl.String,
    "nearest_similarity": pl.Float32,
    "nearest_linked": pl.Boolean,
    "recall": pl.Float32,
}
"""The columns of what an embedding finds for each term that is linked to another.

The recall of a sampled term is the share of its ten nearest terms that an approximate index found.
"""

SEPARATION_COLUMNS: Columns = {
    "input": pl.String,
    "embedding": pl.String,
    "metric": pl.String,
    "category1": pl.String,
    "category2": pl.String,
    "n_terms1": pl.Int64,
    "n_terms2": pl.Int64,
    "n_triples": pl.Int64,
    "n_errors": pl.Int64,
    "overlap_error": pl.Float64,
    "mean_similarity": pl.Float64,
    "signature": pl.String,
}
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
        """Return what every embedding found for each term that is linked to another."""
        return self._scan(EVALUATION.views["retrieved"].files)

    def pairs(self) -> pl.LazyFrame:
        """Return the pairs of all inputs, a row per pair of a dataset."""
        return self._scan(EVALUATION.views["pair"].files)

    def scores(self) -> pl.LazyFrame:
        """Return the similarity of every pair under every embedding and metric."""
        return self._scan(EVALUATION.views["score"].files)
