"""One DuckDB database with the tables of a build or of splits, each table and column described."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from medsim.core.opened import show_views
from medsim.core.store import Store
from medsim.exports.formats import FORMATS, ExportFormat
from medsim.splits.options import SPLIT_NAMES
from medsim.splits.output import Splits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from medsim.core.manifest import Skipped
    from medsim.core.opened import Opened
    from medsim.exports.formats import Export

_SPLIT_NOTE = f"Split that has the row: {', '.join(SPLIT_NAMES[:-1])} or {SPLIT_NAMES[-1]}."


def write_database(run: Export) -> list[Skipped]:
    """Write the database; see ``medsim.exports.formats.ExportFormat``.

    Its tables are the views of the build. Those of splits are their own views, and the other views
    of their builds together, with a column that names the split.
    """

    def write(path: Path) -> int:
        return sum(_copied(run, path, *part) for part in _parts(run))

    with run.progress.stage("write the database") as stage:
        name = f"{run.exported.kind.name}.duckdb"
        run.output.write_file(name, write)
        stage.found(f"{run.output.outputs[name].rows:,} rows")
    return []


def _parts(run: Export) -> Iterator[tuple[Opened[Any], frozenset[str], Mapping[str, str]]]:
    """Yield outputs, their views that are left out, and the values of columns that are added."""
    yield run.exported, frozenset(), {}
    if isinstance(run.exported, Splits):
        own = frozenset(run.exported.kind.views)
        for name, build in run.splits.items():
            yield build, own, {"split": name}


def _copied(
    run: Export,
    path: Path,
    opened: Opened[Any],
    left_out: frozenset[str],
    values: Mapping[str, str],
) -> int:
    """Append the views of an output to the tables of the database; return the number of rows."""
    added = {name: (value, _SPLIT_NOTE) for name, value in values.items()}
    with Store(threads=run.threads, spill=run.output.spill) as store:
        views = [view for view in show_views(opened, store) if view not in left_out]
        with store.attached(path) as file:
            return sum(file.append(view, opened.kind.views[view], added) for view in views)


FORMATS.register(
    "duckdb",
    ExportFormat(
        write=write_database,
        others={"*.duckdb": "Database whose tables are the views of the build, or of the splits."},
    ),
)
