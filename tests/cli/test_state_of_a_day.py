"""Outputs made from an earlier state of a release name its date, not the release's."""

from __future__ import annotations

import zipfile
from datetime import date
from pathlib import Path

import pytest

import medsim

pytestmark = pytest.mark.slow

NEWEST, EARLIER = date(2026, 1, 1), date(2025, 1, 31)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An invented release with its full history."""
    path = tmp_path_factory.mktemp("release") / "release.zip"
    medsim.synth(path, concepts=60)
    return path


@pytest.mark.full
def test_outputs_from_an_earlier_state_name_its_date(release: Path, tmp_path: Path) -> None:
    build = medsim.build(release, tmp_path / "build", as_of=EARLIER, negatives=["random"])
    medsim.split(build, tmp_path / "splits")
    medsim.convert(release, tmp_path / "state.zip", as_of=EARLIER)
    medsim.write_report(build, tmp_path / "report.html")
    for tool in ("huggingface", "mteb", "sentence-transformers"):
        medsim.export(build, tmp_path / tool, to=tool)

    with zipfile.ZipFile(tmp_path / "state.zip") as archive:
        names = archive.namelist()
    assert any(name.endswith("sct2_Concept_Snapshot_INT_20250131.txt") for name in names)
    texts = {
        path.relative_to(tmp_path).as_posix(): path.read_text(encoding="utf-8")
        for path in tmp_path.rglob("*")
        if path.suffix in {".html", ".json", ".md", ".py"}
    }
    assert not [name for name, text in texts.items() if f"{NEWEST}" in text]
    assert {name for name, text in texts.items() if f"{EARLIER}" in text} >= {
        *("build/README.md", "build/manifest.json", "report.html"),
        *("splits/README.md", "splits/manifest.json", "splits/test/README.md"),
        *("huggingface/README.md", "huggingface/croissant.json", "mteb/manifest.json"),
        *("mteb/tasks.json", "sentence-transformers/README.md"),
    }
    assert f" of {EARLIER}" in texts["build/README.md"].partition("\n# ")[2].partition("\n")[0]
    assert f"release {EARLIER}" in texts["report.html"]


@pytest.mark.parametrize(("as_of", "named"), [(None, NEWEST), (date(2030, 1, 1), NEWEST)])
def test_build_names_no_date_after_its_release(
    release: Path, tmp_path: Path, as_of: date | None, named: date
) -> None:
    build = medsim.build(release, tmp_path / "build", as_of=as_of, negatives=["random"])

    assert build.manifest.source["release_date"] == f"{named}"
