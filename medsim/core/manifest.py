"""Provenance of an output: what was read, asked for, written, skipped, and what it took."""

from __future__ import annotations

import hashlib
import json
import platform
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from medsim.core.canonical import text_parts
from medsim.core.files import read_own_json, whole_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from medsim.core.progress import Progress

MANIFEST = "manifest.json"
"""The file whose presence says that an output is finished."""

ENCODERS = (
    "model2vec",
    "onnxruntime",
    "sentence-transformers",
    "tokenizers",
    "torch",
    "transformers",
)
"""Libraries of encoders, each of which may be installed or not."""

_LAST = ("warnings", "outputs", "stages")  # in the order of a manifest's file
_LIBRARIES = ("duckdb", "numba", "numpy", "polars", "pyarrow", "rapidfuzz")


_version = cache(version)  # which looks for a file each time


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Rows that were left out.

    Attributes:
        reason: why, in a few words.
        n_rows: how many.
    """

    reason: str
    n_rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A file that was written.

    Attributes:
        rows: how many it has; of a text, 0 or what it counts.
        fingerprint: SHA-256, of a table of its names, types and rows in order, else of its bytes.
    """

    rows: int
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The account that an output gives of itself; every part is plain JSON.

    Attributes:
        kind: of output, see ``medsim.core.kinds``.
        medsim: the version that wrote it.
        options: everything that decides the content and is named nowhere else, the seed among it.
        warnings: given to the user.
        outputs: rows and fingerprint by path.
    """

    kind: ClassVar[str]
    medsim: str
    options: dict[str, object]
    warnings: list[str]
    outputs: dict[str, Output]

    def write(self, folder: Path) -> None:
        """Write it to ``folder``; it appears whole or not at all."""
        content = asdict(self)
        last = {name: content.pop(name) for name in _LAST if name in content}
        text = json.dumps({"kind": self.kind, **content, **last}, indent=2, ensure_ascii=False)
        with whole_file(folder / MANIFEST, folder / f"{MANIFEST}.partial") as partial:
            partial.write_text(text + "\n", encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunManifest(Manifest):
    """The manifest of an output that takes long to compute.

    Attributes:
        libraries: versions of Python and of the libraries that decide the content.
        threads: how many were used, which decides nothing.
        stages: time and memory of each stage.
    """

    libraries: dict[str, str]
    threads: int
    stages: list[dict[str, object]]


def kind_of(folder: Path) -> str | None:
    """Return the kind of output that a folder holds; None where there is no readable manifest."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return str(read_own_json(folder / MANIFEST)["kind"])
    return None


def medsim_version() -> str:
    """Return the version of the installed package."""
    return _version("medsim")


def library_versions(*others: str) -> dict[str, str]:
    """Return the versions of Python, of the libraries that decide a build, and of others.

    Others need not be installed.
    """
    found = {"python": platform.python_version()}
    for name in (*_LIBRARIES, *others):
        with suppress(PackageNotFoundError):
            found[name] = _version(name)
    return found


def run_facts(
    progress: Progress, outputs: Mapping[str, Output], threads: int, *libraries: str
) -> dict[str, Any]:
    """Return the fields of a ``RunManifest`` but the options; ``libraries`` besides the usual."""
    return {
        "medsim": medsim_version(),
        "libraries": library_versions(*libraries),
        "threads": threads,
        "warnings": list(progress.warnings),
        "outputs": dict(sorted(outputs.items())),
        "stages": [asdict(record) for record in progress.records],
    }


def content_of(rows: pl.DataFrame | pl.LazyFrame) -> Output:
    """Return the number of rows and a SHA-256 of their content: names, types and rows in order.

    It depends on values alone: not on how Parquet, Polars or Arrow hold them, or on chunks. Of lazy
    rows a column is in memory at a time.
    """
    digest, n_rows = hashlib.sha256(), 0
    if isinstance(rows, pl.DataFrame):
        columns = iter(rows)
    else:
        columns = (rows.select(name).collect().to_series() for name in rows.collect_schema())
    for column in columns:
        n_rows = len(column)
        digest.update(f"{column.name} {column.dtype} {n_rows}\n".encode())
        has_null = column.null_count() > 0
        digest.update(column.is_null().to_numpy().tobytes() if has_null else bytes(n_rows))
        other = False if column.dtype == pl.Boolean else 0
        in_place = "" if column.dtype == pl.String else other
        values = column.fill_null(in_place) if has_null else column
        if column.dtype != pl.String:
            digest.update(values.to_numpy().tobytes())
            continue
        for starts, _ in text_parts(values):
            digest.update(np.diff(starts).astype(np.uint32).tobytes())
        for _, text in text_parts(values):
            digest.update(text)
    return Output(rows=n_rows, fingerprint=digest.hexdigest())


def fingerprint(rows: pl.DataFrame | pl.LazyFrame) -> str:
    """Return the fingerprint of ``content_of``."""
    return content_of(rows).fingerprint
