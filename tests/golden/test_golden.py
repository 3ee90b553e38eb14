"""The rows of a small invented release do not change unnoticed."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from golden.write import GOLDEN, golden_rows
from polars.testing import assert_frame_equal


def test_the_rows_equal_the_golden_rows(tmp_path: Path) -> None:
    actual = golden_rows(tmp_path)

    golden = pl.read_csv(GOLDEN, schema=actual.schema)
    assert_frame_equal(actual, golden)
