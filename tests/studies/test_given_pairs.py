"""Studies of the pairs of a table: who judges which, the question, and the scores."""

from __future__ import annotations

import csv
import re
from collections import Counter
from itertools import combinations
from pathlib import Path

import krippendorff
import numpy as np
import polars as pl
import pytest
from fixtures.simulated import answer
from fixtures.studies import put

import medsim
from medsim.core.errors import InputError, OptionError
from medsim.studies.folder import Study
from medsim.studies.output import ScoresFolder
from medsim.studies.page import score_sentences, scores_page

NAMES = ("ada", "ben", "cy", "dan", "eva", "fay")
VALUES = {"not_same": 0, "same": 1, "dont_know": 2}


def table(folder: Path, labels: tuple[str, ...] = ()) -> Path:
    """Write forty pairs; if there are labels, they take turns."""
    header = "term1,term2,source,note" + (",label" if labels else "")
    rows = [
        f"left {at},right {at},s{at % 4},=1+{at}"
        + (f",{labels[at % len(labels)]}" if labels else "")
        for at in range(40)
    ]
    return put(folder, "pairs.csv", "\n".join([header, *rows, ""]))


def judged(annotator: str, item: dict[str, object]) -> str | None:
    """Return an answer that often agrees with the others' and sometimes is missing."""
    at = int(str(item["term1"]).removeprefix("left "))
    drawn = (at * 7 + NAMES.index(annotator) * 5) % 23
    if drawn in {0, 11}:
        return None if drawn else "dont_know"
    return ("same", "not_same")[(at + (drawn in {3, 7, 19})) % 2]


def test_six_people_judge_three_per_pair_and_alpha_is_that_of_krippendorff(tmp_path: Path) -> None:
    import openpyxl

    study = medsim.sample_study(table(tmp_path), tmp_path / "study", annotators=NAMES, per_item=3)
    answer(study, tmp_path / "answers", judged)
    items = study.items().rows_by_key("item_id", named=True, unique=True)
    entries = dict(study.assignment().select("entry_id", "item_id").iter_rows())
    with (study.folder / "annotators/eva/sheet-eva.csv").open(encoding="utf-8-sig") as file:
        header, *rows = csv.reader(file)
    spelled = {"same": "Same", "not_same": "not same", "dont_know": "Don\u2019t know", None: None}
    book = openpyxl.Workbook()
    for row in (
        header,
        *([*row[:3], spelled[judged("eva", items[entries[row[0]]])], "a sign"] for row in rows),
    ):
        book.active.append(row)
    book.save(tmp_path / "answers/eva.xlsx")
    (tmp_path / "answers/eva.jsonl").unlink()

    scores = medsim.score_study(study, [tmp_path / "answers"], resamples=100)

    given = np.full((6, 40), np.nan)
    for name, item_id in study.assignment().select("annotator", "item_id").iter_rows():
        at = int(items[item_id]["term1"].removeprefix("left "))
        if (value := judged(name, items[item_id])) is not None:
            given[NAMES.index(name), at] = VALUES[value]
    alpha = krippendorff.alpha(given, level_of_measurement="nominal")
    agreement = scores.table("agreement")
    whole = agreement.row(0, named=True)
    assert whole["annotators"] == " & ".join(NAMES)
    assert whole["alpha"] == pytest.approx(alpha)
    assert whole["alpha_low"] < alpha < whole["alpha_high"]
    decided = krippendorff.alpha(
        np.where(given == 2, np.nan, given), level_of_measurement="nominal"
    )
    assert agreement.row(1, named=True)["alpha"] == pytest.approx(decided)
    for one, other in combinations(NAMES, 2):
        both = given[[NAMES.index(one), NAMES.index(other)]]
        row = agreement.filter(annotators=f"{one} & {other}", dont_know="a judgement")
        assert row["n_pairs"].item() == int((~np.isnan(both)).all(axis=0).sum()) > 0
    # A majority is at least two of the three people who were asked.
    for row in scores.table("judged").iter_rows(named=True):
        votes = given[:, int(row["term1"].removeprefix("left "))]
        counts = [int((votes == value).sum()) for value in range(3)]
        assert [row["n_not_same"], row["n_same"], row["n_dont_know"]] == counts
        most = [word for word in ("not_same", "same") if counts[VALUES[word]] >= 2]
        assert row["judged"] == (most[0] if most else None)
    n_decided = 40 - scores.table("judged")["judged"].null_count()
    assert 0 < n_decided < 40
    first, second, *_ = score_sentences(scores.tables)
    n_least = int((~np.isnan(given)).sum(axis=0).min())
    assert first == (
        f"6 annotators judged 40 pairs, each pair by {n_least} to 3 of them: Krippendorff's alpha "
        f"is {alpha:.3f} (95% CI {whole['alpha_low']:.3f} to {whole['alpha_high']:.3f})."
    )
    assert second.startswith(f"{n_decided} of 40 pairs had a majority: ")
    missing = dict(scores.table("annotators").select("annotator", "n_missing").iter_rows())
    unanswered = [np.isnan(given[at]).sum() - 20 for at in range(6)]
    assert missing == dict(zip(NAMES, unanswered, strict=True))
    assert next(iter(scores.tables)) == "agreement"
    assert not {"quality", "corrections"} & {*scores.tables}
    shown_to_eva = study.assignment().filter(annotator="eva")["item_id"]
    of_eva = {items[at]["term1"] for at in shown_to_eva if judged("eva", items[at])}
    for name in ("judged", "disagreements"):
        noted = scores.table(name).filter(pl.col("term1").is_in(of_eva))
        assert set(noted["comments"]) == {"eva: a sign"}
        assert scores.table(name)["comments"].count() == noted.height > 0
    assert {*scores.table("disagreements").columns} == {
        *("why", "term1", "term2", "truth", "comments"),
        *(f"answer of {name}" for name in NAMES),
    }


@pytest.mark.parametrize("per_item", [1, 2, 3, 5])
def test_each_pair_goes_to_as_many_people_and_all_have_equally_many(
    tmp_path: Path, per_item: int
) -> None:
    path = table(tmp_path)
    study, again, other = (
        medsim.sample_study(path, tmp_path / f"{at}", annotators=6, per_item=per_item, seed=seed)
        for at, seed in enumerate((0, 0, 1))
    )

    shown = study.assignment()
    assert set(shown.group_by("item_id").agg(pl.col("annotator").n_unique())["annotator"]) == {
        per_item
    }
    n_each = Counter(shown["annotator"])
    assert len(n_each) == 6
    assert max(n_each.values()) - min(n_each.values()) <= 1
    assert shown.height == shown.unique(["item_id", "annotator"]).height == 40 * per_item
    if per_item > 2:  # everyone can be compared with everyone else
        groups = shown.group_by("item_id").agg(pl.col("annotator").sort())["annotator"]
        met = {two for group in groups for two in combinations(group, 2)}
        assert len(met) == 15
    assert again.assignment().equals(shown)
    ids = ("annotator", "left")
    assert set(other.assignment().select(ids).rows()) != set(shown.select(ids).rows())


def test_all_judge_all_pairs_by_default_and_other_columns_are_kept_in_the_key(
    tmp_path: Path,
) -> None:
    study = medsim.sample_study(
        table(tmp_path, ("The same", "0", "Not the same", "")), tmp_path / "study"
    )

    assert Counter(study.assignment()["annotator"]) == dict.fromkeys(study.manifest.annotators, 40)
    items = study.items().sort(pl.col("term1").str.slice(5).cast(pl.Int64))
    assert items["label"].head(4).to_list() == [1, 0, 0, None]
    assert items.select("source", "note").row(3) == ("s3", "=1+3")
    assert items["dataset"].null_count() == items["pair_id"].null_count() == 40
    for file in (study.folder / "annotators").rglob("*.*"):
        if file.suffix != ".xlsx":
            assert "s3" not in re.findall(r"\w+", file.read_text("utf-8"))
    assert study.manifest.source["kind"] == "pairs"


def test_known_labels_have_a_quality_and_corrections(tmp_path: Path) -> None:
    study = medsim.sample_study(
        table(tmp_path, ("same", "not_same", "not_same", "")),
        tmp_path / "study",
        annotators=NAMES,
        question="Is <a> like b?",
    )
    answer(study, tmp_path / "answers", judged)

    scores = medsim.score_study(study, [tmp_path / "answers"], tmp_path / "out", resamples=0)

    pairs = scores.table("judged").drop_nulls(["judged", "label"])
    n_right = int(((pairs["judged"] == "same") == (pairs["label"] == 1)).sum())
    (quality,) = scores.table("quality").to_dicts()
    assert quality["n_pairs"] == 30
    assert quality["accuracy"] == pytest.approx(n_right / pairs.height)
    whole = pairs.filter(n_missing=0)
    n_right_of_whole = int(((whole["judged"] == "same") == (whole["label"] == 1)).sum())
    assert scores.table("corrections").height == whole.height - n_right_of_whole > 0
    assert {*scores.table("corrections").columns} == {
        *("term1", "term2", "judged", "n_not_same", "n_same", "n_dont_know", "n_missing")
    }
    sentence = score_sentences(scores.tables)[1]
    assert f"matched the label of {n_right} of the {pairs.height} with a label: the acc" in sentence
    assert "“Is <a> like b?”" in scores_page(ScoresFolder(tmp_path / "out")).lead
    written = pl.read_csv(tmp_path / "out/judged.csv")
    assert written["source"].to_list() == scores.table("judged")["source"].to_list()
    assert written["note"].str.starts_with("'=1+").all()


def test_sets_of_a_table_may_lack_names_and_numbers_stay_numbers(tmp_path: Path) -> None:
    rows = ("a,b,1,mine,hard,3", "c,d,0,mine,,-1", "e,f,1,mine,easy,.5", "g,h,0,,,1")
    path = put(tmp_path, "p.csv", "\n".join(["term1,term2,label,dataset,difficulty,n", *rows]))
    study = medsim.sample_study(path, tmp_path / "study", annotators=["ada"])
    answer(study, tmp_path / "answers", lambda *_: "same")

    scores = medsim.score_study(study, [tmp_path / "answers"], tmp_path / "out", resamples=0)

    assert pl.read_csv(tmp_path / "out/judged.csv")["n"].to_list() == [3, -1, 0.5, 1]
    quality = scores.table("quality")
    assert quality.select("dataset", "difficulty", "n_pairs").rows() == [
        ("all", None, 4),
        ("mine", "easy", 1),
        ("mine", "hard", 1),
        ("mine", None, 1),
    ]


def test_another_question_is_asked_on_page_sheet_and_tasks(tmp_path: Path) -> None:
    path, question = table(tmp_path), "Do both need the same <treatment>?"
    study = medsim.sample_study(path, tmp_path / "study", annotators=["ada"], question=question)
    plain = medsim.sample_study(path, tmp_path / "plain", annotators=["ada"])

    folder = study.folder / "annotators" / "ada"
    assert r"\u003ctreatment" in (folder / "annotate.html").read_text("utf-8")
    texts = (folder / "instructions.txt").read_text("utf-8")
    assert question in texts
    assert "interchangeably" not in texts
    assert "interchangeably" not in (folder / "annotate.html").read_text("utf-8")
    assert "the same &lt;treatment" in (folder / "label_studio.xml").read_text("utf-8")
    assert study.manifest.title == question
    assert study.manifest.study_id != plain.manifest.study_id
    assert Study(plain.folder).manifest.title == "Do these terms mean the same?"
    titled = medsim.sample_study(
        path,
        tmp_path / "titled",
        question=question,
        title="Treatments",
        instructions=put(tmp_path, "told.txt", "Think of adults."),
    )
    assert titled.manifest.title == "Treatments"
    assert titled.manifest.instructions == ["Think of adults."]


def test_pairs_of_a_build_can_be_shared_out_too(shared_build: medsim.Build, tmp_path: Path) -> None:
    study = medsim.sample_study(
        shared_build, tmp_path / "study", per_class=3, annotators=4, per_item=2
    )

    n_each = Counter(study.assignment()["annotator"])
    assert sum(n_each.values()) == 2 * study.items().height
    assert max(n_each.values()) - min(n_each.values()) <= 1


@pytest.mark.parametrize(
    ("content", "options", "error", "says"),
    [
        (
            "term1,term2\na,b\n",
            {"per_class": 3},
            OptionError,
            "`per_class` does not apply to a tab",
        ),
        ("term1,term2\na,b\n", {"question": " "}, OptionError, "`question` is empty; give a"),
        ("term1,term2\na,b\n", {"per_item": 4}, OptionError, "`per_item` 4 is more than 3 people"),
        ("term1,term2\na,b\n", {"per_item": 2}, OptionError, "1 pairs are too few for 3 annot"),
        ("term1,term2\na,b\nb,A\n", {}, InputError, "line 2 and line 3 have the same pair"),
        ("term1,label\na,1\n", {}, InputError, "has no column 'term2'"),
        ("term1,term2,judged\na,b,1\n", {}, InputError, "medsim writes a column 'judged' itself"),
        (
            "term1,term2,label\na,b,1\nc,d,2\n",
            {},
            InputError,
            "line 3: label '2' is not one of same",
        ),
        ("term1,term2,comment\na,b,1\n", {}, InputError, "medsim writes a column 'comment' itself"),
        (
            "term1,term2,label\na,b,unsure\n",
            {},
            InputError,
            "yes, no, 1, 0, positive, negative, or",
        ),
    ],
)
def test_wrong_tables_and_options_are_refused(
    tmp_path: Path, content: str, options: dict[str, int], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        medsim.sample_study(put(tmp_path, "pairs.csv", content), tmp_path / "study", **options)

    assert not (tmp_path / "study").exists()
