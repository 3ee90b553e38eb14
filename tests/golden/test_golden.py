"""The rows of small invented releases do not change unnoticed."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from golden.write import RELEASES, golden_file, golden_rows
from polars.testing import assert_frame_equal


@pytest.mark.parametrize("name", RELEASES)
def test_the_rows_equal_the_golden_rows(name: str, tmp_path: Path) -> None:
    actual = golden_rows(name, tmp_path)

    golden = pl.read_csv(golden_file(name), schema=actual.schema)
    assert_frame_equal(actual, golden)
