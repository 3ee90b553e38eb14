"""The names that options of evaluations take: of statistics, metrics, tables, subsets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Subset = Literal["common", "own"]
Correction = Literal["bonferroni", "holm"]
Index = Literal["flat", "ivf", "hnsw"]

StatisticName = Literal[
    "auc",
    "average_precision",
    "accuracy",
    "accuracy_heldout",
    "threshold",
    "spearman",
    "pearson",
    "kendall",
    "accuracy_at_1",
    "accuracy_at_5",
    "accuracy_at_10",
    "mrr",
    "overlap_error",
    "category_error",
]
"""The statistics of ``medsim.evaluations.statistic``."""

MetricName = Literal[
    "avg_cos",
    "avg_kendall",
    "avg_pearson",
    "avg_spearman",
    "cos",
    "fuzzy_jaccard",
    "kendall",
    "max_jaccard",
    "pair_cos",
    "pair_kendall",
    "pair_pearson",
    "pair_spearman",
    "pearson",
    "spearman",
]
"""The metrics of ``medsim.embeddings.metrics``."""

ComparedTable = Literal[
    "best",
    "standings",
    "auc",
    "accuracy",
    "spearman",
    "all-auc",
    "all-accuracy",
    "all-spearman",
    "standings-auc",
    "standings-accuracy",
    "standings-spearman",
    "spread-auc",
    "spread-accuracy",
    "spread-spearman",
    "metrics",
    "parts",
    "rated",
    "coverage",
    "overlap",
    "retrieval",
    "separation",
    "all-separation",
    "separation-terms",
    "categories",
    "all-categories",
    "1",
    "4",
    "5",
    "6",
    "A.1",
    "A.2",
    "B.1",
    "B.2",
    "B.3",
    "B.4",
    "B.5",
    "C.1",
    "C.2",
    "C.3",
    "C.4",
    "C.5",
    "C.6",
    "C.7",
    "C.8",
    "D.1",
    "figure-B.1",
    "figure-C.1",
]
"""The tables of ``medsim compare``, and those of the paper by their numbers."""

FORMERLY: Mapping[str, object] = {"coverage": "any", "independent_pairs": True}
"""The options that once were not there, by what was done then: results that lack them have that."""
