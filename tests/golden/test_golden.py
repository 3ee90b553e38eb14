"""The rows of a small invented release do not change unseen."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from golden.write import GOLDEN, golden_rows
from polars.testing import assert_frame_equal


def test_the_rows_are_the_golden_ones(tmp_path: Path) -> None:
    found = golden_rows(tmp_path)

    golden = pl.read_csv(GOLDEN, schema=found.schema)
    assert_frame_equal(found, golden)
