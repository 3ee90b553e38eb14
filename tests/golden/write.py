"""Writes the golden rows again, from small invented releases."""

import sys
import tempfile
from pathlib import Path

import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from fixtures.release import bilingual_release, small_release

import medsim

RELEASES = {
    "small_release": (small_release, "en"),
    "bilingual_release": (bilingual_release, "en,es"),
}


def golden_file(name: str) -> Path:
    """Return the file of the golden rows of a release."""
    return Path(__file__).with_name(f"{name}.csv")


def golden_rows(name: str, folder: Path) -> pl.DataFrame:
    """Return the rows of every dataset of a release, one set after another."""
    release, language = RELEASES[name]
    release().write_folder(folder / "release", "Full")
    build = medsim.build(folder / "release", folder / "out", language=language, seed=20260131)
    key = ["dataset", "difficulty", "negatives"]
    return build.pairs().sort(key, maintain_order=True)


if __name__ == "__main__":
    for name in RELEASES:
        with tempfile.TemporaryDirectory() as scratch:
            golden_rows(name, Path(scratch)).write_csv(golden_file(name))
