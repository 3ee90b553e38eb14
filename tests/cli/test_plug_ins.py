"""A package that is installed beside medsim adds plug-ins, which all commands use."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "tests" / "fixtures" / "plugin"

SIGNS = """\
1|Pyrexia|Fever|Febrile state
2|Cephalalgia|Headache|Head pain
3|Dyspnoea|Breathlessness|Shortness of breath
"""

USED = """
import medsim
from medsim.terminologies.sources import known_sources

print(known_sources().filter(source="lines")["reads"].item())
build = medsim.build("signs.lines", "signs", negatives=["random"])
print(build.manifest.source["source"], build.pairs().height)
results = medsim.evaluate(build, {"own": "a.letters"}, "results", metrics=["same_words", "avg_cos"])
print(*results.scores().collect()["metric"].unique().sort())
medsim.export(build, "out", "synonyms")
"""


@pytest.mark.slow
def test_an_installed_package_adds_a_source_a_format_a_metric_and_an_export(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    packages = tmp_path / "packages"
    subprocess.run(
        [*pip, "--no-index", "--disable-pip-version-check", "--target", packages, PLUGIN],
        check=True,
    )
    (tmp_path / "signs.lines").write_text(SIGNS)
    (tmp_path / "a.letters").write_text("a e i o r h s")

    ran = subprocess.run(
        [sys.executable, "-c", USED],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(packages), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "invented lines\nlines 29\navg_cos same_words\n"
    lines = (tmp_path / "out" / "train.synonyms").read_text().splitlines()
    names = [line.split("|")[1:] for line in SIGNS.splitlines()]
    assert {frozenset(line.split("|")) for line in lines} == {
        frozenset(pair) for of_concept in names for pair in combinations(of_concept, 2)
    }
