"""The outputs of words in context: benchmarks and evaluations, each with tables and a manifest.

``tables.toml`` declares the tables with their columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

import polars as pl

from medsim.core.kinds import Column, Columns, Kind, columns, declared_tables
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.core.shown import Summary
from medsim.embeddings.replies import reply_columns

_PREDICTION = Column(pl.Boolean, "The answer; null unless the verdict is answered.")
_TABLES = declared_tables(__package__, reply=reply_columns(_PREDICTION))
INSTANCE, CHOSEN_MENTION = _TABLES["instance"], _TABLES["mention"]
NAME, RELATED, SEMANTIC_TYPE = _TABLES["name"], _TABLES["related"], _TABLES["semantic_type"]
ACCURACIES, PREDICTIONS = _TABLES["results"], _TABLES["predictions"]
INSTANCE_REPLIES = _TABLES["replies"]

MENTION_COLUMNS: Columns = {
    name: dtype for name, dtype in CHOSEN_MENTION.dtypes.items() if name != "concept_id"
} | columns(pl.String, "kind", "vocabulary", "code")
"""The columns of mentions in sentences of corpora: a row per mention that has one code.

Vocabularies are named as in UMLS, such as MSH.
"""

ALL_INSTANCES = "all"
"""The subset of all tested instances."""


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
        name: _TABLES[name] for name in ("instance", "mention", "name", "related", "semantic_type")
    },
)

WIC_EVALUATION = Kind(
    noun="evaluation of words in context",
    command="medsim wic eval",
    manifest=WicEvaluationManifest,
    views={"results": ACCURACIES, "predictions": PREDICTIONS, "replies": INSTANCE_REPLIES},
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
