"""Every command that the page on the papers names runs, on small invented data."""

from __future__ import annotations

import random
import re
import shlex
from pathlib import Path

import pytest
from fixtures.categories import categorised_release
from fixtures.embeddings import write_words
from fixtures.simulated import judge, rate
from typer.testing import CliRunner

import medsim
from medsim.cli import app

PAGE = Path(__file__).parents[2] / "docs" / "papers.md"
NOT_THERE = "none"
QUICKER = {
    "medsim study sample": ["--per-class", "3"],
    "medsim study grade": ["--consistency", "6", "--duplicates", "6"],
    "medsim study pairs": ["--size", "24", "--no-lemmas"],
}
"""Options that make a command quick, or fit small data, beside those of the page."""


def rows() -> list[list[str]]:
    """Return the cells of every row of the page's tables that names something of a paper."""
    lines = re.findall(r"^\| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    cells = [re.split(r" \| ", line) for line in lines]
    return [row for row in cells if row[1] != "command" and not set(row[0]) <= set("- ")]


def commands() -> list[str]:
    """Return the command lines of the page in their order, each once."""
    spans = [span for row in rows() for span in re.findall(r"`(medsim [^`]+)`", row[1])]
    return list(dict.fromkeys(spans))


def prepare(folder: Path) -> None:
    """Write the files that the page takes for given."""
    draw = random.Random(7)  # noqa: S311 — no secret
    categorised_release(3, 60).write_zip(folder / "snomed.zip", "Snapshot")
    terms = medsim.build(folder / "snomed.zip", folder / "first", negatives=["random"]).pairs()
    words = sorted({word for term in terms.collect()["term1"] for word in term.split()})
    for seed, name in enumerate(("glove.txt", "pubmed.txt"), 1):
        write_words(folder / name, words, seed)
    pairs = {tuple(draw.sample(words, 2)): draw.randrange(11) for _ in range(60)}
    rated = [f"{one},{other},{rating}" for (one, other), rating in pairs.items()]
    (folder / "rated.csv").write_text("\n".join(["term1,term2,rating", *rated, ""]))


def answer(folder: Path, name: str) -> None:
    """Write what people send back to a study."""
    study = medsim.Study(folder / name.removesuffix("-answers"))
    if study.scale.name == "similarity":
        rate(study, folder / name, frozenset())
    else:
        judge(study, folder / name, dict.fromkeys(study.manifest.annotators, 0.1))


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    """Return the exit code and the output of every command, run in the order of the page."""
    folder = tmp_path_factory.mktemp("papers")
    prepare(folder)
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for line in commands():
            words = shlex.split(line)[1:]
            for word in words:
                if word.endswith("-answers") and not Path(word).exists():
                    answer(folder, word)
            more = next((m for name, m in QUICKER.items() if line.startswith(name)), [])
            run = CliRunner().invoke(app, [*words, *more])
            found[line] = run.exit_code, run.output
    return found


@pytest.mark.parametrize("line", commands())
def test_a_command_of_the_page_runs(outcomes, line: str) -> None:
    code, output = outcomes[line]
    assert code == 0, output


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0][:40])
def test_what_has_no_command_says_why(row: list[str]) -> None:
    assert "`medsim " in row[1] or (row[1] == NOT_THERE and len(row[2]) > 20)
