"""The output of tagging: its kind, its tables and their columns, its manifest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import polars as pl

from medsim.core.errors import counted, listed
from medsim.core.kinds import Column, Kind, Table
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.core.shown import Summary

_FEW = 4  # names that a summary lists

ALL_TYPES = "all"
"""The type for the entities of all types together."""

_text, _whole, _number = (partial(Column, dtype) for dtype in (pl.String, pl.Int64, pl.Float64))

_GROUP = {
    "corpus": _text("Name of the corpus."),
    "embedding": _text("Name of the embedding; random for random vectors."),
}
_TRIAL = {"trial": Column(pl.Int32, "Number of the trial, from 1.")}
_STOP = {
    "epoch": Column(pl.Int32, "Epoch with the best F1 on dev, whose tagger is kept; from 1."),
    "dev_f1": _number("F1 of the entities of the dev split after that epoch, 0 to 1."),
}

ENTITY_SCORES = Table(
    "results.parquet",
    "A row per corpus, embedding, type of entity and statistic: means over trials.",
    {
        **_GROUP,
        "type": _text("Type of entity, or all."),
        "statistic": _text("f1, precision or recall of the entities of the test split."),
        "value": _number(
            "Mean over trials, 0 to 1; null of recall without an entity of the type in the test "
            "split, and of f1 if none was found either."
        ),
        "deviation": _number("Standard deviation over trials (n - 1); null for one trial."),
        "low": _number(
            "Lower end of the mean's 95% confidence interval, by a bootstrap over documents; null "
            "if there is none."
        ),
        "high": _number("Upper end of the mean's 95% confidence interval; null if there is none."),
        "n_trials": _whole("Number of trials."),
        "n_entities": _whole("Number of entities of the type in the test split."),
        "n_documents": _whole(
            "Number of documents of the test split; of sentences, if files name no documents."
        ),
    },
    key=("corpus", "embedding", "type", "statistic"),
    order="By corpus, embedding and type (all first), in the order given.",
)

TRIALS = Table(
    "trials.parquet",
    "A row per tagger: corpus, embedding and trial.",
    {
        **_GROUP,
        **_TRIAL,
        **_STOP,
        "precision": _number("Precision of the entities of the test split, 0 to 1."),
        "recall": _number("Recall of the entities of the test split, 0 to 1."),
        "f1": _number("F1 of the entities of the test split, 0 to 1."),
    },
    key=("corpus", "embedding", "trial"),
    order="By corpus and embedding in the order given, then by trial.",
)

TASK_MODEL = "model"
"""The first column of ``tasks.parquet``; the others are corpora, with F1 of each embedding."""

TASKS = Table(
    "tasks.parquet",
    "A row per embedding: F1 of all entities on each corpus.",
    {
        TASK_MODEL: _GROUP["embedding"],
        "CORPUS": _number(
            "Mean F1 of all entities of the corpus of that name, 0 to 1; one column per corpus.",
            in_some_files=True,
        ),
    },
    key=(TASK_MODEL,),
    order="By embedding in the order given.",
)

PREDICTION = Table(
    "predictions/corpus=*/embedding=*/words.parquet",
    "A row per trial and word of the test split, without the word itself.",
    {
        **_TRIAL,
        "document_id": _text("Identifier of the document in the corpus."),
        "sentence": Column(pl.Int32, "Number of the sentence in the split, from 1."),
        "word": Column(pl.Int32, "Number of the word in the sentence, from 1."),
        "gold": _text("Tag of the word in the corpus, in the BIO scheme."),
        "predicted": _text("Tag by the tagger, in the BIO scheme."),
        **_GROUP,
    },
    key=("trial", "sentence", "word"),
    order="By trial, sentence and word.",
)

EPOCH = Table(
    "predictions/corpus=*/embedding=*/epochs.parquet",
    "A row per trial: the epoch whose tagger was kept.",
    {**_TRIAL, **_STOP, **_GROUP},
    key=("trial",),
    order="By trial.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggingManifest(RunManifest):
    """The manifest of a tagging.

    Attributes:
        corpora: by name: files with their SHA-256; types; by split the numbers of sentences, words,
            entities; what was skipped.
        embeddings: by name: path, format, fingerprint, options, and the share of the words of each
            corpus' test split that it has.
    """

    kind: ClassVar[str] = "tagging"
    corpora: dict[str, dict[str, object]]
    embeddings: dict[str, dict[str, object]]


TAGGING = Kind(
    noun="tagging",
    command="medsim tag",
    manifest=TaggingManifest,
    views={
        "results": ENTITY_SCORES,
        "trials": TRIALS,
        "tasks": TASKS,
        "prediction": PREDICTION,
        "epoch": EPOCH,
    },
    resumed_by="predictions",
    others={"conll/*/*.tsv": "A split of a corpus in CoNLL's layout, with --conll."},
)


class Tagging(Opened[TaggingManifest]):
    """Taggers' scores, as ``medsim tag`` writes them; tables are read when they are needed.

    Args:
        folder: of the scores.

    Raises:
        InputError: the folder holds no finished tagging.
    """

    kind = TAGGING

    def _summary(self) -> Summary:
        corpora, embeddings = list(self.manifest.corpora), list(self.manifest.embeddings)
        facts = [
            f"{counted(len(corpora), 'corpus', 'corpora')} ({listed(corpora, _FEW)})",
            f"{counted(len(embeddings), 'embedding')} ({listed(embeddings, _FEW)})",
        ]
        calls = [".results()", ".tasks()", "medsim.write_report(tagging, …)"]
        return self._summarized(facts, calls, self.tasks)

    def results(self) -> pl.DataFrame:
        """Return a row per corpus, embedding, type and statistic: ``ENTITY_SCORES``."""
        return self._checked(ENTITY_SCORES.files)

    def trials(self) -> pl.DataFrame:
        """Return a row per corpus, embedding and trial: ``TRIALS``."""
        return self._checked(TRIALS.files)

    def tasks(self) -> pl.DataFrame:
        """Return F1 of all entities, a row per embedding and a column per corpus.

        It is the extrinsic side of ``medsim.correlate``.
        """
        return self._checked(TASKS.files)
