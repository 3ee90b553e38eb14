"""Every command that the pages on the papers name runs, on small invented data."""

from __future__ import annotations

import random
import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest
from fixtures.categories import WORDS, categorised_release
from fixtures.corpora import invented_names, write_corpus, write_ontology
from fixtures.embeddings import write_words
from fixtures.simulated import answer, rate
from fixtures.typed import typed_benchmark
from typer.testing import CliRunner

import medsim
from medsim.cli import app

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs" / "explanation"
LINKS = re.findall(r"\((paper-[\w-]+\.md)\)", (DOCS / "papers.md").read_text(encoding="utf-8"))
PAGES = [DOCS / link for link in sorted(LINKS, key=lambda link: "schulz" not in link)]
QUICKER = {
    "medsim eval": ["--resamples", "100"],
    "medsim study sample": ["--per-class", "3"],
    "medsim study grade": ["--consistency", "6", "--duplicates", "6"],
    "medsim study pairs": ["--size", "16", "--no-lemmas"],
    "medsim study domains": ["--no-lemmas"],
    "medsim study instances": ["--size", "8", "--common", "4"],
}
"""Additional options that make a command fast or fit small data."""

STAND_INS = {"mesh-2026/": "velpish.obo", "umls-wic": "typed/wic"}
"""Invented files instead of those of the pages."""

SIGNS = ("fever", "chill", "nausea", "rash", "cough", "edema", "pallor", "itch")
ORGANS = ("heart", "lung", "liver", "kidney", "spleen", "colon")
GENERAL = ("house", "door", "window", "garden", "tree", "apple", "bread", "butter")


def rows() -> list[list[str]]:
    """Return the cells of every row of the pages that names something of a paper and a command."""
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    lines = re.findall(r"^\| (.*) \|$", text, re.MULTILINE)
    cells = [line.split(" | ") for line in lines]
    commanded = [row for row in cells if "`medsim" in row[1] or row[1] == "none"]
    return [row for row in commanded if row[0] != "what"]


def commands() -> list[str]:
    """Return the command lines of the pages in their order."""
    return [span for row in rows() for span in re.findall(r"`(medsim [^`]+)`", row[1])]


def prepare(folder: Path) -> None:
    """Write the files that the pages assume."""
    draw = random.Random(7)  # noqa: S311 — no secret
    categorised_release(3, 60).write_zip(folder / "snomed.zip", "Snapshot")
    words = [*WORDS, *SIGNS, *ORGANS, *GENERAL]
    for seed, name in enumerate(("glove.txt", "pubmed.txt"), 1):
        write_words(folder / name, words, seed)

    def table(name: str, *lines: str) -> None:
        (folder / name).write_text("\n".join([*lines, ""]), encoding="utf-8")

    pairs = {tuple(draw.sample(words, 2)): draw.randrange(11) for _ in range(60)}
    rated = [f"{first},{second},{rating}" for (first, second), rating in pairs.items()]
    table("rated.csv", "term1,term2,rating", *rated)
    counts = [f"{word},noun,{9 + at},D{at % 3}" for at, word in enumerate(words[len(WORDS) :])]
    table("words.csv", "word,class,count,documents", *counts)
    table("general.csv", "word,class,count", *(f"{word},noun,50" for word in GENERAL))
    table("subjects.csv", "document,topics", "D0,Cardiology", "D1,Neoplasms", "D2,Cardiology")
    table("LRNOM", "E02|chill|noun|E01|shiver|verb|")
    norms = [f"{first},{second},20,0.2,0.1" for first, second in pairwise((*GENERAL, GENERAL[0]))]
    table("usf.txt", "cue,target,#G,FSG,BSG", *norms)
    table("pairs-of-models.csv", "model,pairs", *(f"m{at},0.{at}1" for at in range(4)))
    table("tasks.csv", "model,task", *(f"m{at},0.{at * at}2" for at in range(4)))
    stanzas = [
        "format-version: 1.2",
        "[Term]\nid: X:00\nname: Sign",
        "[Term]\nid: X:01\nname: Organ",
    ]
    for at, name in enumerate((*SIGNS, *ORGANS), 2):
        parent = "X:00" if name in SIGNS else "X:01"
        stanzas.append(f"[Term]\nid: X:{at:02}\nname: {name.title()}\nis_a: {parent}")
    table("signs.obo", "\n\n".join(stanzas))
    medsim.build(folder / "signs.obo", folder / "hpo", negatives=["random"])
    names = invented_names(3, 120)
    for seed, name in enumerate(("BC5CDR", "NCBI"), 1):
        write_corpus(folder, names, name, seed)
    write_ontology(folder, names)
    (folder / "typed").mkdir()
    typed_benchmark(folder / "typed")
    sentences = ("the chill of {}", "no {} today")
    general = [f"{w}\tN\t3-1\t{sentences[0].format(w)}\t{sentences[1].format(w)}" for w in GENERAL]
    table("train.data.txt", *general)
    table("train.gold.txt", *("TF"[at % 2] for at in range(len(general))))


def send_back(folder: Path, name: str) -> None:
    """Write the answers that people return to a study."""
    study = medsim.Study(folder / name.removesuffix("-answers"))
    if study.scale.graded:
        rate(study, folder / name, frozenset())
        return

    def said(_annotator: str, item: dict) -> str:
        if study.scale.name == "domain":
            return "biomedical" if item["word"] in (*SIGNS, *ORGANS) else "general"
        known = study.scale.answers
        return known[item["label"]] if "label" in item else "associated"

    answer(study, folder / name, said)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("papers")
    prepare(folder)
    return folder


@pytest.mark.parametrize("line", commands())
def test_a_command_of_the_page_runs(
    prepared: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands are run in the order of the pages, since some read what earlier ones wrote."""
    monkeypatch.chdir(prepared)
    words = [STAND_INS.get(word, word) for word in shlex.split(line)[1:]]
    for word in words:
        is_answers = word.endswith("-answers") and not Path(word).exists()
        if is_answers and Path(word.removesuffix("-answers")).exists():
            send_back(prepared, word)
    more = next((m for name, m in QUICKER.items() if line.startswith(name)), [])

    run = CliRunner().invoke(app, [*words, *more])

    assert run.exit_code == 0, run.output


def test_rows_without_a_command_give_a_reason() -> None:
    for row in rows():
        assert "`medsim " in row[1] or len(row[2]) > 20, row
