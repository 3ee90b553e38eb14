"""How contenders stand by their comparisons."""

from __future__ import annotations

import math
from itertools import combinations

from medsim.statistics.standings import Comparison, Standing, standings


def compared(values: dict[str, float], close: float) -> list[Comparison]:
    """Return comparisons that are significant where values are further apart than ``close``."""
    return [
        Comparison(
            first=first,
            second=second,
            difference=values[first] - values[second],
            p=0.01 if abs(values[first] - values[second]) > close else 0.5,
        )
        for first, second in combinations(values, 2)
    ]


def test_contenders_are_counted_against_all_others() -> None:
    found = standings(compared({"d": 0.9, "a": 0.5, "b": 0.83, "c": 0.71}, close=0.15))

    assert found == {
        "a": Standing(n_better=0, n_worse=3, among_best=False),
        "b": Standing(n_better=1, n_worse=0, among_best=True),
        "c": Standing(n_better=1, n_worse=1, among_best=False),
        "d": Standing(n_better=2, n_worse=0, among_best=True),
    }


def test_the_direction_and_order_of_comparisons_do_not_count() -> None:
    there = compared({"a": 0.1, "b": 0.5, "c": 0.55}, close=0.2)
    back = [
        Comparison(first=one.second, second=one.first, difference=-one.difference, p=one.p)
        for one in reversed(there)
    ]

    assert standings(there) == standings(back)


def test_a_p_of_alpha_or_none_is_not_significant() -> None:
    for p in (0.05, math.nan):
        found = standings([Comparison(first="a", second="b", difference=1.0, p=p)])

        assert found["b"] == Standing(n_better=0, n_worse=0, among_best=True)


def test_a_stricter_alpha_tells_fewer_apart() -> None:
    one = Comparison(first="a", second="b", difference=-1.0, p=0.03)

    assert not standings([one])["a"].among_best
    assert standings([one], alpha=0.01)["a"].among_best


def test_equal_contenders_are_both_the_best() -> None:
    found = standings(compared({"a": 0.9, "b": 0.9, "c": 0.1}, close=0.0))

    assert [found[name].among_best for name in "abc"] == [True, True, False]
    assert found["c"].n_worse == 2


def test_what_cannot_be_told_from_one_of_the_best_is_among_them() -> None:
    found = standings(
        [
            Comparison(first="a", second="b", difference=0.0, p=1.0),
            Comparison(first="a", second="c", difference=0.1, p=0.01),
            Comparison(first="b", second="c", difference=0.1, p=0.2),
        ]
    )

    assert found["c"] == Standing(n_better=0, n_worse=1, among_best=True)


def test_what_cannot_be_compared_counts_for_nobody() -> None:
    found = standings([Comparison(first="a", second="b", difference=math.nan, p=math.nan)])

    assert set(found.values()) == {Standing(n_better=0, n_worse=0, among_best=True)}
    assert standings([]) == {}
