"""The export for mteb: its files, compared with the build."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from fixtures.builds import alter

import medsim
from medsim.core.errors import OptionError
from medsim.exports.formats import mteb

if TYPE_CHECKING:
    from fixtures.shared import Once

RATED = "term1,term2,first,second\nheart attack,infarction,3,4\nflu,cough,1.5,2\nflu,fever,1,3\n"
COLUMNS = "term1=term1,term2=term2,rating=first,rating=second"

KINDS = ("PairClassification", "Retrieval")


@pytest.fixture(scope="module")
def exported(once: Once, shared_build: medsim.Build) -> Path:
    """The export of the shared build and a rated file."""

    def make(folder: Path) -> None:
        file = folder / "my set.csv"
        file.write_text(RATED)
        medsim.export(shared_build, folder / "out", "mteb", private=True, rated=f"{file},{COLUMNS}")

    return once("mteb", make) / "out"


def entries_of(folder: Path) -> list[dict]:
    """Return the entries of tasks.json."""
    return json.loads((folder / "tasks.json").read_text())


def metadata_of(folder: Path, kind: str) -> list[dict]:
    """Return the metadata of the tasks of one of mteb's types."""
    return [e["metadata"] for e in entries_of(folder) if e["metadata"]["type"] == kind]


def test_every_set_with_both_labels_is_a_task_with_the_pairs_of_the_build(exported, shared_build):
    sets = shared_build.stats().filter(pl.col("n_positives") > 0, pl.col("n_negatives") > 0)
    headline, *tasks = metadata_of(exported, "PairClassification")

    assert headline["main_score"] == "auc_beyond_spelling"
    assert "only pairs of the same edit distance" in headline["description"]  # of a small build
    assert len(tasks) == sets.height > 5
    for row, task in zip(sets.iter_rows(named=True), tasks, strict=True):
        pairs = shared_build.pairs(row["dataset"], row["difficulty"], row["negatives"])
        written = pl.read_parquet(exported / task["dataset"]["path"])
        assert written.columns == ["sentence1", "sentence2", "labels"]
        assert Counter(written.rows()) == Counter(pairs.select("term1", "term2", "label").rows())


def test_terms_are_retrieved_among_all_and_linked_terms_are_relevant(exported, shared_build):
    terms = pl.read_parquet(exported / "terms.parquet")
    groups = {term.lower(): {term.lower()} for term in terms["text"]}
    positives = shared_build.pairs().filter(label=1).select("term1", "term2")
    for left, right in positives.iter_rows():
        joined = groups[left.lower()] | groups[right.lower()]
        groups.update(dict.fromkeys(joined, joined))

    assert terms["id"].n_unique() == terms["text"].str.to_lowercase().n_unique() == terms.height
    for row in terms.iter_rows(named=True):
        others = terms.filter(group=row["group"])["text"]
        assert {term.lower() for term in others} == groups[row["text"].lower()]
        assert row["is_query"] == (len(others) > 1)


def test_terms_beyond_the_limit_of_mteb_are_reported(monkeypatch, tmp_path, exported, shared_build):
    monkeypatch.setattr(mteb, "MAX_QUERIES", 7)
    fewer = medsim.export(shared_build, tmp_path / "out", "mteb", private=True, datasets="same_as")
    every, chosen = (pl.read_parquet(f / "terms.parquet") for f in (exported, fewer.folder))
    n_left_out = every["is_query"].sum() - 7

    assert every.drop("is_query").equals(chosen.drop("is_query"))
    assert chosen["is_query"].sum() == 7
    assert not chosen.filter(pl.col("is_query") & ~every["is_query"]).height
    assert fewer.manifest.skipped == [
        {"reason": "term is not a query, since a retrieval has at most 7", "n_rows": n_left_out}
    ]


def test_each_rating_of_a_rated_file_is_a_task_on_its_own_scale(exported):
    entries = [e for e in entries_of(exported) if e["metadata"]["type"] == "STS"]
    rows = [pl.read_parquet(exported / e["file"]).rows() for e in entries]

    assert [e["file"] for e in entries] == [
        "rated/my_set-first.parquet",
        "rated/my_set-second.parquet",
    ]
    assert rows[0] == [
        ("heart attack", "infarction", 3),
        ("flu", "cough", 1.5),
        ("flu", "fever", 1),
    ]
    assert [e["members"] for e in entries] == [
        {"min_score": 1, "max_score": 3},
        {"min_score": 2, "max_score": 4},
    ]


def test_two_rated_sets_with_one_name_are_rejected(tmp_path, shared_build):
    files = [tmp_path / name / "set.csv" for name in ("a", "b")]
    for file in files:
        file.parent.mkdir()
        file.write_text("term1,term2,first\nflu,cough,1.5\n")
    rated = [f"{file},term1=term1,term2=term2,rating=first" for file in files]
    with pytest.raises(OptionError, match="two sets are named 'set-first'"):
        medsim.export(shared_build, tmp_path / "out", "mteb", private=True, rated=rated)


def test_the_metadata_describes_the_release(exported, shared_build):
    source = shared_build.manifest.source
    for task in metadata_of(exported, "PairClassification") + metadata_of(exported, "Retrieval"):
        assert task["date"] == [source["release_date"]] * 2
        assert task["eval_langs"] == ["eng-Latn"]
        assert task["is_public"] is source["redistributable"] is False
        assert task["license"] == "not specified"
        assert source["terms_of_use"] in task["description"]
        assert "Schulz, Claudia and Juric, Damir" in task["bibtex_citation"]


@pytest.mark.parametrize(
    ("terms_of_use", "licence"),
    [
        ("CC BY 4.0, may be passed on; https://example.org", "cc-by-4.0"),
        ("CC BY 2.5; https://example.org/terms", "https://example.org/terms"),  # not in mteb
        ("may be passed on; see https://example.org/terms", "https://example.org/terms"),
    ],
)
def test_the_licence_is_a_name_of_mteb_or_an_address(tmp_path, shared_build, terms_of_use, licence):
    shutil.copytree(shared_build.folder, tmp_path / "build")
    path = tmp_path / "build" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["source"] |= {"redistributable": True, "terms_of_use": terms_of_use}
    path.write_text(json.dumps(manifest))
    facts = mteb._source(medsim.Build(tmp_path / "build"), private=False).facts

    assert (facts["license"], facts["is_public"]) == (licence, True)


def test_tasks_of_splits_use_the_test_split(tmp_path, shared_splits):
    folders = [
        medsim.export(whole, tmp_path / name, "mteb", private=True).folder
        for name, whole in (("all", shared_splits), ("test", shared_splits["test"]))
    ]
    tables = [pl.read_parquet(folder / "terms.parquet") for folder in folders]

    assert entries_of(folders[0]) == entries_of(folders[1])
    assert tables[0].equals(tables[1])
    for task in metadata_of(folders[0], "PairClassification"):
        assert task["name"].startswith("release.zip-test-")
        assert ", the split test. " in task["description"]


def test_a_task_name_depends_on_its_data(tmp_path, exported, shared_build):
    shutil.copytree(shared_build.folder, tmp_path / "build")
    changed = "pairs/dataset=fsn_syn/difficulty=hard/negatives=random/data.parquet"
    alter(tmp_path / "build", changed, lambda pairs: pairs.reverse())
    other = medsim.export(tmp_path / "build", tmp_path / "out", "mteb", private=True).folder
    before, now = (
        {task["name"] for kind in KINDS for task in metadata_of(folder, kind)}
        for folder in (exported, other)
    )

    (name,) = now - before
    assert name.startswith("release.zip-fsn_syn-hard-random-")
    assert len(now) == len(before & now) + 1


def test_the_strata_are_those_of_an_evaluation(tmp_path, exported, shared_build):
    model = {"lengths": lambda terms: [[len(term), 1] for term in terms]}
    evaluation = medsim.evaluate(shared_build, model, tmp_path / "results", metrics=["cos"])
    pairs = evaluation.pairs().filter(dataset="syn_syn").collect().unique("pair_id")
    written = pl.read_parquet(exported / "beyond_spelling.parquet")

    columns = ("term1", "term2", "label", "stratum")
    assert Counter(written.rows()) == Counter(pairs.select(columns).rows())
    assert written["labels"].n_unique() == 2


def test_a_build_without_negatives_has_no_task_of_the_headline(tmp_path):
    pl.DataFrame({"code": ["1", "1"], "name": ["flu", "influenza"]}).write_csv(tmp_path / "n.csv")
    build = medsim.build(tmp_path / "n.csv", tmp_path / "build")
    whole = medsim.export(build, tmp_path / "all", "mteb", private=True).folder
    assert "auc_beyond_spelling" not in (whole / "tasks.json").read_text()
