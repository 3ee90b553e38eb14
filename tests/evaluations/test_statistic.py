"""One declaration adds a statistic to results, tables, the report and the help."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fixtures.embeddings import write_words
from fixtures.release import random_release

import medsim

TOY = """
import json
import sys

from medsim.evaluations.statistic import STATISTICS, Statistic

def gap(pairs):
    from medsim.statistics.estimates import Estimate

    means = [float(pairs.similarities[of].mean()) for of in (pairs.labels, ~pairs.labels)]
    return Estimate(value=means[0] - means[1])

STATISTICS["gap"] = Statistic(
    name="gap",
    label="toy gap",
    help="The toy gap is how much more similar positives are than negatives.",
    kind="labelled",
    compute=gap,
    test=lambda pairs, other: pairs.auc_difference(other),
    table="best",
)

from typer.testing import CliRunner

from medsim.cli import app

lines, printed = json.load(sys.stdin), []
for line in lines:
    ran = CliRunner().invoke(app, line)
    assert ran.exit_code == 0, ran.output
    printed.append(ran.stdout)
json.dump(printed, sys.stdout)
"""


def run(*lines: list[str | Path]) -> list[str]:
    """Return the output of commands in a process that declares the toy statistic."""
    done = subprocess.run(
        [sys.executable, "-c", TOY],
        input=json.dumps([[str(word) for word in line] for line in lines]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_declared_statistic_is_in_results_tables_report_and_help(tmp_path: Path) -> None:
    pytest.importorskip("altair", reason="needs the extra report")
    random_release(4, 15).write_zip(tmp_path / "release.zip", "Snapshot")
    build = medsim.build(tmp_path / "release.zip", tmp_path / "build", negatives=["random"])
    pairs = build.pairs()
    words = sorted({word for term in pairs["term1"] for word in term.split()})
    embeddings = []
    for seed, name in enumerate(("one", "two")):
        write_words(tmp_path / f"{name}.vec", words, seed)
        embeddings += ["-e", f"{name}={tmp_path / name}.vec"]
    out, tables = tmp_path / "results", ("best", "gap", "all-gap", "standings-gap")

    _, *compared, helped, _ = run(
        ["eval", build.folder, *embeddings, "-o", out, "--metric", "avg_cos"],
        *(["compare", out, "--table", table, "--format", "json"] for table in tables),
        ["compare", "--help"],
        ["report", out, "-o", tmp_path / "report.html"],
    )

    evaluation = medsim.Evaluation(out)
    assert evaluation.results().filter(statistic="gap")["value"].is_not_null().any()
    assert evaluation.comparisons().filter(of="gap").height > 0
    for printed in compared:
        assert "gap" in {row["statistic"] for row in json.loads(printed)}
    one_line = " ".join(helped.replace("\u2502", " ").split())
    assert re.search(r"best, standings, article, .* gap, all-auc, .* all-gap", one_line)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "The toy gap is how much more similar" in page
    assert "mean toy gap" in page
