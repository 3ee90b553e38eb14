"""The outputs of words in context: benchmarks and evaluations, each with tables and a manifest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from medsim.core.kinds import Kind, View
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened

if TYPE_CHECKING:
    from medsim.core.schema import Columns

WIC_COLUMNS: Columns = {
    "term1": pl.String,
    "term2": pl.String,
    "sentence1": pl.String,
    "sentence2": pl.String,
    "start1": pl.Int32,
    "start2": pl.Int32,
    "end1": pl.Int32,
    "end2": pl.Int32,
    "cat": pl.String,
    "label": pl.Int8,
}
"""The columns of instances of words in context, in the order of BioWiC's files.

Starts and ends are code points of the sentence, ends exclusive; cat is one of
``medsim.wic.GROUPS``; label is 1 where both terms have the same meaning, else 0.
"""

MENTION_COLUMNS: Columns = {
    "corpus": pl.String,
    "document_id": pl.String,
    "sentence_start": pl.Int32,
    "sentence": pl.String,
    "start": pl.Int32,
    "end": pl.Int32,
    "term": pl.String,
    "kind": pl.String,
    "vocabulary": pl.String,
    "code": pl.String,
}
"""The columns of mentions in sentences of corpora: a row per mention that has one code.

The sentence starts at a code point of its document (title, a space, abstract); start and end are
code points of the sentence, end exclusive. Vocabularies are named as UMLS names them, as MSH.
"""

WIC_MENTION_COLUMNS: Columns = {
    "corpus": pl.String,
    "document_id": pl.String,
    "sentence_start": pl.Int32,
    "sentence": pl.String,
    "start": pl.Int32,
    "end": pl.Int32,
    "term": pl.String,
    "concept_id": pl.String,
}
"""The columns of a benchmark's mentions: one of every sentence, in order of term and concept."""

WIC_INSTANCE_COLUMNS: Columns = {
    "split": pl.String,
    **WIC_COLUMNS,
    "concept1": pl.String,
    "concept2": pl.String,
    "corpus1": pl.String,
    "document1": pl.String,
    "sentence_start1": pl.Int32,
    "corpus2": pl.String,
    "document2": pl.String,
    "sentence_start2": pl.Int32,
}
"""The columns of a benchmark's instances with their provenance."""

WIC_NAME_COLUMNS: Columns = {"term": pl.String, "concept_id": pl.String}
"""The columns of the concepts that terms of mentions name; terms are in lower case."""

WIC_RELATED_COLUMNS: Columns = {
    "concept1": pl.String,
    "concept2": pl.String,
    "relation": pl.String,
}
"""The columns of the pairs of concepts that no instance has."""

WIC_STATISTIC_COLUMNS: Columns = {
    "table": pl.String,
    "split": pl.String,
    "of": pl.String,
    "what": pl.String,
    "number": pl.Int64,
}
"""The columns of a benchmark's statistics; see ``medsim.wic.statistics``."""

WIC_RESULT_COLUMNS: Columns = {
    "data": pl.String,
    "model": pl.String,
    "subset": pl.String,
    "statistic": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n_instances": pl.Int64,
    "n_uncovered": pl.Int64,
}
"""The columns of ``results.parquet`` of models on words in context.

The statistic is an accuracy, low and high the ends of its 95% interval, or a threshold. A subset is
"all", a group, "seen", "partly_seen" or "unseen", or, of a threshold, "fold 1" and so on.
"""

WIC_PREDICTION_COLUMNS: Columns = {
    "model": pl.String,
    "instance": pl.Int64,
    "cat": pl.String,
    "seen": pl.String,
    "label": pl.Int8,
    "prediction": pl.Int8,
    "score": pl.Float64,
    "covered": pl.Boolean,
    "fold": pl.Int32,
}
"""The columns of ``predictions.parquet``, a row per model and instance of the test split.

Instances count from 1 in the order of their file. Score is null where a model has none, fold where
there are splits.
"""

WIC_COMPARISON_COLUMNS: Columns = {
    "data": pl.String,
    "between": pl.String,
    "model1": pl.String,
    "model2": pl.String,
    "accuracy1": pl.Float64,
    "accuracy2": pl.Float64,
    "difference": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "within": pl.Boolean,
    "test": pl.String,
    "statistic": pl.Float64,
    "p": pl.Float64,
    "p_bonferroni": pl.Float64,
    "p_holm": pl.Float64,
    "n_instances": pl.Int64,
}
"""The columns of ``comparisons.parquet`` of models on words in context.

Between "models" there is a test, p-values corrected for the number of all such rows. Between a
model and a "reference", "human" or "chance", there is the interval of the difference, and whether
it holds 0.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WicManifest(RunManifest):
    """The manifest of a benchmark of words in context.

    Attributes:
        corpora: of each its name, file, SHA-256, and numbers of documents, sentences and mentions.
        terminology: see ``medsim.terminologies.sources.Terminology``, without what was skipped.
        quotas: how many instances of either label each group of each split has.
        skipped: reason and rows of what was left out.
    """

    kind: ClassVar[str] = "wic"
    corpora: list[dict[str, object]]
    terminology: dict[str, object]
    quotas: dict[str, dict[str, int]]
    skipped: list[dict[str, object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WicEvaluationManifest(RunManifest):
    """The manifest of an evaluation of models on words in context.

    Attributes:
        data: the name of the benchmark.
        fitted: in words, on what models are fitted and thresholds chosen.
        files: where each split lay, and a fingerprint of its instances.
        models: by name: how they answer, where they lay, the hash of their files, options.
    """

    kind: ClassVar[str] = "wic_evaluation"
    data: str
    fitted: str
    files: dict[str, dict[str, str]]
    models: dict[str, dict[str, object]]


WIC = Kind(
    noun="benchmark",
    command="medsim wic build",
    manifest=WicManifest,
    views={
        "instance": View("instances.parquet", WIC_INSTANCE_COLUMNS),
        "mention": View("mentions.parquet", WIC_MENTION_COLUMNS),
        "name": View("relations/name.parquet", WIC_NAME_COLUMNS),
        "related": View("relations/related.parquet", WIC_RELATED_COLUMNS),
        "statistics": View("statistics.parquet", WIC_STATISTIC_COLUMNS),
    },
)

WIC_EVALUATION = Kind(
    noun="evaluation of words in context",
    command="medsim wic eval",
    manifest=WicEvaluationManifest,
    views={
        "results": View("results.parquet", WIC_RESULT_COLUMNS),
        "comparisons": View("comparisons.parquet", WIC_COMPARISON_COLUMNS),
        "predictions": View("predictions.parquet", WIC_PREDICTION_COLUMNS),
    },
)


class WicEvaluation(Opened[WicEvaluationManifest]):
    """An evaluation of models on words in context, as ``medsim wic eval`` writes it."""

    kind = WIC_EVALUATION
