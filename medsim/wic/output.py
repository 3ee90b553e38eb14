"""The outputs of words in context: benchmarks and evaluations, each with tables and a manifest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from medsim.core.kinds import SEMANTIC_TYPE_COLUMNS, WIC_COLUMNS, Columns, Kind, View, columns
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.wic import SPLITS
from medsim.wic.notes import ABOUT, KEYS, NOTES, ORDER

_PLACE: Columns = (
    columns(pl.String, "corpus", "document_id")
    | columns(pl.Int32, "sentence_start")
    | columns(pl.String, "sentence")
    | columns(pl.Int32, "start", "end")
    | columns(pl.String, "term")
)

MENTION_COLUMNS: Columns = _PLACE | columns(pl.String, "kind", "vocabulary", "code")
"""The columns of mentions in sentences of corpora: a row per mention that has one code.

The sentence starts at a code point of its document (title, a space, abstract); start and end are
code points of the sentence, end exclusive. Vocabularies are named as UMLS names them, as MSH.
"""

WIC_MENTION_COLUMNS: Columns = _PLACE | columns(pl.String, "concept_id")
"""The columns of a benchmark's mentions: one of every sentence, in order of term and concept."""

WIC_INSTANCE_COLUMNS: Columns = (
    columns(pl.String, "split")
    | WIC_COLUMNS
    | columns(pl.String, "concept1", "concept2", "corpus1", "document1")
    | columns(pl.Int32, "sentence_start1")
    | columns(pl.String, "corpus2", "document2")
    | columns(pl.Int32, "sentence_start2")
)
"""The columns of a benchmark's instances with their provenance."""

WIC_NAME_COLUMNS: Columns = columns(pl.String, "term", "concept_id")
"""The columns of the concepts that terms of mentions name; terms are in lower case."""

WIC_RELATED_COLUMNS: Columns = columns(pl.String, "concept1", "concept2", "relation")
"""The columns of the pairs of concepts that no instance has."""

WIC_RESULT_COLUMNS: Columns = (
    columns(pl.String, "data", "model", "subset", "statistic")
    | columns(pl.Float64, "value", "low", "high")
    | columns(pl.Int64, "n_instances", "n_uncovered")
)
"""The columns of ``results.parquet`` of models on words in context.

The statistic is an accuracy, low and high the ends of its 95% interval; the standard deviation of
the accuracy over seeds, where there are several, whose mean the accuracy is then; a threshold; or,
of language models, how many replies are "refused" or "unclear", "prompt_tokens" and
"completion_tokens". A subset is "all", a group, "any_seen", "both_seen" or "unseen", by the target
terms that training has, or, of a threshold, "fold 1", "seed 0" or "seed 0, fold 1" and so on.
"""

_PREDICTED: Columns = (
    columns(pl.String, "model") | columns(pl.Int64, "instance") | columns(pl.String, "cat")
)

WIC_PREDICTION_COLUMNS: Columns = (
    _PREDICTED
    | columns(pl.Int8, "seen_terms", "label", "prediction")
    | columns(pl.Float64, "score")
    | columns(pl.Boolean, "covered")
    | columns(pl.Int32, "fold")
    | columns(pl.Int64, "seed")
)
"""The columns of ``predictions.parquet``, a row per model, seed and instance of the test split.

Instances count from 1 in the order of their file. Of the two target terms of an instance, models
are fitted on seen_terms; it is null where there is nothing to fit on. Score is null where a model
has none, fold where there are splits, seed where a model is not fitted.
"""

WIC_COMPARISON_COLUMNS: Columns = (
    columns(pl.String, "data", "between", "model1", "model2")
    | columns(pl.Float64, "accuracy1", "accuracy2", "difference", "low", "high")
    | columns(pl.Boolean, "within")
    | columns(pl.String, "test")
    | columns(pl.Float64, "statistic", "p", "p_bonferroni", "p_holm")
    | columns(pl.Int64, "n_instances")
)
"""The columns of ``comparisons.parquet`` of models on words in context.

Between "models" there is a test, p-values corrected for the number of all such rows. Between a
model and a "reference", "human" or "chance", there is the interval of the difference, and whether
it holds 0; people are there if their accuracy is known.
"""


WIC_REPLY_COLUMNS: Columns = (
    columns(pl.String, "model")
    | columns(pl.Int64, "instance")
    | columns(pl.String, "messages", "reply", "refusal", "finish", "verdict")
    | columns(pl.Boolean, "prediction")
    | columns(pl.Int64, "prompt_tokens", "completion_tokens")
    | columns(pl.String, "reported_model")
)
"""The columns of ``replies.parquet``, a row per language model and instance of the test split.

Messages are the chat that was sent, as JSON, and reply is what the model said. The verdict is
"answered", "refused" or "unclear"; prediction is null where it is not "answered". Tokens are as the
service counted them, 0 where it does not say.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WicManifest(RunManifest):
    """The manifest of a benchmark of words in context.

    Attributes:
        corpora: of each its name, file, SHA-256, numbers of documents, sentences and mentions, and
            the vocabularies and kinds of the mentions in its sentences.
        terminology: the one whose concepts mentions stand for.
        quotas: how many instances of either label each group of each split has.
        skipped: what was left out.
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
        files: by split: where it lay, and a fingerprint of its instances.
        models: by name: how they answer, where they lay, the hash of their files, options.
    """

    kind: ClassVar[str] = "wic_evaluation"
    data: str
    fitted: str
    files: dict[str, dict[str, str]]
    models: dict[str, dict[str, object]]


_FORMER_STATISTICS: Columns = columns(pl.String, "table", "split", "of", "what") | columns(
    pl.Int64, "number"
)


def _described(
    name: str,
    files: str,
    of_files: Columns,
    *,
    further: Columns | None = None,
    optional: bool = False,
) -> View:
    """Return a table with its descriptions."""
    return View(
        files,
        of_files,
        optional=optional,
        about=ABOUT[name],
        notes=NOTES[name],
        further=further or {},
        key=KEYS[name],
        order=ORDER[name],
    )


WIC = Kind(
    noun="benchmark",
    command="medsim wic build",
    manifest=WicManifest,
    views={
        "instance": _described("instance", "instances.parquet", WIC_INSTANCE_COLUMNS),
        "mention": _described("mention", "mentions.parquet", WIC_MENTION_COLUMNS),
        "name": _described("name", "relations/name.parquet", WIC_NAME_COLUMNS),
        "related": _described("related", "relations/related.parquet", WIC_RELATED_COLUMNS),
        "semantic_type": _described(
            "semantic_type", "relations/semantic_type.parquet", SEMANTIC_TYPE_COLUMNS, optional=True
        ),
        "statistics": _described(
            "statistics", "statistics.parquet", _FORMER_STATISTICS, optional=True
        ),
    },
    others={
        f"{name}.json": f"The instances of the split {name}, in the layout of BioWiC."
        for name in SPLITS
    },
)

WIC_EVALUATION = Kind(
    noun="evaluation of words in context",
    command="medsim wic eval",
    manifest=WicEvaluationManifest,
    views={
        "results": _described("results", "results.parquet", WIC_RESULT_COLUMNS),
        "comparisons": _described("comparisons", "comparisons.parquet", WIC_COMPARISON_COLUMNS),
        "predictions": _described(
            "predictions",
            "predictions.parquet",
            _PREDICTED,  # before, the others were others
            further={n: t for n, t in WIC_PREDICTION_COLUMNS.items() if n not in _PREDICTED},
        ),
        "replies": _described("replies", "replies.parquet", WIC_REPLY_COLUMNS, optional=True),
    },
    recorded={
        "seed": "Seed of the coin, of folds, and the first from which models are fitted.",
        "seeds": "Number of seeds from which each model is fitted.",
        "people": "Accuracy of people; null where it is not known.",
    },
)


class WicEvaluation(Opened[WicEvaluationManifest]):
    """An evaluation of models on words in context, as ``medsim wic eval`` writes it."""

    kind = WIC_EVALUATION
