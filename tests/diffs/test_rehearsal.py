"""Two invented releases of ``synth`` with ``then``, for rehearsals of diff and of splits."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import polars as pl
import pytest

import medsim
from medsim.core.errors import OptionError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("releases")
    january, july = folder / "january.zip", folder / "july.zip"
    rows = medsim.synth(january, then=july, concepts=1500)
    assert rows["release"].unique().sort().to_list() == ["january.zip", "july.zip"]
    return january, july


def test_the_first_release_is_the_same_as_alone(
    releases: tuple[Path, Path], tmp_path: Path
) -> None:
    rows = medsim.synth(tmp_path / "alone.zip", concepts=1500)

    assert (tmp_path / "alone.zip").read_bytes() == releases[0].read_bytes()
    assert rows.columns == ["table", "release_type", "rows"]
    with pytest.raises(OptionError, match="are the same file"):
        medsim.synth(tmp_path / "x.zip", then=tmp_path / "x.zip")


@pytest.mark.full
def test_two_releases_have_every_kind_of_change(
    releases: tuple[Path, Path], tmp_path: Path
) -> None:
    january, july = releases

    summary = medsim.diff(january, july, tmp_path / "out").summary()

    is_removed = (pl.col("subject") == "concept") & (pl.col("change") == "removed")
    assert summary.filter(~is_removed)["n"].min() > 0  # releases of RF2 keep all concepts
    assert summary.filter(subject="name")["n_kept"].min() > 0
    assert summary.filter(subject="is_a")["n_kept"].min() > 0


@pytest.mark.full
def test_a_full_release_as_of_january_is_the_first_release(
    releases: tuple[Path, Path], tmp_path: Path
) -> None:
    january, july = releases
    build = medsim.build(july, tmp_path / "build", as_of=date(2026, 1, 1))

    diff = medsim.diff(january, build, tmp_path / "out")

    assert diff.summary()["n"].sum() == 0
    assert diff.manifest.warnings == []


@pytest.mark.full
def test_new_concepts_are_a_test_split(releases: tuple[Path, Path], tmp_path: Path) -> None:
    january, july = releases
    build = medsim.build(july, tmp_path / "build")

    splits = medsim.split(build, tmp_path / "splits", by="release", since=january)

    added = medsim.diff(january, build, tmp_path / "out").table("concept").filter(change="added")
    test = splits["test"].table("concept").collect()["concept_id"]
    assert 0 < len(test) <= added.height
    assert set(test) <= set(added["concept_id"])
    assert pl.DataFrame(splits.sizes())["test"].min() >= 0
