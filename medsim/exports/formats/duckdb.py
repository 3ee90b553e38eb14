"""A DuckDB database of a build or of splits, with comments on tables and columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from medsim.core.opened import Opened, show_views
from medsim.core.store import Store
from medsim.exports.formats import Export, ExportFormat
from medsim.splits.options import SPLIT_NAMES
from medsim.splits.output import Splits

_SPLIT_NOTE = f"Split of the row: {', '.join(SPLIT_NAMES[:-1])} or {SPLIT_NAMES[-1]}."


def write_database(run: Export) -> None:
    """Write the database; see ``medsim.exports.formats.ExportFormat``.

    For a build, its tables are the build's views. For splits, they are the views of the splits, and
    the other views of all their builds combined, with a column for the split.
    """
    exported = run.exported
    parts: list[tuple[Opened[Any], dict[str, tuple[str, str]]]] = [(exported, {})]
    if isinstance(exported, Splits):
        parts += ((build, {"split": (name, _SPLIT_NOTE)}) for name, build in run.splits.items())

    def write(path: Path) -> int:
        n_rows = 0
        for opened, added in parts:
            left_out = exported.kind.views if added else {}
            with Store(threads=run.threads, spill=run.output.spill) as store:
                views = [view for view in show_views(opened, store) if view not in left_out]
                with store.attached(path) as append:
                    n_rows += sum(append(view, opened.kind.views[view], added) for view in views)
        return n_rows

    with run.progress.stage("write the database") as stage:
        name = f"{exported.kind.name}.duckdb"
        run.output.write_file(name, write)
        stage.note(f"{run.output.outputs[name].rows:,} rows")


ExportFormat(
    write=write_database,
    others={"*.duckdb": "Database whose tables are the views of the build, or of the splits."},
    next="to open the database, run duckdb {file}",
).register("duckdb")
