"""From is-a relationships to categories of concepts and their terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fixtures.tables import put, put_terms

if TYPE_CHECKING:
    from medsim.core.store import Store


def members_of(store: Store) -> list[tuple[object, ...]]:
    store.run("evaluations/category_member")
    return store.table("category_member").rows()


def test_a_category_has_the_active_concepts_strictly_below_its_own(store: Store) -> None:
    put(store, "category", (0, "top"))
    of_top = [(one, "top") for one in ("left", "right", "retired", "no concept")]
    diamond = [("both", "left"), ("both", "right")]  # there once
    others = [("top", "root"), ("below retired", "retired"), ("other", "root")]
    put(store, "is_a", *of_top, *diamond, *others)
    names = ["root", "top", "left", "right", "both", "below retired", "other"]
    put(store, "concept", *((name, True, "", "") for name in names), ("retired", False, "", ""))
    expected = ("below retired", "both", "left", "right")
    assert members_of(store) == [(0, name, False) for name in expected]


def test_a_cycle_ends_and_its_own_concept_is_no_member(store: Store) -> None:
    put(store, "category", (0, "a"))
    put(store, "is_a", ("b", "a"), ("c", "b"), ("a", "c"), ("b", "b"))
    put(store, "concept", *((name, True, "", "") for name in "abc"))
    assert members_of(store) == [(0, "b", False), (0, "c", False)]


def test_terms_are_those_of_fully_specified_names_each_once(store: Store) -> None:
    put_terms(store, "ARM", "Arm", "arm", "eye", "leg", "limb")
    of = {
        term: (row, node)
        for term, row, node in store.table("term").select("term", "term_id", "node_id").rows()
    }
    put(
        store,
        "name",
        ("1", *of["arm"], True),
        ("1", *of["limb"], False),  # a synonym
        ("2", *of["Arm"], True),  # equal but for case: the smallest by text stays
        ("3", *of["leg"], True),
        ("4", *of["eye"], True),
        ("5", *of["ARM"], True),
    )
    put(
        store,
        "category_member",
        (0, "1", False),
        (0, "2", False),
        (0, "3", False),
        (0, "4", True),  # below several categories
        (1, "4", True),
        (1, "6", False),  # has no name
    )
    expected = [(0, of["arm"][1], "Arm", False), (0, of["leg"][1], "leg", False)]
    assert store.frame("evaluations/category_term").rows() == expected
