"""Studies from the draw of their pairs to their scores, through the files that annotators have."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import krippendorff
import numpy as np
import polars as pl
import pytest
from fixtures.embeddings import write_words
from fixtures.release import Release, random_release
from fixtures.simulated import judge, rate
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.errors import InputError, OptionError, OutputError
from medsim.studies.folder import Study
from medsim.studies.sheets.jsonl import written_jsonl

NAMES = ("ada", "ben", "eva")
ERRORS = {"ada": 0.02, "ben": 0.05, "eva": 0.15}
SET = ("dataset", "difficulty", "negatives")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> medsim.Build:
    """A build whose sets of synonyms have hundreds of pairs, and the others have few."""
    folder = tmp_path_factory.mktemp("large")
    medsim.synth(folder / "release.zip", concepts=1000, seed=1)
    return medsim.build(folder / "release.zip", folder / "out")


@pytest.fixture(scope="module")
def study(large: medsim.Build) -> Study:
    return medsim.sample_study(large, large.folder.parent / "study", annotators=NAMES)


@pytest.fixture(scope="module")
def answers(study: Study) -> Path:
    folder = study.folder.parent / "answers"
    judge(study, folder, ERRORS)
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> medsim.Build:
    folder = tmp_path_factory.mktemp("small")
    random_release(5, 120).write_zip(folder / "release.zip", "Full")
    return medsim.build(folder / "release.zip", folder / "out")


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    rows = [(f"left{at:03}", f"right{at:03}", "xy"[at % 2]) for at in range(120)]
    file = tmp_path / "pairs.csv"
    pl.DataFrame(rows, schema=["term1", "term2", "domain"], orient="row").write_csv(file)
    return file


def test_thirty_positives_and_negatives_are_drawn_of_every_dataset_that_has_them(
    large: medsim.Build, study: Study
) -> None:
    items = study.items()

    counts = {row[:-1]: row[-1] for row in items.group_by(*SET, "label").len().iter_rows()}
    sizes = {
        (*row[:3], label): row[3 + (label == 0)]
        for row in large.stats().select(*SET, "n_positives", "n_negatives").iter_rows()
        for label in (0, 1)
    }
    full = {named for named, size in sizes.items() if size >= 200}
    assert len(full) == 16
    assert all(counts[named] == 30 for named in full)
    assert all(counts.get(named, 0) <= size for named, size in sizes.items())
    # 72 hard and 22 easy positives are shared by the two strategies.
    shared = [
        [
            counts[("possibly_equivalent_to", difficulty, negatives, 1)]
            for negatives in ("random", "levenshtein")
        ]
        for difficulty in ("hard", "easy")
    ]
    assert shared == [[30, 30], [11, 11]]
    assert any(
        "possibly_equivalent_to/easy/random has 11 positives" in one
        for one in study.manifest.warnings
    )


def test_no_pair_is_drawn_twice_and_all_are_of_the_build(large: medsim.Build, study: Study) -> None:
    items = study.items()
    drawn = Counter(
        frozenset({one.lower(), other.lower()})
        for one, other in items.select("term1", "term2").iter_rows()
    )

    assert max(drawn.values()) == 1
    columns = ["pair_id", "term1", "term2", "label", *SET]
    known = large.pairs().select(columns).collect()
    assert items.select(columns).join(known, on=columns, how="anti").is_empty()


def test_every_annotator_sees_every_pair_once_in_an_order_of_its_own(study: Study) -> None:
    assignment = study.assignment()
    orders = [assignment.filter(annotator=name)["item_id"].to_list() for name in NAMES]

    assert study.manifest.annotators == list(NAMES)
    assert all(sorted(order) == study.items()["item_id"].to_list() for order in orders)
    assert len({tuple(order) for order in orders}) == 3
    labels = dict(study.items().select("item_id", "label").iter_rows())
    for order in orders:
        halves = [np.mean([labels[item] for item in part]) for part in (order[:500], order[500:])]
        assert abs(halves[0] - halves[1]) < 0.1


def test_what_an_annotator_is_given_has_no_trace_of_the_key(study: Study) -> None:
    given = sorted((study.folder / "annotators" / "ada").iterdir())

    assert [file.name for file in given] == [
        "annotate.html",
        "instructions.txt",
        "label_studio-ada.json",
        "label_studio.xml",
        "sheet-ada.csv",
    ]
    traces = {*study.items()["dataset"], *study.items()["negatives"]} - {"random"}
    traces |= {*study.items()["pair_id"].head(50), *study.items()["item_id"].head(50)}
    for file in given:
        text = file.read_text(encoding="utf-8")
        assert [trace for trace in traces if trace in text] == []
        assert str(study.folder) not in text


def test_the_same_seed_draws_the_same_study_and_another_another(
    large: medsim.Build, study: Study, tmp_path: Path
) -> None:
    again = medsim.sample_study(large, tmp_path / "again", annotators=NAMES)
    other = medsim.sample_study(large, tmp_path / "other", annotators=NAMES, seed=1)

    assert again.manifest == study.manifest
    synonyms = study.items().filter(dataset="syn_syn")  # small sets are drawn whole
    shared = set(other.items()["pair_id"]) & set(synonyms["pair_id"])
    assert len(shared) < 0.3 * synonyms.height
    assert other.manifest.study_id != study.manifest.study_id


def test_simulated_annotators_are_scored_as_they_err(study: Study, answers: Path) -> None:
    scores = medsim.score_study(study, [answers], resamples=100)

    whole = scores.table().filter(dataset="all").row(0, named=True)
    # Of three annotators two or three err on the same pair in about 1.2% of pairs.
    assert 0.97 < whole["accuracy"] < 0.998
    assert 0.97 < whole["recall"] < 1
    values = answers_by_hand(study, answers)
    assert whole["alpha"] == pytest.approx(
        krippendorff.alpha(values, level_of_measurement="nominal")
    )
    annotators = scores.table("annotators").rows_by_key("annotator", named=True, unique=True)
    for name, error in ERRORS.items():
        assert annotators[name]["with_majority"] == pytest.approx(1 - error, abs=0.035)
    assert scores.warnings == ()
    assert scores.table("missing").is_empty()


def answers_by_hand(study: Study, folder: Path) -> np.ndarray:
    """Return answers as numbers, a row per annotator, from the files and the key alone."""
    items = dict(study.assignment().select("entry_id", "item_id").iter_rows())
    number = {"not_same": 0, "same": 1, "dont_know": 2}
    rows = []
    for name in NAMES:
        lines = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]
        given = {items[line["entry"]]: number[line["answer"]] for line in lines[1:-1]}
        rows.append([given[item] for item in sorted(given)])
    return np.array(rows)


def test_scores_lie_in_files_that_medsim_takes(small: medsim.Build, tmp_path: Path) -> None:
    study = medsim.sample_study(small, tmp_path / "study", per_class=8, annotators=NAMES)
    judge(study, tmp_path / "answers", dict.fromkeys(NAMES, 0.3))

    scores = medsim.score_study(study, [tmp_path / "answers"], tmp_path / "scores", resamples=100)

    wrong = scores.table("corrections")
    assert wrong.height > 5
    corrections = tmp_path / "scores" / "corrections.csv"
    source = small.folder.parent / "release.zip"
    built = medsim.build(source, tmp_path / "out", corrections=corrections)
    assert len(built.manifest.options["corrections"]) == wrong.height
    positives = built.pairs().filter(label=1).collect()
    rejected = wrong.filter(judged="not_same")
    assert rejected.height > 0
    assert rejected.join(positives, on=["term1", "term2"], how="semi").is_empty()
    assert medsim.verify(tmp_path / "out", sample=50).holds
    again = sorted((tmp_path / "scores" / "label_studio").iterdir())
    same = medsim.score_study(study, again, resamples=100)
    assert all(same.table(name).equals(table) for name, table in scores.tables.items())


def test_answers_of_several_kinds_are_scored_together(small: medsim.Build, tmp_path: Path) -> None:
    study = medsim.sample_study(small, tmp_path / "study", per_class=3, annotators=NAMES)
    judge(study, tmp_path / "answers", dict.fromkeys(NAMES, 0.0), dont_know=0)
    (tmp_path / "answers" / "ada.jsonl").unlink()
    sheet = pl.read_csv(study.folder / "annotators" / "ada" / "sheet-ada.csv", infer_schema=False)
    labels = (
        study.items()
        .select("item_id", "label")
        .join(study.assignment().filter(annotator="ada"), on="item_id")
    )
    said = {
        entry: "Same" if label else " not same"
        for entry, label in labels["entry_id", "label"].iter_rows()
    }
    entries = [entry.removeprefix("'") for entry in sheet["entry"]]
    sheet = sheet.with_columns(pl.Series("answer", [said[entry] for entry in entries]))
    sheet.head(-2).write_csv(tmp_path / "answers" / "filled in by ada.csv", separator=";")

    scores = medsim.score_study(study, [tmp_path / "answers"], resamples=100)

    assert scores.table().filter(dataset="all")["accuracy"].item() == 1.0
    assert any("'ada' left 2 of" in warning for warning in scores.warnings)
    assert scores.table("missing")["annotator"].to_list() == ["ada", "ada"]


def test_what_nobody_answered_is_told_and_counts_as_missing(
    small: medsim.Build, tmp_path: Path
) -> None:
    study = medsim.sample_study(small, tmp_path / "study", per_class=3, annotators=NAMES)
    judge(study, tmp_path / "all", dict.fromkeys(NAMES, 0.0), dont_know=0)
    items = dict(study.assignment().select("entry_id", "item_id").iter_rows())
    left_out = set(study.items()["item_id"].head(4))
    for sheet in study.sheets():
        values = {
            entry.entry_id: 1 for entry in sheet.entries if items[entry.entry_id] not in left_out
        }
        few = dict(list(values.items())[:5]) if sheet.annotator == "eva" else values
        (tmp_path / f"{sheet.annotator}.jsonl").write_text(written_jsonl(sheet, few))

    scores = medsim.score_study(
        study, [tmp_path / f"{name}.jsonl" for name in NAMES], resamples=100
    )

    n_items = study.items().height
    missing = dict(scores.table("annotators").select("annotator", "n_missing").iter_rows())
    assert missing == {"ada": 4, "ben": 4, "eva": n_items - 5}
    assert scores.table("missing").height == sum(missing.values())
    assert scores.table().filter(dataset="all")["n_pairs"].item() == n_items - 4
    said = "\n".join(scores.warnings)
    assert f"4 of {n_items} pairs were answered by nobody" in said
    assert "eva answered less than half" in said
    alone = medsim.score_study(study, [tmp_path / "ada.jsonl"], resamples=0)
    assert any("one annotator alone" in warning for warning in alone.warnings)
    left = medsim.score_study(
        study,
        [tmp_path / f"{name}.jsonl" for name in NAMES],
        leave_out=["ben", "eva"],
        resamples=0,
    )
    assert any("one annotator alone" in warning for warning in left.warnings)
    assert not any("less than half" in warning for warning in left.warnings)


def test_hostile_terms_come_back_as_corrections(tmp_path: Path) -> None:
    names = ["=HYPERLINK(0)", "+1+1", "bell\x07 and \x1b", '<b>"q",\'</b>', "\u202eleft", "-5"]
    synonyms = [f"@other {at}" for at in range(len(names))]
    release = Release()
    for at, (name, synonym) in enumerate(zip(names, synonyms, strict=True)):
        release.named(str(1000 + at), name, synonym)
    build = medsim.build(release.write_zip(tmp_path / "release.zip"), tmp_path / "out")
    study = medsim.sample_study(build, tmp_path / "study", annotators=NAMES)
    judge(study, tmp_path / "answers", dict.fromkeys(NAMES, 1.0), dont_know=0)

    medsim.score_study(study, [tmp_path / "answers"], tmp_path / "scores", resamples=0)

    text = (tmp_path / "scores" / "disagreements.csv").read_text(encoding="utf-8-sig")
    assert not [line for line in text.splitlines() if ",=HYPERLINK" in line or ",+1+1" in line]
    corrected = medsim.build(
        tmp_path / "release.zip", tmp_path / "new", corrections=tmp_path / "scores/corrections.csv"
    )
    options = corrected.manifest.options["corrections"]
    rejected = {frozenset(pair) for *pair, same in options if not same}
    assert rejected == {frozenset(pair) for pair in zip(names, synonyms, strict=True)}
    assert corrected.pairs().filter(label=1).collect().is_empty()


def test_a_graded_study_finds_the_bad_rater_and_makes_a_rated_set(
    pairs: Path, tmp_path: Path
) -> None:
    study = medsim.grade_study(
        pairs, tmp_path / "study", raters=6, groups=2, consistency=20, duplicates=15
    )
    meant = rate(study, tmp_path / "answers", frozenset({"rater-2"}))

    scores = medsim.score_study(
        study, [tmp_path / "answers"], tmp_path / "scores", leave_out=["outliers"], resamples=100
    )

    assert scores.table("raters").filter("outlier")["rater"].to_list() == ["rater-2"]
    assert not any("hardly agree" in warning for warning in scores.warnings)
    kept = medsim.score_study(study, [tmp_path / "answers"], resamples=0)
    assert any(warning.startswith("rater-2 hardly agree") for warning in kept.warnings)
    from medsim.evaluations.ratings import read_rated

    rated = read_rated(tmp_path / "scores" / "rated.csv")
    assert rated.pairs.height == 120
    expected = (
        study.items()
        .with_columns(pl.col("item_id").replace_strict(meant).alias("meant"))
        .join(rated.pairs, on=["term1", "term2"])
    )
    assert expected.select(pl.corr("meant", "rating")).item() > 0.9
    least, greatest = rated.pairs["rating"].min(), rated.pairs["rating"].max()
    assert 0 <= least < 1
    assert 9 < greatest <= 10


def test_words_that_were_chosen_and_rated_evaluate_an_embedding_by_domain(tmp_path: Path) -> None:
    words = [f"{one}{other}" for one in ("cardi", "nephr", "hous", "tabl") for other in "aeiou"]
    count = {word: 50 + at for at, word in enumerate(words)}
    pl.DataFrame({"word": words, "class": "noun", "count": count.values()}).write_csv(
        tmp_path / "words.csv"
    )
    (tmp_path / "biomedical.txt").write_text("\n".join(words[:10]))
    norms = [(word, words[(at + 1) % 20], 0.5) for at, word in enumerate(words)]
    pl.DataFrame(norms, schema=["cue", "target", "strength"], orient="row").write_csv(
        tmp_path / "norms.csv"
    )
    release = Release()
    for at in range(0, 10, 2):
        release.named(str(2000 + at), words[at], words[at + 1])
    medsim.build(release.write_zip(tmp_path / "release.zip"), tmp_path / "build")
    chosen = medsim.choose_pairs(
        tmp_path / "words.csv",
        terminology=tmp_path / "build",
        norms=[tmp_path / "norms.csv"],
        domain_words=tmp_path / "biomedical.txt",
        size=16,
        make_lemmas=False,
    )
    chosen.write(tmp_path / "pairs.csv")
    study = medsim.grade_study(
        tmp_path / "pairs.csv", tmp_path / "study", raters=3, groups=1, duplicates=2
    )
    rate(study, tmp_path / "answers", frozenset())
    medsim.score_study(study, [tmp_path / "answers"], tmp_path / "scores", resamples=0)
    write_words(tmp_path / "words.vec", words, 1)

    results = medsim.evaluate(
        [tmp_path / "scores" / "rated.csv"],
        {"invented": tmp_path / "words.vec"},
        tmp_path / "results",
        metrics=["avg_cos"],
        resamples=200,
    ).results()

    sizes = dict(results.filter(statistic="spearman").select("dataset", "n_pairs").iter_rows())
    assert sizes["rating"] == 16
    assert sizes["rating/domain=biomedical"] == sizes["rating/domain=general"] == 8
    assert sizes["rating/associated=yes"] == sizes["rating/associated=no"] == 8
    assert sizes["rating/count=10-99"] == 16


def test_raters_who_all_answer_at_random_are_told_of(pairs: Path, tmp_path: Path) -> None:
    study = medsim.grade_study(pairs, tmp_path / "study", raters=4, groups=1, duplicates=0)
    rate(study, tmp_path / "answers", frozenset(study.manifest.annotators))

    scores = medsim.score_study(study, [tmp_path / "answers"], resamples=0)

    assert not scores.table("raters")["outlier"].any()
    assert any("no rating of theirs says much" in warning for warning in scores.warnings)


def test_what_cannot_be_written_or_shown_is_told_before_anything_is_read(
    small: medsim.Build, tmp_path: Path
) -> None:
    study = medsim.sample_study(small, tmp_path / "study", per_class=2)
    (tmp_path / "scores").mkdir()
    (tmp_path / "scores" / "mine.txt").write_text("mine")

    with pytest.raises(OutputError, match="no set of scores of medsim"):
        medsim.score_study(study, [tmp_path / "none"], tmp_path / "scores")
    result = CliRunner().invoke(
        app, ["study", "score", str(study.folder), str(tmp_path / "none"), "--table", "qualit"]
    )

    assert result.exit_code == 1
    assert "unknown table 'qualit'; did you mean quality?" in result.stderr


def test_groups_have_pairs_of_their_own_and_all_rate_the_consistency_set(
    pairs: Path, tmp_path: Path
) -> None:
    study = medsim.grade_study(
        pairs, tmp_path / "study", raters=7, groups=3, consistency=30, duplicates=10
    )

    items, assignment = study.items(), study.assignment()
    assert Counter(items["group"]) == {0: 30, 1: 30, 2: 30, 3: 30}
    assert items["domain"].to_list() == ["xy"[int(term[-3:]) % 2] for term in items["term1"]]
    seen = assignment.join(items.select("item_id", "group"), on="item_id")
    for (name,), own in seen.group_by("annotator"):
        assert own.height == 30 + 30 + 10
        assert len({0, *own["group"]}) == 2, name
        assert own.filter(showing=2).height == 10
    sizes = seen.filter(pl.col("group") > 0).group_by("group").agg(pl.col("annotator").n_unique())
    assert sorted(sizes["annotator"]) == [2, 2, 3]
    common = seen.filter(group=0).group_by("item_id").agg(pl.col("annotator").n_unique())
    assert common["annotator"].unique().to_list() == [7]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"raters": 3, "groups": 2}, "3 raters cannot make 2 groups"),
        ({"groups": 0}, "cannot make 0 groups"),
        ({"consistency": 119, "groups": 2}, "--consistency 119 does not fit 120 pairs"),
        ({"duplicates": 75, "groups": 2, "consistency": 20}, "a rater sees 70 pairs"),
        ({"duplicates": -1}, "--duplicates -1 does not fit"),
        ({"page_size": -1}, "--page-size -1 is negative"),
        ({"seed": -1}, "--seed -1"),
        ({"raters": "ada,ADA"}, "two annotators are named"),
    ],
)
def test_shares_that_cannot_be_are_refused(
    pairs: Path, tmp_path: Path, options: dict[str, object], says: str
) -> None:
    with pytest.raises(OptionError, match=says):
        medsim.grade_study(pairs, tmp_path / "study", **{"duplicates": 5, **options})

    assert not (tmp_path / "study").exists()


def test_one_group_rates_all_pairs_and_needs_no_consistency_set(
    pairs: Path, tmp_path: Path
) -> None:
    study = medsim.grade_study(pairs, tmp_path / "study", raters=2, groups=1, duplicates=0)

    assert study.items()["group"].unique().to_list() == [1]
    assert study.assignment().height == 240


def test_a_study_is_not_replaced_unless_that_is_asked_for(
    small: medsim.Build, tmp_path: Path
) -> None:
    first = medsim.sample_study(small, tmp_path / "study", per_class=2)

    with pytest.raises(OutputError, match="a study already; add `overwrite`"):
        medsim.sample_study(small, tmp_path / "study", per_class=3)
    (tmp_path / "study" / "annotators" / "annotator-1" / "answers.jsonl").write_text("{}")
    with pytest.raises(OutputError, match=r"answers\.jsonl, which is no part of the study"):
        medsim.sample_study(small, tmp_path / "study", per_class=3, overwrite=True)

    assert Study(tmp_path / "study").manifest == first.manifest


def test_a_key_that_was_changed_is_noticed(small: medsim.Build, tmp_path: Path) -> None:
    study = medsim.sample_study(small, tmp_path / "study", per_class=2)
    judge(study, tmp_path / "answers", dict.fromkeys(study.manifest.annotators, 0.0))
    key = tmp_path / "study" / "key" / "items.parquet"
    pl.read_parquet(key).with_columns(1 - pl.col("label")).write_parquet(key)

    with pytest.raises(InputError, match="it was changed later"):
        medsim.score_study(tmp_path / "study", [tmp_path / "answers"])


def test_a_study_is_not_taken_for_a_build(small: medsim.Build, tmp_path: Path) -> None:
    medsim.sample_study(small, tmp_path / "study", per_class=2)

    with pytest.raises(InputError, match="is a manifest of kind 'study'"):
        medsim.open(tmp_path / "study")
    with pytest.raises(InputError, match="is a study, not a build or an evaluation"):
        medsim.write_report(tmp_path / "study", tmp_path / "page.html")
