"""Studies in which some people have not answered yet, or never will."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from fixtures.simulated import answer
from fixtures.studies import put
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.errors import OptionError
from medsim.studies.page import score_sentences

if TYPE_CHECKING:
    from medsim.studies.folder import Study

NAMES = ("ada", "ben", "cy", "dan", "eva", "fay")
N_PAIRS = 20


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Six people, three for each of twenty pairs, which are all labelled the same."""
    rows = "".join(f"left {at},right {at},same\n" for at in range(N_PAIRS))
    table = put(tmp_path, "pairs.csv", f"term1,term2,label\n{rows}")
    return medsim.sample_study(table, tmp_path / "study", annotators=NAMES, per_item=3)


def votes(study: Study, folder: Path, *, but: dict[str, str]) -> dict[str, list[str]]:
    """Write the answers of all: not_same, except for people ``but``; return the votes of pairs."""
    answer(study, folder, lambda name, _: but.get(name, "not_same"))
    asked: dict[str, list[str]] = {}
    for name, item_id in study.assignment().select("annotator", "item_id").iter_rows():
        asked.setdefault(item_id, []).append(name)
    return asked


def files(folder: Path, *names: str) -> list[Path]:
    return [folder / f"{name}.jsonl" for name in names]


def test_a_single_vote_is_no_majority_while_others_are_late(study: Study, tmp_path: Path) -> None:
    votes(study, tmp_path / "answers", but={})

    scores = medsim.score_study(
        study, files(tmp_path / "answers", "ada"), tmp_path / "out", resamples=0
    )

    n_asked, n_ada = 3 * N_PAIRS, study.assignment().filter(annotator="ada").height
    assert scores.table("judged")["judged"].null_count() == scores.table("judged").height == n_ada
    assert {*scores.table("judged")["n_missing"]} == {2}
    assert scores.table("corrections").is_empty()
    assert pl.read_csv(tmp_path / "out" / "corrections.csv").is_empty()
    assert scores.table("missing").height == n_asked - n_ada
    sentences = score_sentences(scores.tables)
    assert f"0 of {n_ada} pairs had a majority." in sentences
    assert sentences[-1] == f"Missing answers: {n_asked - n_ada}."
    text = "\n".join(scores.warnings)
    assert f"{n_asked - n_ada} of {n_asked} answers are missing" in text
    assert "no answers from ben, cy, dan, eva and fay; they count as asked" in text


@pytest.mark.parametrize("n_late", [0, 1, 2, 3, 4, 5])
def test_a_majority_is_more_than_half_of_the_people_asked_and_corrections_need_all_answers(
    study: Study, tmp_path: Path, n_late: int
) -> None:
    asked = votes(study, tmp_path / "answers", but={"ada": "same", "dan": "dont_know"})
    came = NAMES[: len(NAMES) - n_late]
    given = dict.fromkeys(NAMES, "not_same") | {"ada": "same", "dan": "dont_know"}

    scores, incomplete = (
        medsim.score_study(study, files(tmp_path / "answers", *came), resamples=0, **options)
        for options in ({}, {"incomplete": True})
    )

    majorities, whole = {}, set()
    for item_id, names in asked.items():
        said = [given[name] for name in names if name in came]
        ahead = [word for word in ("same", "not_same") if said.count(word) >= 2]
        majorities[item_id] = ahead[0] if ahead else None
        if said and len(said) == 3:
            whole.add(item_id)
    terms = dict(study.items().select("term1", "item_id").iter_rows())
    for term, judged in scores.table("judged").select("term1", "judged").iter_rows():
        assert judged == majorities[terms[term]]
    wrong = {item_id for item_id, judged in majorities.items() if judged == "not_same"}
    assert {terms[term] for term in scores.table("corrections")["term1"]} == wrong & whole
    assert {terms[term] for term in incomplete.table("corrections")["term1"]} == wrong
    n_open = N_PAIRS - len(whole)
    said = f"{n_open} of {N_PAIRS} pairs lack answers and are not in corrections; add `incomplete`"
    assert any(said in warning for warning in scores.warnings) == (n_open > 0)
    assert not any("`incomplete`" in warning for warning in incomplete.warnings)


def test_answers_that_arrive_in_several_runs_give_what_one_run_gives(
    study: Study, tmp_path: Path
) -> None:
    asked = votes(study, tmp_path / "answers", but={"ben": "same"})
    found = [
        medsim.score_study(study, files(tmp_path / "answers", *NAMES[:n]), resamples=0)
        for n in range(1, 7)
    ]

    n_corrected = [scores.table("corrections").height for scores in found]
    assert n_corrected == sorted(n_corrected)
    assert n_corrected[-1] == len(asked)
    for early, late in itertools.pairwise(found):
        kept = late.table("corrections").join(early.table("corrections"), on=["term1", "judged"])
        assert kept.height == early.table("corrections").height
    assert found[-1].table("missing").is_empty()
    assert not any("missing" in sentence for sentence in score_sentences(found[-1].tables))


def test_somebody_who_will_not_answer_is_left_out_of_those_asked(
    study: Study, tmp_path: Path
) -> None:
    asked = votes(study, tmp_path / "answers", but={})
    some = files(tmp_path / "answers", *NAMES[:5])

    scores = medsim.score_study(study, some, leave_out=["fay"], resamples=0)

    assert scores.table("missing").is_empty()
    assert scores.table("corrections").height == len(asked)
    assert not any("missing" in warning or "fay" in warning for warning in scores.warnings)
    two = medsim.score_study(study, some, leave_out=["fay", "eva"], resamples=0)
    alone = [item_id for item_id, names in asked.items() if len({*names} - {"fay", "eva"}) == 1]
    assert alone
    assert two.table("corrections").height == len(asked)
    with pytest.raises(OptionError, match=r"unknown annotator 'fray'.* fay"):
        medsim.score_study(study, some, leave_out=["fray"])
    with pytest.raises(OptionError, match="`leave_out` leaves no answers"):
        medsim.score_study(study, files(tmp_path / "answers", "ada"), leave_out=["ada"])


def test_words_and_pairs_are_agreed_when_all_who_were_asked_agree(tmp_path: Path) -> None:
    words = put(
        tmp_path, "words.csv", "word,class,count\nkinase,noun,9\nhouse,noun,9\nfire,noun,9\n"
    )
    pairs = put(tmp_path, "pairs.csv", "term1,term2\na,b\nc,d\n")
    domains = medsim.domains_study(words, tmp_path / "d", annotators=NAMES[:3], no_lemmas=True)
    inspected = medsim.inspect_study(pairs, tmp_path / "i", annotators=NAMES[:3])
    answer(
        domains,
        tmp_path / "ds",
        lambda name, item: None if (name, item["word"]) == ("ben", "fire") else "general",
    )
    answer(inspected, tmp_path / "is", lambda *_: "associated")

    for study, folder, table, n_of_two in (
        (domains, "ds", "domains", 2),
        (inspected, "is", "confirmed", 2),
    ):
        some = files(tmp_path / folder, "ada", "ben")
        scores = medsim.score_study(study, some, resamples=0)
        assert scores.table(table).is_empty()
        assert f"and are not in {table}; add `incomplete`" in "\n".join(scores.warnings)
        left = medsim.score_study(study, some, leave_out=["cy"], resamples=0)
        assert left.table(table).height == n_of_two
        every = medsim.score_study(study, some, incomplete=True, resamples=0)
        assert every.table(table).height == study.items().height


def test_a_comment_without_an_answer_is_in_the_tables(study: Study, tmp_path: Path) -> None:
    path = study.folder / "annotators" / "ada" / "sheet-ada.csv"
    rows = pl.read_csv(path, infer_schema=False)
    first = rows["entry"][0]
    is_first = pl.col("entry") == first
    rows = rows.with_columns(
        answer=pl.when(is_first).then(pl.lit("")).otherwise(pl.lit("same")),
        comment=pl.when(is_first).then(pl.lit("which one?")),
    )
    rows.write_csv(tmp_path / "ada.csv")
    votes(study, tmp_path / "answers", but={})
    others = files(tmp_path / "answers", *NAMES[1:])

    scores = medsim.score_study(study, [tmp_path / "ada.csv", *others], resamples=0)

    (missing,) = scores.table("missing").to_dicts()
    assert (missing["annotator"], missing["comment"]) == ("ada", "which one?")
    terms = {missing["left"], missing["right"]}
    for name in ("judged", "disagreements"):
        said = scores.table(name).filter(pl.col("term1").is_in(terms))["comments"].to_list()
        assert said == (["ada: which one?"] if said else [])
    assert scores.table("judged")["comments"].drop_nulls().to_list() == ["ada: which one?"]
    left = medsim.score_study(study, [tmp_path / "ada.csv", *others], leave_out=["ada"])
    assert "comments" not in left.table("judged").columns


def test_late_raters_are_counted_and_named(pairs: Path, tmp_path: Path) -> None:
    study = medsim.grade_study(
        pairs, tmp_path / "study", raters="ada,ben,cy,dan", groups=2, consistency=20, duplicates=0
    )
    answer(study, tmp_path / "answers", lambda name, _: str(len(name)))
    some = files(tmp_path / "answers", "ada", "ben", "cy")

    scores = medsim.score_study(study, some, resamples=0)

    n_dan = study.assignment().filter(annotator="dan").height
    assert scores.table("missing")["annotator"].to_list() == ["dan"] * n_dan
    assert score_sentences(scores.tables)[-1] == f"Missing answers: {n_dan}."
    left = medsim.score_study(study, some, leave_out=["dan"], resamples=0)
    assert left.table("missing").is_empty()
    assert left.table("rated").equals(scores.table("rated"))
    with pytest.raises(OptionError, match="unknown annotator 'don'"):
        medsim.score_study(study, some, leave_out=["don", "outliers"])


def test_the_command_advises_corrections_only_if_there_are_some(
    study: Study, tmp_path: Path
) -> None:
    votes(study, tmp_path / "answers", but={})
    arguments = ["study", "score", str(study.folder), "--resamples", "0", "-o"]

    late = CliRunner().invoke(
        app, [*arguments, str(tmp_path / "one"), str(tmp_path / "answers" / "ada.jsonl")]
    )
    whole = CliRunner().invoke(app, [*arguments, str(tmp_path / "all"), str(tmp_path / "answers")])

    assert late.exit_code == whole.exit_code == 0, late.output + whole.output
    assert "--corrections" not in late.stderr
    assert "--incomplete" in late.stderr
    assert "--corrections" in whole.stderr
    manifest = json.loads((tmp_path / "one" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["options"]["incomplete"] is False
