"""Writes the golden rows again, from the small invented release."""

import sys
import tempfile
from pathlib import Path

import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from fixtures.release import small_release

import medsim

GOLDEN = Path(__file__).with_name("small_release.csv")


def golden_rows(folder: Path) -> pl.DataFrame:
    """Return the rows of every dataset of the small release, one set after another."""
    small_release().write_folder(folder / "release", "Full")
    build = medsim.build(folder / "release", folder / "out", seed=20260131)
    key = ["dataset", "difficulty", "negatives"]
    return build.pairs().sort(key, maintain_order=True).collect()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        golden_rows(Path(scratch)).write_csv(GOLDEN)
