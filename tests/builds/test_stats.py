"""Table 2 of a build, against loops over its pairs."""

from __future__ import annotations

import polars as pl
import pytest

import medsim
from medsim.builds.stats import multi_word_shares, readable_table_2, table_2


def mean(distances: list[int]) -> float | None:
    return sum(distances) / len(distances) if distances else None


def test_table_2_has_each_dataset_and_its_parts(shared_evaluation: medsim.Evaluation) -> None:
    build = medsim.Build(shared_evaluation.folder.parent / "build")
    pairs = build.pairs().collect().rows(named=True)

    table = table_2(build)

    assert table["difficulty"].to_list() == ["all", "easy", "hard"] * 5 + ["all"]
    for row in table.head(15).iter_rows(named=True):
        own = [
            pair
            for pair in pairs
            if pair["dataset"] == row["dataset"]
            and row["difficulty"] in {"all", pair["difficulty"]}
        ]
        positive = [
            pair["distance"] for pair in own if pair["label"] and pair["negatives"] == "random"
        ]
        negatives = {
            strategy: [
                pair["distance"]
                for pair in own
                if not pair["label"] and pair["negatives"] == strategy
            ]
            for strategy in ("random", "levenshtein")
        }
        assert row["positives"] == len(positive)
        assert row["size"] == len(positive) + max(map(len, negatives.values()))
        assert row["distance"] == pytest.approx(mean(positive))
        for strategy, distances in negatives.items():
            assert row[strategy] == len(distances)
            assert row[f"{strategy}_distance"] == pytest.approx(mean(distances))
        terms = [pair[side] for pair in own for side in ("term1", "term2")]
        share = mean([len(term.split()) > 1 for term in terms])
        assert row["multi_word"] == pytest.approx(share)
    terms = [pair[side] for pair in pairs for side in ("term1", "term2")]
    last = table.row(-1, named=True)
    assert (last.pop("dataset"), last.pop("difficulty")) == ("all", "all")
    share = last.pop("multi_word")
    assert share == pytest.approx(mean([len(term.split()) > 1 for term in terms]))
    assert not any(last.values())
    (readable,) = readable_table_2(table)
    assert readable["multi_word"][-1] == f"{100 * share:.1f}%"


def test_a_term_is_of_several_words_if_white_space_is_inside() -> None:
    terms = [
        "one",
        "one-two",
        "two words",
        "tab\tbed",
        "no\u00a0break",
        " outer ",
        "Überbein",
        "é b",
    ]
    pairs = pl.LazyFrame(
        {"dataset": "x", "difficulty": "easy", "term1": terms, "term2": terms[::-1]}
    )

    found = multi_word_shares(pairs)

    assert found.rows() == [("all", "all", 0.5), ("x", "all", 0.5), ("x", "easy", 0.5)]
