"""The outputs of words in context: benchmarks and evaluations, each with tables and a manifest.

``tables.toml`` declares the tables with their columns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import polars as pl

from medsim.core.errors import InputError, OptionError, counted, listed, unknown_name
from medsim.core.instances import file_of, published_instances
from medsim.core.kinds import Column, Columns, Kind, columns, declared_tables
from medsim.core.manifest import MANIFEST, RunManifest
from medsim.core.opened import Opened, reading_output
from medsim.core.options import folder_of
from medsim.core.shown import Summary
from medsim.corpora import CORPUS_SPLITS, CorpusSplit
from medsim.embeddings.replies import reply_columns
from medsim.wic import GROUPS
from medsim.wic.options import BenchmarkFilesOptions

_LETTERS = re.compile(r"[a-z]+")

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


class Benchmark(Opened[WicManifest]):
    """A finished benchmark of words in context; its tables are read when they are needed.

    Args:
        folder: of the benchmark.

    Raises:
        InputError: the folder does not hold a benchmark.

    Attributes:
        folder: of the benchmark.
        manifest: of the folder.
    """

    kind = WIC

    def _summary(self) -> Summary:
        facts = [
            f"{counted(self._rows_below(INSTANCE.files), 'instance')} of words in context",
            counted(self._rows_below(CHOSEN_MENTION.files), "sentence"),
            counted(len(self.manifest.corpora), "corpus", "corpora"),
        ]
        calls = ['.instances("test")', "medsim.evaluate_wic(benchmark, …)"]
        return Summary(facts, calls, self._sizes)

    def _sizes(self) -> pl.DataFrame:
        """Return the number of instances of each label, by group and split."""
        groups = self.instances().group_by("split", "cat", "label", maintain_order=True)
        return groups.agg(pl.len().alias("instances"))

    def instances(self, split: CorpusSplit | None = None) -> pl.DataFrame:
        """Return the instances of one split or of all: ``INSTANCE``.

        Raises:
            OptionError: the benchmark lacks this split.
        """
        if split is not None and split not in CORPUS_SPLITS:
            raise OptionError(unknown_name("split", split, list(CORPUS_SPLITS)))
        instances = self.read(INSTANCE.files)
        return instances if split is None else instances.filter(pl.col("split") == split)

    def mentions(self) -> pl.DataFrame:
        """Return the mention of every sentence: ``CHOSEN_MENTION``."""
        return self.read(CHOSEN_MENTION.files)

    def semantic_types(self) -> pl.DataFrame | None:
        """Return the types of its concepts, ``SEMANTIC_TYPE``; None where unknown."""
        has_types = SEMANTIC_TYPE.files in self.manifest.outputs
        return self.read(SEMANTIC_TYPE.files) if has_types else None


class WicScores(Opened[WicEvaluationManifest]):
    """Scores of models on words in context, as ``medsim wic eval`` writes them."""

    kind = WIC_EVALUATION

    def _summary(self) -> Summary:
        calls = [".results()", ".predictions()"]
        return Summary([*self.manifest.models], calls, self.results)

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


def read_instances(path: Path) -> pl.DataFrame:
    """Return the instances of a file after checking their groups: ``WIC_COLUMNS``.

    Other rules are not checked; ``medsim.wic.verify`` does that.
    """
    instances = published_instances(path)
    for number, cat in enumerate(instances["cat"], start=1):
        if cat not in GROUPS:
            raise InputError(
                f"{path}: instance {number}: unknown cat {cat!r}; known: {', '.join(GROUPS)}"
            )
    return instances


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkFiles:
    """The files of a benchmark.

    Attributes:
        name: of the folder or file.
        splits: the instances of each existing split, in the order of ``CORPUS_SPLITS``:
            ``WIC_COLUMNS`` in the order of the file.
        build: the folder that ``medsim wic build`` wrote; None for other benchmarks.
    """

    name: str
    splits: Mapping[str, pl.DataFrame]
    build: Benchmark | None

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of ``medsim wic build``; empty for other benchmarks."""
        return self.build.manifest.options if self.build else {}

    def reading(self) -> AbstractContextManager[object]:
        """Return a context that reports damage of a folder; see ``reading_output``."""
        return nullcontext() if self.build is None else reading_output(self.build)


def read_benchmark(options: BenchmarkFilesOptions) -> BenchmarkFiles:
    """Return the benchmark in a folder or a file."""
    data = folder_of(options.data)
    paths = {_split_of(data): data} if data.is_file() else split_files(data)
    if not paths:
        names = ", ".join(f"{name}.json" for name in CORPUS_SPLITS)
        raise InputError(f"{data} is not a benchmark of words in context: it has no {names}")
    splits = {name: read_instances(paths[name]) for name in CORPUS_SPLITS if name in paths}
    build = Benchmark(data) if (data / MANIFEST).exists() else None
    return BenchmarkFiles(name=data.name, splits=splits, build=build)


def split_files(data: Path) -> dict[str, Path]:
    """Return the file of each split that a folder has, or a single file as the test split."""
    if not data.exists():
        raise InputError(f"{data} does not exist")
    if not data.is_dir():
        return {"test": data}
    paths = {split: file_of(data, split) for split in CORPUS_SPLITS}
    return {split: path for split, path in paths.items() if path.exists()}


def _split_of(path: Path) -> str:
    """Return the split that the name of a file contains."""
    named = [split for split in CORPUS_SPLITS if split in _LETTERS.findall(path.stem.lower())]
    if len(named) != 1:
        raise InputError(f"the name of {path} has no {listed(CORPUS_SPLITS, word='or')}; rename it")
    return named[0]
