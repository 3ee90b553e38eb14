"""From the canonical tables to terms, names and substitutions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fixtures.tables import put, put_datasets, put_terms

if TYPE_CHECKING:
    from medsim.core.store import Store

CORE, MODEL = "900000000000207008", "900000000000012004"


def named(  # a row of the table description
    concept: str, term: str, kind: str = "synonym", *, active: bool = True, language: str = "en"
) -> tuple[object, ...]:
    return (f"{concept} {kind} {term}", concept, term, kind, active, language)


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


def test_spellings_are_the_distinct_active_names_of_the_language(store: Store) -> None:
    put(
        store,
        "description",
        named("10", "b"),
        named("20", "b", "fsn"),
        named("10", "B"),
        named("10", "a\u0308"),
        named("10", "gone", active=False),
        named("10", "andra", language="sv"),
    )
    put(store, "substitution_name", ("30", "a", False), ("20", "b", False), ("40", "z", True))
    spellings = store.frame("builds/terms/spelling", language="en")
    assert spellings["term"].to_list() == ["B", "a", "a\u0308", "b", "z"]


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


def test_a_concept_has_its_fully_specified_name_and_the_synonyms_that_differ(store: Store) -> None:
    put_terms(store, "Orl", "Orl pain", "orl", "orl ache", "orl pain")
    put(store, "concept", ("10", True, CORE, ""), ("20", True, CORE, ""))
    put(
        store,
        "description",
        named("20", "orl ache", "fsn"),
        named("20", "orl", "synonym"),  # shared with another concept, where it is no synonym
        named("10", "Orl", "fsn"),
        named("10", "orl pain"),
        named("10", "Orl pain"),  # the same, but for case: both stay
        ("again", "10", "Orl pain", "synonym", True, "en"),  # the same: once
        named("10", "orl"),  # the same as the name, but for case
        named("10", "orl ache", active=False),
        named("10", "orl ache", language="sv"),
        named("10", "not in the term table"),
    )
    store.run("builds/terms/name", language="en")
    assert terms_of(store, "name", "concept_id", "term_id", "is_fsn") == [
        ("10", "Orl", True),
        ("10", "Orl pain", False),
        ("10", "orl pain", False),
        ("20", "orl ache", True),
        ("20", "orl", False),
    ]
    nodes = dict(store.table("term").select("term_id", "node_id").rows())
    names = store.table("name").select("term_id", "node_id").rows()
    assert all(nodes[term] == node for term, node in names)


def test_only_active_concepts_outside_the_model_module_with_a_name_are_eligible(
    store: Store,
) -> None:
    put_terms(store, "name", "other")
    put(
        store,
        "concept",
        ("active", True, CORE, ""),
        ("inactive", False, CORE, ""),
        ("model", True, MODEL, ""),
        ("nameless", True, CORE, ""),
        ("no module", True, None, ""),
        ("Swedish", True, CORE, ""),
    )
    put(
        store,
        "description",
        *(named(concept, "name", "fsn") for concept in ("active", "inactive", "model")),
        named("no module", "name", "fsn"),
        named("not in the concept table", "name", "fsn"),
        named("nameless", "name", "fsn", active=False),
        named("nameless", "other"),
        named("Swedish", "name", "fsn", language="sv"),
        named("Swedish", "other"),
    )
    store.run("builds/terms/name", language="en")
    assert terms_of(store, "name", "concept_id", "term_id") == [
        ("active", "name"),
        ("no module", "name"),
    ]


def test_a_term_is_borne_by_the_smallest_concept(store: Store) -> None:
    put_terms(store, "Gone", "a", "b", "c", "nobody's")
    put(
        store,
        "description",
        named("20", "a", "fsn"),
        named("100", "a"),  # ids are text
        named("20", "b"),
        named("10", "b", active=False),
        named("10", "c", language="sv"),
        named("30", "c"),
        named("30", "not in the term table"),
    )
    put(store, "substitution_name", ("15", "b", False), ("40", "Gone", False))
    store.run("builds/terms/bearer", language="en")
    assert terms_of(store, "bearer", "term_id", "concept_id") == [
        ("Gone", "40"),
        ("a", "100"),
        ("b", "15"),
        ("c", "30"),
    ]


def test_rf2_names_stand_for_concepts_without_their_marker(store: Store) -> None:
    put(
        store,
        "concept",
        ("10", False, CORE, "finding"),
        ("20", True, CORE, ""),
        ("30", True, CORE, "namespace concept"),
        ("40", True, CORE, "finding"),
    )
    put(
        store,
        "description",
        named("50", "Kesp", "fsn"),  # not among the concepts, which a name does not need
        named("10", "[D]Murn", "fsn"),
        named("10", "Murn state"),
        named("20", "Extension namespace 1000001", "fsn"),
        named("30", "Extension 1000002", "fsn"),
        named("40", "[D]", "fsn"),  # nothing is left
        named("60", "gone", "fsn", active=False),
        named("70", "svensk", "fsn", language="sv"),
        named("80", "Namespace", "fsn"),  # the word is lower case
    )
    store.run("builds/terms/substitution_name", language="en", rf2_rules=True)
    assert store.table("substitution_name").rows() == [
        ("10", "Murn", False),
        ("20", "Extension namespace 1000001", True),
        ("30", "Extension 1000002", True),
        ("50", "Kesp", False),
        ("80", "Namespace", False),
    ]


def test_names_of_other_sources_are_taken_whole(store: Store) -> None:
    put(store, "concept", ("10", False, "", "namespace"))
    put(store, "description", named("10", "[D]Murn", "fsn"), named("20", "a namespace", "fsn"))
    store.run("builds/terms/substitution_name", language="en", rf2_rules=False)
    assert store.table("substitution_name").rows() == [
        ("10", "[D]Murn", False),
        ("20", "a namespace", False),
    ]


def test_a_substitution_is_an_active_association_of_two_named_concepts(store: Store) -> None:
    put_terms(store, "New", "Old", "Other", "Space")
    put(
        store,
        "substitution_name",
        ("new", "New", False),
        ("old", "Old", False),
        ("other", "Other", False),
        ("space", "Space", True),
    )
    put(store, "name")
    put(
        store,
        "association",
        ("old", "new", "same_as", True),
        ("old", "new", "replaced_by", True),
        ("old", "other", "same_as", False),
        ("old", "nameless", "same_as", True),
        ("nameless", "new", "same_as", True),
        ("old", "space", "same_as", True),
        ("space", "old", "same_as", True),  # only a substitute must not be a namespace
        ("other", "old", "was_a", True),
        ("other", "new", "synonymous", True),  # which retires neither
    )
    store.run("builds/terms/substitution")
    columns = ("kind", "concept1", "concept2", "term1_id", "term2_id")
    assert terms_of(store, "substitution", *columns) == [
        ("replaced_by", "old", "new", "Old", "New"),
        ("same_as", "old", "new", "Old", "New"),
        ("same_as", "space", "old", "Space", "Old"),
        ("was_a", "other", "old", "Other", "Old"),
    ]
    nodes = store.table("substitution").select("node1_id", "node2_id").rows()
    assert nodes == [(1, 0), (1, 0), (3, 1), (2, 1)]


def test_a_substitution_of_two_names_of_a_concept_is_the_synonyms(store: Store) -> None:
    put_terms(store, "Mott", "New", "Old", "mott")
    put(
        store,
        "substitution_name",
        *(("old", "Old", False), ("new", "New", False), ("mott", "Mott", False)),
        ("small mott", "mott", False),
    )
    put(
        store,
        "name",
        ("new", 1, 1, True),
        ("new", 2, 2, False),
        ("third", 0, 0, True),
        ("fourth", 1, 1, True),  # Mott and New are names, but of two concepts
    )
    put(
        store,
        "association",
        ("old", "new", "same_as", True),
        ("new", "old", "same_as", True),  # in either direction
        ("mott", "new", "same_as", True),
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
        ("10", True, CORE, ""),
        ("15", True, CORE, ""),
        ("20", True, CORE, ""),
        ("30", False, CORE, ""),
        ("40", True, MODEL, ""),
        ("50", True, None, ""),
    )
    put(
        store,
        "description",
        named("10", "name", "fsn"),
        named("15", "name", "fsn"),
        named("20", "synonym only"),
        named("20", "inactive", "fsn", active=False),
        named("20", "namn", "fsn", language="sv"),
    )
    put(
        store,
        "substitution_name",
        ("10", "name", False),
        ("60", "other", False),
        ("70", "space", True),
    )
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
    assert store.frame("builds/terms/skipped", language="en").rows() == [
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
