"""The outputs of words in context: benchmarks and evaluations, each with tables and a manifest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from medsim.core.kinds import WIC_COLUMNS, Column, Columns, Kind, Table, columns
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.wic import SPLITS

_PLACE = {
    "corpus": Column(pl.String, "Name of the corpus."),
    "document_id": Column(pl.String, "Identifier of the document, as the corpus has it."),
    "sentence_start": Column(
        pl.Int32,
        "Where the sentence begins in its document (title, a space, abstract), in code points "
        "from 0.",
    ),
    "sentence": Column(pl.String, "The sentence."),
    "start": Column(pl.Int32, "Where the term begins, in code points of the sentence from 0."),
    "end": Column(pl.Int32, "Where the term ends, exclusive."),
    "term": Column(pl.String, "The term as it stands in the sentence."),
}

MENTION_COLUMNS: Columns = {name: one.dtype for name, one in _PLACE.items()} | columns(
    pl.String, "kind", "vocabulary", "code"
)
"""The columns of mentions in sentences of corpora: a row per mention that has one code.

Vocabularies are named as UMLS names them, as MSH.
"""

_CAT = Column(
    pl.String,
    "Group of the instance, by how alike its terms are: term_identity, abbreviations, synonyms or "
    "label_similarity.",
)
_LABEL = Column(pl.Int8, "1 where both terms have the same meaning in their sentences, else 0.")


def _of_side(side: int) -> dict[str, Column]:
    """Return the columns of one side of an instance."""
    nth = ("first", "second")[side - 1]
    return {
        f"term{side}": Column(pl.String, f"Term of the {nth} sentence, as it stands there."),
        f"sentence{side}": Column(pl.String, f"The {nth} sentence."),
        f"start{side}": Column(
            pl.Int32, f"Where the {nth} term begins, in code points of its sentence from 0."
        ),
        f"end{side}": Column(pl.Int32, f"Where the {nth} term ends, exclusive."),
        f"concept{side}": Column(pl.String, f"Concept that the {nth} term stands for."),
        f"corpus{side}": Column(pl.String, f"Corpus that has the {nth} sentence."),
        f"document{side}": Column(
            pl.String, f"Document that has the {nth} sentence, as the corpus names it."
        ),
        f"sentence_start{side}": Column(
            pl.Int32,
            f"Where the {nth} sentence begins in its document, in code points from 0.",
        ),
    }


_INSTANCE = {
    "split": Column(pl.String, "train, dev or test."),
    **_of_side(1),
    **_of_side(2),
    "cat": _CAT,
    "label": _LABEL,
}
_PROVENANCE = (
    *("concept1", "concept2", "corpus1", "document1", "sentence_start1"),
    *("corpus2", "document2", "sentence_start2"),
)

INSTANCE = Table(
    "instances.parquet",
    "A row per instance of any split, with its provenance.",
    {name: _INSTANCE[name] for name in ("split", *WIC_COLUMNS, *_PROVENANCE)},
    key=("split", "sentence1", "sentence2", "start1", "start2"),
    order="By split (train, dev, test), in each as its JSON file has them.",
)

MENTION = Table(
    "mentions.parquet",
    "A row per sentence: the one mention that was chosen in it.",
    {**_PLACE, "concept_id": Column(pl.String, "Concept that it stands for.")},
    key=("sentence",),
    order="By term, ignoring case, then by concept.",
)

NAME = Table(
    "relations/name.parquet",
    "A row per term of mentions and concept that the terminology gives that name.",
    {
        "term": Column(pl.String, "Term of a mention, in lower case."),
        "concept_id": Column(pl.String, "Concept that has the term as a name."),
    },
    key=("term", "concept_id"),
    order="By term and concept.",
)

RELATED = Table(
    "relations/related.parquet",
    "A row per two concepts, both of mentions, of which it is not plain whether they mean the "
    "same, and how they are related; no instance has them.",
    {
        "concept1": Column(pl.String, "Concept with the smaller identifier."),
        "concept2": Column(pl.String, "Concept with the larger identifier."),
        "relation": Column(
            pl.String,
            "shared_code where both have a code of another vocabulary, synonymous where the "
            "terminology says so, broader where one is above the other.",
        ),
    },
    key=("concept1", "concept2", "relation"),
    order="By both concepts, then by relation.",
)

SEMANTIC_TYPE = Table(
    "relations/semantic_type.parquet",
    "A row per concept of mentions and semantic type; where the source is UMLS.",
    {
        "concept_id": Column(pl.String, "Identifier of the concept."),
        "type_id": Column(
            pl.String, "Identifier of the type in the Semantic Network of UMLS, such as T047."
        ),
        "semantic_type": Column(pl.String, "Name of the type, such as Disease or Syndrome."),
    },
    key=("concept_id", "type_id"),
    order="By concept and type.",
    optional=True,
)

_DATA = Column(pl.String, "Name of the benchmark.")
_MODEL = Column(pl.String, "Name of the model, as it was given.")
_NUMBER = Column(pl.Int64, "Number of the instance in the file of the test split, from 1.")

RESULTS = Table(
    "results.parquet",
    "A row per model, subset and statistic.",
    {
        "data": _DATA,
        "model": _MODEL,
        "subset": Column(
            pl.String,
            "all, a group, or any_seen, both_seen or unseen, by how many of an instance's target "
            "terms training has; of a threshold the round, such as fold 1, seed 0 or seed 0, fold "
            "1.",
        ),
        "statistic": Column(
            pl.String,
            "accuracy; deviation, its standard deviation over seeds; threshold; of language "
            "models how many replies were refused or unclear, prompt_tokens and completion_tokens.",
        ),
        "value": Column(
            pl.Float64,
            "Value of the statistic; null of a threshold that nothing could be chosen by.",
        ),
        "low": Column(pl.Float64, "Lower end of the 95% interval of an accuracy; null of others."),
        "high": Column(pl.Float64, "Upper end of the 95% interval of an accuracy; null of others."),
        "n_instances": Column(pl.Int64, "Number of instances of the subset."),
        "n_uncovered": Column(
            pl.Int64,
            "Number of those of which the model sees nothing, or that it gave no clear answer to; "
            "null of others than accuracies and deviations.",
        ),
    },
    key=("data", "model", "subset", "statistic"),
    order="By model as they were named.",
)

COMPARISONS = Table(
    "comparisons.parquet",
    "A row per two models, or per model and people or chance.",
    {
        "data": _DATA,
        "between": Column(
            pl.String, "models, or reference where a model is compared with people or chance."
        ),
        "model1": Column(pl.String, "Name of the first model."),
        "model2": Column(pl.String, "Name of the second model, or human or chance."),
        "accuracy1": Column(pl.Float64, "Accuracy of the first."),
        "accuracy2": Column(pl.Float64, "Accuracy of the second."),
        "difference": Column(pl.Float64, "accuracy1 less accuracy2."),
        "low": Column(
            pl.Float64, "Lower end of the 95% interval of the difference; null between models."
        ),
        "high": Column(pl.Float64, "Upper end of it; null between models."),
        "within": Column(pl.Boolean, "Whether that interval holds 0; null between models."),
        "test": Column(
            pl.String, "mcnemar, mcnemar_exact or mcnemar_runs (over seeds); null of references."
        ),
        "statistic": Column(pl.Float64, "Statistic of the test; null of references."),
        "p": Column(pl.Float64, "Two-sided p-value; null of references."),
        "p_bonferroni": Column(
            pl.Float64,
            "The same after Bonferroni's correction for all pairs of models; null of references.",
        ),
        "p_holm": Column(pl.Float64, "The same after Holm's correction; null of references."),
        "n_instances": Column(pl.Int64, "Number of instances that are compared."),
    },
    key=("data", "between", "model1", "model2"),
    order="By models as they were named; then models with people and chance.",
)

PREDICTIONS = Table(
    "predictions.parquet",
    "A row per model, seed and instance of the test split.",
    {
        "model": _MODEL,
        "instance": _NUMBER,
        "cat": _CAT,
        "seen_terms": Column(
            pl.Int8,
            "Number of the two target terms that models are fitted on, 0 to 2; null where there "
            "is nothing to fit on.",
        ),
        "label": _LABEL,
        "prediction": Column(pl.Int8, "The label that the model predicts."),
        "score": Column(pl.Float64, "Score by which it predicts; null where it has none."),
        "covered": Column(
            pl.Boolean, "Whether the model sees something of the instance, or gave a clear answer."
        ),
        "fold": Column(
            pl.Int32, "Fold that the instance is in, from 1; null where there are splits."
        ),
        "seed": Column(
            pl.Int64, "Seed from which the model was fitted; null where it is not fitted."
        ),
    },
    key=("model", "instance", "seed"),
    order="By model as they were named, then by seed and instance.",
)

REPLIES = Table(
    "replies.parquet",
    "A row per language model and instance of the test split.",
    {
        "model": _MODEL,
        "instance": _NUMBER,
        "messages": Column(pl.String, "The chat that was sent, as JSON."),
        "reply": Column(pl.String, "Text of the reply; null where there is none."),
        "refusal": Column(
            pl.String, "Text by which the service marks a refusal; null where it marks none."
        ),
        "finish": Column(
            pl.String, "Why the reply ended, as the service names it; null where it does not say."
        ),
        "verdict": Column(pl.String, "answered, refused or unclear."),
        "prediction": Column(pl.Boolean, "The answer; null where the verdict is not answered."),
        "prompt_tokens": Column(
            pl.Int64, "Number of tokens of the chat as the service counted; 0 if it did not."
        ),
        "completion_tokens": Column(pl.Int64, "Number of tokens of the reply, likewise."),
        "reported_model": Column(
            pl.String, "Name of the model as the service reports it; null where it does not."
        ),
    },
    key=("model", "instance"),
    order="By model as they were named, then by instance.",
    optional=True,
)


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


WIC = Kind(
    noun="benchmark",
    command="medsim wic build",
    manifest=WicManifest,
    views={
        "instance": INSTANCE,
        "mention": MENTION,
        "name": NAME,
        "related": RELATED,
        "semantic_type": SEMANTIC_TYPE,
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
        "results": RESULTS,
        "comparisons": COMPARISONS,
        "predictions": PREDICTIONS,
        "replies": REPLIES,
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
