"""Papers reproduced on invented data: every table in order, each cell beside the printed one."""

from __future__ import annotations

import json
import random
import re
import shutil
from itertools import pairwise
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
from medsim.papers.published import chiu_2018, rouhizadeh_2024, schulz_2020
from medsim.papers.reproduce import latex
from medsim.statistics.options import Resampling
from medsim.studies.folder import Study
from medsim.wic import GROUPS
from medsim.wic.output import WIC_EVALUATION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

EMPTY = {"C.5", "C.6", "C.7", "C.8"}
"""Tables of other embeddings."""


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


def made_at(out: Path) -> dict[str, int]:
    """Return when each output of a reproduction was made."""
    names = ("build", "study", "results")
    return {name: (out / name / "manifest.json").stat().st_mtime_ns for name in names}


@pytest.fixture(scope="module", autouse=True)
def few_resamples() -> Iterator[None]:
    """Draw 500 resamples in place of 10,000, here and in what cells are compared with."""
    with pytest.MonkeyPatch.context() as patch:
        for place in ("studies.options", "evaluations.run"):
            patch.setattr(
                f"medsim.{place}.Resampling",
                lambda **given: Resampling(**{**given, "resamples": 500}),
            )
        yield


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
    (folder / "made.json").write_text(json.dumps(made_at(out)))
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
    expected = [table.name for table in printed_papers()["schulz-2020"].tables]

    counts = reproduced.counts()

    assert counts["table"].to_list() == expected
    empty = counts.filter(~pl.col("table").str.starts_with("text"), computed=0)
    assert {*empty["table"]} <= EMPTY


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
    assert cell["difference"] is None
    assert cell["other"] == "another terminology"
    rated = cells["4", "BioNLP PM", "MayoSRS"]
    printed = first_number(rated["printed"])
    assert rated["difference"] == pytest.approx(first_number(rated["computed"]) - printed)
    assert rated["other"] is None
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

    assert cells.filter(pl.col("computed").is_null())["missing"].str.len_chars().min() > 15
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


def test_cells_have_the_form_of_the_paper(reproduced: medsim.Reproduction) -> None:
    score, counts = r"[-\u2212]?\d\.\d\d?", r"( [+-]\d+(/-\d+)?)?"  # the paper drops zeros: 0.6
    forms = {
        "4": score + counts,
        "B.1": score + counts + r" \w+",
        "5": r"\d+\.\d" + counts,
        "C.1": r"\d+\.\d" + counts,
        "C.2": score + counts,
        "C.3": score + counts,
        "6": r"\w+/\w+|\d+\.\d%/\d+\.\d%",
        "D.1": rf"\w+/\w+|\d+\.\d%/\d+\.\d%|{score}/{score}",
    }
    cells = reproduced.cells().filter(pl.col("row") != "Subset Size")
    for table, form in forms.items():
        for kind in ("computed", "printed"):
            texts = cells.filter(table=table)[kind].drop_nulls()
            assert len(texts) > 0
            assert [text for text in texts if not re.fullmatch(form, text)] == []
    score = cells.filter(table="B.1", row="BioNLP PM", column="MayoSRS")["computed"].item()
    evaluated = medsim.compare(reproduced.folder.parent / "results", table="B.1")
    (best,) = evaluated.filter(embedding="BioNLP PM").iter_rows(named=True)
    assert first_number(score) == pytest.approx(best["value"], abs=0.005)
    share = reproduced.cells().filter(table="text 3.2", row="Multi-word terms")["computed"].item()
    assert re.fullmatch(r"\d+%", share)


def test_sizes_of_subsets_are_repeated_in_tables_of_metrics(
    reproduced: medsim.Reproduction,
) -> None:
    sizes = reproduced.cells().filter(row="Subset Size")
    columns = ["column", "computed", "printed", "difference", "missing"]
    first = sizes.filter(table="B.1").select(columns)
    assert first.filter(column="MayoSRS")["computed"].item() == "60/60"
    for table in ("B.2", "B.3", "B.4", "B.5"):
        assert_frame_equal(sizes.filter(table=table).select(columns), first)


def test_reasons_are_of_the_cell() -> None:
    cells = {("GloVe", "FSN-SYN. easy"): "0.5", ("GloVe", "MayoSRS"): "0.5"}
    given = {"GloVe", "FSN-SYN. easy", "REPLACED-BY easy"}
    expected = {
        ("5", "GloVe", "SAME-AS easy"): "the build has no such pairs",
        ("5", "Subset Size", "SAME-AS easy"): "the build has no such pairs",
        ("5", "GloVe", "REPLACED-BY easy"): "too few of its pairs are covered",
        ("5", "BERT", "FSN-SYN. easy"): "give an embedding of this name",
        ("4", "GloVe", "Bio-SimLex"): "give this rated file",
        ("A.1", "GloVe", "Size"): "it has no vocabulary",
        ("A.2", "GloVe", "Av"): "give two embeddings",
    }
    for (table, row, column), reason in expected.items():
        assert schulz_2020._why(table, cells, given, row, column).startswith(reason)
    printed = {table.name: table for table in printed_papers()["schulz-2020"].tables}
    assert printed["A.1"].missing["Date"] == "an embedding's file does not say it"
    assert printed["A.2"].missing["LTL"].startswith("in the paper LTL stands for two embeddings")


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
    assert_frame_equal(written, cells.cast(pl.String))  # no apostrophes
    texts = pl.concat([written["computed"], written["printed"]]).drop_nulls()
    negative = texts.filter(texts.str.starts_with("-"))
    assert negative.str.contains(r"^-[0-9.]+$").all()  # a spreadsheet would subtract two numbers
    assert "\u22120.07 -11" in {*texts}
    assert [text for text in {*texts} if re.search(r"\d[eE][+-]?\d", text)] == []
    assert written["difference"].str.len_chars().max() < 8  # no float noise
    assert latex(cells).count("\\begin{tabular}") == cells["table"].n_unique()
    page = (folder.parent / "tables.html").read_text(encoding="utf-8")
    assert page.count("computed [printed; difference]") == cells["table"].n_unique()
    assert "[451,256]" in page
    assert "another terminology" in page
    assert {*reproduced.manifest.inputs} == {"build", "MayoSRS", "BioNLP PM", "mine", "answers/"}
    assert reproduced.manifest.inputs["build"]["options"]["as_of"] == "2019-01-31"
    used = {name: (of["input"], of["options"]) for name, of in reproduced.manifest.inputs.items()}
    evaluated = medsim.Evaluation(folder.parent / "results").manifest.options
    assert used.pop("build")[0] == "build"
    assert used == {
        "MayoSRS": ("rated", {"independent_pairs": evaluated["independent_pairs"]}),
        "BioNLP PM": ("embedding", {}),
        "mine": ("embedding", {}),
        "answers/": ("answers", {}),
    }
    assert "independent_<wbr>pairs=yes" in page
    terminology = reproduced.manifest.remarks["Terminology"]
    assert terminology.startswith("invented.zip of 2026-01-01, as of 2019-01-31")
    assert reproduced.manifest.remarks["Build"] == "as published"
    assert "Rules of the authors&#39; code" in page or "Rules of the authors' code" in page


def test_finished_steps_are_used_again(reproduced: medsim.Reproduction) -> None:
    out = reproduced.folder.parent

    assert made_at(out) == json.loads((out.parent / "made.json").read_text())
    other = shutil.copy(out.parent / "invented.zip", out.parent / "other.zip")
    release, rated = out.parent / "invented.zip", out.parent / "MayoSRS.csv"
    later = out.parent / "later"
    later.mkdir()
    medsim.synth(later / "invented.zip", concepts=100)
    one, both = {"a": word_vectors(1)}, dict.fromkeys(("BioNLP PM", "mine"), word_vectors(1))
    for inputs, embeddings, seed, named in (
        ([other, rated], both, 0, "invented.zip;"),
        ([later / "invented.zip", rated], both, 0, "invented.zip;"),
        ([release, rated], one, 0, "BioNLP PM and mine;"),
        ([release], both, 0, "MayoSRS.csv;"),
        ([release, rated], both, 1, "seed;"),
    ):
        match = re.escape(f"was made with {named} give these, or name another `out`")
        with pytest.raises(medsim.MedsimError, match=match):
            medsim.reproduce("schulz-2020", inputs, out, embeddings=embeddings, seed=seed)
    assert made_at(out) == json.loads((out.parent / "made.json").read_text())


def test_inputs_of_a_run_that_made_nothing_are_not_asked_for_again(tmp_path: Path) -> None:
    for at in range(2):
        rated = write_rated(tmp_path / f"MayoSRS-{at}.csv", 5)
        with pytest.raises(medsim.MedsimError, match="no file or folder"):
            medsim.reproduce(
                "schulz-2020", [tmp_path / f"no{at}", rated], tmp_path / "o", embeddings={"a": {}}
            )


def test_a_benchmark_of_other_corpora_is_not_used_again(tmp_path: Path, shared_benchmark) -> None:
    shutil.copytree(shared_benchmark.folder, tmp_path / "paper" / "wic")
    (tmp_path / "paper" / "inputs.json").write_text('{"NCBI.txt": "a digest"}')
    (tmp_path / "NCBI.txt").write_text("another corpus")
    with pytest.raises(medsim.MedsimError, match=r"was made with NCBI\.txt; give these"):
        medsim.reproduce(
            "rouhizadeh-2024", tmp_path / "NCBI.txt", tmp_path / "paper", terminology="hpo"
        )


def test_files_that_do_not_exist_are_named_before_the_slow_steps(tmp_path: Path) -> None:
    rated = write_rated(tmp_path / "MayoSRS.csv", 5)
    with pytest.raises(medsim.MedsimError, match=r"nowhere\.csv does not exist"):
        medsim.reproduce(
            "chiu-2018",
            rated,
            tmp_path / "paper",
            embeddings={"a": word_vectors(1)},
            tasks=tmp_path / "nowhere.csv",
        )
    assert not (tmp_path / "paper").exists()


@pytest.mark.parametrize("missing", ["rated", "embedding"])
def test_rated_files_and_embeddings_are_opened_before_the_build(
    tmp_path: Path, missing: str
) -> None:
    release, rated = tmp_path / "invented.zip", write_rated(tmp_path / "MayoSRS.csv", 5)
    medsim.synth(release, concepts=50)
    (tmp_path / "a.vec").write_text("1 2\npain 1 2\n")
    (rated if missing == "rated" else tmp_path / "a.vec").unlink()

    with pytest.raises(medsim.MedsimError, match=r"\.csv cannot be read|a\.vec does not exist"):
        medsim.reproduce(
            "schulz-2020", [release, rated], tmp_path / "o", embeddings={"a": tmp_path / "a.vec"}
        )
    assert not (tmp_path / "o").exists()


def test_people_and_pairs_of_chiu_are_read_with_care(tmp_path: Path) -> None:
    folders = [tmp_path / at / "Bio-SimLex" for at in ("1", "2")]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "agreement.csv").write_text("pairs,raters,iaa1,iaa2\nall,all,0.25,\n")
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("term1,term2,domain,associated\na,b,biomedical,yes\n")

    of_one_group = chiu_2018._of_people(folders[:1])
    assert of_one_group == {("text 5 agreement", "Bio-SimLex", "IAA-1"): "0.25"}
    with pytest.raises(medsim.MedsimError, match="two folders of Bio-SimLex"):
        chiu_2018._of_people(folders)
    with pytest.raises(medsim.MedsimError, match=r"pairs\.csv has no row with a value"):
        chiu_2018._counted("pairs", pairs, "Bio-SimLex")


def test_studies_of_words_and_pairs_are_counted(tmp_path: Path) -> None:
    domains, inspected = tmp_path / "Bio-SimLex-domains", tmp_path / "Bio-SimVerb-inspected"
    for folder, files in (
        (
            domains,
            {
                "domains.csv": "word,domain\na,biomedical\nb,biomedical\nc,general\n",
                "annotators.csv": "annotator,n\nada,1\nben,1\neva,1\n",
            },
        ),
        (
            inspected,
            {
                "confirmed.csv": "term1,term2\na,b\n",
                "answers.csv": "annotator,item_id\nada,1\nben,1\nada,2\nben,2\n",
            },
        ),
    ):
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text)

    assert chiu_2018._of_people([domains, inspected]) == {
        ("text 3 filters", "Biomedical domain", "Nouns"): 2,
        ("text 3 filters", "General domain", "Nouns"): 1,
        ("text 3 frequency", "Researchers who chose the domain", "Value"): 3,
        ("text 3 synonyms", "Both sources", "Verbs"): 2,
        ("text 3 synonyms", "Accepted by experts", "Verbs"): 1,
    }
    words = tmp_path / "words.csv"
    words.write_text(
        "word,class,count,topics\nheart,noun,9,Cardiology; Surgery\nhearts,noun,5,Cardiology\n"
        "x,noun,9,\nrare,noun,1,Genetics\nbind,verb,9,Genetics\n"
    )
    assert chiu_2018._of_words(words) == {
        ("text 3 filters", "Before filters", "Nouns"): 4,
        ("text 3 filters", "After filters", "Nouns"): 1,
        ("text 3 filters", "Before filters", "Verbs"): 1,
        ("text 3 filters", "After filters", "Verbs"): 1,
        ("text 3 frequency", "Broad Subject Terms", "Value"): 3,
    }


def test_the_inputs_of_chiu_are_on_one_page(tmp_path: Path) -> None:
    words = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf"]
    rated = write_rated(tmp_path / "MayoSRS.csv", 60)
    with rated.open("a", encoding="utf-8") as file:  # pairs without a phrase
        file.writelines(f"{at}.5,D{at},D{at}9,{words[at]},{words[at + 1]}\n" for at in range(1, 6))
    names = ["model 0", "model 1", "model 2", "SG win1", "SG win2", "SG window 30", "Paragram"]
    tasks = pl.DataFrame({"model": names, "entities": [0.1, 0.5, 0.2, 0.4, 0.3, 0.7, 0.6]})
    tasks.write_csv(tmp_path / "tasks.csv")
    pairs = tmp_path / "Bio-SimLex.csv"
    pairs.write_text("term1,term2,domain,associated\na,b,general,false\nc,d,biomedical,true\n")
    people = tmp_path / "Bio-SimVerb-scores"
    people.mkdir()
    (people / "manifest.json").write_text("{}")
    (people / "agreement.csv").write_text(
        "pairs,raters,iaa1,iaa2\nall,all,0.1,0.2\n"
        "mean of groups,all,0.3,0.4\nmean of groups,accepted,0.701,0.796\n"
    )

    made = medsim.reproduce(
        "chiu-2018",
        rated,
        tmp_path / "paper",
        embeddings={
            **{name: word_vectors(seed, words) for seed, name in enumerate(names)},
            "whole": medsim.Embedding(word_vectors(9, words), keys="terms"),
        },
        tasks=tmp_path / "tasks.csv",
        pairs=pairs,
        people=people,
        phrases="skipped",
        cache="none",
    )

    assert {*made.manifest.inputs} > {"MayoSRS", "model 0", "tasks.csv", f"{people.name}/"}
    used = {of["input"]: of["options"] for of in made.manifest.inputs.values()}
    assert {*used} == {"rated", "embedding", "tasks", "pairs", "people"}
    assert (used["tasks"], used["rated"]) == (
        {"correction": "none"},
        {"metrics": ["avg_cos", "cos"]},
    )
    cells = made.cells().drop_nulls("computed")
    by_windows = cells.filter(table="7", column="MayoSRS")
    assert by_windows["row"].to_list() == ["SG win1", "SG win2", "SG window 30"]
    others = cells.filter(table="5", column="MayoSRS")
    assert others["row"].to_list() == ["Paragram", "model 0", "model 1", "model 2", "whole"]
    assert {*cells.filter(column="MayoSRS, pairs")["computed"]} == {"5"}
    scores = [first_number(text) for text in others["computed"][1:4]]
    vectors = word_vectors(0, words)
    cosines = [
        np.dot(vectors[a], vectors[b]) / np.linalg.norm(vectors[a]) / np.linalg.norm(vectors[b])
        for a, b in pairwise(words[1:])
    ]
    ranks = np.argsort(np.argsort(cosines))
    assert scores[0] == pytest.approx(np.corrcoef(ranks, range(5))[0, 1], abs=0.001)
    r, p = map(float, cells.filter(table="6")["computed"])
    expected = np.corrcoef(scores, tasks["entities"][:3])[0, 1]
    assert r == pytest.approx(expected, abs=0.02)
    r_of_windows, p_of_windows = map(float, cells.filter(table="8")["computed"])
    expected = np.corrcoef([*map(float, by_windows["computed"])], tasks["entities"][3:6])[0, 1]
    assert r_of_windows == pytest.approx(expected, abs=0.02)
    significance = made.cells().filter(table="text 5 significance")
    assert significance["computed"].to_list() == [
        *("1 of 1" if each < 0.05 else "none of 1" for each in (p, p_of_windows)),
        None,
    ]
    assert significance["printed"].to_list() == ["none", "two", "none"]
    assert "at least three of Paragram" in significance["missing"][2]
    found = {(row["table"], row["row"], row["column"]): row for row in cells.iter_rows(named=True)}
    quarter = found["text 3 quarters", "Biomedical, associated", "Bio-SimLex"]
    assert (quarter["computed"], quarter["printed"], quarter["difference"]) == ("1", "247", -246)
    assert found["text 3 quarters", "General, all", "Bio-SimLex"]["computed"] == "1"
    assert found["text 5 agreement", "Bio-SimVerb", "IAA-1"]["computed"] == "0.70"
    assert found["text 5 agreement", "Bio-SimVerb", "IAA-2"]["difference"] == 0.11
    phrases = made.manifest.remarks["Phrases"]
    assert phrases.startswith("pairs with a phrase or a hyphen are skipped")
    assert phrases.endswith("whole: each term has one vector, so nothing is averaged or skipped.")


def test_figures_of_chiu_need_counts_of_words(tmp_path: Path) -> None:
    words = [letter * 3 for letter in "abcdefghijklmnopqr"]
    rated = tmp_path / "Bio-SimLex.txt"
    rated.write_text("".join(f"{a}\t{b}\t{at / 2}\n" for at, (a, b) in enumerate(pairwise(words))))
    counts = pl.DataFrame({"word": words, "count": range(10, 10 + len(words))})
    counts.write_csv(tmp_path / "words.csv")

    made = medsim.reproduce(
        "chiu-2018",
        rated,
        tmp_path / "paper",
        embeddings={"a": word_vectors(1, words)},
        words=tmp_path / "words.csv",
        cache="none",
    )

    types = made.cells().filter(table="text 1 types", row="Bio-SimLex")
    assert types["computed"].to_list() == [str(len(words))]
    figure = made.cells().filter(table="figure 2").drop_nulls("computed")
    parts = ["10-15", "16-21", "22+"]
    assert figure["column"].to_list() == [at for part in parts for at in (part, f"{part}, pairs")]
    assert made.cells().filter(table="figure 1").is_empty()


def test_words_in_context_are_counted(tmp_path: Path, shared_benchmark) -> None:
    sentences = shared_benchmark.instances()["sentence1"].str.split(" ").explode()
    words = medsim.Embedding(word_vectors(1, sentences), keys="words", input="sentence")
    out = tmp_path / "paper"
    made = medsim.reproduce(
        "rouhizadeh-2024", shared_benchmark.folder, out, embeddings={"mine": words}
    )

    scores = read_manifest(out / "scores", WIC_EVALUATION)
    assert scores.models["mine"]["input"] == "sentence"
    assert "mine (perceptron)" in made.cells().filter(table="6").drop_nulls("computed")["row"]
    cell = made.cells().filter(table="3", row="All", column="All").row(0, named=True)
    n_instances = shared_benchmark.instances().height
    assert cell["computed"] == str(n_instances)
    about = made.manifest.inputs["benchmark"]
    assert about["path"] == str(shared_benchmark.folder)
    assert len(about["fingerprint"]) == 64
    assert about["options"]["label_similarity"] == 0.75
    models = {name: made.manifest.inputs[name]["input"] for name in ("random", "mine")}
    assert models == {"random": "model", "mine": "sentence"}
    page = (out / "tables.html").read_text(encoding="utf-8")
    assert about["fingerprint"][:12] in page
    assert "<td>sentence</td>" in page
    shares = made.cells().filter(table="4", row="1", column="Test %")["computed"]
    assert shares.str.contains(r"^\d+$").all()  # as printed
    assert {*made.cells().filter(table="5", column="All %")["computed"]} == {"100"}
    assert (cell["difference"], cell["other"]) == (None, "another terminology")
    accuracy = medsim.WicScores(out / "scores").results().filter(model="mine", subset="all")
    figure = made.cells().filter(table="figure 5", row="max of all models")
    assert figure["computed"].to_list() == [f"{accuracy['accuracy'].item():.2f}"]


def test_cells_of_words_in_context_say_which_file_is_missing(
    tmp_path: Path, shared_benchmark
) -> None:
    test = shared_benchmark.instances("test").drop("concept1", "concept2", strict=False)
    (tmp_path / "data").mkdir()
    shutil.copy(shared_benchmark.folder / "test.json", tmp_path / "data")
    people = tmp_path / "people"
    people.mkdir()
    (people / "manifest.json").write_text("{}")
    (people / "accuracy.csv").write_text(
        "annotator,n_instances,accuracy\nada,100,0.8\nben,100,0.9\nmean,150,0.85\n"
    )
    (people / "agreement.csv").write_text("annotators,n_pairs,kappa\nada & ben,50,0.84\n")

    made = medsim.reproduce(
        "rouhizadeh-2024", tmp_path / "data" / "test.json", tmp_path / "paper", people=people
    )

    cells = made.cells().filter(table="3")
    whole = cells.filter(row="Test", column="All")
    assert whole["computed"].to_list() == [str(test.height)]
    assert {*made.cells().drop_nulls("computed")["other"]} == {"another benchmark"}
    assert made.cells()["difference"].null_count() == made.cells().height
    assert made.manifest.remarks["Benchmark"] == "another benchmark"
    reasons = {
        row[:3]: row[3]
        for row in made.cells().select("table", "row", "column", "missing").iter_rows()
    }
    umls = "give corpora, and UMLS by --terminology"
    assert reasons["3", "Train", "All"] == "give train.json"
    assert reasons["3", "Test", "Unique CUIs"] == umls
    assert reasons["3", "All", "All"] == "give all splits"
    assert reasons["5", "All", "All %"] == "give train.json and test.json"
    assert reasons["1", "BC5CDR", "Mentions"] == "give corpora and --terminology"
    assert reasons["text 4.3", "Unique CUIs", "Value"] == umls
    assert reasons["figure 3", "Threshold chosen", "Value"].startswith("the default of")
    agreed = made.cells().filter(table="text 4.2").drop_nulls("computed")
    assert dict(agreed.select("row", "computed").iter_rows()) == {
        "Annotators": "2",
        "Instances per annotator": "100",
        "Instances in common": "50",
        "Cohen's kappa": "0.84",
        "Accuracy, annotator 1": "0.80",
        "Accuracy, annotator 2": "0.90",
        "Accuracy, mean": "0.85",
    }
    repeated = made.cells().filter(pl.col("table").is_in(["text 3", "text 7"]))
    repeated = repeated.drop_nulls("computed")
    assert dict(repeated.select("row", "computed").iter_rows()) == {
        "Test instances": str(test.height),
        "Inter-annotator agreement": "0.84",
        **{
            f"Test, {group.replace('_', ' ')}": str(test.filter(cat=group).height)
            for group in GROUPS
        },
    }


def test_other_benchmarks_than_biowic_are_known_by_their_terms() -> None:
    table = next(of for of in printed_papers()["rouhizadeh-2024"].tables if of.name == "4")
    counts = {of: [int(table.printed[n, f"{of} #"]) for n in table.rows] for of in ("Dev", "Test")}
    labels = [*table.rows[:-1], "all"]
    dev = pl.DataFrame({"tokens per term": labels, "dev": counts["Dev"], "dev %": [1.0] * 5})
    both = dev.with_columns(pl.Series("test", counts["Test"]), pl.Series("test %", [1.0] * 5))

    assert rouhizadeh_2024._is_biowic(dev)
    assert rouhizadeh_2024._is_biowic(both)
    assert not rouhizadeh_2024._is_biowic(both.with_columns(pl.col("test") + 1))
    assert not rouhizadeh_2024._is_biowic(dev.rename({"dev": "train", "dev %": "train %"}))


def test_a_folder_with_one_split_is_cross_fitted(
    tmp_path: Path, shared_benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rouhizadeh_2024, "_is_biowic", lambda _: True)
    data, words = tmp_path / "data", medsim.Embedding({"of": [1.0]}, keys="words")
    data.mkdir()
    shutil.copy(shared_benchmark.folder / "dev.json", data)

    made = medsim.reproduce(
        "rouhizadeh-2024", data, tmp_path / "paper", embeddings={"of": words}, cache="none"
    )

    assert "cross-fitted" in made.manifest.remarks["Thresholds"]
    (cell, *_) = made.cells().filter(table="6", row="of (perceptron)").iter_rows(named=True)
    assert cell["other"] == "another split than test, cross-fitted"
    monkeypatch.undo()
    shutil.copy(shared_benchmark.folder / "test.json", data)
    with pytest.raises(medsim.MedsimError, match=r"^of needs train\.json, which data lacks$"):
        medsim.reproduce("rouhizadeh-2024", data, tmp_path / "paper", embeddings={"of": words})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["schulz-2020", "hpo"], "name at least one of --embedding"),
        (["chiu-2018", "a.csv", "-e", "a=b", "--answers", "x"], "--answers is for schulz-2020"),
        (["chiu-2018", "a.csv", "-e", "a=b,input=quoted"], "unknown option of an embedding"),
        (["schulz-2021", "hpo"], "schulz-2020"),
        (["chiu-2018", "a.csv", "-e", "a=b", "--train"], "--train is for rouhizadeh-2024"),
        (
            ["schulz-2020", "hpo", "-e", "a=b", "--people", "x"],
            "--people is for chiu-2018 and rouhizadeh-2024",
        ),
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
