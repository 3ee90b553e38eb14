"""Studies of builds and graded ones: the draw of their pairs, their shares, their folders."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path
from zipfile import ZipFile

import polars as pl
import pytest
from fixtures.simulated import judge

import medsim
from medsim.core.errors import InputError, OptionError, OutputError
from medsim.studies.folder import Study

NAMES = ("ada", "ben", "eva")
ERRORS = {"ada": 0.02, "ben": 0.05, "eva": 0.15}
SET = ("dataset", "difficulty", "negatives")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> medsim.Build:
    """A build with hundreds of pairs in its sets of synonyms, and few in the others."""
    folder = tmp_path_factory.mktemp("large")
    medsim.synth(folder / "release.zip", concepts=1000, seed=1)
    return medsim.build(folder / "release.zip", folder / "out")


@pytest.fixture(scope="module")
def study(large: medsim.Build) -> Study:
    return medsim.sample_study(large, large.folder.parent / "study", annotators=NAMES)


def test_thirty_positives_and_negatives_are_drawn_per_dataset_if_available(
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
    of_set = {
        level: items.filter(dataset="possibly_equivalent_to", difficulty=level, label=1)
        for level in ("hard", "easy")
    }
    shares = {level: sorted(Counter(rows["negatives"]).values()) for level, rows in of_set.items()}
    assert shares == {"hard": [30, 30], "easy": [11, 11]}
    warning = "possibly_equivalent_to/easy/random has 11 positives"
    assert any(warning in text for text in study.manifest.warnings)


def test_no_pair_is_drawn_twice_and_all_are_of_the_build(large: medsim.Build, study: Study) -> None:
    items = study.items()
    counts = Counter(
        frozenset({term1.lower(), term2.lower()})
        for term1, term2 in items.select("term1", "term2").iter_rows()
    )

    assert max(counts.values()) == 1
    columns = ["pair_id", "term1", "term2", "label", *SET]
    built = large.pairs().select(columns)
    assert items.select(columns).join(built, on=columns, how="anti").is_empty()


def test_every_annotator_sees_every_pair_once_in_a_different_order(study: Study) -> None:
    assignment = study.assignment()
    orders = [assignment.filter(annotator=name)["item_id"].to_list() for name in NAMES]

    assert study.manifest.annotators == list(NAMES)
    assert all(sorted(order) == study.items()["item_id"].to_list() for order in orders)
    assert len({tuple(order) for order in orders}) == 3


def test_files_for_an_annotator_have_all_entries_and_no_trace_of_the_key(study: Study) -> None:
    files = sorted((study.folder / "annotators" / "ada").iterdir())
    assigned = study.assignment().filter(annotator="ada")

    assert [file.name for file in files] == [
        "annotate.html",
        "instructions.txt",
        "label_studio-ada.json",
        "label_studio.xml",
        "sheet-ada.csv",
        "sheet-ada.xlsx",
    ]
    traces = {*study.items()["dataset"], *study.items()["negatives"]} - {"random"}
    traces |= {*study.items()["pair_id"].head(50), *study.items()["item_id"].head(50)}
    for file in files:
        text = text_of(file)
        assert [trace for trace in traces if trace in text] == []
        if file.name not in {"instructions.txt", "label_studio.xml"}:
            assert all(entry_id in text for entry_id in assigned["entry_id"])
        assert str(study.folder) not in text


def text_of(file: Path) -> str:
    """Return the text of a file, or of all members of a workbook."""
    if file.suffix != ".xlsx":
        return file.read_text(encoding="utf-8")
    with ZipFile(file) as archive:
        return "\n".join(archive.read(name).decode() for name in archive.namelist())


def test_seed_determines_the_study(large: medsim.Build, study: Study, tmp_path: Path) -> None:
    again = medsim.sample_study(large, tmp_path / "again", annotators=NAMES)
    other = medsim.sample_study(large, tmp_path / "other", annotators=NAMES, seed=1)

    assert again.manifest == study.manifest
    synonyms = study.items().filter(dataset="syn_syn")  # small sets are drawn whole
    shared = set(other.items()["pair_id"]) & set(synonyms["pair_id"])
    assert len(shared) < 0.3 * synonyms.height
    assert other.manifest.study_id != study.manifest.study_id
    build = shutil.copytree(large.folder, tmp_path / "build")
    card, file = large.manifest.outputs["README.md"].fingerprint, build / "manifest.json"
    file.write_text(file.read_text("utf-8").replace(card, "0" * 64), "utf-8")
    source = medsim.sample_study(build, tmp_path / "same", per_class=1).manifest.source
    assert source["fingerprint"] == study.manifest.source["fingerprint"]  # of rows, not of words


def test_report_of_scores_begins_with_the_results_of_all_pairs(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("altair", reason="medsim[report] is not installed")
    monkeypatch.setattr("medsim.pages.markup._library", lambda *_: "")
    judge(study, tmp_path / "answers", ERRORS)
    scores = medsim.score_study(study, [tmp_path / "answers"], tmp_path / "out", resamples=100)

    page = medsim.write_report(tmp_path / "out", tmp_path / "scores.html").read_text("utf-8")

    text = re.sub("<[^>]+>", "", page)
    whole = scores.table().filter(dataset="all").row(0, named=True)
    ends = f"{whole['alpha_low']:.3f} to {whole['alpha_high']:.3f}"
    assert f"alpha is {whole['alpha']:.3f} (95% CI {ends})." in text
    undecided = scores.table("disagreements").filter(why="no ground truth").height
    decided, wrong = whole["n_pairs"] - undecided, scores.table("corrections").height
    said = f"{decided:,} of {whole['n_pairs']:,} pairs had a majority, which matched the label of"
    assert f"{said} {decided - wrong:,}: the accuracy of labels is 0" in text
    assert "Krippendorff&#39;s alpha: agreement beyond" in page
    for name in ("Quality", "Agreement", "Annotators", "Tables", "Provenance"):
        assert f">{name}</h2>" in page


def test_a_study_with_answers_is_not_replaced_and_a_changed_key_is_noticed(
    shared_build: medsim.Build, tmp_path: Path
) -> None:
    first = medsim.sample_study(shared_build, tmp_path / "study", per_class=2)
    (tmp_path / "study" / "annotators" / "annotator-1" / "answers.jsonl").write_text("{}")

    with pytest.raises(OutputError, match=r"answers\.jsonl, not part of the study"):
        medsim.sample_study(shared_build, tmp_path / "study", per_class=3, overwrite=True)
    assert Study(tmp_path / "study").manifest == first.manifest
    judge(first, tmp_path / "answers", dict.fromkeys(first.manifest.annotators, 0.0))
    key = tmp_path / "study" / "key" / "items.parquet"
    pl.read_parquet(key).with_columns(1 - pl.col("label")).write_parquet(key)
    with pytest.raises(InputError, match="was changed; run"):
        medsim.score_study(tmp_path / "study", [tmp_path / "answers"])


def test_groups_have_their_own_pairs_and_all_rate_the_consistency_set(
    pairs: Path, tmp_path: Path
) -> None:
    study = medsim.grade_study(
        pairs, tmp_path / "study", raters=7, groups=3, consistency=30, duplicates=10
    )

    items, assignment = study.items(), study.assignment()
    assert Counter(items["group"]) == {0: 30, 1: 30, 2: 30, 3: 30}
    assert items["domain"].to_list() == ["xy"[int(term[-3:]) % 2] for term in items["term1"]]
    shown = assignment.join(items.select("item_id", "group"), on="item_id")
    for (name,), rows in shown.group_by("annotator"):
        assert rows.height == 30 + 30 + 10
        assert len({0, *rows["group"]}) == 2, name
        assert rows.filter(showing=2).height == 10
    sizes = shown.filter(pl.col("group") > 0).group_by("group").agg(pl.col("annotator").n_unique())
    assert sorted(sizes["annotator"]) == [2, 2, 3]
    common = shown.filter(group=0).group_by("item_id").agg(pl.col("annotator").n_unique())
    assert common["annotator"].unique().to_list() == [7]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"raters": 3, "groups": 2}, "`raters` 3 cannot make `groups` 2"),
        ({"consistency": 119, "groups": 2}, "`consistency` 119 leaves too few of 120 pairs"),
        ({"duplicates": 75, "groups": 2, "consistency": 20}, "a rater sees only 70 pairs"),
        ({"raters": "ada,ADA"}, "two annotators are named"),
    ],
)
def test_impossible_shares_are_refused(
    pairs: Path, tmp_path: Path, options: dict[str, object], says: str
) -> None:
    with pytest.raises(OptionError, match=says):
        medsim.grade_study(pairs, tmp_path / "study", **{"duplicates": 5, **options})

    assert not (tmp_path / "study").exists()


def test_default_shares_are_those_of_bio_simlex(tmp_path: Path) -> None:
    rows = {"term1": [f"l{at}" for at in range(1050)], "term2": [f"r{at}" for at in range(1050)]}
    pl.DataFrame(rows).write_csv(tmp_path / "pairs.csv")

    study = medsim.grade_study(tmp_path / "pairs.csv", tmp_path / "study")

    items = study.items()
    assert Counter(items["group"]) == {0: 50, 1: 500, 2: 500}
    assert study.manifest.page_size == 120
    shown = study.assignment().join(items.select("item_id", "group"), on="item_id")
    n_raters = shown.group_by("item_id", "group").agg(n=pl.col("annotator").n_unique())
    assert set(n_raters.select("group", "n").iter_rows()) == {(0, 12), (1, 6), (2, 6)}
    for _, of_rater in shown.group_by("annotator"):
        assert of_rater.height == 600
        assert of_rater.filter(showing=2).height == 50
        pages = (of_rater["position"] - 1) // 120
        assert Counter(pages.filter(of_rater["group"] == 0)) == dict.fromkeys(range(5), 10)


def test_pages_are_equal_in_length_and_one_group_needs_no_consistency_set(
    pairs: Path, tmp_path: Path
) -> None:
    options = {"raters": 4, "groups": 2, "consistency": 20, "duplicates": 10}
    for page_size, expected in ((50, 40), (0, 0)):
        out = tmp_path / f"study{page_size}"
        study = medsim.grade_study(pairs, out, page_size=page_size, **options)
        assert study.manifest.page_size == expected

    study = medsim.grade_study(pairs, tmp_path / "one", raters=2, groups=1, duplicates=0)
    assert study.items()["group"].unique().to_list() == [1]
    assert study.assignment().height == 240
