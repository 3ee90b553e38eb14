"""Provenance of an output: what was read, asked for, written, skipped, and what it took."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

import polars as pl

from medsim.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST = "manifest.json"
"""The file whose presence says that an output is finished."""

_LIBRARIES = ("duckdb", "fastobo", "numba", "numpy", "polars", "pyarrow", "rapidfuzz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A file that was written.

    Attributes:
        rows: how many it has.
        fingerprint: of its rows, in their order, see ``fingerprint``.
    """

    rows: int
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a build says of itself; every part is plain JSON.

    Attributes:
        kind: "build".
        medsim: the version that wrote it.
        libraries: versions by name.
        source: see ``medsim.sources.Terminology``, without what was skipped.
        options: everything that decides the rows, the seed among them.
        threads: how many computed.
        skipped: reason and rows of what was left out.
        components: how many connected components the positives join terms to, and the largest.
        shortfall: negatives that could not be made, in all sets together.
        warnings: what the user was warned of.
        outputs: rows and fingerprint by path.
        stages: seconds and peak memory of each stage.
    """

    kind: str = "build"
    medsim: str
    libraries: dict[str, str]
    source: dict[str, object]
    options: dict[str, object]
    threads: int
    skipped: list[dict[str, object]]
    components: dict[str, int]
    shortfall: int
    warnings: list[str]
    outputs: dict[str, Output]
    stages: list[dict[str, object]]

    def write(self, folder: Path) -> None:
        """Write it to ``folder``; it appears whole or not at all."""
        text = json.dumps(asdict(self), indent=2, ensure_ascii=False)
        partial = folder / f"{MANIFEST}.partial"
        partial.write_text(text + "\n", encoding="utf-8")
        partial.replace(folder / MANIFEST)


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a finished output.

    Raises:
        InputError: there is none, or it is not medsim's.
    """
    path = folder / MANIFEST
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        outputs = {name: Output(**output) for name, output in found.pop("outputs").items()}
        manifest = Manifest(**found, outputs=outputs)
    except FileNotFoundError as error:
        raise InputError(
            f"{folder} has no {MANIFEST}: it is no finished build; make one with medsim build"
        ) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} cannot be read as a manifest of medsim ({error})") from error
    if manifest.kind != "build":
        raise InputError(f"{path} is a manifest of kind {manifest.kind!r}, not of a build")
    return manifest


def medsim_version() -> str:
    """Return the version of the installed package."""
    return version("medsim")


def library_versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that decide results."""
    found = {name: version(name) for name in _LIBRARIES}
    return {"python": platform.python_version(), **found}


def fingerprint(frame: pl.DataFrame) -> str:
    """Return a SHA-256 of the content of a frame: column names, types and rows in order.

    It depends on values alone: not on how Parquet, Polars or Arrow hold them, or on chunks.
    """
    digest = hashlib.sha256()
    for column in frame.iter_columns():
        digest.update(f"{column.name} {column.dtype} {len(column)}\n".encode())
        digest.update(column.is_null().to_numpy().tobytes())
        if column.dtype == pl.String:
            text = column.fill_null("")
            digest.update(text.str.len_bytes().to_numpy().tobytes())
            digest.update(text.str.join("").item().encode())
        elif column.dtype == pl.Boolean:
            digest.update(column.fill_null(value=False).to_numpy().tobytes())
        else:
            digest.update(column.fill_null(0).to_numpy().tobytes())
    return digest.hexdigest()
