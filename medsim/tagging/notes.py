"""Descriptions of the tables of a tagging: what a row is, and what each column holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_CORPUS = "Name of the corpus."
_EMBEDDING = "Name of the embedding, as it was given; random for drawn vectors."
_TRIAL = "Number of the trial, from 1."
_EPOCH = "Epoch after which the tagger was kept, from 1: that of the best F1 of the dev split."
_DEV_F1 = "F1 of the entities of the dev split after that epoch, 0 to 1."

ABOUT: Mapping[str, str] = {
    "results": "A row per corpus, embedding, type of entity and statistic: means over trials.",
    "trials": "A row per tagger: corpus, embedding and trial.",
    "tasks": "A row per embedding: F1 of all entities on each corpus.",
    "prediction": "A row per trial and word of the test split, without the word itself.",
    "epoch": "A row per trial: the epoch after which it stopped.",
}
"""A sentence on the rows of each table of a tagging."""

ORDER: Mapping[str, str] = {
    "results": "By corpus, embedding and type (all first), as they were named.",
    "trials": "By corpus and embedding as they were named, then by trial.",
    "tasks": "By embedding as they were named.",
    "prediction": "By trial, sentence and word.",
    "epoch": "By trial.",
}
"""The order of the rows of each table."""

KEYS: Mapping[str, tuple[str, ...]] = {
    "results": ("corpus", "embedding", "type", "statistic"),
    "trials": ("corpus", "embedding", "trial"),
    "tasks": ("model",),
    "prediction": ("trial", "sentence", "word"),
    "epoch": ("trial",),
}
"""The columns by which a row of each table differs from all others of its file."""

NOTES: Mapping[str, Mapping[str, str]] = {
    "results": {
        "corpus": _CORPUS,
        "embedding": _EMBEDDING,
        "type": "Type of entity, or all.",
        "statistic": "f1, precision or recall of the entities of the test split.",
        "value": (
            "Mean over trials, 0 to 1; null of recall where the test split has no entity of the "
            "type, and of f1 where none was found either."
        ),
        "deviation": "Standard deviation of the trials (n - 1); null of one trial.",
        "low": (
            "Lower end of the 95% interval of the mean, by a bootstrap over documents; null where "
            "there is none."
        ),
        "high": "Upper end of it; null where there is none.",
        "n_trials": "Number of trials.",
        "n_entities": "Number of entities of the type that are to be found in the test split.",
        "n_documents": (
            "Number of documents of the test split; of sentences, where files tell no documents."
        ),
    },
    "trials": {
        "corpus": _CORPUS,
        "embedding": _EMBEDDING,
        "trial": _TRIAL,
        "epoch": _EPOCH,
        "dev_f1": _DEV_F1,
        "precision": "Precision of the entities of the test split, 0 to 1.",
        "recall": "Recall of the entities of the test split, 0 to 1.",
        "f1": "F1 of the entities of the test split, 0 to 1.",
    },
    "tasks": {
        "model": _EMBEDDING,
        "CORPUS": "Mean F1 of all entities of the corpus of that name, 0 to 1; a column a corpus.",
    },
    "prediction": {
        "corpus": _CORPUS,
        "embedding": _EMBEDDING,
        "trial": _TRIAL,
        "document_id": "Identifier of the document, as the corpus has it.",
        "sentence": "Number of the sentence in the split, from 1.",
        "word": "Number of the word in the sentence, from 1.",
        "gold": "Tag that the corpus gives the word, in the scheme BIO.",
        "predicted": "Tag that the tagger gives it, in the scheme BIO.",
    },
    "epoch": {
        "corpus": _CORPUS,
        "embedding": _EMBEDDING,
        "trial": _TRIAL,
        "epoch": _EPOCH,
        "dev_f1": _DEV_F1,
    },
}
"""Notes on each column, by table: its values, their units, the meaning of null ones."""
