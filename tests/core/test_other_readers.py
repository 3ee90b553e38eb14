"""Other tools read folders of tables, with the columns in the folder names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import polars as pl
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from fixtures.builds import selected

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def by_pandas(folder: Path) -> pl.DataFrame:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    return pl.from_pandas(pandas.read_parquet(folder))


def by_duckdb(folder: Path) -> pl.DataFrame:
    files, as_named = f"{folder}/**/*.parquet", {"hive_partitioning": True, "union_by_name": True}
    return duckdb.read_parquet(files, **as_named).pl()


READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    "pandas": by_pandas,
    "duckdb": by_duckdb,
    "polars": lambda folder: pl.scan_parquet(folder, missing_columns="insert").collect(),
    "pyarrow.dataset": lambda folder: pl.DataFrame(
        ds.dataset(folder, partitioning="hive").to_table()
    ),
    "pyarrow.parquet": lambda folder: pl.DataFrame(pq.read_table(folder)),
}


def rows_of_files(folder: Path) -> pl.DataFrame:
    """Return the rows of each file and the columns of its folders, file by file."""
    frames = []
    for file in folder.rglob("*.parquet"):
        named = dict(part.split("=") for part in file.relative_to(folder).parent.parts)
        rows = pl.DataFrame(pq.ParquetFile(file).read())
        frames.append(rows.with_columns(pl.lit(value).alias(name) for name, value in named.items()))
    return pl.concat(frames, how="diagonal")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("output", "folder"),
    [
        ("shared_build", "pairs"),
        ("similar_build", "pairs"),
        ("shared_evaluation", "pairs"),
        ("shared_evaluation", "scores"),
    ],
)
def test_whole_folder_of_tables_is_read_by(
    request: pytest.FixtureRequest, output: str, folder: str, reader: str
) -> None:
    place = request.getfixturevalue(output).folder / folder
    expected = rows_of_files(place)

    result = READERS[reader](place)

    assert sorted(result.columns) == sorted(expected.columns)
    assert result.height == expected.height > 0
    result = result.select(pl.col(name).cast(kind) for name, kind in expected.schema.items())
    assert result.sort(pl.all()).equals(expected.sort(pl.all()))


def test_polars_needs_no_option_for_the_pairs_of_a_usual_build(shared_build) -> None:
    folder = shared_build.folder / "pairs"
    expected = rows_of_files(folder)

    result = pl.read_parquet(folder).select(expected.columns)

    assert result.sort(pl.all()).equals(expected.sort(pl.all()))


def test_pairs_have_all_rows_of_the_files_with_their_sets(similar_build) -> None:
    expected = rows_of_files(similar_build.folder / "pairs")

    result = similar_build.pairs()
    by_sql = selected(similar_build, "from pair")

    for frame in (result, by_sql):
        assert frame.select(expected.columns).sort(pl.all()).equals(expected.sort(pl.all()))
