"""From RF2 rows to the canonical tables."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest
from fixtures.tables import put

if TYPE_CHECKING:
    from medsim.core.store import Store

CORE, MODEL = "900000000000207008", "900000000000012004"
FSN, SYNONYM = "900000000000003001", "900000000000013009"
SAME_AS, REPLACED_BY = "900000000000527005", "900000000000526001"
WAS_A = "900000000000528000"
IS_A = "116680003"

Y18, Y19, Y20 = date(2018, 7, 31), date(2019, 7, 31), date(2020, 7, 31)


# The text of files


def test_description_rows_keep_their_terms_unchanged(store: Store) -> None:
    terms = ['"Quoted" ulcer', "'", " outer  space ", "", "caf\u00e9 \u4e00", "back\\slash", "NULL"]
    lines = [
        f"{at}\t20200131\t1\t207\t10\ten\t{SYNONYM}\t{term}\t448\n" for at, term in enumerate(terms)
    ]
    text = "".join(lines).encode()
    store.run_on_stream("terminologies/rf2/rf2_description", [text[:25], text[25:]])
    day = date(2020, 1, 31)
    assert sorted(store.table("rf2_description").rows()) == [
        (str(at), day, True, "10", "en", SYNONYM, term) for at, term in enumerate(terms)
    ]


def test_only_is_a_relationships_are_kept(store: Store) -> None:
    lines = [
        f"7\t20200131\t1\t207\t10\t20\t0\t{IS_A}\t011\t451\n",
        "8\t20200131\t1\t207\t10\t30\t0\t363698007\t011\t451\n",
    ]
    store.run_on_stream("terminologies/rf2/rf2_relationship", ["".join(lines).encode()])
    assert store.table("rf2_relationship").rows() == [("7", date(2020, 1, 31), True, "10", "20")]
    store.run_on_stream("terminologies/rf2/rf2_relationship", [])
    assert store.table("rf2_relationship").is_empty()


# The state as of a day


@pytest.mark.parametrize(
    ("as_of", "rows"),
    [
        (None, [("10", False, CORE, Y20), ("20", True, CORE, Y20)]),
        ("2020-07-30", [("10", True, CORE, Y19)]),
        ("2019-07-31", [("10", True, CORE, Y19)]),
        ("2018-07-30", []),
    ],
)
def test_a_concept_has_the_state_of_its_newest_row_up_to_the_day(
    store: Store, as_of: str | None, rows: list[tuple[object, ...]]
) -> None:
    put(
        store,
        "rf2_concept",
        ("10", Y20, False, CORE),
        ("10", Y18, True, MODEL),
        ("10", Y19, True, CORE),
        ("20", Y20, True, CORE),
    )
    put(store, "description_as_of")
    store.run("terminologies/rf2/concept", as_of=as_of, language="en")
    assert store.table("concept").drop("semantic_tag").rows() == rows


def test_is_a_holds_each_child_and_parent_once_if_a_newest_row_is_active(store: Store) -> None:
    put(
        store,
        "rf2_relationship",
        ("1", Y19, True, "10", "20"),
        ("2", Y20, True, "10", "20"),  # the same two again
        ("3", Y19, True, "10", "30"),
        ("3", Y20, False, "10", "30"),
        ("4", Y19, False, "05", "20"),
        ("4", Y20, True, "05", "20"),
    )
    store.run("terminologies/rf2/is_a", as_of=None)
    assert store.table("is_a").rows() == [("05", "20", Y20), ("10", "20", Y20)]
    store.run("terminologies/rf2/is_a", as_of="2019-07-31")
    assert store.table("is_a").rows() == [("10", "20", Y19), ("10", "30", Y19)]


# The canonical tables


TAGS = {
    "Grelb swelling (disorder)": ("Grelb swelling", "disorder"),
    "Plim (left (upper)) (disorder)": ("Plim (left (upper))", "disorder"),
    "Fenn (outer (inner))": ("Fenn (outer", "inner)"),  # the last " (" counts, nested or not
    "Marn or (velp)": ("Marn or (velp)", ""),
    "Minor (disorder)": ("Minor", "disorder"),
    "Marn & (drusk)": ("Marn & (drusk)", ""),
    "Marn& (drusk)": ("Marn& (drusk)", ""),
    "Sorrel (& tammet)": ("Sorrel (& tammet)", ""),
    "Sorrel (tammet & x)": ("Sorrel", "tammet & x"),
    "Hulm(disorder)": ("Hulm(disorder)", ""),
    "(disorder)": ("(disorder)", ""),
    "": ("", ""),
    "Kesp (disorder) fever": ("Kesp (disorder) fever", ""),
    "Kesp ()": ("Kesp", ""),
    "Kesp  (disorder)": ("Kesp", "disorder"),  # the rest is trimmed
    "Kesp\u00a0 (disorder)": ("Kesp", "disorder"),
    "Two\nlines (disorder)": ("Two\nlines", "disorder"),
    "[D]Murn (finding)": ("[D]Murn", "finding"),
    "Tolm \U0001d4b3 (d\u00e9)": ("Tolm \U0001d4b3", "d\u00e9"),
}


def test_a_semantic_tag_is_what_the_last_bracket_holds(store: Store) -> None:
    rows = [(f"{at:02}", Y18, True, f"{at}", "en", FSN, term) for at, term in enumerate(TAGS)]
    put(store, "rf2_description", *rows)
    store.run("terminologies/rf2/description_as_of", as_of=None)
    tags = store.table("description_as_of").sort("description_id").select("term", "tag")
    assert tags.rows() == list(TAGS.values())


def described(
    name: str, concept: str, *, language: str = "en", kind: str | None = "fsn", **other: object
) -> tuple[object, ...]:
    """Return a row of description_as_of, with defaults for other columns."""
    row = {"active": True, "term": f"term {name}", "tag": "", "outranked": False} | other
    state = (row["active"], kind, row["term"], row["tag"], row["outranked"])
    return (name, Y20, concept, language, *state)


def test_a_concept_bears_the_tag_of_its_fully_specified_name(store: Store) -> None:
    put(store, "rf2_concept", *((concept, Y20, True, CORE) for concept in ("10", "30", "40")))
    put(
        store,
        "description_as_of",
        described("1", "10", tag="finding"),
        described("3", "10", tag="synonym's", kind="synonym"),
        described("6", "30", tag="inactive", active=False),
        described("7", "40", tag="of an empty term", term=""),
    )
    store.run("terminologies/rf2/concept", as_of=None, language="en")
    assert store.table("concept").rows() == [
        ("10", True, CORE, "finding", Y20),
        ("30", True, CORE, "", Y20),
        ("40", True, CORE, "", Y20),
    ]


@pytest.mark.parametrize(("as_of", "is_active"), [(None, False), ("2019-07-31", True)])
def test_an_association_is_active_if_any_newest_member_outside_the_model_module_is(
    store: Store, as_of: str | None, *, is_active: bool
) -> None:
    put(
        store,
        "rf2_association",
        ("a", Y18, False, CORE, SAME_AS, "10", "20"),
        ("b", Y18, True, CORE, SAME_AS, "10", "20"),
        ("c", Y19, True, CORE, REPLACED_BY, "10", "20"),
        ("c", Y20, False, CORE, REPLACED_BY, "10", "20"),
        ("d", Y18, True, MODEL, REPLACED_BY, "10", "20"),
        ("e", Y18, True, MODEL, SAME_AS, "10", "30"),
        ("f", Y18, True, CORE, WAS_A, "05", "30"),
        ("g", Y18, True, CORE, "734138000", "10", "40"),  # a kind without a name here
    )
    store.run("terminologies/rf2/association", as_of=as_of)
    assert store.table("association").rows() == [
        ("05", "30", "was_a", True, Y18),
        ("10", "20", "replaced_by", is_active, Y19 if as_of else Y20),
        ("10", "20", "same_as", True, Y18),
        ("10", "40", "734138000", True, Y18),
    ]


def test_skipped_rows_are_counted_by_reason(store: Store) -> None:
    put(
        store,
        "description_as_of",
        described("1", "10"),
        described("2", "10", outranked=True),
        described("3", "10", kind=None),
        described("4", "10", kind=None, term=""),
        described("5", "10", kind="synonym", term=""),
    )
    put(
        store,
        "rf2_association",
        ("a", Y20, True, MODEL, SAME_AS, "10", "20"),
        ("b", Y20, False, MODEL, SAME_AS, "10", "20"),
        ("c", Y20, True, CORE, SAME_AS, "10", "20"),
    )
    skipped = [
        ("another fully specified name is newer", 1),
        ("association is in the model component module", 2),
        ("description is empty", 1),
        ("description is not a name", 2),
    ]
    assert store.frame("terminologies/rf2/skipped", as_of=None).rows() == skipped
    put(store, "description_as_of")
    put(store, "rf2_association")
    none = [(reason, 0) for reason, _ in skipped]
    assert store.frame("terminologies/rf2/skipped", as_of=None).rows() == none
