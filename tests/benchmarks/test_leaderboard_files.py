"""The results in benchmarks/leaderboard."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import medsim
from benchmarks.leaderboard.__main__ import TfIdf, trigrams
from medsim.evaluations.result_file import read_result

FOLDER = Path(__file__).parents[2] / "benchmarks" / "leaderboard"
TRAINED = ["subwords-trained", "static-trained", "minilm-fine-tuned"]
FILES = sorted(FOLDER.glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_result_can_be_read_and_ranked(path: Path) -> None:
    result = read_result(path)

    assert {*result["headlines"]["model"]} <= {*result["models"]["name"]}
    assert {*result["headlines"]["build"]} <= {*result["builds"]["name"]}
    assert result["models"]["fingerprint"].str.contains("^[0-9a-f]{64}$").all()
    assert medsim.leaderboard(path)["rank"].min() == 1


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.stem.endswith("-test")], ids=lambda path: path.stem
)
def test_models_trained_on_a_train_split_are_ranked_first_on_the_test_split(path: Path) -> None:
    board = medsim.leaderboard(path)

    assert board["build"].str.ends_with(" test split").all()
    trained = board.filter(pl.col("model").is_in(TRAINED))
    assert trained["trained_here"].to_list() == ["yes"] * 3
    assert board.height == 9
    others = board.filter(~pl.col("model").is_in(TRAINED))
    assert trained["rank"].max() < others["rank"].min()


def test_models_without_files_are_counts_and_rarer_words_weigh_more() -> None:
    counts = trigrams(["Heart", "heart", "a"])
    np.testing.assert_array_equal(counts[0], counts[1])
    assert counts.sum(axis=1).tolist() == [6, 6, 2]

    weights = TfIdf(["acute pain", "acute fever"])(["acute", "pain"]).max(axis=1)
    assert weights[0] < weights[1]
