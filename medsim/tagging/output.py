"""The output of tagging: its kind, its tables and their columns, its manifest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from medsim.core.errors import counted, listed
from medsim.core.kinds import Columns, Kind, View, columns
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.tagging.notes import ABOUT, KEYS, NOTES, ORDER

if TYPE_CHECKING:
    from medsim.core.shown import Summary

_FEW = 4  # names that a summary lists

TAG_RESULT_COLUMNS: Columns = (
    columns(pl.String, "corpus", "embedding", "type", "statistic")
    | columns(pl.Float64, "value", "deviation", "low", "high")
    | columns(pl.Int64, "n_trials", "n_entities", "n_documents")
)
"""The columns of ``results.parquet`` of taggers.

The statistic is "f1", "precision" or "recall" of the entities of the test split, of one type or
"all"; the value its mean over trials, the deviation the standard deviation of these, null of one
trial. Low and high are the ends of the 95% interval of the mean, by a bootstrap over the documents
of the test split (its sentences, where files tell no documents), of which there are n_documents.
"""

TRIAL_COLUMNS: Columns = (
    columns(pl.String, "corpus", "embedding")
    | columns(pl.Int32, "trial", "epoch")
    | columns(pl.Float64, "dev_f1", "precision", "recall", "f1")
)
"""The columns of ``trials.parquet``: a row a tagger.

Trials and epochs count from 1. The tagger is that of the epoch with the best F1 of the dev split,
dev_f1; the others are of the test split.
"""

PREDICTION_COLUMNS: Columns = (
    columns(pl.Int32, "trial")
    | columns(pl.String, "document_id")
    | columns(pl.Int32, "sentence", "word")
    | columns(pl.String, "gold", "predicted")
)
"""The columns of predictions: a row per trial and word of the test split, without the word itself.

Sentences count from 1 in their split, words in their sentence. Tags are in the scheme BIO.
"""

EPOCH_COLUMNS: Columns = columns(pl.Int32, "trial", "epoch") | columns(pl.Float64, "dev_f1")
"""The columns of the epochs after which trials stopped."""

TASK_MODEL = "model"
"""The first column of ``tasks.parquet``; the others are corpora, with F1 of each embedding."""


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


def _described(name: str, files: str, of_files: Columns) -> View:
    """Return a table with its descriptions."""
    further: Columns = {"CORPUS": pl.Float64} if name == "tasks" else {}
    return View(
        files,
        of_files,
        about=ABOUT[name],
        notes=NOTES[name],
        further=further,
        key=KEYS[name],
        order=ORDER[name],
    )


TAGGING = Kind(
    noun="tagging",
    command="medsim tag",
    manifest=TaggingManifest,
    views={
        "results": _described("results", "results.parquet", TAG_RESULT_COLUMNS),
        "trials": _described("trials", "trials.parquet", TRIAL_COLUMNS),
        "tasks": _described("tasks", "tasks.parquet", {TASK_MODEL: pl.String}),
        "prediction": _described(
            "prediction", "predictions/corpus=*/embedding=*/words.parquet", PREDICTION_COLUMNS
        ),
        "epoch": _described(
            "epoch", "predictions/corpus=*/embedding=*/epochs.parquet", EPOCH_COLUMNS
        ),
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
        """Return a row per corpus, embedding, type and statistic: ``TAG_RESULT_COLUMNS``."""
        return self._checked("results.parquet")

    def trials(self) -> pl.DataFrame:
        """Return a row per corpus, embedding and trial: ``TRIAL_COLUMNS``."""
        return self._checked("trials.parquet")

    def tasks(self) -> pl.DataFrame:
        """Return F1 of all entities, a row per embedding and a column per corpus.

        It is the extrinsic side of ``medsim.correlate``.
        """
        return self._checked("tasks.parquet")
