"""Terms that an evaluation lists, embedded elsewhere, and evaluated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner, Result

import medsim
from medsim.cli import app

RATED = "term1,term2,rating\nhand,foot,4\nhand,Heart attack,1\nFoot,eye,2\nheart,eye,3\n"
TERMS = ["Foot", "Heart attack", "eye", "foot", "hand", "heart"]


def embed(term: str) -> list[int]:
    return [len(term), *(term.count(letter) for letter in "aefhot")]


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    path = tmp_path / "rated.csv"
    path.write_text(RATED, encoding="utf-8")
    (tmp_path / "model").mkdir()
    return path


def invoke(*words: object) -> Result:
    return CliRunner().invoke(app, ["eval", *map(str, words)])


def options(folder: Path) -> list[object]:
    return ["-e", f"model={folder / 'model'},keys=terms", "-o", folder / "results"]


@pytest.mark.parametrize("file", ["vectors.npy", "vectors.txt"])
def test_listed_terms_embedded_elsewhere_score_as_a_function_does(
    rated: Path, tmp_path: Path, file: str
) -> None:
    path = tmp_path / "model" / "types.txt"
    done = invoke(rated, *options(tmp_path), "--list-terms", path)
    assert (done.exit_code, done.stdout) == (0, ""), done.stderr
    assert f"{path} has 6 terms" in done.stderr
    assert not (tmp_path / "results").exists()
    terms = path.read_text(encoding="utf-8").splitlines()
    assert terms == TERMS

    vectors = np.array([embed(term) for term in terms], np.float32)
    save = np.save if file.endswith("npy") else np.savetxt
    save(tmp_path / "model" / file, vectors)
    done = invoke(rated, *options(tmp_path))
    assert done.exit_code == 0, done.stderr

    results = medsim.Evaluation(tmp_path / "results").results()
    of_function = medsim.evaluate(
        rated,
        {"model": lambda texts: np.array([embed(text) for text in texts], np.float32)},
        tmp_path / "of_function",
        cache=None,
    )
    expected = of_function.results().drop("signature")
    assert results.filter(embedding="model")["n_covered"].max() == 4
    assert results.drop("signature").sort(pl.all()).equals(expected.sort(pl.all()))


def test_the_terms_of_a_build_are_those_of_the_chosen_sets(
    shared_evaluation: medsim.Evaluation, tmp_path: Path
) -> None:
    build = shared_evaluation.folder.parent / "build"
    path = tmp_path / "terms.txt"
    words = (build, *options(tmp_path), "--datasets", "fsn_syn", "--list-terms", path)
    assert invoke(*words).exit_code == 0

    pairs = medsim.Build(build).pairs().filter(pl.col("dataset") == "fsn_syn")
    terms = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    assert terms == sorted({*pairs["term1"], *pairs["term2"]})

    invoke(*words[:-1], tmp_path / "sample.txt", "--sample", 3)
    of_sample = (tmp_path / "sample.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n")
    assert {*of_sample} < {*terms}
    done = invoke(*words)
    assert done.exit_code == 1
    assert "is there already; add --overwrite to replace it" in done.stderr
    path.write_text("earlier")
    assert invoke(*words, "--overwrite").exit_code == 0
    assert path.read_text(encoding="utf-8").startswith(terms[0])


def test_a_term_with_a_line_break_cannot_be_listed(rated: Path, tmp_path: Path) -> None:
    rated.write_text(RATED + '"heart\nattack",eye,2\n', encoding="utf-8")
    path = tmp_path / "terms.txt"
    done = invoke(rated, *options(tmp_path), "--list-terms", path)

    assert done.exit_code == 1
    assert "has a line break" in done.stderr
    assert not path.exists()
