"""The wheel is complete, and works when installed."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]

LOOK = """
import sys
from medsim.core import queries
from medsim.core.store import Store

assert str(queries.sql_folder()).startswith(sys.argv[1]), queries.sql_folder()
assert len(queries.datasets()) == 7
with Store(threads=1) as store:
    store.run("macros/trimmed")
    print(store.select("select trimmed(' it works ') as found").item())
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel built from the working tree."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("*.whl")
    return built


def tracked(folder: str) -> list[str]:
    run = subprocess.run(
        ["git", "ls-files", "-z", "--", folder], cwd=ROOT, check=True, capture_output=True
    )
    names = run.stdout.decode().split("\0")
    return [name for name in names if name and (ROOT / name).exists()]


@pytest.mark.parametrize(("folder", "home"), [("medsim", "medsim"), ("sql", "medsim/_sql")])
def test_every_tracked_file_is_in_the_wheel(wheel: Path, folder: str, home: str) -> None:
    names = tracked(folder)
    with zipfile.ZipFile(wheel) as archive:
        packed = {name: archive.read(name) for name in archive.namelist()}
    assert len(names) > 10
    for name in names:
        inside = home + name.removeprefix(folder)
        assert packed.get(inside) == (ROOT / name).read_bytes(), f"{name} is not {inside}"


def test_nothing_else_is_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for name in names:
        assert name.startswith(("medsim/", "medsim-")), name
        assert "__pycache__" not in name, name
        assert not name.endswith((".nbi", ".nbc", ".pyc", ".parquet")), name
    assert any(name.endswith("LICENSE") for name in names)
    assert "medsim/py.typed" in names


def test_the_package_works_from_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    run = subprocess.run(
        [sys.executable, "-c", LOOK, str(tmp_path / "site")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        check=False,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "it works\n"
