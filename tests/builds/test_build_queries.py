"""From the canonical tables to terms, names and substitutions."""

from __future__ import annotations

import hashlib
from itertools import product
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


def put_names(store: Store, *descriptions: tuple[object, ...], languages: str = "en") -> None:
    """Write descriptions, and whether each is a name in a build, by default an English one."""
    put(store, "description", *descriptions)
    put(store, "build_language", *enumerate(languages.split()))
    store.run("builds/terms/naming")


def terms_of(store: Store, table: str, *columns: str) -> list[tuple[object, ...]]:
    """Return the rows of a table, with texts instead of term ids."""
    texts = dict(store.table("term").select("term_id", "term").rows())
    return [
        tuple(
            texts[value] if column.startswith("term") else value
            for column, value in zip(columns, row, strict=True)
        )
        for row in store.table(table).select(columns).rows()
    ]


def test_languages_are_sorted_by_frequency_with_the_main_names_of_eligible_concepts(
    store: Store,
) -> None:
    put(
        store,
        "description",
        named("1", "a", language="sv"),
        named("1", "b", language="en"),
        named("1", "c", language="en"),
        named("1", "d", language="da"),
        named("1", "e", language="de", active=False),
        named("1", "f", "fsn", language="sv"),
        named("1", "g", "fsn", language="sv", active=False),
        named("2", "h", "fsn", language="da"),
        named("3", "i", "fsn", language="da"),
        named("3", "j", language="da"),
    )
    put(store, "concept", ("1", True, CORE, ""), ("2", False, CORE, ""), ("3", True, MODEL, ""))

    assert store.frame("terminologies/language").rows() == [
        ("da", 0, 1),
        ("en", 0, 1),
        ("sv", 1, 1),
    ]


def test_names_are_distinct_and_sorted_with_the_fully_specified_name_first(store: Store) -> None:
    put_terms(store, "Orl", "Orl pain", "orl ache", "orl pain")
    put(store, "concept", ("10", True, CORE, ""), ("20", True, CORE, ""))
    put_names(
        store,
        named("20", "orl pain", "fsn"),
        named("10", "orl pain", "fsn"),
        named("10", "orl ache"),
        named("10", "Orl"),
        ("again", "10", "Orl", "synonym", True, "en"),
        named("10", "Orl pain"),  # differs from the name only in case
    )
    put(store, "substitution_name", ("20", "Orl", True, False), ("10", "orl pain", False, False))
    store.run("builds/terms/named")
    store.run("builds/terms/bearer")
    assert terms_of(store, "bearer", "term_id", "concept_id") == [
        *(("Orl", "10"), ("Orl pain", "10"), ("orl ache", "10"), ("orl pain", "10"))
    ]
    store.run("builds/terms/name")
    assert terms_of(store, "name", "concept_id", "term_id", "is_fsn") == [
        ("10", "orl pain", True),
        ("10", "Orl", False),
        ("10", "orl ache", False),
        ("20", "orl pain", True),
    ]


def test_names_of_other_sources_keep_markers(store: Store) -> None:
    put(store, "concept", ("10", False, "", "namespace"))
    put_names(store, named("10", "[D]Murn", "fsn"), named("20", "a namespace", "fsn"))
    store.run("builds/terms/substitution_name", rf2_rules=False)
    assert store.table("substitution_name").rows() == [
        ("10", "[D]Murn", False, False),
        ("20", "a namespace", False, False),
    ]


def test_a_marked_name_is_a_term_besides_the_name_without_marker(store: Store) -> None:
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


def test_a_substitution_between_names_of_one_concept_is_left_to_synonyms(store: Store) -> None:
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
        ("mott", "new", "synonymous", True),  # does not retire either concept
        ("old", "small mott", "same_as", True),
    )
    store.run("builds/terms/substitution")
    assert terms_of(store, "substitution", "term1_id", "term2_id") == [
        ("Mott", "New"),
        ("Old", "mott"),
    ]


def test_rows_without_pairs_are_counted_by_reason(store: Store) -> None:
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
    put(store, "name", ("10", 0, 0, True))
    put(store, "translation")
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
def test_the_pool_of_the_terminology_has_names_and_terms_of_positives(
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
    put(store, "positive", (1, 0, None), (0, 3, None), (0, 4, None), (0, 2, 1))
    put(store, "translation", ("10", 1, 2, 2), ("20", 1, 3, 3))
    store.run("builds/terms/pool", pool=pool)
    rows = terms_of(store, "pool", "term_id", "language_number")
    assert [term for term, language in rows if language is None] == expected
    translated = [] if pool == "set" else ["other name of it", "shared"]
    assert [term for term, language in rows if language == 1] == translated


def test_names_in_other_languages_are_those_of_eligible_concepts(store: Store) -> None:
    put_terms(store, "Asma", "Asthma", "Dolor", "asma", "asthma", "wheeze")
    put(store, "concept", ("10", True, CORE, ""), ("20", True, CORE, ""))
    put_names(
        store,
        named("10", "asthma", "fsn"),
        named("10", "wheeze"),
        named("10", "Asma", "fsn", language="es"),
        named("10", "asma", language="es"),
        named("10", "asthma", language="fr"),
        named("10", "Asthma", language="de"),  # not a language of the build
        named("20", "Dolor", "fsn", language="es"),  # without a name in the first language
        languages="en es fr",
    )
    put(store, "substitution_name")
    for query in ("terms/named", "terms/name", "terms/translation", "datasets/cross_language"):
        store.run(f"builds/{query}")
    assert terms_of(store, "name", "term_id") == [("asthma",), ("wheeze",)]
    assert terms_of(store, "translation", "language_number", "term_id") == [
        (1, "Asma"),
        (1, "asma"),
        (2, "asthma"),
    ]
    pairs = terms_of(store, "cross_language", "term1_id", "term2_id", "language1", "language2")
    assert sorted(pairs) == [
        *(("Asma", "asthma", 1, 2), ("asma", "asthma", 1, 2)),
        *(("asthma", "Asma", 0, 1), ("asthma", "asma", 0, 1), ("asthma", "asthma", 0, 2)),
        *(("wheeze", "Asma", 0, 1), ("wheeze", "asma", 0, 1), ("wheeze", "asthma", 0, 2)),
    ]
    put(store, "described_concept", ("10", 0, True))
    kept = store.frame("builds/pairs/positive", candidates="cross_language")
    assert {(row["term1_id"], row["term2_id"], row["language2"]) for row in kept.to_dicts()} == {
        *((0, 4, 2), (3, 4, 2), (5, 0, 1), (5, 3, 1), (5, 4, 2))
    }


Row = tuple[object, ...]


def positives_of(store: Store, *candidates: Row) -> list[Row]:
    """Return the rows of positives, with the ids of their concepts."""
    put(store, "candidate", *candidates)
    concepts = sorted({str(end) for *_, first, second in candidates for end in (first, second)})
    described = {"concept_id": concepts, "concept_number": range(len(concepts))}
    store.put("described_concept", pl.DataFrame(described).reverse())
    frame = store.frame("builds/pairs/positive", candidates="candidate")
    languages = ["language1", "language2"]  # the candidates have none
    assert frame.columns == ["term1_id", "term2_id", "concept1", "concept2", *languages]
    assert frame.select(languages).null_count().row(0) == (frame.height, frame.height)
    rows = frame.drop(languages).rows()
    return [(*ends, concepts[left], concepts[right]) for *ends, left, right in rows]


@pytest.mark.parametrize(
    ("candidates", "expected"),
    [
        # Terms that are equal when case is ignored do not form a pair.
        ([(1, 2, 7, 7, "10", "10"), (1, 3, 7, 8, "10", "10")], [(1, 3, "10", "10")]),
        # A pair in one direction is kept.
        ([(5, 2, 105, 102, "20", "10")], [(5, 2, "20", "10")]),
        # Of two directions the smaller is kept, with the smallest concepts of that direction.
        (
            [
                (5, 2, 105, 102, "10", "10"),
                (2, 5, 102, 105, "30", "40"),
                (2, 5, 102, 105, "30", "35"),
                (9, 2, 109, 102, "50", "60"),
            ],
            [(2, 5, "30", "35"), (9, 2, "50", "60")],
        ),
        # Of several concepts the smallest (concept1, concept2) is kept; ids are text.
        (
            [
                (1, 2, 101, 102, "20", "05"),
                (1, 2, 101, 102, "100", "90"),
                (1, 2, 101, 102, "100", "95"),
            ],
            [(1, 2, "100", "90")],
        ),
        # Rows are sorted by terms.
        (
            [(a, b, 100 + a, 100 + b, "1", "1") for a, b in [(10, 3), (2, 30), (2, 4)]],
            [(2, 4, "1", "1"), (2, 30, "1", "1"), (10, 3, "1", "1")],
        ),
    ],
)
def test_positives_are_distinct_pairs_of_one_direction(
    store: Store, candidates: list[Row], expected: list[Row]
) -> None:
    assert positives_of(store, *candidates) == expected


def test_a_positive_appears_once_even_if_several_sets_have_it(store: Store) -> None:
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


# Ids and places


def keys_of(store: Store, *texts: tuple[str, str], seed: str = "0") -> list[dict[str, object]]:
    """Return the ids and places of pairs of texts, in the same order."""
    put(store, "pair_text", *((row, a, b) for row, (a, b) in enumerate(texts)))
    return store.frame("builds/pairs/pair_key", seed=seed).to_dicts()


def test_the_id_of_a_pair_is_half_a_hash_of_its_texts(store: Store) -> None:
    (key,) = keys_of(store, ("Birch", "Alder"))
    assert key["pair_id"] == hashlib.md5(b"5:BirchAlder").hexdigest()[:16]  # noqa: S324  # an identifier


def test_pairs_with_the_same_concatenated_text_have_different_ids(store: Store) -> None:
    terms = ["1", "11", "1:1", ":", "a", "ab", "abc", "b", "bc", "c", "e", "e\u0301", "\u0301"]
    keys = keys_of(store, *product(terms, terms))
    assert len({key["pair_id"] for key in keys}) == len(terms) ** 2


def test_the_place_of_a_pair_is_a_hash_of_seed_and_id(store: Store) -> None:
    for key in keys_of(store, ("a", "b"), ("b", "c"), ("c", "a"), seed="12"):
        digest = hashlib.md5(f"12 {key['pair_id']}".encode()).digest()  # noqa: S324  # no secret
        halves = (int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little"))
        assert (key["place"], key["second_place"]) == halves
