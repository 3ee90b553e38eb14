"""A study in German from a workbook to scores, with people who are late, added or corrected."""

from __future__ import annotations

import csv
import json
import os
import re
from collections import Counter
from pathlib import Path

import openpyxl
import polars as pl
import pytest
from fixtures.studies import put, written_jsonl
from openpyxl.comments import Comment
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.errors import InputError, OptionError
from medsim.studies.folder import Study
from medsim.studies.output import ScoresFolder
from medsim.studies.page import score_sentences, scores_page
from medsim.studies.score import _for_spreadsheets
from medsim.studies.sheets import DONT_KNOW, JUDGEMENT, NOT_SAME, SAME

NAMES = ("ada", "ben", "cy", "dora", "eva", "fay")
WORDS = ("ja", "nein", "unsicher")


def value_of(name: str, term: str) -> int:
    """Return an answer: usually the pair's label, and sometimes another."""
    at = int(term.removeprefix("left "))
    drawn = (7 * at + 5 * NAMES.index(name)) % 13 if name in NAMES else at % 5
    return DONT_KNOW if drawn == 0 else (at + (drawn < 3)) % 2


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Six people, three for each of twenty pairs of a workbook with a title and a second sheet."""
    book = openpyxl.Workbook()
    book.active.append(["Pairs of the clinic"])
    book.active.append(["term1", "term2", "group", "label"])
    for at in range(20):
        book.active.append(
            [f"left {at}", f"right {at}", "xy"[at % 2], ("Nein", True, 0, "j")[at % 4]]
        )
    book.create_sheet("notes").append(["nothing"])
    book.save(tmp_path / "pairs.xlsx")
    out = tmp_path / "study"
    return medsim.sample_study(
        tmp_path / "pairs.xlsx", out, annotators=NAMES, per_item=3, answer_words=WORDS
    )


def answers_of(study: Study, name: str) -> dict[str, int]:
    """Return the answers of an annotator by entry."""
    terms = dict(study.items().select("item_id", "term1").iter_rows())
    rows = study.assignment().filter(annotator=name).select("entry_id", "item_id").rows()
    return {entry_id: value_of(name, terms[item_id]) for entry_id, item_id in rows}


def workbook(study: Study, name: str, words: dict[int, object]):
    """Return the filled-in workbook of an annotator, and its sheet."""
    book = openpyxl.load_workbook(study.folder / f"annotators/{name}/sheet-{name}.xlsx")
    given = answers_of(study, name)
    for row in book.active.iter_rows(min_row=2):
        row[3].value = words[given[row[0].value]]
    return book, book.active


def rows_of(study: Study, name: str) -> list[list[str]]:
    """Return the rows of an annotator's sheet in CSV."""
    text = (study.folder / f"annotators/{name}/sheet-{name}.csv").read_text("utf-8-sig")
    return list(csv.reader(text.splitlines()))[1:]


def page(study: Study, name: str, path: Path) -> None:
    (sheet,) = (sheet for sheet in study.sheets() if sheet.annotator == name)
    path.write_text(written_jsonl(sheet, answers_of(study, name)), encoding="utf-8")


def returned(study: Study, folder: Path) -> Path:
    """Write what four of the people send back, each with other habits, into a folder."""
    folder.mkdir()
    book, sheet = workbook(study, "ada", {SAME: "JA", NOT_SAME: "n", DONT_KNOW: "?"})
    sheet["D3"].comment = Comment("Ada Muster:\nonly in children", "Ada Muster")
    sheet["B2"].comment = Comment(
        "[Threaded]\n\nSee https://go.microsoft.com/fwlink/?linkid=870924\n\nComment:\n odd",
        "tc={1}",
    )
    sheet.append(["Total", None, None, 10])
    book.save(folder / "ada final.xlsx")
    book, sheet = workbook(study, "ben", {SAME: True, NOT_SAME: False, DONT_KNOW: "weiß nicht"})
    sheet.insert_rows(1)
    sheet["A1"] = "Sheet of Ben"
    for number, heading in enumerate(("Eintrag", "links", "rechts", "Antwort", "Notiz"), start=1):
        sheet.cell(2, number, heading)
    book.save(folder / "ben.xlsx")
    rows = rows_of(study, "cy")
    given, words = answers_of(study, "cy"), ("0", "1", "unsure")
    lines = ["Bogen für Cy;;", "Nr;links;rechts;Antwort;Bemerkung"]
    lines += [
        ";".join([row[0], *row[1:3], words[given[row[0].strip("'")]], "größer"]) for row in rows
    ]
    put(folder, "cy.csv", "\r\n".join(lines).encode("cp1252"))
    for name, last in (("z-eva.csv", "y"), ("eva.csv", "")):
        given = answers_of(study, "eva")
        cells = [
            [*row[:3], ("nein", "ja", "unsicher")[given[row[0].strip("'")]]]
            for row in rows_of(study, "eva")
        ]
        cells[0][3] = (
            {"ja": "nein", "nein": "ja", "unsicher": "ja"}[cells[0][3]] if last else cells[0][3]
        )
        text = "\n".join(["sep=;", "entry;left;right;answer", *map(";".join, cells)])
        put(folder, name, text)
    os.utime(folder / "z-eva.csv", (1_000, 1_000))
    return folder


def test_files_of_any_habit_are_read_and_late_people_are_named(
    study: Study, tmp_path: Path
) -> None:
    answers = returned(study, tmp_path / "answers")

    scores = medsim.score_study(study, [answers], tmp_path / "out", resamples=100)

    given = {
        entry: value
        for name in ("ada", "ben", "cy", "eva")
        for entry, value in answers_of(study, name).items()
    }
    rows = scores.table("answers")
    words = {SAME: "ja", NOT_SAME: "nein", DONT_KNOW: "unsicher"}
    ids = study.assignment().sort("annotator", "position")["entry_id"]
    assert rows["answer"].to_list() == [words.get(given.get(entry)) for entry in ids]
    comments = Counter(rows.drop_nulls("comment").select("annotator", "comment").rows())
    assert comments == {("ada", "only in children"): 1, ("ada", "odd"): 1, ("cy", "größer"): 10}
    assert rows.columns[-4:] == ["term1", "term2", "label", "group"]
    assert rows["seconds"].null_count() == rows.height == 60
    said = "\n".join(scores.warnings)
    assert "ada final.xlsx: row 12 ('Total 10') has no entry; left out" in said
    assert "1 answers of 'eva' changed: eva.csv replaces z-eva.csv" in said
    assert "no answers from dora and fay" in said
    assert "read as Windows-1252" in said
    parts = scores.table("parts").rows_by_key("part", named=True, unique=True)
    assert [*parts] == ["all", "group=x", "group=y"]
    judged = scores.table("judged")
    for group in "xy":
        own = judged.filter(group=group)
        decided = own.drop_nulls("judged")
        assert parts[f"group={group}"]["n_pairs"] == own.height
        assert parts[f"group={group}"]["same"] == pytest.approx(
            (decided["judged"] == "same").mean()
        )
        labels = decided["label"].replace_strict({1: "same", 0: "not_same"})
        assert parts[f"group={group}"]["accuracy"] == pytest.approx(
            (decided["judged"] == labels).mean()
        )
    assert [*scores.table("agreement").columns[3::3]] == [
        *("alpha", "kappa", "fleiss_kappa", "ac1", "percent_agreement")
    ]
    methods = (tmp_path / "out" / "methods.txt").read_text("utf-8")
    assert methods == f"{scores.methods}\n"
    whole = scores.table("agreement").row(0, named=True)
    for text in (
        "6 annotators were asked about 20 pairs, each by 3 of them.",
        "the answers were ja, nein and unsicher.",
        "40 of 60 answers were given.",
        f"Gwet's AC1 {whole['ac1']:.3f} (95% CI ",
        "(100 resamples, random seed 0)",
    ):
        assert text in methods
    (section,) = (
        each
        for each in scores_page(ScoresFolder(tmp_path / "out")).sections
        if each.title == "Methods"
    )
    assert section.prose == scores.methods


def test_someone_who_is_added_gets_what_needs_votes_and_other_sheets_stay(
    study: Study, tmp_path: Path
) -> None:
    answers = returned(study, tmp_path / "answers")
    put(study.folder / "annotators/dora", "mine.txt", "kept")
    before = {path: path.read_bytes() for path in study.folder.glob("annotators/*/*")}
    early, shown = medsim.score_study(study, [answers], resamples=0), study.assignment()

    result = CliRunner().invoke(app, ["study", "add", str(study.folder), "gil", str(answers)])

    assert result.exit_code == 0, result.output
    assert {path: path.read_bytes() for path in before} == before
    added = Study(study.folder)
    assert added.manifest.study_id == study.manifest.study_id
    assert added.manifest.annotators == [*NAMES, "gil"]
    new = added.assignment().filter(annotator="gil")
    missing = shown.filter(pl.col("annotator").is_in(["dora", "fay"]))["item_id"]
    assert {*new["item_id"]} == {*missing}
    assert new.height == new["item_id"].n_unique()
    before = medsim.score_study(study, [answers], resamples=0).table("judged")
    unanswered = medsim.score_study(added, [answers], resamples=0).table("judged")
    assert unanswered.equals(before)  # the added one is asked in place of others
    page(added, "gil", answers / "gil.jsonl")
    with_gil = medsim.score_study(added, [answers], resamples=0)
    n_missing = with_gil.table("judged")["n_missing"].to_list()
    assert n_missing == [max(0, n - 1) for n in before["n_missing"]]
    n_answers = pl.sum_horizontal("n_same", "n_not_same", "n_dont_know", "n_missing")
    assert {*with_gil.table("judged").select(n_answers).to_series()} == {3}
    late = medsim.score_study(added, [answers], leave_out=["dora", "fay"], resamples=0)
    assert late.table("missing").is_empty()
    assert late.table("answers").filter(annotator="gil").height == new.height
    same = ("annotator", "item_id", "answer")
    assert (
        early.table("answers")
        .filter(annotator="eva")
        .select(same)
        .equals(late.table("answers").filter(annotator="eva").select(same))
    )
    for name, says in (("gil", "two annotators are named 'gil'"), ("all", "cannot be the name")):
        with pytest.raises(OptionError, match=says):
            medsim.add_annotator(added, name)
    for name in ("dora", "fay"):
        page(added, name, answers / f"{name}.jsonl")
    with pytest.raises(OptionError, match="every pair has all its answers"):
        medsim.add_annotator(added, "hal", [answers])


def test_cover_sheets_merged_cells_totals_and_empty_files_are_read_or_named(tmp_path: Path) -> None:
    rows = [f"a{at},b{at},{at}" for at in range(14)]
    (tmp_path / "pairs.csv").write_text("\n".join(["term1,term2,age", *rows, "Total,,14"]))
    progress = medsim.Progress()
    study = medsim.sample_study(
        tmp_path / "pairs.csv", tmp_path / "study", annotators=["ada", "ben"], progress=progress
    )
    assert progress.warnings == ["pairs.csv: line 16 ('Total 14') lacks a term; left out"]
    folder = tmp_path / "answers"
    folder.mkdir()
    book = openpyxl.Workbook()
    book.active.append(["entry", "note"])
    book.active.append([rows_of(study, "ada")[0][0], "difficult"])
    sheet = book.create_sheet("Bogen")
    sheet.append(["Nr", "links", "rechts", "Antwort"])
    for cells in rows_of(study, "ada"):
        sheet.append([*cells[:3], "ja"])
    sheet.append([None, "Summe", "14 Paare", "14 ja"])
    sheet.merge_cells("D3:D4")
    book.save(folder / "ada.xlsx")
    (folder / "ben.csv").touch()
    (folder / "cy.csv").write_bytes(b"\xef\xbb\xbf")
    openpyxl.Workbook().save(folder / "dan.xlsx")

    scores = medsim.score_study(study, [folder], resamples=0)

    assert scores.table("answers")["answer"].count() == 13
    said = "\n".join(scores.warnings)
    assert "row 16 ('Summe 14 Paare 14 ja') has no entry; left out" in said
    assert "1 cell is merged over rows; the first has it" in said
    assert "no answers in ben.csv, cy.csv, dan.xlsx; left out" in said
    assert "parts leaves out columns with more than 12 values: age" in said
    for name in ("ben", "cy"):
        put(folder, f"{name}.csv", f"entry,left,right,answer\n{'0' * 16},a1,b1,odd\n".encode())
    with pytest.raises(
        InputError, match=r"ben\.csv is of another study.*; .*cy\.csv is of another"
    ):
        medsim.score_study(study, [folder])


def test_pseudonyms_are_in_every_output_and_their_key_is_in_one_file(
    study: Study, tmp_path: Path
) -> None:
    answers, key = returned(study, tmp_path / "answers"), tmp_path / "key.csv"
    options = {"leave_out": ["dora", "fay"], "resamples": 0, "pseudonyms": key}

    scores = medsim.score_study(study, [answers], tmp_path / "out", **options)

    names = dict(pl.read_csv(key).iter_rows())
    assert {*names} == {*NAMES}
    assert sorted(names.values()) == [f"judge {letter}" for letter in "ABCDEF"]
    texts = [path.read_text("utf-8") for path in (tmp_path / "out").iterdir()]
    texts += [*scores.warnings, *score_sentences(scores.tables), scores.methods]
    for name in ("ada", "ben", "eva", "dora", "Muster"):
        assert not [text for text in texts if re.search(rf"\b{name}\b", text)]
    file = json.loads((tmp_path / "out/manifest.json").read_text("utf-8"))["answers"][0]
    assert (file["name"], file["annotator"]) == (f"file 1 of {names['eva']}", names["eva"])
    again = medsim.score_study(study, [answers], **options)
    assert again.table("answers").equals(scores.table("answers"))
    hidden = {**options, "leave_out": [names["dora"], "fay"]}
    again = medsim.score_study(study, [answers], **hidden)
    assert again.table("answers").equals(scores.table("answers"))
    with pytest.raises(OptionError, match="unknown annotator 'gil'") as caught:
        medsim.score_study(study, [answers], **{**options, "leave_out": ["gil"]})
    assert not [name for name in NAMES if re.search(rf"\b{name}\b", str(caught.value))]
    medsim.add_annotator(study, "gil")
    later = medsim.score_study(Study(study.folder), [answers], **options)
    assert later.methods
    assert "no answers from judge G, added later" in " ".join(later.warnings)
    assert dict(pl.read_csv(key).iter_rows()) == {**names, "gil": "judge G"}


def test_words_for_answers_decide_buttons_sheets_and_language(study: Study, tmp_path: Path) -> None:
    folder = study.folder / "annotators/ada"
    html, told = (
        (folder / name).read_text("utf-8") for name in ("annotate.html", "instructions.txt")
    )
    assert '<html lang="de">' in html
    assert (
        '"choices":[["same","Ja","j"],["not_same","Nein","n"],["dont_know","Unsicher","s"]]' in html
    )
    assert "antworten Sie mit „unsicher“" in told
    assert "Die Antworten sind: ja, nein, unsicher." in told
    sheet = openpyxl.load_workbook(folder / "sheet-ada.xlsx").active
    assert sheet.freeze_panes == "A2"
    (offered,) = sheet.data_validations.dataValidation
    assert (offered.formula1, str(offered.sqref)) == ('"ja,nein,unsicher"', "D2:D11")
    assert sheet["F2"].value == "ja, nein, unsicher"
    pairs = put(tmp_path, "pairs.csv", "term1,term2\na,b\n")
    own = medsim.sample_study(
        pairs, tmp_path / "own", question="Is it?", answer_words=("yes", "no", "skip"), annotators=1
    )
    assert own.manifest.title == "Is it?"
    assert "answer “skip”" in own.manifest.instructions[-1]
    for said in ("SKIP", "unsure", "Weiss nicht", "keine Ahnung"):
        assert own.asked.value_of(said) == DONT_KNOW
    for words, says in (
        (("yes", "no"), "there are 2"),
        (("no", "yes", "unsure"), "'no' cannot be the word for Same"),
        (("yes", "yes!", "-"), "'-' cannot be the word"),
        (("a b", "a-b", "c"), "a word is given twice"),
    ):
        with pytest.raises(OptionError, match=says):
            JUDGEMENT.worded(words)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("one\n\ntwo\n", "has no column 'entry'"),
        ("a;b;c;d\nx;left;right;ja\n", "has no column 'entry'"),
    ],
)
def test_a_sheet_without_headings_or_entries_is_refused(
    study: Study, tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(InputError, match=says):
        medsim.score_study(study, [put(tmp_path, "x.csv", text)])


def test_terms_are_kept_from_spreadsheets_and_own_numbers_are_not() -> None:
    table = pl.DataFrame({"left": ["MARCH1", "=A1"], "answer": ["3", "4"], "own": ["7", "=1+1"]})
    written = _for_spreadsheets(table, ["left", "answer"])
    assert written.rows() == [("'MARCH1", "3", "7"), ("'=A1", "4", "'=1+1")]
