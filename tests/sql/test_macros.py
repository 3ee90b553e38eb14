"""SQL macros: white space, semantic tags, markers, identifiers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import polars as pl
import pytest

if TYPE_CHECKING:
    from medsim.core.store import Store

SURROGATES = range(0xD800, 0xE000)


def results(store: Store, expression: str, *texts: str) -> list[object]:
    """Return the value of an expression over ``text`` for each text."""
    store.put("probe", pl.DataFrame({"text": texts}))
    return store.select(f"select {expression} as found from probe")["found"].to_list()  # noqa: S608


@pytest.mark.slow
@pytest.mark.full
def test_every_code_point_is_trimmed_exactly_if_python_strips_it(store: Store) -> None:
    characters = [chr(at) for at in range(sys.maxunicode + 1) if at not in SURROGATES]
    texts = [f"{character}x{character}" for character in characters]
    assert results(store, "trimmed(text)", *texts) == [text.strip() for text in texts]


TRIMMED = {
    "": "",
    " ": "",
    " \t\u00a0\u3000\u2028a b\u0085\x1f ": "a b",
    "a \u2003 b": "a \u2003 b",  # inner white space stays
    "\u200bx\ufeff": "\u200bx\ufeff",  # zero-width characters are not white space
    " e\u0301 ": "e\u0301",
    " \u0301": "\u0301",
}


def test_a_text_loses_its_outer_white_space(store: Store) -> None:
    assert results(store, "trimmed(text)", *TRIMMED) == list(TRIMMED.values())


MARKED = {
    "[D]Murn": "Murn",
    "[D] Murn": "Murn",
    "Murn [D]": "Murn",
    "Murn[D]": "Murn",
    "Murn [D] ": "Murn",
    "[D]Murn[D]": "Murn",
    "[D][D]Murn": "[D]Murn",  # one at each end
    "Murn [D] state": "Murn [D] state",
    "[d]Murn": "[d]Murn",
    "D": "D",
    "[D]": "",
    " [D]Murn": "[D]Murn",  # terms have been trimmed before
    "Murn": "Murn",
}


def test_the_marker_of_retired_concepts_is_dropped_at_the_start_and_the_end(store: Store) -> None:
    assert results(store, "without_marker(text)", *MARKED) == list(MARKED.values())


UNMARKED = {
    "obsolete murn": "murn",
    "obsolete_murn_grelb": "murn_grelb",
    "OBSOLETE: Murn": "Murn",
    "OBSOLETE - Murn": "Murn",
    "obsoleted murn": "murn",
    "Deprecated Murn": "Murn",
    "obsolete obsolete murn": "murn",
    "[Obsolete]murn": "murn",
    "(obsolete) murn": "murn",
    "obsolete (R)-murn": "(R)-murn",
    "Murn (obsolete)": "Murn",
    "murn [DEPRECATED]": "murn",
    "murn (OBSOLETE; see grelb)": "murn",
    "murn - DEPRECATED": "murn",
    "murn obsolete": "murn",
    "obsolete murn (obsolete)": "murn",
    "obsolete": "obsolete",  # a name without other words
    "Obsolete (obsolete)": "Obsolete (obsolete)",
    "Obsolescent murn": "Obsolescent murn",
    "murn obsolescence": "murn obsolescence",
    "obsolete-looking murn": "obsolete-looking murn",
    "murn of obsolete grelb": "murn of obsolete grelb",
    "non-obsolete": "non-obsolete",
    "murn": "murn",
}


def test_marks_of_obsolescence_are_dropped_at_both_ends(store: Store) -> None:
    assert results(store, "unmarked(text)", *UNMARKED) == list(UNMARKED.values())


def test_associations_are_named_by_their_reference_sets(store: Store) -> None:
    kinds = {
        "900000000000523009": "possibly_equivalent_to",
        "900000000000524003": "moved_to",
        "900000000000525002": "moved_from",
        "900000000000526001": "replaced_by",
        "900000000000527005": "same_as",
        "900000000000528000": "was_a",
        "900000000000529008": "similar_to",
        "900000000000530003": "alternative",
        "900000000000531004": "refers_to",
        "1186921001": "possibly_replaced_by",
        "1186924009": "partially_equivalent_to",
        "734138000": "734138000",  # a reference set without a name here
        "": "",
    }
    assert results(store, "association_kind(text)", *kinds) == list(kinds.values())


def test_identifiers_have_the_expected_names(store: Store) -> None:
    identifiers = {
        "model_component_module": "900000000000012004",
        "fully_specified_name": "900000000000003001",
        "synonym": "900000000000013009",
        "text_definition": "900000000000550004",
        "possibly_equivalent_to": "900000000000523009",
        "replaced_by": "900000000000526001",
        "same_as": "900000000000527005",
        "is_a": "116680003",
        "core_module": "900000000000207008",
        "nonsense": None,
    }
    assert results(store, "sctid(text)", *identifiers) == list(identifiers.values())
