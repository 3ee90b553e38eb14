"""A benchmark of words in context on disk, as people publish them and as medsim writes them."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medsim.core.errors import InputError, OptionError
from medsim.core.manifest import MANIFEST
from medsim.core.opened import reading_output
from medsim.core.options import folder_of
from medsim.corpora import ENGLISH
from medsim.terminologies.options import ReadingOptions
from medsim.wic import SPLITS
from medsim.wic.benchmark import INSTANCES, Benchmark, read_instances

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from medsim.wic.options import BenchmarkFilesOptions

_LETTERS = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkFiles:
    """The files of a benchmark.

    Attributes:
        splits: instances by split, ``WIC_COLUMNS`` in the order of their file; those that are
            there, in the order of ``SPLITS``.
        made: the folder of ``medsim wic build``, with its manifest; None of another.
    """

    splits: Mapping[str, pl.DataFrame]
    made: Benchmark | None

    @property
    def options(self) -> Mapping[str, Any]:
        """The options with which ``medsim wic build`` made it; none of another."""
        return self.made.manifest.options if self.made else {}

    @property
    def reading(self) -> ReadingOptions:
        """The options with which its terminology was read; by default those of any."""
        return ReadingOptions.from_record(self.options)

    @property
    def language(self) -> str:
        """The language of its lemmas; before ``most_repeats`` was recorded all were English."""
        return str(self.options["language"]) if "most_repeats" in self.options else ENGLISH

    def being_read(self) -> AbstractContextManager[object]:
        """Return a context in which damage of a folder is told; see ``reading_output``."""
        return nullcontext() if self.made is None else reading_output(self.made)


def read_benchmark(options: BenchmarkFilesOptions) -> BenchmarkFiles:
    """Return the benchmark in a folder or a file, and in the files of further splits."""
    data, split = folder_of(options.data), options.split
    if not data.exists():
        raise InputError(f"{data} does not exist")
    folder = data.is_dir()
    if folder and split is not None:
        raise OptionError(f"`split` {split} is for one file; {data} is a folder")
    paths = _in_folder(data) if folder else {split or _split_of(data): data}
    for name, path in options.given().items():
        if name in SPLITS and path is not None:
            if name in paths:
                raise OptionError(f"`{name}` {path}: {paths[name]} is the {name} split already")
            paths[name] = Path(path)
    splits = {name: read_instances(paths[name]) for name in SPLITS if name in paths}
    made = folder and (data / MANIFEST).exists()
    if folder and not made and (data / INSTANCES).exists():
        raise InputError(
            f"{data} has {INSTANCES} and no {MANIFEST}, by which that is checked; name one of its "
            "JSON files to check that alone"
        )
    return BenchmarkFiles(splits=splits, made=Benchmark(data) if made else None)


def _in_folder(folder: Path) -> dict[str, Path]:
    """Return the files of a folder by their split."""
    paths = {split: folder / f"{split}.json" for split in SPLITS}
    found = {split: path for split, path in paths.items() if path.exists()}
    if not found:
        names = ", ".join(path.name for path in paths.values())
        raise InputError(f"{folder} is no benchmark of words in context: it has none of {names}")
    return found


def _split_of(path: Path) -> str:
    """Return the split that the name of a file says."""
    named = [split for split in SPLITS if split in _LETTERS.findall(path.stem.lower())]
    if len(named) != 1:
        raise OptionError(
            f"the name of {path} does not tell which split it is; add `split` {'|'.join(SPLITS)}"
        )
    return named[0]
