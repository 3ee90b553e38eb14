"""Rows do not depend on threads, packaging, release type or order of the input."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from fixtures.release import random_release

import medsim

pytestmark = pytest.mark.slow


def fingerprints(build: medsim.Build) -> dict[str, str]:
    return {name: output.fingerprint for name, output in build.manifest.tables.items()}


@pytest.fixture(scope="module")
def release():
    return random_release(11, 150)


@pytest.fixture(scope="module")
def built(release, tmp_path_factory: pytest.TempPathFactory) -> medsim.Build:
    folder = tmp_path_factory.mktemp("reference")
    release.write_folder(folder / "release", "Full")
    build = medsim.build(folder / "release", folder / "out", threads=1)
    assert build.stats()["n_positives"].sum() > 500
    return build


@pytest.fixture(scope="module")
def reference(built: medsim.Build) -> dict[str, str]:
    return fingerprints(built)


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("packaging", "release_type", "threads", "options"),
    [
        ("folder", "Full", 5, {"shuffle_seed": 3, "name_style": "x"}),
        ("folder", "", 1, {"name_style": "uk"}),
        ("zip", "Snapshot", 2, {"bom": True, "newline": "\n", "name_style": "odd"}),
    ],
)
def test_the_rows_are_the_same(
    release, reference, tmp_path: Path, packaging: str, release_type: str, threads: int, options
) -> None:
    if packaging == "zip":
        source = tmp_path / "release.zip"
        release.write_zip(source, release_type, **options)
    else:
        source = tmp_path / "release"
        release.write_folder(source, release_type, **options)

    build = medsim.build(source, tmp_path / "out", threads=threads)

    assert fingerprints(build) == reference


def test_another_seed_gives_other_negatives_and_the_same_positives(
    release, reference, built: medsim.Build, tmp_path: Path
) -> None:
    release.write_folder(tmp_path / "release", "Full")

    first = built
    second = medsim.build(tmp_path / "release", tmp_path / "second", seed=1)

    key = ["dataset", "difficulty", "negatives", "term1", "term2", "concept1", "concept2"]
    positives = [
        build.pairs().filter(pl.col("label") == 1).select(key).sort(key)
        for build in (first, second)
    ]
    assert positives[0].equals(positives[1])
    random = "pairs/dataset=syn_syn/difficulty=hard/negatives=random/data.parquet"
    assert fingerprints(second)[random] != reference[random]
    levenshtein = [build.stats()["mean_distance_negatives"].sum() for build in (first, second)]
    assert levenshtein[0] != levenshtein[1]


def test_the_first_rows_mix_labels_and_the_alphabet(built: medsim.Build) -> None:
    pairs = built.pairs("syn_syn", "hard", "random")
    head = pairs.head(pairs.height // 4)
    assert 0.35 < head["label"].mean() < 0.65
    assert abs(head["term1"].rank().mean() / head.height - 0.5) < 0.1
    assert head["term1"].is_sorted() is False
    assert pairs["pair_id"].n_unique() == pairs.height


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, medsim.Build]:
    """Two builds of one release, one for each pool."""
    folder = tmp_path_factory.mktemp("both")
    random_release(20, 60).write_folder(folder / "release", "Full")
    return {
        pool: medsim.build(folder / "release", folder / pool, pool=pool, seed=3)
        for pool in ("set", "terminology")
    }


def test_the_shared_pool_adds_terms_and_negatives_are_not_farther(both) -> None:
    sets, wide = both["set"], both["terminology"]

    key = ["dataset", "difficulty", "negatives"]
    pools = [frame.filter(pl.col("label") == 1) for frame in (sets.pairs(), wide.pairs())]
    assert pools[0].sort(pl.all()).equals(pools[1].sort(pl.all()))  # the same positives
    stats = sets.stats().join(wide.stats(), on=key)
    assert stats["shortfall_right"].sum() <= stats["shortfall"].sum()
    nearest = stats.filter(pl.col("negatives") == "levenshtein", pl.col("shortfall") == 0)
    assert nearest["mean_distance_negatives_right"].sum() < nearest["mean_distance_negatives"].sum()
    assert sets.stats()["n_terms"].equals(wide.stats()["n_terms"])  # of the positives
    for path in wide.folder.rglob("*.parquet"):
        assert json.loads(pl.read_parquet_metadata(path)["options"])["pool"] == "terminology"
