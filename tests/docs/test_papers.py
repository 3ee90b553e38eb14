"""Every command that the page on the papers names runs, on small invented data."""

from __future__ import annotations

import os
import random
import re
import shlex
from pathlib import Path

import pytest
from fixtures.categories import categorised_release
from fixtures.corpora import invented_names, write_corpus, write_ontology
from fixtures.embeddings import write_words
from fixtures.simulated import judge, rate
from fixtures.wic import write_benchmark, write_kinds
from typer.testing import CliRunner

import medsim
from medsim.cli import app

PAGE = Path(__file__).parents[2] / "docs" / "papers.md"
ROW = re.compile(r"^\| (?!---)(.*) \|$", re.MULTILINE)
SMALL = {
    "study sample": ["--per-class", "3"],
    "study grade": ["--consistency", "6", "--duplicates", "6"],
    "study score": ["--resamples", "100"],
    "study pairs": ["--size", "24"],
}
"""Options that make a command quick, beside those of the page."""


def rows() -> list[list[str]]:
    """Return the cells of every row of the page's tables."""
    found = [re.split(r" (?<!\\)\| ", row) for row in ROW.findall(PAGE.read_text("utf-8"))]
    return [row for row in found if not row[0].startswith(("what", "---"))]


def commands() -> list[str]:
    """Return the command lines of the page in their order, each once."""
    spans = [span for row in rows() for span in re.findall(r"`(medsim [^`]+)`", row[1])]
    return list(dict.fromkeys(spans))


def prepare(folder: Path) -> None:
    """Write the files that the page takes for given."""
    release = categorised_release(3, 90)
    release.write_zip(folder / "snomed.zip", "Full")
    draw = random.Random(7)  # noqa: S311 — no secret
    words = sorted(
        {word for build in [medsim.build(folder / "snomed.zip", folder / "first")]
         for term in build.terms().collect()["term"] for word in term.split()}
    )
    for seed, name in enumerate(("glove.txt", "pubmed.txt"), 1):
        write_words(folder / name, words, seed)
    pairs = [f"{draw.choice(words)},{draw.choice(words)},{draw.random():.3f}" for _ in range(60)]
    (folder / "rated.csv").write_text("\n".join(["term1,term2,rating", *pairs, ""]))


class Run:
    """A run of the page's commands in one folder, in their order."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
