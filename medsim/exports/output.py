"""The output of ``medsim export``: its kind and its manifest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import polars as pl

from medsim.builds.output import PAIR
from medsim.core.errors import counted
from medsim.core.kinds import Kind, declared_tables
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.core.shown import Summary
from medsim.exports.formats import SPLIT_NOTE

_OF_PAIRS = {name: {name: PAIR.columns[name]} for name in ("pair_id", "distance")}
TRAINING_TABLES = {
    name: replace(table, about=f"{table.about} {SPLIT_NOTE}")
    for name, table in declared_tables(__package__, **_OF_PAIRS).items()
}
"""The tables of files for training, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportManifest(RunManifest):
    """The manifest of an export.

    Attributes:
        source: the exported terminology.
        exported: the fingerprint of the exported output's manifest.
        skipped: items left out.
    """

    kind: ClassVar[str] = "export"
    source: dict[str, object]
    exported: str
    skipped: list[dict[str, object]]


EXPORT = Kind(noun="export", command="medsim export", manifest=ExportManifest, views={})


class Exported(Opened[ExportManifest]):
    """A finished export; other tools read its files."""

    kind = EXPORT

    def _summary(self) -> Summary:
        files = self.files()
        facts = [f"for {self.manifest.options.get('to')}", counted(files.height, "file")]
        return Summary(facts, [".folder", ".files()"], lambda: files)

    def files(self) -> pl.DataFrame:
        """Return a row per file: its path in the folder and its rows."""
        rows = [(path, output.rows) for path, output in self.manifest.outputs.items()]
        return pl.DataFrame(rows, schema={"file": pl.String, "rows": pl.Int64}, orient="row")
