"""A benchmark of words in context on disk, as people publish them and as medsim writes them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from medsim.core.errors import InputError, OptionError, unknown_name
from medsim.core.kinds import read_manifest
from medsim.core.manifest import MANIFEST
from medsim.wic import SPLITS
from medsim.wic.benchmark import INSTANCES
from medsim.wic.layout import read_instances
from medsim.wic.output import WIC

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import polars as pl

    from medsim.core.manifest import Output

_LETTERS = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkFiles:
    """What there is of a benchmark.

    Attributes:
        splits: instances by split, ``WIC_COLUMNS`` in the order of their file; those that are
            there, in the order of ``SPLITS``.
        folder: where ``medsim wic build`` wrote it; None where something else did.
        outputs: what its manifest says of its files, by path; empty without a manifest.
        options: by which it was made; empty without a manifest.
        quotas: how many True, and as many False, instances of each group a split has by its
            manifest; None where nobody says.
    """

    splits: Mapping[str, pl.DataFrame]
    folder: Path | None = None
    outputs: Mapping[str, Output]
    options: Mapping[str, object] = field(default_factory=dict)
    quotas: Mapping[str, Mapping[str, int]] | None = None


def read_benchmark(
    data: Path, *, split: str | None, others: Mapping[str, Path | None]
) -> BenchmarkFiles:
    """Return the benchmark in a folder or a file.

    Args:
        data: a folder with any of train.json, dev.json and test.json, or one such file.
        split: what a file is, of ``SPLITS``; by default its name says so.
        others: files of further splits, by split.

    Raises:
        InputError: something cannot be read or is not what it should be.
        OptionError: it is not clear which split a file is.
    """
    if split is not None and split not in SPLITS:
        raise OptionError(unknown_name("split", split, list(SPLITS)))
    if not data.exists():
        raise InputError(f"{data} does not exist")
    folder = data.is_dir()
    if folder and split is not None:
        raise OptionError(f"--split {split} is for one file; {data} is a folder")
    paths = _in_folder(data) if folder else {split or _split_of(data): data}
    for name, path in others.items():
        if path is not None and name in paths:
            raise OptionError(f"--{name} {path}: {paths[name]} is the {name} split already")
        if path is not None:
            paths[name] = path
    splits = {name: read_instances(paths[name]) for name in SPLITS if name in paths}
    if folder and (data / INSTANCES).exists() and not (data / MANIFEST).exists():
        raise InputError(
            f"{data} has {INSTANCES} and no {MANIFEST}, by which that is checked; name one of its "
            "JSON files to check that alone"
        )
    if not (folder and (data / MANIFEST).exists()):
        return BenchmarkFiles(splits=splits, outputs={})
    made = read_manifest(data, WIC)
    return BenchmarkFiles(
        splits=splits,
        folder=data,
        outputs=made.outputs,
        options=made.options,
        quotas=made.quotas,
    )


def _in_folder(folder: Path) -> dict[str, Path]:
    """Return the files of a folder by their split."""
    paths = {split: folder / f"{split}.json" for split in SPLITS}
    found = {split: path for split, path in paths.items() if path.exists()}
    if not found:
        names = ", ".join(path.name for path in paths.values())
        raise InputError(f"{folder} is no benchmark of words in context: it has none of {names}")
    return found


def _split_of(path: Path) -> str:
    """Return the split that the name of a file tells."""
    named = [split for split in SPLITS if split in _LETTERS.findall(path.stem.lower())]
    if len(named) != 1:
        raise OptionError(
            f"the name of {path} does not tell which split it is; add --split {'|'.join(SPLITS)}"
        )
    return named[0]
