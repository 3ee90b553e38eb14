"""Provenance of an output: inputs, options, files, skipped rows, time and memory."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl

from medsim.core.canonical import canonical_digest, text_parts
from medsim.core.errors import with_addresses
from medsim.core.files import read_own_json, whole_file

MANIFEST = "manifest.json"
"""The file that marks a finished output."""

ENCODERS = (
    "model2vec",
    "onnxruntime",
    "sentence-transformers",
    "tokenizers",
    "torch",
    "transformers",
)
"""Optional libraries of encoders."""

_LAST = ("warnings", "outputs", "stages")  # in the order of a manifest's file
_LIBRARIES = ("duckdb", "numba", "numpy", "polars", "pyarrow", "rapidfuzz")


_version = cache(version)  # cached, as it looks for a file each time


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Rows that were left out.

    Attributes:
        reason: reason, in a few words.
        n_rows: number of rows.
    """

    reason: str
    n_rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A file that was written.

    Attributes:
        rows: number of rows; for a text file, 0 or a count of its content.
        fingerprint: SHA-256 of a table's names, types and rows, or of another file's bytes.
    """

    rows: int
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The provenance of an output, as plain JSON.

    Attributes:
        kind: kind of output, see ``medsim.core.kinds``.
        medsim: version of medsim that wrote it.
        options: options that decide the content and are not recorded elsewhere, with the seed.
        warnings: warnings printed during the run.
        outputs: rows and fingerprint of each file, by path.
    """

    kind: ClassVar[str]
    medsim: str
    options: dict[str, object]
    warnings: list[str]
    outputs: dict[str, Output]

    def write(self, folder: Path) -> None:
        """Write it to ``folder`` atomically."""
        content = asdict(self)
        last = {name: content.pop(name) for name in _LAST if name in content}
        text = json.dumps({"kind": self.kind, **content, **last}, indent=2, ensure_ascii=False)
        with whole_file(folder / MANIFEST, folder / f"{MANIFEST}.partial") as partial:
            partial.write_text(with_addresses(text) + "\n", encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunManifest(Manifest):
    """The manifest of an output that takes long to compute.

    Attributes:
        libraries: versions of Python and of the libraries that affect the content.
        threads: number of threads used, which does not affect the content.
        stages: time and memory of each stage.
    """

    libraries: dict[str, str]
    threads: int
    stages: list[dict[str, object]]


def output_kind(folder: Path) -> str | None:
    """Return the kind of output in a folder; None if it has no readable manifest."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return str(read_own_json(folder / MANIFEST)["kind"])
    return None


def medsim_version() -> str:
    """Return the version of the installed package."""
    return _version("medsim")


def library_versions(*others: str) -> dict[str, str]:
    """Return the versions of Python, of the libraries that affect a build, and of ``others``.

    Libraries that are not installed are left out.
    """
    versions = {"python": platform.python_version()}
    for name in (*_LIBRARIES, *others):
        with suppress(PackageNotFoundError):
            versions[name] = _version(name)
    return versions


def content_of(rows: pl.DataFrame | pl.LazyFrame) -> Output:
    """Return the number of rows and a SHA-256 of the names, types and rows in order.

    The hash depends only on values, not on chunks or their representation in Parquet, Polars or
    Arrow. Lazy rows are read one column at a time.
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
        null_value = "" if column.dtype == pl.String else pl.Series([0]).cast(column.dtype)[0]
        values = column.fill_null(null_value) if has_null else column
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


def combined(outputs: Mapping[str, Output], below: str = "") -> Output:
    """Return the rows of the files whose paths begin with a text, and a SHA-256 of fingerprints."""
    files = [(path, file) for path, file in sorted(outputs.items()) if path.startswith(below)]
    digest = canonical_digest([(path, file.fingerprint) for path, file in files])
    return Output(rows=sum(file.rows for _, file in files), fingerprint=digest)
