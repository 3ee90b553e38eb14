"""From names and substitutions to the candidate pairs of the datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fixtures.tables import put

if TYPE_CHECKING:
    from medsim.core.store import Store

Candidates = list[tuple[object, ...]]


def candidates_of(store: Store, dataset: str) -> Candidates:
    store.run(f"builds/datasets/{dataset}")
    columns = ("term1_id", "term2_id", "node1_id", "node2_id", "concept1", "concept2")
    return sorted(store.table(dataset).select(columns).rows())


def put_names(store: Store) -> None:
    """Write the names of two concepts that share one; a node is its term's number plus 100."""
    put(
        store,
        "name",
        ("20", 4, 104, True),
        ("20", 3, 103, False),
        ("10", 3, 103, True),  # not the first by text
        ("10", 5, 105, False),
        ("10", 1, 101, False),
        ("30", 6, 106, True),  # one name makes no pair
    )


def test_fsn_syn_pairs_a_name_with_each_synonym(store: Store) -> None:
    put_names(store)
    assert candidates_of(store, "fsn_syn") == [
        (3, 1, 103, 101, "10", "10"),
        (3, 5, 103, 105, "10", "10"),
        (4, 3, 104, 103, "20", "20"),
    ]


def test_syn_syn_pairs_any_two_names_the_fully_specified_one_first_then_by_text(
    store: Store,
) -> None:
    put_names(store)
    assert candidates_of(store, "syn_syn") == [
        (1, 5, 101, 105, "10", "10"),
        (3, 1, 103, 101, "10", "10"),
        (3, 5, 103, 105, "10", "10"),
        (4, 3, 104, 103, "20", "20"),
    ]


@pytest.mark.parametrize("kind", ["same_as", "replaced_by", "possibly_equivalent_to"])
def test_substitutions_are_candidates_of_the_dataset_of_their_kind(store: Store, kind: str) -> None:
    others = {"same_as", "replaced_by", "possibly_equivalent_to", "was_a"} - {kind}
    put(
        store,
        "substitution",
        (kind, "20", "10", 4, 3, 104, 103),
        (kind, "10", "30", 3, 6, 103, 106),
        (kind, "10", "20", 3, 4, 103, 104),
        *((other, "10", "40", 3, 7, 103, 107) for other in sorted(others)),
    )
    store.run("builds/terms/substitutions")
    assert candidates_of(store, kind) == [
        (3, 4, 103, 104, "10", "20"),
        (3, 6, 103, 106, "10", "30"),
        (4, 3, 104, 103, "20", "10"),
    ]
