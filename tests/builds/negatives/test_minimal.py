"""Minimal negatives of a build, from the rows to exports and scores, against plain programs."""

from __future__ import annotations

import json
import shutil
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixtures.builds import first_replaced, tampered

import medsim
from medsim.core.errors import OptionError

pytestmark = pytest.mark.slow

SIDES = ("left", "right")
PARTS = (
    *("arm", "leg", "hip", "knee", "wrist", "ankle", "elbow", "thumb"),
    *("ear", "eye", "lung", "heel", "nose", "jaw", "shoulder"),
)


def places(terms: list[str]) -> np.ndarray:
    """Return how often products of letters and places leave each of eight remainders."""
    return np.array(
        [
            [sum(ord(c) * at % 8 == rest for at, c in enumerate(term)) + 1 for rest in range(8)]
            for term in terms
        ]
    )


@pytest.fixture(scope="module")
def names() -> list[tuple[str, str]]:
    """Return codes and names: of each part and side with two names, and some with one."""
    rows = []
    for at, (part, side) in enumerate(product(PARTS, SIDES)):
        rows += [(f"C{at}", f"Pain of {side} {part}"), (f"C{at}", f"{part} ache, {side}")]
    rows += [("D1", "Pain of both arm"), ("E1", "Zebra stripe"), ("E1", "Striped zebra")]
    return rows


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory, names: list[tuple[str, str]]) -> medsim.Build:
    folder = tmp_path_factory.mktemp("minimal")
    pl.DataFrame(names, schema=["code", "name"], orient="row").write_csv(folder / "names.csv")
    strategies = ["random", "levenshtein", "minimal"]
    return medsim.build(folder / "names.csv", folder / "build", negatives=strategies)


def pairs_of(build: medsim.Build) -> set[frozenset[str]]:
    """Return the minimal negatives of all sets of syn_syn."""
    negatives = build.pairs("syn_syn", negatives="minimal").filter(label=0)
    return {frozenset(pair) for pair in negatives.select("term1", "term2").iter_rows()}


def expected_pairs(names: list[tuple[str, str]]) -> set[frozenset[str]]:
    """Return the pairs of names of different sides, of which one has a synonym."""
    of_side = {(name.replace(side, "*"), side): name
               for _, name in names for side in (*SIDES, "both") if side in name}  # fmt: skip
    found = set()
    for (text, _), name in of_side.items():
        others = [of_side[text, other] for other in (*SIDES, "both") if (text, other) in of_side]
        found |= {frozenset((name, other)) for other in others if other != name}
    return {pair for pair in found if pair != frozenset(("Pain of both arm",))}


def test_all_changed_names_are_negatives(build: medsim.Build, names: list[tuple[str, str]]) -> None:
    assert pairs_of(build) == expected_pairs(names)
    assert frozenset(("Pain of both arm", "Pain of left arm")) in pairs_of(build)  # has no synonym
    of_minimal = build.stats().filter(negatives="minimal")
    assert of_minimal["shortfall"].to_list() == [0] * of_minimal.height
    assert medsim.verify(build, sample=0).holds


@pytest.fixture(scope="module")
def usual(build: medsim.Build) -> medsim.Build:
    """Return the build of the same names without minimal negatives."""
    return medsim.build(build.folder.parent / "names.csv", build.folder.parent / "usual")


def test_other_rows_are_those_of_a_build_without_them(
    build: medsim.Build, usual: medsim.Build
) -> None:
    same = {
        path: output.fingerprint == build.manifest.outputs[path].fingerprint
        for path, output in usual.manifest.outputs.items()
        if path.endswith(".parquet") and "stats" not in path
    }
    assert len(same) > 20
    assert all(same.values())


@pytest.mark.parametrize("change", ["lost", "another"])
def test_verification_finds_wrong_minimal_negatives(
    build: medsim.Build, tmp_path: Path, change: str
) -> None:
    copy = shutil.copytree(build.folder, tmp_path / "copy")

    def damaged(pairs: pl.DataFrame) -> pl.DataFrame:
        if change == "another":
            return first_replaced(pairs, 0, term2="Zebra stripe", concept2="E1")
        at = pairs["label"].index_of(0)
        return pairs.filter(pl.int_range(pl.len()) != at)

    tampered(copy, "pairs/dataset=syn_syn/difficulty=hard/negatives=minimal/data.parquet", damaged)

    assert "minimal" in medsim.verify(copy, sample=0).broken


def test_items_are_scored_from_both_names(
    build: medsim.Build, names: list[tuple[str, str]]
) -> None:
    folder = build.folder.parent
    evaluation = medsim.evaluate(
        build,
        {"places": medsim.Embedding(places, version="1")},
        folder / "results",
        datasets=["syn_syn"],
        metrics=["cos"],
        cache="none",
    )
    scores = evaluation.scores().collect().filter(metric="cos").select("pair_id", "similarity")
    pairs = evaluation.pairs().filter(negatives="minimal").collect().join(scores, on="pair_id")
    similarity = {frozenset((one, other)): value for one, other, value in
                  pairs.select("term1", "term2", "similarity").iter_rows()}  # fmt: skip
    shares = []
    for (code, name), (of_other, synonym) in product(names, names):
        changed = [pair for pair in expected_pairs(names) if name in pair]
        if code == of_other and name != synonym and changed:
            near = similarity[frozenset((name, synonym))]
            wins = [(near > similarity[pair]) + (near == similarity[pair]) / 2 for pair in changed]
            shares.append(np.mean(wins))
    [result] = evaluation.results().filter(embedding="places", negatives="minimal").to_dicts()
    assert result["dataset"] == "syn_syn/difference=side"
    assert result["value"] == pytest.approx(np.mean(shares), abs=1e-9)
    assert 0.1 < result["value"] < 0.9
    assert {*pairs.filter(label=0)["difference"]} == {"side"}


def test_splits_make_them_of_their_own_names(build: medsim.Build) -> None:
    splits = medsim.split(build, build.folder.parent / "splits", ratios="50/50", seed=1)
    parts = [pairs_of(part) for part in splits.builds.values()]
    assert all(parts)
    assert set().union(*parts) < pairs_of(build)
    assert medsim.verify(splits, sample=0).holds


def test_shards_merge_into_the_same_build(build: medsim.Build) -> None:
    folder = build.folder.parent
    for number in (1, 2):
        medsim.build_shard(
            folder / "names.csv", folder / "merged", shard=f"{number}/2", negatives=build.strategies
        )
    merged = medsim.merge(folder / "merged")
    assert merged.manifest.digest == build.manifest.digest


def test_training_tuples_and_questions_have_changed_names(
    build: medsim.Build, usual: medsim.Build, names: list[tuple[str, str]]
) -> None:
    folder = build.folder.parent
    medsim.export(build, folder / "tuples", to="jsonl", negatives="minimal")
    lines = (folder / "tuples" / "train.jsonl").read_text("utf-8").splitlines()
    tuples = [json.loads(line) for line in lines]
    assert len(tuples) == 2 * len(PARTS)
    assert all(frozenset((t["query"], *t["neg"])) in expected_pairs(names) for t in tuples)
    exported = medsim.export(
        build, folder / "questions", to="jsonl", negatives="minimal", choices=1, private=True
    )
    assert exported.manifest.outputs["train.jsonl"].rows == 2 * len(PARTS)
    with pytest.raises(OptionError, match="minimal"):
        medsim.export(usual, folder / "none", to="jsonl", negatives="minimal")
