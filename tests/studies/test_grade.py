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
        ({"raters": 3, "groups": 2}, "3 raters cannot make 2 groups"),
        ({"groups": 0}, "cannot make 0 groups"),
        ({"consistency": 119, "groups": 2}, "`consistency` 119 does not fit 120 pairs"),
        ({"duplicates": 75, "groups": 2, "consistency": 20}, "a rater sees 70 pairs"),
        ({"duplicates": -1}, "`duplicates` -1 does not fit"),
        ({"page_size": -1}, "`page_size` -1 is out of range"),
        ({"seed": -1}, "`seed` -1"),
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
