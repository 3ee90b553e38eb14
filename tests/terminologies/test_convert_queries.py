"""From the canonical tables back to RF2 rows."""

from __future__ import annotations

import hashlib
import uuid
from typing import TYPE_CHECKING

from fixtures.tables import put

from medsim.terminologies.rf2_writer import COLUMNS

if TYPE_CHECKING:
    from medsim.core.store import Store

CORE = "900000000000207008"
DAY = "20260131"


def put_identifiers(store: Store) -> None:
    put(store, "concept_sctid", ("X:1", "1001"), ("X:2", "1002"), ("2003", "2003"))
    put(store, "description_sctid", ("d1", "5001"), ("d2", "5002"), ("d3", "5003"))


def converted(store: Store, table: str, **params: str) -> list[tuple[object, ...]]:
    """Return the rows of an RF2 file, with the columns that the query makes."""
    frame = store.frame(f"terminologies/convert/{table}", effective_time=DAY, **params)
    return frame.select(name for name in COLUMNS[table] if name in frame.columns).rows()


def member_id(content: str) -> str:
    """Return the id of a member of a reference set, made from its content."""
    return str(uuid.UUID(hashlib.md5(content.encode()).hexdigest()))  # noqa: S324  # an identifier


def test_concepts_become_rows_with_new_identifiers(store: Store) -> None:
    put_identifiers(store)
    put(
        store,
        "concept",
        ("X:2", False, "", "phenotype"),
        ("2003", True, "731000124108", ""),
        ("X:1", True, None, ""),
        ("X:9", True, "", ""),  # has no identifier
    )
    assert converted(store, "concept") == [
        ("1001", DAY, True, CORE, "900000000000074008"),
        ("1002", DAY, False, CORE, "900000000000074008"),
        ("2003", DAY, True, "731000124108", "900000000000074008"),
    ]


def test_descriptions_become_rows_and_full_names_get_a_tag(store: Store) -> None:
    put_identifiers(store)
    put(
        store,
        "concept",
        ("X:1", True, "", ""),
        ("2003", True, "731000124108", "finding"),
        ("X:9", True, "", ""),
    )
    put(
        store,
        "description",
        # These lack an identifier, their concept's identifier, or the concept itself.
        ("d9", "X:1", "left out", "synonym", True, "en"),
        ("d3", "X:9", "left out", "synonym", True, "en"),
        ("d3", "X:2", "left out", "synonym", True, "en"),
        ("d3", "2003", "Murn", "fsn", True, "en"),
        ("d1", "X:1", "Orl\t\r\n ache", "fsn", True, "en"),
        ("d2", "X:1", "Orl (so called)\n", "synonym", False, "sv"),
    )
    fsn, synonym, case = "900000000000003001", "900000000000013009", "900000000000448009"
    of_english = converted(store, "description", tag="concept", language="en")
    assert of_english == [
        ("5001", DAY, True, CORE, "1001", "en", fsn, "Orl  ache (concept)", case),
        ("5003", DAY, True, "731000124108", "2003", "en", fsn, "Murn (finding)", case),
    ]
    assert converted(store, "description", tag="concept", language="sv") == [
        ("5002", DAY, False, CORE, "1001", "sv", synonym, "Orl (so called) ", case)
    ]


def test_associations_become_members_of_reference_sets(store: Store) -> None:
    put_identifiers(store)
    put(
        store,
        "association",
        ("X:1", "2003", "same_as", True),
        ("X:1", "X:2", "replaced_by", False),
        ("X:2", "X:1", "possibly_equivalent_to", True),
        ("X:2", "X:9", "same_as", True),  # has no identifier
        ("X:9", "X:2", "same_as", True),
        ("X:2", "2003", "734138000", True),  # a kind without a name here is its reference set
    )
    members = [
        ("association X:1 2003 same_as", True, "900000000000527005", "1001", "2003"),
        ("association X:1 X:2 replaced_by", False, "900000000000526001", "1001", "1002"),
        ("association X:2 X:1 possibly_equivalent_to", True, "900000000000523009", "1002", "1001"),
        ("association X:2 2003 734138000", True, "734138000", "1002", "2003"),
    ]
    assert converted(store, "association") == sorted(
        (member_id(content), DAY, active, CORE, *ends) for content, active, *ends in members
    )


def test_is_a_becomes_relationships(store: Store) -> None:
    put_identifiers(store)
    put(store, "is_a", ("X:2", "X:1"), ("X:1", "2003"), ("X:1", "X:9"), ("X:9", "X:1"))
    kinds = ("0", "116680003", "900000000000011006", "900000000000451002")
    assert converted(store, "relationship") == [
        (DAY, True, CORE, "1001", "2003", *kinds),
        (DAY, True, CORE, "1002", "1001", *kinds),
    ]


def test_identifiers_that_changed_are_mapped_to_those_of_the_source(store: Store) -> None:
    put_identifiers(store)
    mapped = converted(store, "simple_map")
    ends = (DAY, True, CORE, "900000000000496009")
    assert mapped == sorted(
        (member_id(f"map {old}"), *ends, new, old)
        for new, old in (("1001", "X:1"), ("1002", "X:2"))
    )
