"""Folds, and the draws behind them, against networkx and by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from fixtures.wic import invented_instances
from hypothesis import given, settings
from hypothesis import strategies as st

from medsim.core.errors import InputError
from medsim.wic.dataset import coin_flips, drawn_order, folds_of, linked


def keys_of(instance: dict) -> set[object]:
    pair = frozenset((instance["term1"].lower(), instance["term2"].lower()))
    return {pair, instance["sentence1"], instance["sentence2"]}


def by_networkx(instances: pl.DataFrame) -> list[set[int]]:
    import networkx as nx

    graph = nx.Graph()
    rows = list(instances.iter_rows(named=True))
    graph.add_nodes_from(range(len(rows)))
    for one, left in enumerate(rows):
        for other, right in enumerate(rows[:one]):
            if keys_of(left) & keys_of(right):
                graph.add_edge(one, other)
    return list(nx.connected_components(graph))


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 60), st.floats(0, 0.5))
def test_instances_are_linked_by_sentences_and_pairs_of_terms(
    seed: int, n: int, reuse: float
) -> None:
    instances = invented_instances(seed, n, reuse=reuse)

    found = linked(instances)

    for part in by_networkx(instances):
        assert {int(found[row]) for row in part} == {min(part)}


def test_the_case_and_the_sides_of_a_pair_of_terms_do_not_matter() -> None:
    plain = invented_instances(1, 2, reuse=0)
    mirrored = plain.with_columns(
        term1=pl.col("term2").str.to_uppercase(),
        term2=pl.col("term1"),
        sentence1=pl.col("sentence2") + " again",
        sentence2=pl.col("sentence1") + " again",
    )

    assert linked(pl.concat([plain, mirrored])).tolist() == [0, 1, 0, 1]


def test_folds_are_of_one_size_and_a_large_part_is_placed_first() -> None:
    folds = folds_of(invented_instances(1, 83, reuse=0), 0)
    assert sorted(np.bincount(folds).tolist()) == [8] * 7 + [9] * 3

    sentence = pl.when(pl.int_range(pl.len()) < 5).then(pl.lit("shared")).otherwise("sentence1")
    instances = invented_instances(1, 10, reuse=0).with_columns(sentence1=sentence)

    assert np.bincount(folds_of(instances, 0, 2)).tolist() == [5, 5]


@settings(max_examples=25)
@given(st.permutations(range(40)))
def test_folds_do_not_depend_on_the_order_of_instances(order: list[int]) -> None:
    instances = invented_instances(2, 40)

    assert np.array_equal(folds_of(instances, 7)[order], folds_of(instances[order], 7))
    assert not np.array_equal(folds_of(instances, 1), folds_of(instances, 2))


def test_fewer_parts_make_fewer_folds_and_one_part_none() -> None:
    instances = invented_instances(1, 3, reuse=0)

    assert sorted(folds_of(instances, 0).tolist()) == [0, 1, 2]
    with pytest.raises(InputError, match="all 1 instances hang together"):
        folds_of(instances[:1], 0)


def test_a_coin_is_fair_and_knows_nothing_of_labels() -> None:
    instances = invented_instances(4, 1600, reuse=0)

    flips = coin_flips(instances, 3)

    n_right = int(np.count_nonzero(flips == (instances["label"] == 1).to_numpy()))
    assert abs(np.count_nonzero(flips) - 800) < 4 * 20  # four standard deviations
    assert abs(n_right - 800) < 4 * 20
    relabelled = instances.with_columns(label=(1 - pl.col("label")).cast(pl.Int8))
    assert np.array_equal(coin_flips(relabelled, 3), flips)
    assert np.array_equal(coin_flips(instances.reverse(), 3), flips[::-1])
    assert not np.array_equal(coin_flips(instances, 4), flips)


def test_the_drawn_order_has_no_ties_among_different_instances() -> None:
    instances = invented_instances(4, 1000, reuse=0.3)

    assert len(np.unique(drawn_order(instances, 0))) == 1000
