"""The same rows whatever the threads, the packaging, the release type or the order of the input."""

from __future__ import annotations

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
        build.pairs().filter(pl.col("label") == 1).select(key).sort(key).collect()
        for build in (first, second)
    ]
    assert positives[0].equals(positives[1])
    random = "pairs/dataset=syn_syn/difficulty=hard/negatives=random/data.parquet"
    assert fingerprints(second)[random] != reference[random]
    levenshtein = [build.stats()["mean_distance_negatives"].sum() for build in (first, second)]
    assert levenshtein[0] != levenshtein[1]


def test_any_head_is_a_mix_of_labels_and_of_the_alphabet(built: medsim.Build) -> None:
    pairs = built.pairs("syn_syn", "hard", "random").collect()
    head = pairs.head(pairs.height // 4)
    assert 0.35 < head["label"].mean() < 0.65
    assert abs(head["term1"].rank().mean() / head.height - 0.5) < 0.1
    assert head["term1"].is_sorted() is False
    assert pairs["pair_id"].n_unique() == pairs.height
