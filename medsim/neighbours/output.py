"""Files of ``medsim nearest``, opened for SQL statements."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shutil import copyfile, rmtree
from tempfile import mkdtemp
from weakref import finalize

import polars as pl

from medsim.core.kinds import Kind, Table
from medsim.core.manifest import Manifest
from medsim.core.opened import Opened
from medsim.core.parquet import write_parquet
from medsim.core.reading import reading
from medsim.core.tables import is_parquet, read_table

NEAREST_SUFFIXES = (".parquet", ".csv")
"""The endings of the files that ``medsim nearest`` writes."""

NEAREST_FILE = Kind(
    noun="table", command="medsim nearest", manifest=Manifest, views={"nearest": Table()}
)


class NearestFile(Opened[Manifest]):
    """A file that ``medsim nearest`` wrote, as the view ``nearest``; it has no manifest."""

    kind = NEAREST_FILE

    def __init__(self, path: str | Path) -> None:
        self.folder = Path(path)
        self._copy = Path(mkdtemp(prefix="medsim-"))  # statements read only this folder
        finalize(self, rmtree, self._copy, ignore_errors=True)
        file = self._copy / "nearest.parquet"
        with reading(path):
            if is_parquet(self.folder):
                copyfile(self.folder, file)  # DuckDB would follow a link, and refuse the file
            else:
                rows = read_table(self.folder, extra=None).frame
                write_parquet(
                    rows.with_columns(pl.col("^(rank|distance)$").cast(pl.Int32)), file, {}
                )

    def _files_of_views(self) -> tuple[Path, Mapping[str, str], tuple[str, ...]]:
        return self._copy, {"nearest": "nearest.parquet"}, ()
