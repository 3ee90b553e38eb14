"""The output of tagging: its kind, tables and manifest.

``tables.toml`` declares the tables with their columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from medsim.core.errors import counted, listed
from medsim.core.kinds import Kind, declared_tables
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.core.shown import Summary

if TYPE_CHECKING:
    import polars as pl

_FEW = 4  # names that a summary lists

ALL_TYPES = "all"
"""The type for the entities of all types together."""

_TABLES = declared_tables(__package__)
ENTITY_SCORES, TRIALS, TASKS = _TABLES["results"], _TABLES["trials"], _TABLES["tasks"]
PREDICTION, EPOCH = _TABLES["prediction"], _TABLES["epoch"]

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


TAGGING = Kind(
    noun="tagging",
    command="medsim tag",
    manifest=TaggingManifest,
    views=_TABLES,
    resumed_by="predictions",
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
        return Summary(facts, calls, self.tasks)

    def results(self) -> pl.DataFrame:
        """Return a row per corpus, embedding, type and statistic: ``ENTITY_SCORES``."""
        return self.read_checked(ENTITY_SCORES.files)

    def trials(self) -> pl.DataFrame:
        """Return a row per corpus, embedding and trial: ``TRIALS``."""
        return self.read_checked(TRIALS.files)

    def tasks(self) -> pl.DataFrame:
        """Return F1 of all entities, a row per embedding and a column per corpus.

        It is the extrinsic side of ``medsim.correlate``.
        """
        return self.read_checked(TASKS.files)
