"""Studies of instances, domains of words and associated pairs, from the draw to the scores."""

from __future__ import annotations

import json
from pathlib import Path
from zlib import crc32

import numpy as np
import polars as pl
import pytest
from fixtures.simulated import answer
from fixtures.studies import annotated_tasks
from fixtures.wic import invented_instances, write_instances

import medsim
from medsim.core.errors import InputError, OptionError
from medsim.core.kinds import WIC_COLUMNS
from medsim.studies.page import score_sentences
from medsim.studies.sheets import MARKS

NAMES = ("ada", "ben")


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    (tmp_path / "wic").mkdir()
    write_instances(tmp_path / "wic" / "test.json", invented_instances(3, 80))
    return tmp_path / "wic"


@pytest.fixture
def words(tmp_path: Path) -> Path:
    names = ("kinase", "phosphorylation", "table", "house", "fire", "play", "kidney", "of2", "rare")
    count = [9, 9, 9, 9, 9, 9, 9, 9, 1]
    path = tmp_path / "words.csv"
    pl.DataFrame({"word": names, "class": "noun", "count": count}).write_csv(path)
    return path


def test_annotators_share_some_instances_and_have_some_alone(
    benchmark: Path, tmp_path: Path
) -> None:
    study = medsim.instances_study(
        benchmark, tmp_path / "study", annotators="ada,ben,eva", size=20, common=8
    )

    shown = {
        name: set(part["item_id"])
        for (name,), part in study.assignment().group_by("annotator", maintain_order=True)
    }
    assert [len(items) for items in shown.values()] == [20, 20, 20]
    common = set.intersection(*shown.values())
    assert len(common) == 8
    for name, items in shown.items():
        others = set().union(*(shown[other] for other in shown if other != name))
        assert items & others == common
    assert study.items().height == 8 + 3 * 12


def test_sentences_show_their_target_once_between_marks(benchmark: Path, tmp_path: Path) -> None:
    study = medsim.instances_study(benchmark, tmp_path / "study", size=30, common=10)

    shown = study.assignment().join(study.items(), on="item_id")
    for row in shown.iter_rows(named=True):
        texts = {row["left"], row["right"]}
        assert texts == {
            f"{row['sentence' + side][: row['start' + side]]}{MARKS[0]}{row['term' + side]}"
            f"{MARKS[1]}{row['sentence' + side][row['end' + side] :]}"
            for side in "12"
        }
    page = (study.folder / "annotators/annotator-1/annotate.html").read_text(encoding="utf-8")
    assert study.items()["item_id"][0] not in page
    assert "label_similarity" not in page

    rows = [
        ["ache", "ache", f"an \u27e6old\u27e7 ache {at}", "ache", 9, 0, 13, 4, "term_identity", 1]
        for at in range(3)
    ]
    instances = pl.DataFrame(rows, schema=WIC_COLUMNS, orient="row")
    write_instances(tmp_path / "one.json", instances)

    study = medsim.instances_study(tmp_path / "one.json", tmp_path / "one", size=3, common=3)

    assert set(study.items()["marked1"]) == {f"an [old] \u27e6ache\u27e7 {at}" for at in range(3)}


def test_draw_does_not_depend_on_order_or_repetition_of_instances(
    benchmark: Path, tmp_path: Path
) -> None:
    instances = json.loads((benchmark / "test.json").read_text(encoding="utf-8"))
    other = tmp_path / "other.json"
    other.write_text(json.dumps([*reversed(instances), *instances[:9]]), encoding="utf-8")

    first = medsim.instances_study(benchmark, tmp_path / "one", size=20, common=8)
    two = medsim.instances_study(other, tmp_path / "two", size=20, common=8)
    third = medsim.instances_study(benchmark, tmp_path / "third", size=20, common=8, seed=1)

    assert first.assignment().equals(two.assignment())
    assert set(first.items()["sentence1"]) != set(third.items()["sentence1"])


def test_instances_are_scored_by_kappa_and_accuracy(benchmark: Path, tmp_path: Path) -> None:
    from sklearn.metrics import cohen_kappa_score

    study = medsim.instances_study(
        benchmark, tmp_path / "study", annotators=NAMES, size=40, common=25
    )
    ids = study.items()["item_id"]
    wrong = {"ada": set(ids[::7]), "ben": set(ids[::5])}
    answers: dict[str, dict[str, int]] = {"ada": {}, "ben": {}}
    right: dict[str, list[bool]] = {"ada": [], "ben": []}

    def reply(annotator: str, item: dict) -> str:
        is_wrong = item["item_id"] in wrong[annotator]
        label = item["label"] ^ is_wrong
        answers[annotator][item["item_id"]] = label
        right[annotator].append(not is_wrong)
        return ("not_same", "same")[label]

    answer(study, tmp_path / "answers", reply)

    scores = medsim.score_study(study, [tmp_path / "answers"], tmp_path / "scores")

    accuracy = scores.table().rows_by_key("annotator", named=True, unique=True)
    for name in NAMES:
        assert accuracy[name]["accuracy"] == pytest.approx(np.mean(right[name]))
        assert accuracy[name]["n_instances"] == 40
    mean = accuracy["mean"]
    assert mean["accuracy"] == pytest.approx(np.mean([np.mean(right[name]) for name in NAMES]))
    assert mean["accuracy_low"] < mean["accuracy"] < mean["accuracy_high"]
    agreement = scores.table("agreement").row(0, named=True)
    common = sorted(answers["ada"].keys() & answers["ben"].keys())
    both = [[answers[name][item] for item in common] for name in NAMES]
    assert agreement["n_pairs"] == len(common) == 25
    assert agreement["kappa"] == pytest.approx(cohen_kappa_score(*both))
    assert agreement["kappa_low"] < agreement["kappa"] < agreement["kappa_high"]
    first, second = score_sentences(scores.tables)
    said_first = (
        f"On the 25 pairs with at least two answers, Cohen's kappa is {agreement['kappa']:.3f} ("
    )
    assert first.startswith(said_first)
    assert second.startswith(
        f"Their mean accuracy against the labels is {mean['accuracy']:.3f} (95%"
    )
    labels = dict(study.items().select("item_id", "label").iter_rows())
    answered = [
        ({by_item[item] for by_item in answers.values() if item in by_item}, labels[item])
        for item in ids
    ]
    assert dict(scores.table("disagreements")["why"].value_counts().iter_rows()) == {
        "not unanimous": sum(len(answers_to_item) > 1 for answers_to_item, _ in answered),
        "contradicts the label": sum(
            answers_to_item == {1 - label} for answers_to_item, label in answered
        ),
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 81, "common": 81}, "need 81 instances for 2 annotators"),
        ({"size": 50, "common": 10}, "`size` 50 and `common` 10 need 90 instances"),
        ({"size": 5, "common": 6}, "`common` 6 is more than `size` 5"),
    ],
)
def test_draw_with_too_few_instances_is_refused(
    benchmark: Path, tmp_path: Path, options: dict, message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        medsim.instances_study(benchmark, tmp_path / "study", **options)
    with pytest.raises(InputError, match=r"has no test\.json"):
        medsim.instances_study(tmp_path, tmp_path / "study", **{**options, "common": 2})
    wrong = invented_instances(1, 4).with_columns(start1=pl.col("start1") + 1)
    write_instances(benchmark / "test.json", wrong)
    with pytest.raises(InputError, match="instance 1: sentence1 has"):
        medsim.instances_study(benchmark, tmp_path / "study", size=2, common=2)


SORTED = {
    "kinase": ("biomedical", "biomedical"),
    "phosphorylation": ("biomedical", "biomedical"),
    "kidney": ("biomedical", "general"),
    "table": ("general", "general"),
    "house": ("general", "general"),
    "fire": ("ambiguous", "ambiguous"),
    "play": ("general", None),
}


def test_words_with_agreed_domain_are_written(words: Path, tmp_path: Path) -> None:
    study = medsim.domains_study(words, tmp_path / "study", annotators=NAMES, no_lemmas=True)
    assert set(study.items()["word"]) == set(SORTED)
    answer(study, tmp_path / "answers", lambda name, item: SORTED[item["word"]][NAMES.index(name)])

    scores = medsim.score_study(study, [tmp_path / "answers"], tmp_path / "scores", resamples=0)

    result = pl.read_csv(tmp_path / "scores/domains.csv")
    assert result["word"].to_list() == ["house", "kinase", "phosphorylation", "table"]
    assert result["domain"].to_list() == ["general", "biomedical", "biomedical", "general"]
    assert result.columns == ["word", "domain", "class", "count", "topics"]
    assert scores.table().equals(scores.table("domains"))
    agreement = scores.table("agreement").row(0, named=True)
    assert agreement["n_words"] == 6
    # 5 of 6 agree; by chance 3 x 2 biomedical, 2 x 3 general and 1 x 1 ambiguous of 36 would.
    assert agreement["kappa"] == pytest.approx((5 / 6 - 13 / 36) / (1 - 13 / 36))
    assert scores.table("disagreements")["word"].to_list() == ["kidney"]
    assert score_sentences(scores.tables)[1] == (
        "All put 4 words into the same domain: 2 biomedical and 2 general."
    )


def test_confirmed_pairs_are_written_and_chosen(tmp_path: Path) -> None:
    pairs = [(f"left{at}", f"right{at}", "biomedical", at % 2 == 0) for at in range(20)]
    pairs.append(("left", "right", "general", True))
    columns = ["term1", "term2", "domain", "associated"]
    pl.DataFrame(pairs, schema=columns, orient="row").write_csv(tmp_path / "pairs.csv")

    study = medsim.inspect_study(tmp_path / "pairs.csv", tmp_path / "study", annotators="a,b,c")
    shown = set(study.items()["term1"])
    assert shown == {f"left{at}" for at in range(0, 20, 2)}
    refused = {"a": "left0", "b": "left4", "c": "left4"}
    answer(
        study,
        tmp_path / "answers",
        lambda name, item: "not_associated" if item["term1"] == refused[name] else "associated",
    )
    scores = medsim.score_study(study, [tmp_path / "answers"], tmp_path / "scores", resamples=0)

    confirmed = pl.read_csv(tmp_path / "scores/confirmed.csv")
    assert set(confirmed["term1"]) == shown - {"left0", "left4"}
    assert confirmed.columns == columns
    agreement = scores.table("agreement")
    assert agreement["annotators"].to_list() == ["a & b & c", "a & b", "a & c", "b & c"]
    assert agreement["kappa"].to_list()[0] is None
    assert agreement["kappa"].to_list()[3] == 1
    counts = scores.table("annotators").select("annotator", "n_associated").rows()
    assert counts == [("a", 9), ("b", 9), ("c", 9)]
    assert score_sentences(scores.tables)[-1] == "All call 8 pairs associated."


def test_nothing_to_show_is_said(words: Path, tmp_path: Path) -> None:
    pl.DataFrame({"term1": ["a"], "term2": ["b"], "associated": ["no"]}).write_csv(
        tmp_path / "pairs.csv"
    )
    with pytest.raises(InputError, match="has no associated biomedical pair"):
        medsim.inspect_study(tmp_path / "pairs.csv", tmp_path / "study")
    (tmp_path / "general.csv").write_text("term1,term2,domain,associated\na,b,general,yes\n")
    with pytest.raises(InputError, match="has no associated biomedical pair"):
        medsim.inspect_study(tmp_path / "general.csv", tmp_path / "study")
    with pytest.raises(InputError, match="has no words to sort"):
        medsim.domains_study(words, tmp_path / "study", min_count=10, no_lemmas=True)
    with pytest.raises(OptionError, match=r"`size` 8 is too many.* 7 words"):
        medsim.domains_study(words, tmp_path / "study", size=8, no_lemmas=True)


@pytest.mark.parametrize("kind", ["context", "domain", "association"])
def test_the_page_the_sheet_and_label_studio_give_the_same_scores(
    kind: str, benchmark: Path, words: Path, tmp_path: Path
) -> None:
    options = {"annotators": NAMES, "out": tmp_path / "study"}
    if kind == "context":
        study = medsim.instances_study(benchmark, size=12, common=6, **options)
    elif kind == "domain":
        study = medsim.domains_study(words, no_lemmas=True, **options)
    else:
        pairs = pl.DataFrame({"term1": ["=1+1", "nail", "a"], "term2": ["b", "claw", "MARCH1"]})
        pairs.write_csv(tmp_path / "pairs.csv")
        study = medsim.inspect_study(tmp_path / "pairs.csv", **options)
    answer(
        study,
        tmp_path / "answers",
        lambda name, item: study.scale.answers[crc32(f"{name} {item['item_id']}".encode()) % 2],
    )
    from_pages = medsim.score_study(study, [tmp_path / "answers"], resamples=0)
    labels = {choice.name: choice.label for choice in study.scale.choices}

    for sheet in study.sheets():
        name = sheet.annotator
        lines = (tmp_path / f"answers/{name}.jsonl").read_text().splitlines()[1:-1]
        answer_of = {line["entry"]: line["answer"] for line in map(json.loads, lines)}
        sheet_path = study.folder / f"annotators/{name}/sheet-{name}.csv"
        rows = pl.read_csv(sheet_path, infer_schema=False)
        assert rows.columns == ["entry", *study.scale.parts, "answer", "allowed"]
        key = pl.col("entry").str.strip_chars_start("'")
        answers = key.replace_strict(answer_of, default=None).replace(labels)
        rows.with_columns(answer=answers).write_csv(tmp_path / f"{name}.csv")
        values = {entry: study.scale.answers.index(answer) for entry, answer in answer_of.items()}
        (tmp_path / f"{name}.json").write_text(annotated_tasks(sheet, values))
    for ending in ("csv", "json"):
        files = [tmp_path / f"{name}.{ending}" for name in NAMES]
        result = medsim.score_study(study, files, resamples=0)
        assert all(result.table(name).equals(table) for name, table in from_pages.tables.items())
