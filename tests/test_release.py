"""The version is the same in all files, and distributions have the right content."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from medsim.builds.cards import CITATION

ROOT = Path(__file__).parents[1]
CITED = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_constrained_versions_run_on_the_oldest_python_that_is_allowed() -> None:
    oldest = f"{PROJECT['requires-python'].removeprefix('>=')}.0"  # Debian 12 has 3.11.2
    refused: dict[str, str] = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        name, _, version = line.partition("==")
        try:
            known = metadata(name)
        except PackageNotFoundError:  # of an extra that is not installed
            continue
        needed = known.get("Requires-Python", "")
        if known["Version"] == version and oldest not in SpecifierSet(needed):
            refused[line] = needed

    assert refused == {}


def test_the_version_of_the_package_is_that_of_the_citation_and_of_the_changelog() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"(?m)^## (\d\S*)(?: \((.*)\))?$", changelog)

    assert released[0] == (PROJECT["version"], str(CITED["date-released"]))
    assert CITED["version"] == PROJECT["version"]
    assert CITED["license"] == PROJECT["license"]


def test_the_citation_has_the_paper_that_cards_have() -> None:
    paper = next(reference for reference in CITED["references"] if reference["year"] == 2020)

    for fact in (paper["doi"], f"{paper['start']}--{paper['end']}", paper["journal"]):
        assert fact in CITATION
    assert paper["title"] in " ".join(CITATION.split())


@pytest.mark.slow
def test_the_source_distribution_has_the_sources_of_the_package(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (built,) = tmp_path.iterdir()

    with tarfile.open(built) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]

    beside = {name for name in names if not name.startswith(("medsim/", "sql/"))}
    assert beside == {
        *(".gitignore", "CHANGELOG.md", "CITATION.cff", "LICENSE", "PKG-INFO", "README.md"),
        *("constraints.txt", "pyproject.toml"),
    }
    assert {Path(name).suffix for name in names if name not in beside} <= {
        *(".css", ".html", ".js", ".py", ".pyi", ".sql", ".txt", ".typed", ".json", ".toml")
    }
