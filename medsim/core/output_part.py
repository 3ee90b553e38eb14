"""A folder in an unfinished output, filled as the output itself is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.core.files import digest_of
from medsim.core.manifest import MANIFEST, Output

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import polars as pl

    from medsim.core.output import OutputFolder


class OutputPart:
    """An output that lies in another one, such as the build of a split; see ``OutputFolder``.

    Attributes:
        folder: where it lies until the whole is published.
        outputs: what has been written to it, by path inside it.
    """

    def __init__(self, whole: OutputFolder, name: str) -> None:
        self._whole, self._name = whole, name
        self.folder = whole.folder / name
        self.outputs: dict[str, Output] = {}

    def exists(self, name: str) -> bool:
        """Return whether an interrupted run of the same job wrote a file."""
        return self._whole.exists(self._path(name))

    def scan(self, name: str) -> pl.LazyFrame | None:
        """Return the rows of a file that is there already, None if it is not or is damaged."""
        return self._whole.scan(self._path(name))

    def write(
        self, name: str, rows: pl.DataFrame | pl.LazyFrame, metadata: Mapping[str, str]
    ) -> None:
        """Write rows as Parquet; the file appears whole or not at all."""
        self._whole.write(self._path(name), rows, metadata)
        self._note(name)

    def write_text(self, name: str, text: str, n_rows: int) -> None:
        """Write a text file, which appears whole or not at all."""
        self._whole.write_text(self._path(name), text, n_rows)
        self._note(name)

    def write_file(self, name: str, write: Callable[[Path], int]) -> None:
        """Write a file of any size, which appears whole or not at all."""
        self._whole.write_file(self._path(name), write)
        self._note(name)

    def register_existing(self, name: str, rows: pl.DataFrame | pl.LazyFrame) -> None:
        """Note the rows of a file that an interrupted run wrote."""
        self._whole.register_existing(self._path(name), rows)
        self._note(name)

    def register_manifest(self) -> None:
        """Note the manifest, which is written last, as a file of the whole."""
        digest = digest_of(self.folder / MANIFEST)
        self._whole.outputs[self._path(MANIFEST)] = Output(rows=1, fingerprint=digest)

    def _path(self, name: str) -> str:
        return f"{self._name}/{name}"

    def _note(self, name: str) -> None:
        self.outputs[name] = self._whole.outputs[self._path(name)]
