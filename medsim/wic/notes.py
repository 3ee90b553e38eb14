"""Descriptions of the tables of words in context: what a row is, and what each column holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_CAT = (
    "Group of the instance, by how alike its terms are: term_identity, abbreviations, synonyms or "
    "label_similarity."
)
_LABEL = "1 where both terms have the same meaning in their sentences, else 0."
_DATA = "Name of the benchmark."
_MODEL = "Name of the model, as it was given."
_INSTANCE = "Number of the instance in the file of the test split, from 1."


def _instance(side: int) -> dict[str, str]:
    """Return the notes on one side of an instance."""
    nth = ("first", "second")[side - 1]
    return {
        f"term{side}": f"Term of the {nth} sentence, as it stands there.",
        f"sentence{side}": f"The {nth} sentence.",
        f"start{side}": f"Where the {nth} term begins, in code points of its sentence from 0.",
        f"end{side}": f"Where the {nth} term ends, exclusive.",
        f"concept{side}": f"Concept that the {nth} term stands for.",
        f"corpus{side}": f"Corpus that has the {nth} sentence.",
        f"document{side}": f"Document that has the {nth} sentence, as the corpus names it.",
        f"sentence_start{side}": (
            f"Where the {nth} sentence begins in its document, in code points from 0."
        ),
    }


INSTANCE_NOTES: Mapping[str, str] = {
    "split": "train, dev or test.",
    **_instance(1),
    **_instance(2),
    "cat": _CAT,
    "label": _LABEL,
}
"""Notes on the columns of instances."""

ABOUT: Mapping[str, str] = {
    "instance": "A row per instance of any split, with its provenance.",
    "mention": "A row per sentence: the one mention that was chosen in it.",
    "name": "A row per term of mentions and concept that the terminology gives that name.",
    "related": (
        "A row per two concepts, both of mentions, of which it is not plain whether they mean the "
        "same, and how they are related; no instance has them."
    ),
    "semantic_type": "A row per concept of mentions and semantic type; where the source is UMLS.",
    "statistics": "Counts of the benchmark, in files of version 0.1 alone.",
    "results": "A row per model, subset and statistic.",
    "comparisons": "A row per two models, or per model and people or chance.",
    "predictions": (
        "A row per model, seed and instance of the test split. Files of version 0.1 have the "
        "column seen in place of seen_terms, and no seeds."
    ),
    "replies": "A row per language model and instance of the test split.",
}
"""A sentence or two on the rows of each table."""

ORDER: Mapping[str, str] = {
    "instance": "By split (train, dev, test), in each as its JSON file has them.",
    "mention": "By term, ignoring case, then by concept.",
    "name": "By term and concept.",
    "related": "By both concepts, then by relation.",
    "semantic_type": "By concept and type.",
    "statistics": "",
    "results": "By model as they were named.",
    "comparisons": "By models as they were named; then models with people and chance.",
    "predictions": "By model as they were named, then by seed and instance.",
    "replies": "By model as they were named, then by instance.",
}
"""The order of the rows of each table."""

KEYS: Mapping[str, tuple[str, ...]] = {
    "instance": ("split", "sentence1", "sentence2", "start1", "start2"),
    "mention": ("sentence",),
    "name": ("term", "concept_id"),
    "related": ("concept1", "concept2", "relation"),
    "semantic_type": ("concept_id", "type_id"),
    "statistics": (),
    "results": ("data", "model", "subset", "statistic"),
    "comparisons": ("data", "between", "model1", "model2"),
    "predictions": ("model", "instance", "seed"),
    "replies": ("model", "instance"),
}
"""The columns by which a row of each table differs from all others of its file."""

NOTES: Mapping[str, Mapping[str, str]] = {
    "instance": INSTANCE_NOTES,
    "mention": {
        "corpus": "Name of the corpus.",
        "document_id": "Identifier of the document, as the corpus has it.",
        "sentence_start": (
            "Where the sentence begins in its document (title, a space, abstract), in code points "
            "from 0."
        ),
        "sentence": "The sentence.",
        "start": "Where the term begins, in code points of the sentence from 0.",
        "end": "Where the term ends, exclusive.",
        "term": "The term as it stands in the sentence.",
        "concept_id": "Concept that it stands for.",
    },
    "name": {
        "term": "Term of a mention, in lower case.",
        "concept_id": "Concept that has the term as a name.",
    },
    "related": {
        "concept1": "Concept with the smaller identifier.",
        "concept2": "Concept with the larger identifier.",
        "relation": (
            "shared_code where both have a code of another vocabulary, synonymous where the "
            "terminology says so, broader where one is above the other."
        ),
    },
    "semantic_type": {
        "concept_id": "Identifier of the concept.",
        "type_id": "Identifier of the type in the Semantic Network of UMLS, such as T047.",
        "semantic_type": "Name of the type, such as Disease or Syndrome.",
    },
    "statistics": {
        "table": "Name of the table.",
        "split": "Split that is counted; null for all.",
        "of": "Part that is counted.",
        "what": "Name of the count.",
        "number": "The count.",
    },
    "results": {
        "data": _DATA,
        "model": _MODEL,
        "subset": (
            "all, a group, or any_seen, both_seen or unseen, by how many of an instance's target "
            "terms training has; of a threshold the round, such as fold 1, seed 0 or seed 0, fold "
            "1."
        ),
        "statistic": (
            "accuracy; deviation, its standard deviation over seeds; threshold; of language "
            "models how many replies were refused or unclear, prompt_tokens and completion_tokens."
        ),
        "value": "Value of the statistic; null of a threshold that nothing could be chosen by.",
        "low": "Lower end of the 95% interval of an accuracy; null of others.",
        "high": "Upper end of the 95% interval of an accuracy; null of others.",
        "n_instances": "Number of instances of the subset.",
        "n_uncovered": (
            "Number of those of which the model sees nothing, or that it gave no clear answer to; "
            "null of others than accuracies and deviations."
        ),
    },
    "comparisons": {
        "data": _DATA,
        "between": "models, or reference where a model is compared with people or chance.",
        "model1": "Name of the first model.",
        "model2": "Name of the second model, or human or chance.",
        "accuracy1": "Accuracy of the first.",
        "accuracy2": "Accuracy of the second.",
        "difference": "accuracy1 less accuracy2.",
        "low": "Lower end of the 95% interval of the difference; null between models.",
        "high": "Upper end of it; null between models.",
        "within": "Whether that interval holds 0; null between models.",
        "test": "mcnemar, mcnemar_exact or mcnemar_runs (over seeds); null of references.",
        "statistic": "Statistic of the test; null of references.",
        "p": "Two-sided p-value; null of references.",
        "p_bonferroni": (
            "The same after Bonferroni's correction for all pairs of models; null of references."
        ),
        "p_holm": "The same after Holm's correction; null of references.",
        "n_instances": "Number of instances that are compared.",
    },
    "predictions": {
        "model": _MODEL,
        "instance": _INSTANCE,
        "cat": _CAT,
        "seen_terms": (
            "Number of the two target terms that models are fitted on, 0 to 2; null where there "
            "is nothing to fit on."
        ),
        "label": _LABEL,
        "prediction": "The label that the model predicts.",
        "score": "Score by which it predicts; null where it has none.",
        "covered": "Whether the model sees something of the instance, or gave a clear answer.",
        "fold": "Fold that the instance is in, from 1; null where there are splits.",
        "seed": "Seed from which the model was fitted; null where it is not fitted.",
    },
    "replies": {
        "model": _MODEL,
        "instance": _INSTANCE,
        "messages": "The chat that was sent, as JSON.",
        "reply": "Text of the reply; null where there is none.",
        "refusal": "Text by which the service marks a refusal; null where it marks none.",
        "finish": "Why the reply ended, as the service names it; null where it does not say.",
        "verdict": "answered, refused or unclear.",
        "prediction": "The answer; null where the verdict is not answered.",
        "prompt_tokens": "Number of tokens of the chat as the service counted; 0 if it did not.",
        "completion_tokens": "Number of tokens of the reply, likewise.",
        "reported_model": "Name of the model as the service reports it; null where it does not.",
    },
}
"""Notes on each column, by table: its values, their units, the meaning of null ones."""
