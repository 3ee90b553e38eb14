"""From candidate pairs to the rows of a dataset."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from fixtures.tables import put, put_terms

if TYPE_CHECKING:
    import polars as pl

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


# Rows


def put_draft(store: Store, *pairs: tuple[int, int]) -> None:
    put(store, "pair_draft", *((a, b, 1, 3, f"c{a}", f"d{b}") for a, b in pairs))


def pair_ids(store: Store, terms: list[str], pairs: list[tuple[str, str]]) -> list[str]:
    """Return the id of each pair, in the order given."""
    put_terms(store, *sorted(terms))
    place = {term: at for at, term in enumerate(sorted(terms))}
    put_draft(store, *((place[a], place[b]) for a, b in pairs))
    rows = store.frame("builds/pairs/pair", seed="0")
    found = {(row["term1"], row["term2"]): row["pair_id"] for row in rows.to_dicts()}
    return [found[pair] for pair in pairs]


def test_a_row_has_texts_for_ids_and_the_rest_as_it_was(store: Store) -> None:
    put_terms(store, "Alder", "Birch")
    put(store, "pair_draft", (1, 0, 0, 4, "20", "10"))
    frame = store.frame("builds/pairs/pair", seed="7")
    assert frame.to_dicts() == [
        {
            "pair_id": hashlib.md5(b"5:BirchAlder").hexdigest()[:16],  # noqa: S324  # an identifier
            "term1": "Birch",
            "term2": "Alder",
            "label": 0,
            "distance": 4,
            "concept1": "20",
            "concept2": "10",
        }
    ]


def test_the_id_of_a_pair_is_this_on_any_machine(store: Store) -> None:
    terms = ["Alder", "Birch", "caf\u00e9 \U0001d4b3"]
    pairs = [("Alder", "Birch"), ("Birch", "Alder"), ("caf\u00e9 \U0001d4b3", "Alder")]
    assert pair_ids(store, terms, pairs) == [
        "a55c5f039f129119",
        "4d19b0b8317c9b71",
        "578c0d41d7cb5195",
    ]


def test_the_id_of_a_pair_depends_on_its_two_texts_alone(store: Store) -> None:
    pair = ("Birch", "Cedar")
    alone = pair_ids(store, ["Birch", "Cedar"], [pair])
    company = pair_ids(store, ["Alder", "Birch", "Cedar"], [pair, ("Alder", "Cedar")])
    assert company[0] == alone[0]
    put(store, "pair_draft", (1, 2, 0, 9, "x", "y"))
    assert store.frame("builds/pairs/pair", seed="5")["pair_id"].to_list() == alone


def test_no_two_pairs_of_texts_share_an_id_however_they_are_cut(store: Store) -> None:
    terms = ["1", "11", "1:1", ":", "a", "ab", "abc", "b", "bc", "c", "e", "e\u0301", "\u0301"]
    pairs = [(a, b) for a in terms for b in terms]
    assert len(set(pair_ids(store, terms, pairs))) == len(pairs)


def ordered(store: Store, seed: str) -> pl.DataFrame:
    put_terms(store, *(f"term {at:02}" for at in range(40)))
    put_draft(store, *((at, at + 1) for at in range(39)))
    return store.frame("builds/pairs/pair", seed=seed)


def test_the_order_of_rows_is_drawn_from_the_seed(store: Store) -> None:
    first, second = ordered(store, "0"), ordered(store, "1")
    assert first.rows() != second.rows()
    assert sorted(first.rows()) == sorted(second.rows())
    assert ordered(store, "0").rows() == first.rows()
    assert first["term1"].to_list() != sorted(first["term1"])


def test_the_order_of_rows_is_that_of_a_hash_of_seed_and_id(store: Store) -> None:
    ids = ordered(store, "12")["pair_id"].to_list()
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


def test_every_set_has_a_number_of_its_own(store: Store) -> None:
    put_terms(store, "Alder", "Birch")
    put_pairs(store, ("same_as", "Alder", "Birch"), ("fsn_syn", "Alder", "Birch"))
    assert store.table("pair_set").rows() == [
        (1, "fsn_syn", "easy", "random"),
        (2, "same_as", "easy", "random"),
    ]
    assert store.table("numbered_pair")["set_id"].to_list() == [2, 1]


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
