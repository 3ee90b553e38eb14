"""Benchmarks of words in context: folders of medsim, and published JSON files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.errors import InputError, OptionError, counted, unknown_name
from medsim.core.instances import file_of, published_instances
from medsim.core.kinds import WIC_COLUMNS
from medsim.core.manifest import MANIFEST
from medsim.core.opened import Opened, reading_output
from medsim.core.options import folder_of
from medsim.core.shown import Summary
from medsim.corpora import CORPUS_SPLITS, CorpusSplit
from medsim.wic import GROUPS
from medsim.wic.output import CHOSEN_MENTION, INSTANCE, SEMANTIC_TYPE, WIC, WicManifest

if TYPE_CHECKING:
    from medsim.wic.options import BenchmarkFilesOptions

_LETTERS = re.compile(r"[a-z]+")


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
        return self._summarized(facts, calls, self._sizes)

    def _sizes(self) -> pl.DataFrame:
        """Return the number of instances of each label, by group and split."""
        groups = self.instances().group_by("split", "cat", "label", maintain_order=True)
        return groups.agg(pl.len().alias("instances"))

    def instances(self, split: CorpusSplit | None = None) -> pl.DataFrame:
        """Return the instances of one split or of all: ``INSTANCE``.

        Raises:
            OptionError: there is no such split.
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


def instances_text(instances: pl.DataFrame) -> str:
    """Return instances as the text of a JSON file in the published layout."""
    return json.dumps(instances.select(list(WIC_COLUMNS)).to_dicts(), ensure_ascii=False, indent=1)


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
    """Return the benchmark in a folder or a file, and in the files of further splits."""
    data, split = folder_of(options.data), options.split
    if not data.exists():
        raise InputError(f"{data} does not exist")
    if not data.is_dir():
        paths = {split or _split_of(data): data}
    elif split is not None:
        raise OptionError(f"`split` {split} applies to a single file; {data} is a folder")
    else:
        files = {name: file_of(data, name) for name in CORPUS_SPLITS}
        paths = {name: path for name, path in files.items() if path.exists()}
        if not paths:
            names = ", ".join(f"{name}.json" for name in CORPUS_SPLITS)
            raise InputError(f"{data} is not a benchmark of words in context: it has no {names}")
    for name, path in options.values_for().items():
        if name in CORPUS_SPLITS and path is not None:
            if name in paths:
                raise OptionError(f"`{name}` {path}: {paths[name]} is the {name} split already")
            paths[name] = Path(path)
    splits = {name: read_instances(paths[name]) for name in CORPUS_SPLITS if name in paths}
    build = Benchmark(data) if (data / MANIFEST).exists() else None
    return BenchmarkFiles(name=data.name, splits=splits, build=build)


def _split_of(path: Path) -> str:
    """Return the split that the name of a file contains."""
    named = [split for split in CORPUS_SPLITS if split in _LETTERS.findall(path.stem.lower())]
    if len(named) != 1:
        raise OptionError(f"the name of {path} has no split; add `split` {'|'.join(CORPUS_SPLITS)}")
    return named[0]
