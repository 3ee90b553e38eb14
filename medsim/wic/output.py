"""The outputs of words in context: benchmarks and evaluations, each with tables and a manifest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, cast

import polars as pl

from medsim.core.kinds import Column, Columns, Kind, Table, both, columns
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.core.shown import Summary
from medsim.corpora import CORPUS_SPLITS
from medsim.embeddings.replies import reply_columns

_text, _whole, _small, _number = (
    partial(Column, dtype) for dtype in (pl.String, pl.Int64, pl.Int32, pl.Float64)
)

_PLACE = {
    "corpus": _text("Name of the corpus."),
    "document_id": _text("Identifier of the document in the corpus."),
    "sentence_start": _small(
        "Start of the sentence in its document (title, a space, abstract), in code points from 0."
    ),
    "sentence": _text("The sentence."),
    "start": _small("Start of the term in the sentence, in code points from 0."),
    "end": _small("End of the term, exclusive."),
    "term": _text("Term as written in the sentence."),
}

MENTION_COLUMNS: Columns = {name: column.dtype for name, column in _PLACE.items()} | columns(
    pl.String, "kind", "vocabulary", "code"
)
"""The columns of mentions in sentences of corpora: a row per mention that has one code.

Vocabularies are named as in UMLS, such as MSH.
"""

_CAT = _text(
    "Group of the instance: term_identity, abbreviations, synonyms or label_similarity, by the "
    "similarity of its terms."
)
_LABEL = Column(pl.Int8, "1 if both terms have the same meaning in their sentences, else 0.")


_IN_DOCUMENT = "Start of the {} sentence in its document, in code points from 0."

INSTANCE = Table(
    "instances.parquet",
    "A row per instance of any split, with its provenance.",
    {
        "split": _text("train, dev or test."),
        **both("term", "Term of the {} sentence, as written there."),
        **both("sentence", "The {} sentence."),
        **both("start", "Start of the {} term in its sentence, in code points from 0.", _small),
        **both("end", "End of the {} term, exclusive.", _small),
        "cat": _CAT,
        "label": _LABEL,
        **both("concept", "Concept of the {} term."),
        "corpus1": _text("Corpus of the first sentence."),
        "document1": _text("Document of the first sentence, as the corpus names it."),
        "sentence_start1": _small(_IN_DOCUMENT.format("first")),
        "corpus2": _text("Corpus of the second sentence."),
        "document2": _text("Document of the second sentence, as the corpus names it."),
        "sentence_start2": _small(_IN_DOCUMENT.format("second")),
    },
    key=("split", "sentence1", "sentence2", "start1", "start2"),
    order="By split (train, dev, test), then as in the JSON file.",
)

CHOSEN_MENTION = Table(
    "mentions.parquet",
    "A row per sentence: its chosen mention.",
    {**_PLACE, "concept_id": _text("Concept of the term.")},
    key=("sentence",),
    order="By term, ignoring case, then by concept.",
)

NAME = Table(
    "relations/name.parquet",
    "A row per term of mentions and concept with that name in the terminology.",
    {
        "term": _text("Term of a mention, in lower case."),
        "concept_id": _text("Concept with that name."),
    },
    key=("term", "concept_id"),
    order="By term and concept.",
)

RELATED = Table(
    "relations/related.parquet",
    "A row per pair of related concepts of mentions, possibly synonyms; no instance has both.",
    {
        "concept1": _text("Concept with the smaller identifier."),
        "concept2": _text("Concept with the larger identifier."),
        "relation": _text(
            "shared_code if both have a code of another vocabulary; synonymous, by the "
            "terminology; broader if one is above the other."
        ),
    },
    key=("concept1", "concept2", "relation"),
    order="By both concepts, then by relation.",
)

SEMANTIC_TYPE = Table(
    "relations/semantic_type.parquet",
    "A row per concept of mentions and semantic type, if the source is UMLS.",
    {
        "concept_id": _text("Identifier of the concept."),
        "type_id": _text("Identifier of the type in the Semantic Network of UMLS, such as T047."),
        "semantic_type": _text("Name of the type, such as Disease or Syndrome."),
    },
    key=("concept_id", "type_id"),
    order="By concept and type.",
    optional=True,
)

ALL_INSTANCES = "all"
"""The subset of all tested instances."""

_DATA = _text("Name of the benchmark.")
_MODEL = _text("Name of the model.")
_NUMBER = _whole("Number of the instance in the file of the test split, from 1.")

ACCURACIES = Table(
    "results.parquet",
    "A row per model and subset of the instances.",
    {
        "data": _DATA,
        "model": _MODEL,
        "subset": _text(
            "all; a group; any_seen, both_seen or unseen, by the target terms that are in the "
            "training data."
        ),
        "accuracy": _number("Share of right answers; with several seeds their mean."),
        "low": _number("Lower end of the 95% confidence interval; null if there is none."),
        "high": _number("Upper end of the 95% confidence interval; null if there is none."),
        "deviation": _number("Standard deviation over seeds; null with one seed."),
        "n_instances": _whole("Number of instances of the subset."),
        "n_uncovered": _whole("Number of instances without a known word or a clear answer."),
        "p": _number(
            "Of all instances, p-value of the difference from the highest accuracy: McNemar's "
            "test, with Holm's correction; null for the highest."
        ),
        "refused": _whole("Of all instances, refusals of a language model; else null."),
        "unclear": _whole("Of all instances, its other unclear replies; else null."),
        "prompt_tokens": _whole("Of all instances, tokens of its chats; else null."),
        "completion_tokens": _whole("Of all instances, tokens of its replies; else null."),
    },
    key=("data", "model", "subset"),
    order="By model in the order given.",
)

PREDICTIONS = Table(
    "predictions.parquet",
    "A row per model, seed and instance of the test split.",
    {
        "model": _MODEL,
        "instance": _NUMBER,
        "cat": _CAT,
        "seen_terms": Column(
            pl.Int8, "Number of the two target terms in the training data; null without any."
        ),
        "label": _LABEL,
        "prediction": Column(pl.Int8, "The predicted label."),
        "score": _number("Score behind the prediction; null if the model has none."),
        "threshold": _number("The least score of the label 1; null if there is none."),
        "covered": Column(
            pl.Boolean, "Whether the model knows words of both sides, or gave a clear answer."
        ),
        "fold": _small("Fold of the instance, from 1; null without folds."),
        "seed": _whole("Seed from which the model was trained; null if it is not trained."),
    },
    key=("model", "instance", "seed"),
    order="By model in the order given, then by seed and instance.",
)

INSTANCE_REPLIES = Table(
    "replies.parquet",
    "A row per language model and instance of the test split.",
    {
        "model": _MODEL,
        "instance": _NUMBER,
        **reply_columns(Column(pl.Boolean, "The answer; null unless the verdict is answered.")),
    },
    key=("model", "instance"),
    order="By model in the order given, then by instance.",
    optional=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WicManifest(RunManifest):
    """The manifest of a benchmark of words in context.

    Attributes:
        corpora: for each its name, file, SHA-256, numbers of documents, sentences and mentions, and
            the vocabularies and kinds of the mentions in its sentences.
        terminology: of the mentions' concepts.
        quotas: the number of instances of either label, by group and split.
        skipped: items left out.
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
        fitted: a description of the data for fitting models and choosing thresholds.
        files: by split: path, and fingerprint of its instances.
        models: by name: method, path, hash of the files, options.
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
        "mention": CHOSEN_MENTION,
        "name": NAME,
        "related": RELATED,
        "semantic_type": SEMANTIC_TYPE,
    },
    others={
        f"{name}.json": f"The instances of the split {name}, in the layout of BioWiC."
        for name in CORPUS_SPLITS
    },
)

WIC_EVALUATION = Kind(
    noun="evaluation of words in context",
    command="medsim wic eval",
    manifest=WicEvaluationManifest,
    views={
        "results": ACCURACIES,
        "predictions": PREDICTIONS,
        "replies": INSTANCE_REPLIES,
    },
    recorded={
        "seed": "Random seed; the first of several.",
        "seeds": "Number of seeds from which each model is trained.",
        "people": "Human accuracy; null if unknown.",
    },
)


class WicScores(Opened[WicEvaluationManifest]):
    """Scores of models on words in context, as ``medsim wic eval`` writes them."""

    kind = WIC_EVALUATION

    def _summary(self) -> Summary:
        calls = [".results()", ".predictions()"]
        return self._summarized([*self.manifest.models], calls, self.results)

    @property
    def people(self) -> float | None:
        """The accuracy of people; None if unknown."""
        return cast("float | None", self.manifest.options["people"])

    def results(self) -> pl.DataFrame:
        """Return a row per model and subset of the instances: ``ACCURACIES``."""
        return self.read(ACCURACIES.files)

    def predictions(self) -> pl.DataFrame:
        """Return a row per model, seed and instance: ``PREDICTIONS``."""
        return self.read(PREDICTIONS.files)

    def replies(self) -> pl.DataFrame:
        """Return the replies of language models: ``INSTANCE_REPLIES``.

        Raises:
            InputError: no language model was scored.
        """
        return self.read(INSTANCE_REPLIES.files)
