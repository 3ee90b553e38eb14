"""The output of tagging: its kind, its tables and their columns, its manifest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from medsim.core.errors import counted, listed
from medsim.core.kinds import Column, Kind, Table
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened

if TYPE_CHECKING:
    from medsim.core.shown import Summary

_FEW = 4  # names that a summary lists

_CORPUS = Column(pl.String, "Name of the corpus.")
_EMBEDDING = Column(pl.String, "Name of the embedding, as it was given; random for drawn vectors.")
_TRIAL = Column(pl.Int32, "Number of the trial, from 1.")
_EPOCH = Column(
    pl.Int32,
    "Epoch after which the tagger was kept, from 1: that of the best F1 of the dev split.",
)
_DEV_F1 = Column(pl.Float64, "F1 of the entities of the dev split after that epoch, 0 to 1.")

RESULTS = Table(
    "results.parquet",
    "A row per corpus, embedding, type of entity and statistic: means over trials.",
    {
        "corpus": _CORPUS,
        "embedding": _EMBEDDING,
        "type": Column(pl.String, "Type of entity, or all."),
        "statistic": Column(
            pl.String, "f1, precision or recall of the entities of the test split."
        ),
        "value": Column(
            pl.Float64,
            "Mean over trials, 0 to 1; null of recall where the test split has no entity of the "
            "type, and of f1 where none was found either.",
        ),
        "deviation": Column(
            pl.Float64, "Standard deviation of the trials (n - 1); null of one trial."
        ),
        "low": Column(
            pl.Float64,
            "Lower end of the 95% interval of the mean, by a bootstrap over documents; null where "
            "there is none.",
        ),
        "high": Column(pl.Float64, "Upper end of it; null where there is none."),
        "n_trials": Column(pl.Int64, "Number of trials."),
        "n_entities": Column(
            pl.Int64, "Number of entities of the type that are to be found in the test split."
        ),
        "n_documents": Column(
            pl.Int64,
            "Number of documents of the test split; of sentences, where files tell no documents.",
        ),
    },
    key=("corpus", "embedding", "type", "statistic"),
    order="By corpus, embedding and type (all first), as they were named.",
)

TRIALS = Table(
    "trials.parquet",
    "A row per tagger: corpus, embedding and trial.",
    {
        "corpus": _CORPUS,
        "embedding": _EMBEDDING,
        "trial": _TRIAL,
        "epoch": _EPOCH,
        "dev_f1": _DEV_F1,
        "precision": Column(pl.Float64, "Precision of the entities of the test split, 0 to 1."),
        "recall": Column(pl.Float64, "Recall of the entities of the test split, 0 to 1."),
        "f1": Column(pl.Float64, "F1 of the entities of the test split, 0 to 1."),
    },
    key=("corpus", "embedding", "trial"),
    order="By corpus and embedding as they were named, then by trial.",
)

TASK_MODEL = "model"
"""The first column of ``tasks.parquet``; the others are corpora, with F1 of each embedding."""

TASKS = Table(
    "tasks.parquet",
    "A row per embedding: F1 of all entities on each corpus.",
    {
        TASK_MODEL: _EMBEDDING,
        "CORPUS": Column(
            pl.Float64,
            "Mean F1 of all entities of the corpus of that name, 0 to 1; a column a corpus.",
            in_some_files=True,
        ),
    },
    key=(TASK_MODEL,),
    order="By embedding as they were named.",
)

PREDICTION = Table(
    "predictions/corpus=*/embedding=*/words.parquet",
    "A row per trial and word of the test split, without the word itself.",
    {
        "trial": _TRIAL,
        "document_id": Column(pl.String, "Identifier of the document, as the corpus has it."),
        "sentence": Column(pl.Int32, "Number of the sentence in the split, from 1."),
        "word": Column(pl.Int32, "Number of the word in the sentence, from 1."),
        "gold": Column(pl.String, "Tag that the corpus gives the word, in the scheme BIO."),
        "predicted": Column(pl.String, "Tag that the tagger gives it, in the scheme BIO."),
        "corpus": _CORPUS,
        "embedding": _EMBEDDING,
    },
    key=("trial", "sentence", "word"),
    order="By trial, sentence and word.",
)

EPOCH = Table(
    "predictions/corpus=*/embedding=*/epochs.parquet",
    "A row per trial: the epoch after which it stopped.",
    {
        "trial": _TRIAL,
        "epoch": _EPOCH,
        "dev_f1": _DEV_F1,
        "corpus": _CORPUS,
        "embedding": _EMBEDDING,
    },
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
        "results": RESULTS,
        "trials": TRIALS,
        "tasks": TASKS,
        "prediction": PREDICTION,
        "epoch": EPOCH,
    },
    resumed_by="predictions",
    others={"conll/*/*.tsv": "A split of a corpus in CoNLL's layout, with --conll."},
)


class Tagging(Opened[TaggingManifest]):
    """Taggers' scores, as ``medsim tag`` writes them; what they hold is read when asked for.

    Args:
        folder: where they lie.

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
        """Return a row per corpus, embedding, type and statistic: ``RESULTS``."""
        return self._checked(RESULTS.files)

    def trials(self) -> pl.DataFrame:
        """Return a row per corpus, embedding and trial: ``TRIALS``."""
        return self._checked(TRIALS.files)

    def tasks(self) -> pl.DataFrame:
        """Return F1 of all entities, a row per embedding and a column per corpus.

        It is the extrinsic side of ``medsim.correlate``.
        """
        return self._checked(TASKS.files)
