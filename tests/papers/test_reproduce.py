"""Papers reproduced on invented data: every table in order, each cell beside the printed one."""

from __future__ import annotations

import random
import re
import shutil
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from fixtures.simulated import judge
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.kinds import read_manifest
from medsim.papers.output import laid_out
from medsim.papers.printed import first_number, printed_papers
from medsim.papers.reproduce import latex
from medsim.studies.folder import Study
from medsim.wic.output import WIC_EVALUATION

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

EMPTY = {"B.2", "B.3", "B.4", "B.5", "C.5", "C.6", "C.7", "C.8"}
"""Tables of other embeddings, or of differences that invented vectors do not show."""


def word_vectors(seed: int, terms: Iterable[str] = ()) -> dict[str, np.ndarray]:
    """Return a random vector for each word of terms and of ``write_rated``."""
    rated = [f"{word} {number}" for word in ("pain", "ache") for number in range(7)]
    words = sorted(
        {word for term in [*terms, *rated] for word in re.split(r"[\s-]+", term.lower())}
    )
    vectors = np.random.default_rng(seed).normal(size=(len(words), 12)).astype(np.float32)
    return dict(zip(words, vectors, strict=True))


def write_rated(path: Path, n_pairs: int) -> Path:
    """Write invented ratings in the layout of MayoSRS."""
    drawn = random.Random(n_pairs)  # noqa: S311 — no secret
    rows = [
        f"{drawn.uniform(1, 10):.2f},C{at},C{at}9,pain {at % 7},ache {at % 5}"
        for at in range(n_pairs)
    ]
    path.write_text("\n".join(["Mean,CUI1,CUI2,TERM1,TERM2", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> medsim.Reproduction:
    """Return the first paper, run twice: the second run has the answers of people."""
    folder = tmp_path_factory.mktemp("paper")
    release, out = folder / "invented.zip", folder / "paper"
    medsim.synth(release, concepts=1_000)
    rated = [write_rated(folder / "MayoSRS.csv", 60)]
    terms = medsim.build(release, folder / "build").read("terminology/term.parquet")["term"]
    embeddings = {"BioNLP PM": word_vectors(1, terms), "mine": word_vectors(2, terms)}
    medsim.reproduce("schulz-2020", [release, *rated], out, embeddings=embeddings, cache="none")
    judge(Study(out / "study"), folder / "answers", {f"annotator-{n}": n / 20 for n in (1, 2, 3)})
    return medsim.reproduce(
        "schulz-2020",
        [release, *rated],
        out,
        embeddings=embeddings,
        answers=folder / "answers",
        cache="none",
    )


@pytest.mark.full
def test_every_table_is_there_in_the_order_of_the_paper(reproduced: medsim.Reproduction) -> None:
    printed = [table.name for table in printed_papers()["schulz-2020"].tables]
    expected = [name for name in printed if not name.startswith("text")]

    counts = reproduced.counts()

    assert counts["table"].to_list() == expected
    assert {*counts.filter(computed=0)["table"]} <= EMPTY


def test_cells_are_those_of_the_public_functions(reproduced: medsim.Reproduction) -> None:
    out = reproduced.folder.parent
    accuracy = medsim.compare(out / "results", table="5")
    scores = medsim.score_study(out / "study", [out.parent / "answers"]).table()
    cells = {
        (row["table"], row["row"], row["column"]): row
        for row in reproduced.cells().iter_rows(named=True)
    }
    row = accuracy.row(
        by_predicate=(pl.col("embedding") == "BioNLP PM")
        & (pl.col("dataset") == "fsn_syn")
        & (pl.col("difficulty") == "easy"),
        named=True,
    )
    cell = cells["5", "BioNLP PM", "FSN-SYN. easy"]
    assert first_number(cell["computed"]) == pytest.approx(100 * row["value"], abs=0.051)
    assert cell["printed"] == "77.0 +16/-4"
    assert cell["difference"] == pytest.approx(first_number(cell["computed"]) - 77.0)
    alpha = scores.row(
        by_predicate=(pl.col("dataset") == "same_as")
        & (pl.col("difficulty") == "hard")
        & (pl.col("negatives") == "random"),
        named=True,
    )["alpha"]
    assert cells["3", "IAA", "SAME-AS hard random"]["computed"] == f"{alpha:.2f}"
    assert cells["1", "MayoSRS", "Size"]["difference"] == 60 - 101
    sizes = medsim.open(out / "build").stats().filter(dataset="syn_syn", negatives="random")
    size = int(sizes["n_positives"].sum() + sizes["n_negatives"].sum())
    assert cells["2", "SYN.-SYN. all", "Size"]["computed"] == f"{size:,}"


def test_what_is_missing_says_why(reproduced: medsim.Reproduction) -> None:
    cells = reproduced.cells()

    assert cells.filter(pl.col("computed").is_null())["missing"].str.len_chars().min() > 20
    assert cells.drop_nulls("computed")["missing"].null_count() == cells["computed"].count()
    mine = cells.filter(row="mine", table="4")
    assert mine["printed"].null_count() == mine.height > 0


def test_embeddings_with_a_name_of_the_paper_are_in_tables_that_lack_them(
    reproduced: medsim.Reproduction,
) -> None:
    computed = reproduced.cells().drop_nulls("computed")

    for table in ("6", "A.2", "figure B.1", "figure C.1", "D.1"):
        assert {"BioNLP PM", "mine"} <= {*computed.filter(table=table)["row"]}, table
    assert "Av" in {*computed.filter(table="A.2")["column"]}
    assert {*computed.filter(table="C.5")["row"]} == set()


def test_metrics_are_listed_as_in_the_paper(reproduced: medsim.Reproduction) -> None:
    cells = reproduced.cells().drop_nulls("computed").filter(table="C.4")

    one = r"\w+: (\+\d+|-\d+|\+\d+/-\d+)"
    assert all(re.fullmatch(rf"none|{one}(; {one})*", text) for text in cells["computed"])
    assert "none" in {*cells["computed"]}
    assert "the source text has shifted cells" in cells["caption"][0]


def test_two_files_of_one_rated_set_are_named(tmp_path: Path) -> None:
    files = [write_rated(tmp_path / name, 5) for name in ("MayoSRS.csv", "MayoSRS_mesh.csv")]

    with pytest.raises(medsim.MedsimError, match=r"are both MayoSRS; give one of them"):
        medsim.reproduce("chiu-2018", files, tmp_path / "o", embeddings={"a": word_vectors(1)})


@pytest.mark.parametrize(("printed", "shown"), [("0.6 +2", "-0.05"), ("8.6%", "-0.1")])
def test_differences_have_the_decimals_of_the_paper(printed: str, shown: str) -> None:
    cells = {"row": "a", "column": "b", "computed": "0", "printed": printed, "difference": -0.05}

    assert laid_out(pl.DataFrame([cells]))["b"].to_list() == [f"0 [{printed}; {shown}]"]


def test_other_files_have_all_cells(reproduced: medsim.Reproduction) -> None:
    cells, folder = reproduced.cells(), reproduced.folder

    written = pl.read_csv(folder / "cells.csv", infer_schema=False)
    expected = cells.cast(pl.String)
    # A spreadsheet would subtract two numbers in a cell.
    both = expected["printed"].str.contains(r"^-[0-9.]+ -[0-9]+")
    printed = pl.when(both).then("'" + pl.col("printed")).otherwise("printed").alias("printed")
    assert_frame_equal(written, expected.with_columns(printed))
    assert latex(cells).count("\\begin{tabular}") == cells["table"].n_unique()
    page = (folder.parent / "tables.html").read_text(encoding="utf-8")
    assert page.count("computed [printed; difference]") == cells["table"].n_unique()
    assert "[451,256; " in page


def test_finished_steps_are_used_again(reproduced: medsim.Reproduction) -> None:
    out = reproduced.folder.parent
    stages = [stage["name"] for stage in reproduced.manifest.stages]

    assert not [name for name in stages if name.startswith(("make", "draw pairs", "embed"))]
    other = shutil.copy(out.parent / "invented.zip", out.parent / "other.zip")
    with pytest.raises(
        medsim.MedsimError, match=r"is a build of invented\.zip; name another `out`"
    ):
        medsim.reproduce("schulz-2020", other, out, embeddings={"a": word_vectors(1)})


def test_scores_on_pairs_and_on_tasks_are_correlated(tmp_path: Path) -> None:
    rated = write_rated(tmp_path / "MayoSRS.csv", 60)
    names = [f"model {number}" for number in range(5)]
    tasks = pl.DataFrame({"model": names, "entities": [0.1, 0.5, 0.2, 0.4, 0.3]})
    tasks.write_csv(tmp_path / "tasks.csv")
    embeddings = {name: word_vectors(seed) for seed, name in enumerate(names)}

    made = medsim.reproduce(
        "chiu-2018",
        rated,
        tmp_path / "paper",
        embeddings=embeddings,
        tasks=tmp_path / "tasks.csv",
        cache="none",
    )

    scores = [first_number(text) for text in made.cells().filter(table="5")["computed"]]
    (r,) = made.cells().filter(table="6")["computed"]
    assert float(r) == pytest.approx(np.corrcoef(scores, tasks["entities"])[0, 1], abs=0.02)


def test_words_in_context_are_counted(tmp_path: Path, shared_benchmark) -> None:
    sentences = shared_benchmark.instances()["sentence1"].str.split(" ").explode()
    words = medsim.Embedding(word_vectors(1, sentences), keys="words", input="sentence")
    out = tmp_path / "paper"
    made = medsim.reproduce(
        "rouhizadeh-2024", shared_benchmark.folder, out, embeddings={"mine": words}
    )

    scores = read_manifest(out / "scores", WIC_EVALUATION)
    assert scores.models["mine"]["input"] == "sentence"
    assert "mine" in made.cells().filter(table="6").drop_nulls("computed")["row"]
    cell = made.cells().filter(table="3", row="All", column="All").row(0, named=True)
    n_instances = shared_benchmark.instances().height
    assert cell["computed"] == f"{n_instances:,}"
    assert cell["difference"] == n_instances - 20_156


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["schulz-2020", "hpo"], "name at least one of --embedding"),
        (["chiu-2018", "a.csv", "-e", "a=b", "--answers", "x"], "--answers is for schulz-2020"),
        (["chiu-2018", "a.csv", "-e", "a=b,input=quoted"], "unknown option of an embedding"),
        (["schulz-2021", "hpo"], "schulz-2020"),
        (["rouhizadeh-2024", __file__], "corpora need --terminology"),
    ],
)
def test_wrong_options_are_named(tmp_path: Path, arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(app, ["reproduce", *arguments, "-o", str(tmp_path / "paper")])

    assert result.exit_code != 0
    assert message in result.output


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.53 +2", 0.53),
        ("451,256", 451_256),
        ("20'156", 20_156),
        ("65.2%", 65.2),
        ("81/101", 81),
        ("-0.07 -11", -0.07),
        ("1-10", None),
        ("75\u201399 / 51\u201386", None),
        ("fJ / pair_tau", None),
        (None, None),
    ],
)
def test_the_first_number_of_a_cell_is_read(text: str | None, number: float | None) -> None:
    assert first_number(text) == number
