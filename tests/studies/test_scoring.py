"""Scores of studies, through the files that annotators and raters send back."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest
from fixtures.release import Release
from fixtures.simulated import judge, rate
from fixtures.studies import written_jsonl
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.errors import OutputError
from medsim.evaluations.ratings import read_rated
from medsim.studies.output import ScoresFolder
from medsim.studies.page import scores_page

pytestmark = pytest.mark.slow

NAMES = ("ada", "ben", "eva")


def test_manifests_have_digests_of_inputs_and_random_raters_are_reported(
    pairs: Path, tmp_path: Path
) -> None:
    study = medsim.grade_study(pairs, tmp_path / "study", raters=4, groups=1, duplicates=0)
    rate(study, tmp_path / "answers", frozenset(study.manifest.annotators))
    scores = medsim.score_study(study, [tmp_path / "answers"], tmp_path / "scores", resamples=0)

    rated = read_rated(tmp_path / "scores" / "rated.csv").pairs
    assert rated["rating"].sort().equals(scores.table("rated")["rating"].sort())
    assert not scores.table("raters")["outlier"].any()
    assert any("so the ratings mean little" in warning for warning in scores.warnings)

    digests = {
        path.name: sha256(path.read_bytes()).hexdigest()
        for path in (pairs, *sorted((tmp_path / "answers").iterdir()))
    }
    assert study.manifest.source["fingerprint"] == digests.pop("pairs.csv")
    manifest = json.loads((tmp_path / "scores" / "manifest.json").read_text())
    assert manifest["answers"] == [
        {"name": name, "sha256": digest, "annotator": name.removesuffix(".jsonl")}
        for name, digest in digests.items()
    ]


def test_scores_of_ratings_have_a_report(pairs: Path, tmp_path: Path) -> None:
    study = medsim.grade_study(pairs, tmp_path / "study", raters=4, groups=1, duplicates=0)
    rate(study, tmp_path / "answers", frozenset(study.manifest.annotators))
    medsim.score_study(study, [tmp_path / "answers"], tmp_path / "scores", resamples=100)

    page = scores_page(ScoresFolder(tmp_path / "scores"))

    (chart,) = next(each.parts for each in page.sections if each.title == "Agreement")
    assert {"raters", "number of raters", "iaa1 low"} <= {*chart.table.frame.columns}


def test_unanswered_items_are_reported_and_count_as_missing(
    shared_build: medsim.Build, tmp_path: Path
) -> None:
    study = medsim.sample_study(shared_build, tmp_path / "study", per_class=3, annotators=NAMES)
    judge(study, tmp_path / "all", dict.fromkeys(NAMES, 0.0), dont_know=0)
    items = dict(study.assignment().select("entry_id", "item_id").iter_rows())
    left_out = set(study.items()["item_id"].head(4))
    for sheet in study.sheets():
        ids = sheet.entries["entry_id"]
        values = {entry: 1 for entry in ids if items[entry] not in left_out}
        few = dict(list(values.items())[:5]) if sheet.annotator == "eva" else values
        (tmp_path / f"{sheet.annotator}.jsonl").write_text(written_jsonl(sheet, few))

    files = [tmp_path / f"{name}.jsonl" for name in NAMES]
    scores = medsim.score_study(study, files, resamples=100)

    n_items = study.items().height
    missing = dict(scores.table("annotators").select("annotator", "n_missing").iter_rows())
    assert missing == {"ada": 4, "ben": 4, "eva": n_items - 5}
    assert scores.table("missing").height == sum(missing.values())
    assert scores.table().filter(dataset="all")["n_pairs"].item() == n_items - 4
    message = "\n".join(scores.warnings)
    assert f"4 of {n_items} pairs have no answer" in message
    assert f"eva: 5 of {n_items} pairs answered; add" in message
    assert f"ada: {n_items - 4} of {n_items} pairs answered" in message
    alone = medsim.score_study(study, [tmp_path / "ada.jsonl"], resamples=0)
    assert any("only one annotator" in warning for warning in alone.warnings)
    left = medsim.score_study(study, files, leave_out=["ben", "eva"], resamples=0)
    assert any("only one annotator" in warning for warning in left.warnings)
    assert not any("without an answer; add" in warning for warning in left.warnings)


def test_hostile_terms_come_back_as_corrections(tmp_path: Path) -> None:
    names = ["=HYPERLINK(0)", "+1+1", "bell\x07 and \x1b", '<b>"q",\'</b>', "\u202eleft", "-5"]
    synonyms = [f"@other {at}" for at in range(len(names))]
    release = Release()
    for at, (name, synonym) in enumerate(zip(names, synonyms, strict=True)):
        release.named(str(1000 + at), name, synonym)
    source = release.write_zip(tmp_path / "release.zip")
    build = medsim.build(source, tmp_path / "out", negatives=["random"])
    study = medsim.sample_study(build, tmp_path / "study", annotators=NAMES)
    judge(study, tmp_path / "answers", dict.fromkeys(NAMES, 1.0), dont_know=0)

    medsim.score_study(study, [tmp_path / "answers"], tmp_path / "scores", resamples=0)

    text = (tmp_path / "scores" / "disagreements.csv").read_text(encoding="utf-8-sig")
    assert not [line for line in text.splitlines() if ",=HYPERLINK" in line or ",+1+1" in line]
    corrected = medsim.build(
        source,
        tmp_path / "new",
        negatives=["random"],
        corrections=tmp_path / "scores/corrections.csv",
    )
    options = corrected.manifest.options["corrections"]
    rejected = {frozenset(pair) for *pair, same in options if not same}
    assert rejected == {frozenset(pair) for pair in zip(names, synonyms, strict=True)}
    assert corrected.pairs().filter(label=1).is_empty()


def test_invalid_output_or_table_is_an_error_before_reading(
    shared_build: medsim.Build, tmp_path: Path
) -> None:
    study = medsim.sample_study(shared_build, tmp_path / "study", per_class=2)
    (tmp_path / "scores").mkdir()
    (tmp_path / "scores" / "mine.txt").write_text("mine")

    with pytest.raises(OutputError, match="not a set of scores"):
        medsim.score_study(study, [tmp_path / "none"], tmp_path / "scores")
    result = CliRunner().invoke(
        app, ["study", "score", str(study.folder), str(tmp_path / "none"), "--table", "qualit"]
    )

    assert result.exit_code == 1
    assert "unknown table 'qualit'; did you mean quality?" in result.stderr
