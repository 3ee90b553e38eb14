"""Presentations of pairs: each once or twice, in an order of the annotator's own."""

from __future__ import annotations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from medsim.studies.output import ASSIGNMENT_COLUMNS
from medsim.studies.presentations import presentations_of


def items(number: int) -> pl.DataFrame:
    rows = [(f"{at:016x}", f"term {at}", f"other {at}") for at in range(number)]
    return pl.DataFrame(rows, ["item_id", "term1", "term2"], orient="row")


@settings(max_examples=40)
@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 2**63 - 1))
def test_every_pair_is_shown_once_and_repeated_ones_twice(
    n_items: int, n_twice: int, seed: int
) -> None:
    shown = items(n_items)

    found = presentations_of(seed, "ada", shown, n_twice)

    assert found.schema == pl.Schema(ASSIGNMENT_COLUMNS)
    assert found["position"].to_list() == list(range(1, found.height + 1))
    assert found["entry_id"].is_unique().all()
    first, second = (found.filter(showing=showing)["item_id"] for showing in (1, 2))
    assert sorted(first) == shown["item_id"].to_list()
    assert second.n_unique() == len(second) == min(n_twice, n_items)
    of = {item_id: {*terms} for item_id, *terms in shown.iter_rows()}
    for item_id, left, right in found.select("item_id", "left", "right").iter_rows():
        assert {left, right} == of[item_id]


def test_about_half_of_all_others_lie_between_two_presentations() -> None:
    shown = items(300)

    found = presentations_of(3, "ada", shown, 50)

    places = found.filter(pl.len().over("item_id") == 2)
    between = places.group_by("item_id").agg(pl.col("position").max() - pl.col("position").min())
    assert between["position"].is_between(170, 180).all()
    first = found.filter(showing=1).join(places, on="item_id", how="semi")
    second = found.filter(showing=2)
    joined = first.join(second, on="item_id", suffix="_again")
    assert (joined["position"] < joined["position_again"]).all()


def test_order_sides_and_entries_are_an_annotators_own_and_of_the_seed_alone() -> None:
    shown = items(200)

    ada, ben = presentations_of(0, "ada", shown), presentations_of(0, "ben", shown)

    assert ada["item_id"].to_list() != ben["item_id"].to_list()
    assert not set(ada["entry_id"]) & set(ben["entry_id"])
    swapped = ada["left"].str.starts_with("other").sum()
    assert 70 < swapped < 130
    assert ada.equals(presentations_of(0, "ada", shown[::-1]))
    assert not ada.equals(presentations_of(1, "ada", shown))


def test_the_place_of_a_pair_tells_nothing_of_it() -> None:
    # Were a class drawn together or put on one side, its mean place would be off the middle.
    shown = items(1200)
    found = presentations_of(0, "ada", shown)
    even = found.filter(pl.col("item_id").str.to_integer(base=16) % 2 == 0)

    assert abs(even["position"].mean() - 600.5) < 40
    assert abs(even["left"].str.starts_with("term").mean() - 0.5) < 0.06
