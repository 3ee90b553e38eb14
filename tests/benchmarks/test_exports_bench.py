"""Benchmarked exports at a small size: all sides agree, and errors are noticed."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("pandas", reason="pandas is not installed")

from benchmarks import exports
from benchmarks.harness import MismatchError

pytestmark = pytest.mark.slow

TOOL = "sentence-transformers"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("exports")
    exports._prepare(place, 200, 1)
    return place


@pytest.mark.full
def test_exports_agree_with_pandas_and_rapidfuzz(folder: Path) -> None:
    seen = exports.exported(folder, TOOL, 1)

    assert exports.written_by_pandas(folder, "pair alone", seen.n_rows).n_rows > 100
    assert exports.compared_by_rapidfuzz(folder, 50, 1) > 0
    with pytest.raises(MismatchError, match="by pandas"):
        exports.written_by_pandas(folder, "pair alone", seen.n_rows - 1)

    (path,) = (folder / f"large for {TOOL}" / "n-tuple").glob("*.parquet")
    swapped = {"negative_1": "negative_2", "negative_2": "negative_1"}
    columns = pl.read_parquet(path).columns
    pl.read_parquet(path).rename(swapped).select(columns).write_parquet(path)
    with pytest.raises(MismatchError, match="brute force"):
        exports.compared_by_rapidfuzz(folder, 50, 1)


def test_lines_for_sapbert_are_as_many_as_by_pandas(folder: Path) -> None:
    seen = exports.exported(folder, "sapbert", 2)

    assert exports.written_by_pandas(folder, "sapbert", seen.n_rows).n_rows == seen.n_rows
