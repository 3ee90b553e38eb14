"""Words that a terminology relates, on tables that can be checked by eye."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from fixtures.tables import put, put_terms

from medsim.studies.words.forms import Forms
from medsim.studies.words.terminology import names_of, relations

if TYPE_CHECKING:
    from medsim.core.store import Store

FORMS = Forms(counts={"anemia": 1}, given={"chills": "chill"}, lemma_of=str)


def named(store: Store, **concepts: str) -> dict[str, int]:
    """Fill term and name with the names of concepts, and return each lower-cased term's node."""
    names = [(concept, term) for concept, terms in concepts.items() for term in terms.split("|")]
    put_terms(store, *sorted({term for _, term in names}))
    rows = {term: (row, node) for row, term, _, node in store.table("term").rows()}
    put(store, "name", *((concept, *rows[term], False) for concept, term in names))
    return {term.lower(): node for term, (_, node) in rows.items()}


def related(store: Store, words: list[str], components: dict[int, int] | None = None):
    """Return associated pairs with their reasons, and related pairs, as words."""
    ids = pl.DataFrame(
        {"word": words, "word_id": range(len(words))},
        schema={"word": pl.String, "word_id": pl.Int32},
    )
    linked = pl.DataFrame(
        list((components or {}).items()),
        schema={"node_id": pl.Int32, "component": pl.Int32},
        orient="row",
    )
    found = relations(store, names_of(store, FORMS), ids, linked)
    associated = {(words[a], words[b]): why for a, b, why in found[0].iter_rows()}
    return associated, {(words[a], words[b]) for a, b in found[1].iter_rows()}


def test_synonyms_are_single_words_that_one_concept_has(store: Store) -> None:
    named(store, c2="Fever|Pyrexia|High fever", c1="fever|Pyrexia", c3="Chills")
    put(store, "is_a")

    associated, _ = related(store, ["chill", "fever", "pyrexia"])

    assert associated == {("fever", "pyrexia"): "synonyms of c1"}


def test_spellings_of_one_word_are_no_pair(store: Store) -> None:
    named(store, c1="Anaemia|Anemia")
    put(store, "is_a")
    assert related(store, ["anemia"]) == ({}, set())


def test_siblings_are_names_of_two_concepts_under_one_parent(store: Store) -> None:
    named(store, c1="Fever", c2="Chills", c3="Pain|Fever", p1="Sign", p2="Finding")
    put(store, "is_a", ("c1", "p2"), ("c2", "p2"), ("c1", "p1"), ("c2", "p1"), ("c3", "p2"))

    associated, _ = related(store, ["chill", "fever", "finding", "pain", "sign"])

    assert associated == {
        ("chill", "fever"): "siblings under p1",
        ("chill", "pain"): "siblings under p2",
        ("fever", "pain"): "synonyms of c3",  # siblings as well
    }


def test_what_is_above_a_word_is_related_however_far_even_in_a_cycle(store: Store) -> None:
    named(store, c1="Fever", c2="many words", c3="Sign", c4="Leg")
    put(store, "is_a", ("c1", "c2"), ("c2", "c3"), ("c3", "c5"), ("c5", "c3"))

    associated, above = related(store, ["fever", "leg", "sign"])

    assert associated == {}
    assert above == {("fever", "sign")}


def test_words_that_positives_link_are_related(store: Store) -> None:
    node = named(store, c1="Fever", c2="Pyrexia", c3="Leg")
    put(store, "is_a")
    components = {node["fever"]: 4, node["pyrexia"]: 4, node["leg"]: 1}

    assert related(store, ["fever", "leg", "pyrexia"], components) == ({}, {("fever", "pyrexia")})
