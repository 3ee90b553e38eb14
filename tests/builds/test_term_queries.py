"""From the canonical tables to terms, names and substitutions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest
from fixtures.tables import put, put_datasets, put_terms

if TYPE_CHECKING:
    from medsim.core.store import Store

CORE, MODEL = "900000000000207008", "900000000000012004"


def named(  # a row of the table description
    concept: str, term: str, kind: str = "synonym", *, active: bool = True, language: str = "en"
) -> tuple[object, ...]:
    return (f"{concept} {kind} {term}", concept, term, kind, active, language)


def put_names(store: Store, *descriptions: tuple[object, ...]) -> None:
    """Write descriptions, and which of them are names in a build of English."""
    put(store, "description", *descriptions)
    store.put("rule", pl.DataFrame({"language": ["en"]}))
    store.run("builds/terms/naming")


def terms_of(store: Store, table: str, *columns: str) -> list[tuple[object, ...]]:
    """Return the rows of a table, its term ids as texts."""
    texts = dict(store.table("term").select("term_id", "term").rows())
    return [
        tuple(
            texts[value] if column.startswith("term") else value
            for column, value in zip(columns, row, strict=True)
        )
        for row in store.table(table).select(columns).rows()
    ]


def test_languages_come_with_the_most_frequent_first(store: Store) -> None:
    put(
        store,
        "description",
        named("1", "a", language="sv"),
        named("1", "b", language="en"),
        named("1", "c", language="en"),
        named("1", "d", language="da"),
        named("1", "e", language="de", active=False),
    )
    assert store.frame("terminologies/language").rows() == [("en", 2), ("da", 1), ("sv", 1)]


def test_names_are_distinct_and_lie_in_order_the_fully_specified_one_first(store: Store) -> None:
    put_terms(store, "Orl", "Orl pain", "orl ache", "orl pain")
    put(store, "concept", ("10", True, CORE, ""), ("20", True, CORE, ""))
    put_names(
        store,
        named("20", "orl pain", "fsn"),
        named("10", "orl pain", "fsn"),
        named("10", "orl ache"),
        named("10", "Orl"),
        ("again", "10", "Orl", "synonym", True, "en"),
        named("10", "Orl pain"),  # the same as the name, but for case
    )
    put(store, "substitution_name", ("20", "Orl", True, False), ("10", "orl pain", False, False))
    store.run("builds/terms/named")
    store.run("builds/terms/bearer")
    assert terms_of(store, "bearer", "term_id", "concept_id") == [
        *(("Orl", "10"), ("Orl pain", "10"), ("orl ache", "10"), ("orl pain", "10")),
    ]
    store.run("builds/terms/name")
    assert terms_of(store, "name", "concept_id", "term_id", "is_fsn") == [
        ("10", "orl pain", True),
        ("10", "Orl", False),
        ("10", "orl ache", False),
        ("20", "orl pain", True),
    ]


def test_names_of_other_sources_are_taken_whole(store: Store) -> None:
    put(store, "concept", ("10", False, "", "namespace"))
    put_names(store, named("10", "[D]Murn", "fsn"), named("20", "a namespace", "fsn"))
    store.run("builds/terms/substitution_name", rf2_rules=False)
    assert store.table("substitution_name").rows() == [
        ("10", "[D]Murn", False, False),
        ("20", "a namespace", False, False),
    ]


def test_a_marked_name_is_a_spelling_beside_the_one_that_stands_for_it(store: Store) -> None:
    put(store, "concept", ("10", False, "", ""), ("20", False, "", "namespace"))
    put_names(store, named("10", "[D]Murn", "fsn"), named("20", "Orl", "fsn"))
    store.run("builds/terms/substitution_name", rf2_rules=True)
    assert store.table("substitution_name").rows() == [
        ("10", "Murn", True, False),
        ("20", "Orl", False, True),
    ]
    spellings = store.frame("builds/terms/spelling")["term"]
    assert spellings.to_list() == ["Murn", "Orl", "[D]Murn"]
    put_terms(store, *spellings)
    store.run("builds/terms/named")
    assert sorted(terms_of(store, "named", "concept_id", "kind", "term_id")) == [
        ("10", "fsn", "[D]Murn"),
        ("10", "substitution", "Murn"),
        ("20", "fsn", "Orl"),
    ]


def test_a_substitution_of_two_names_of_a_concept_is_the_synonyms(store: Store) -> None:
    put_terms(store, "Mott", "New", "Old", "mott")
    put(
        store,
        "substitution_name",
        *((name.lower(), name, False, False) for name in ("Old", "New", "Mott")),
        ("small mott", "mott", False, False),
    )
    put(store, "name", ("new", 1, 1, True), ("new", 2, 2, False), ("third", 0, 0, True))
    put(
        store,
        "association",
        ("old", "new", "same_as", True),
        ("new", "old", "same_as", True),  # in either direction
        ("mott", "new", "same_as", True),
        ("mott", "new", "synonymous", True),  # which retires neither
        ("old", "small mott", "same_as", True),
    )
    store.run("builds/terms/substitution")
    assert terms_of(store, "substitution", "term1_id", "term2_id") == [
        ("Mott", "New"),
        ("Old", "mott"),
    ]


def test_what_makes_no_pair_is_counted_by_reason(store: Store) -> None:
    put(
        store,
        "concept",
        *((concept, True, CORE, "") for concept in ("10", "20")),
        *(("30", False, CORE, ""), ("40", True, MODEL, ""), ("50", True, None, "")),
    )
    put_names(
        store,
        named("10", "name", "fsn"),
        named("20", "synonym only"),
        named("20", "inactive", "fsn", active=False),
        named("20", "namn", "fsn", language="sv"),
    )
    named_concepts = (("10", "name", False), ("60", "other", False), ("70", "space", True))
    put(store, "substitution_name", *((*name, False, space) for *name, space in named_concepts))
    put(
        store,
        "association",
        ("60", "10", "same_as", True),
        ("60", "20", "same_as", True),
        ("20", "60", "replaced_by", True),
        ("20", "30", "possibly_equivalent_to", True),
        ("20", "60", "same_as", False),
        ("20", "60", "was_a", True),
        ("60", "70", "same_as", True),
        ("70", "60", "same_as", True),
        ("80", "70", "replaced_by", True),  # counts twice: nameless, and a namespace
    )
    put_datasets(store)
    assert store.frame("builds/terms/skipped").rows() == [
        ("association is of a kind that no dataset has", 1),
        ("association lacks a name on one side", 4),
        ("association names a namespace", 2),
        ("concept has no active fully specified name", 2),
    ]


@pytest.mark.parametrize(
    ("pool", "expected"),
    [("set", []), ("terminology", ["fsn", "fsn of a retired concept", "shared", "syn"])],
)
def test_the_pool_of_the_terminology_holds_names_and_terms_of_positives(
    store: Store, pool: str, expected: list[str]
) -> None:
    put_terms(store, "fsn", "fsn of a retired concept", "other name of it", "shared", "syn")
    put(
        store,
        "name",
        ("10", 0, 0, True),
        ("10", 4, 4, False),
        ("10", 3, 3, False),
        ("20", 3, 3, True),
    )
    put(store, "positive", (1, 0), (0, 3), (0, 4))
    store.run("builds/terms/pool", pool=pool)
    assert [term for (term,) in terms_of(store, "pool", "term_id")] == expected
