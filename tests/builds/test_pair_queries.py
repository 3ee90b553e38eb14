"""From candidate pairs to the rows of a dataset."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from fixtures.tables import put, put_terms

if TYPE_CHECKING:
    from medsim.core.store import Store

Row = tuple[object, ...]


def positives_of(store: Store, *candidates: Row) -> list[Row]:
    put(store, "candidate", *candidates)
    frame = store.frame("builds/pairs/positive", candidates="candidate")
    assert frame.columns == ["term1_id", "term2_id", "concept1", "concept2"]
    return frame.rows()


def test_terms_that_are_equal_ignoring_case_are_no_pair(store: Store) -> None:
    assert positives_of(store, (1, 2, 7, 7, "10", "10"), (1, 3, 7, 8, "10", "10")) == [
        (1, 3, "10", "10")
    ]


def test_a_pair_of_one_direction_stays_as_it_is(store: Store) -> None:
    assert positives_of(store, (5, 2, 105, 102, "20", "10")) == [(5, 2, "20", "10")]


def test_of_both_directions_the_smaller_stays_with_its_own_concepts(store: Store) -> None:
    found = positives_of(
        store,
        (5, 2, 105, 102, "10", "10"),  # the smaller concepts are those of the direction that goes
        (2, 5, 102, 105, "30", "40"),
        (2, 5, 102, 105, "30", "35"),
        (9, 2, 109, 102, "50", "60"),
    )
    assert found == [(2, 5, "30", "35"), (9, 2, "50", "60")]


def test_of_several_concepts_the_smallest_ids_stay(store: Store) -> None:
    found = positives_of(
        store,
        (1, 2, 101, 102, "20", "05"),
        (1, 2, 101, 102, "100", "90"),  # ids are text, and the first one counts first
        (1, 2, 101, 102, "100", "95"),
        (1, 3, 101, 103, "20", "20"),
    )
    assert found == [(1, 2, "100", "90"), (1, 3, "20", "20")]


def test_positives_come_in_order_of_their_terms(store: Store) -> None:
    candidates = [(a, b, 100 + a, 100 + b, "10", "10") for a, b in [(10, 3), (2, 30), (2, 4)]]
    assert [row[:2] for row in positives_of(store, *candidates)] == [(2, 4), (2, 30), (10, 3)]


def test_each_two_terms_are_positive_once_whatever_has_them(store: Store) -> None:
    levenshtein, random = ("hard", "levenshtein"), ("hard", "random")
    put(
        store,
        "pair",
        ("fsn_syn", *levenshtein, "p1", "knee", "genu", 1, 4, "30", "30"),
        ("fsn_syn", *random, "p1", "knee", "genu", 1, 4, "30", "30"),
        ("syn_syn", *levenshtein, "p2", "genu", "knee", 1, 4, "30", "30"),
        ("replaced_by", *random, "p2", "genu", "knee", 1, 4, "100", "20"),  # as text it is smaller
        ("syn_syn", *levenshtein, "p3", "knee", "Genu", 1, 5, "30", "30"),
        ("syn_syn", *random, "p4", "knee", "hand", 0, 4, "30", "40"),
        ("same_as", "easy", "random", "p5", "c", "b", 1, 1, "1", "2"),
    )

    store.run("builds/views/positive")

    assert sorted(store.table("positive").rows()) == [
        ("p2", "genu", "knee", 4, "hard", "100", "20", ["fsn_syn", "replaced_by", "syn_syn"]),
        ("p3", "knee", "Genu", 5, "hard", "30", "30", ["syn_syn"]),
        ("p5", "c", "b", 1, "easy", "1", "2", ["same_as"]),
    ]


# Rows


def put_draft(store: Store, *pairs: tuple[int, int]) -> None:
    put(store, "pair_draft", *(("one", a, b, 1, 3, f"c{a}", f"d{b}") for a, b in pairs))


def pair_ids(store: Store, terms: list[str]) -> list[str]:
    """Return the id of every pair of terms."""
    put_terms(store, *sorted(terms))
    put_draft(store, *((a, b) for a in range(len(terms)) for b in range(len(terms))))
    return store.frame("builds/pairs/pair", seed="0")["pair_id"].to_list()


def test_a_row_has_texts_for_ids_and_the_rest_as_it_was(store: Store) -> None:
    put_terms(store, "Alder", "Birch")
    put(store, "pair_draft", ("one", 1, 0, 0, 4, "20", "10"))
    frame = store.frame("builds/pairs/pair", seed="7")
    assert frame.to_dicts() == [
        {
            "set_name": "one",
            "pair_id": hashlib.md5(b"5:BirchAlder").hexdigest()[:16],  # noqa: S324  # an identifier
            "term1": "Birch",
            "term2": "Alder",
            "label": 0,
            "distance": 4,
            "concept1": "20",
            "concept2": "10",
        }
    ]


def test_no_two_pairs_of_texts_share_an_id_however_they_are_cut(store: Store) -> None:
    terms = ["1", "11", "1:1", ":", "a", "ab", "abc", "b", "bc", "c", "e", "e\u0301", "\u0301"]
    assert len(set(pair_ids(store, terms))) == len(terms) ** 2


def test_the_order_of_rows_is_that_of_a_hash_of_seed_and_id(store: Store) -> None:
    put_terms(store, *(f"term {at:02}" for at in range(40)))
    put_draft(store, *((at, at + 1) for at in range(39)))
    ids = store.frame("builds/pairs/pair", seed="12")["pair_id"].to_list()
    hashes = [hashlib.md5(f"12 {pair_id}".encode()).hexdigest() for pair_id in ids]  # noqa: S324  # no secret
    assert hashes == sorted(hashes)


# Numbers of terms and sets, for the checks


def put_pairs(store: Store, *pairs: tuple[str, str, str]) -> None:
    """Write the view of all pairs: (dataset, term1, term2)."""
    rows = [(name, "easy", "random", "id", a, b, 1, 2, "10", "20") for name, a, b in pairs]
    put(store, "pair", *rows)
    store.run("builds/pairs/pair_set")
    store.run("builds/pairs/numbered_pair")


def test_a_pair_has_the_numbers_of_its_terms_and_nodes(store: Store) -> None:
    put_terms(store, "Alder", "Birch", "birch")
    put_pairs(store, ("same_as", "birch", "Alder"))
    assert store.table("numbered_pair").to_dicts() == [
        {
            "set_id": 1,
            "pair_id": "id",
            "term1_id": 2,
            "term2_id": 0,
            "node1_id": 1,
            "node2_id": 0,
            "label": 1,
            "distance": 2,
            "concept1": "10",
            "concept2": "20",
        }
    ]


def test_texts_that_are_no_terms_have_numbers_of_their_own(store: Store) -> None:
    put_terms(store, "Alder")
    put_pairs(store, ("same_as", "Alder", "Dogwood"), ("same_as", "Elder", "Dogwood"))
    rows = store.table("numbered_pair").sort("term1_id")
    elder, alder = rows["term1_id"].to_list()
    dogwood = rows["term2_id"].unique().to_list()
    assert alder == 0
    assert len(dogwood) == 1
    assert elder < 0
    assert dogwood[0] < 0
    assert elder != dogwood[0]
    assert rows["node1_id"].to_list() == [None, 0]
    assert rows["node2_id"].to_list() == [None, None]


def test_names_are_numbered_that_are_active_and_of_an_active_concept(store: Store) -> None:
    put_terms(store, "Alder", "Birch")
    put(store, "concept", ("10", True, "core", ""), ("20", False, "core", ""))
    put(
        store,
        "description",
        ("d1", "10", "Alder", "fsn", True, "en"),
        ("d2", "10", "Birch", "synonym", True, "en"),
        ("d3", "10", "Birch", "synonym", True, "en"),
        ("d4", "10", "Alder", "synonym", False, "en"),
        ("d5", "20", "Birch", "fsn", True, "en"),
    )
    store.run("builds/pairs/numbered_name")
    rows = store.table("numbered_name").sort("term_id").rows()
    assert rows == [("10", "en", 0, "fsn"), ("10", "en", 1, "synonym")]
