"""Shares of pairs among groups of raters."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import medsim
from medsim.core.errors import OptionError


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
        ({"raters": 3, "groups": 2}, "`raters` 3 cannot make `groups` 2"),
        ({"consistency": 119, "groups": 2}, "`consistency` 119 leaves too few of 120 pairs"),
        ({"duplicates": 75, "groups": 2, "consistency": 20}, "a rater sees only 70 pairs"),
        ({"raters": "ada,ADA"}, "two annotators are named"),
    ],
)
def test_shares_that_cannot_be_are_refused(
    pairs: Path, tmp_path: Path, options: dict[str, object], says: str
) -> None:
    with pytest.raises(OptionError, match=says):
        medsim.grade_study(pairs, tmp_path / "study", **{"duplicates": 5, **options})

    assert not (tmp_path / "study").exists()


def test_shares_are_those_of_bio_simlex_unless_something_else_is_asked_for(tmp_path: Path) -> None:
    rows = {"term1": [f"l{at}" for at in range(1050)], "term2": [f"r{at}" for at in range(1050)]}
    pl.DataFrame(rows).write_csv(tmp_path / "pairs.csv")

    study = medsim.grade_study(tmp_path / "pairs.csv", tmp_path / "study")

    items = study.items()
    assert Counter(items["group"]) == {0: 50, 1: 500, 2: 500}
    assert study.manifest.page_size == 120
    seen = study.assignment().join(items.select("item_id", "group"), on="item_id")
    n_raters = seen.group_by("item_id", "group").agg(n=pl.col("annotator").n_unique())
    assert set(n_raters.select("group", "n").iter_rows()) == {(0, 12), (1, 6), (2, 6)}
    for _, own in seen.group_by("annotator"):
        assert own.height == 600
        assert own.filter(showing=2).height == 50
        pages = (own["position"] - 1) // 120
        assert Counter(pages.filter(own["group"] == 0)) == dict.fromkeys(range(5), 10)


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
