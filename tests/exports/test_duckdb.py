"""The exported DuckDB database of a build or splits, opened as users open it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pytest
from fixtures.builds import selected

import medsim
from medsim.builds.output import BUILD
from medsim.core.errors import OutputError
from medsim.splits.output import SPLITS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def opened(path: Path) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(str(path), read_only=True)


def sizes(database: duckdb.DuckDBPyConnection) -> dict[str, int]:
    names = [name for (name,) in database.sql("select table_name from duckdb_tables()").fetchall()]
    return {name: len(database.table(name)) for name in names}


def test_the_database_of_a_build_has_its_views_as_tables_with_comments(
    shared_build: medsim.Build, tmp_path: Path
) -> None:
    exported = medsim.export(shared_build, tmp_path / "out", "duckdb")

    assert sorted(path.name for path in exported.folder.iterdir()) == [
        "build.duckdb",
        "manifest.json",
    ]
    with opened(tmp_path / "out" / "build.duckdb") as database:
        views = dict(shared_build.views().select("view", "rows").rows())
        assert sizes(database) == views
        assert exported.files().rows() == [("build.duckdb", sum(views.values()))]
        for view in ("pair", "positive", "term"):
            statement = f"from {view} order by all"
            assert database.sql(statement).pl().equals(selected(shared_build, statement)), view
        tables = database.sql("select table_name, comment from duckdb_tables()").fetchall()
        columns = database.sql(
            "select table_name, column_name, comment from duckdb_columns() where not internal"
        ).fetchall()
    assert dict(tables) == {name: view.about for name, view in BUILD.views.items()}
    assert len(columns) > 40
    for table, column, comment in columns:
        assert comment == BUILD.views[table].notes[column]


def test_the_database_of_splits_combines_their_builds(
    shared_splits: medsim.Splits, tmp_path: Path
) -> None:
    medsim.export(shared_splits, tmp_path / "out", "duckdb", threads=1)

    expected = dict(shared_splits.views().select("view", "rows").rows())
    parts = {
        name: dict(build.views().select("view", "rows").rows())
        for name, build in shared_splits.builds.items()
    }
    summed = {view: sum(part[view] for part in parts.values()) for view in BUILD.views}
    with opened(tmp_path / "out" / "splits.duckdb") as database:
        assert sizes(database) == summed | expected
        counts = "select split, count(*) from positive group by split"
        actual = dict(database.sql(counts).fetchall())
        assert actual == {name: part["positive"] for name, part in parts.items()}
        comments = database.sql(
            "select comment from duckdb_columns() where column_name = 'split'"
        ).fetchall()
        assert len(comments) == len(summed | expected)
        assert all("split" in (comment or "").lower() for (comment,) in comments)
        about = database.sql(
            "select comment from duckdb_tables() where table_name = 'concept_split'"
        ).fetchall()
        assert about == [(SPLITS.views["concept_split"].about,)]


@pytest.mark.parametrize("name", ["back\\slash[x]*", "a=b quo'te"])
def test_a_database_is_written_to_the_given_path(
    shared_build: medsim.Build, tmp_path: Path, name: str
) -> None:
    medsim.export(shared_build, tmp_path / name, "duckdb")

    assert [path.name for path in tmp_path.iterdir()] == [name]
    (tmp_path / name / "build.duckdb").rename(tmp_path / "plain.duckdb")
    with opened(tmp_path / "plain.duckdb") as database:
        assert len(database.table("stats")) == shared_build.stats().height


def test_a_path_that_duckdb_cannot_write_to_is_named(
    shared_build: medsim.Build, tmp_path: Path
) -> None:
    with pytest.raises(OutputError, match=r"^cannot write .*\?/.* a question mark; choose"):
        medsim.export(shared_build, tmp_path / "what?" / "out", "duckdb")

    assert list((tmp_path / "what?").iterdir()) == []
