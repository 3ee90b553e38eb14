"""Codes of concepts as corpora write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medsim.corpora.pubtator import codes_of


@pytest.mark.parametrize(
    ("column", "codes"),
    [
        ("D003920", [("MSH", "D003920")]),
        ("MESH:D003920", [("MSH", "D003920")]),
        ("mesh:C000657", [("MSH", "C000657")]),
        ("D000095384", [("MSH", "D000095384")]),
        ("C000657245", [("MSH", "C000657245")]),
        ("OMIM:217000", [("OMIM", "217000")]),
        ("OMIM:PS217000", [("OMIM", "PS217000")]),
        ("UMLS:C0011849", [("UMLS", "C0011849")]),
        ("C0011849", [("UMLS", "C0011849")]),
        (" D003920", [("MSH", "D003920")]),
        ("d003920", [("MSH", "D003920")]),
        ("MESH: D003920", [("MSH", "D003920")]),
        ("MIM:217000", [("OMIM", "217000")]),
        ("HP:0001658", [("HP", "0001658")]),
        ("SNOMEDCT_US:22298006", [("SNOMEDCT_US", "22298006")]),
    ],
)
def test_a_code_is_told_by_its_form(column: str, codes: list[tuple[str, str]]) -> None:
    assert codes_of(column) == tuple(codes)


@pytest.mark.parametrize(
    "column",
    [
        "217000",
        "D00392",
        "D0039200",
        "C00065724",
        "MESH:",
        "MESH:D1",
        "OMIM:x",
        "D003920 D1",
        "x|-1",
    ],
)
def test_a_code_in_another_form_is_none(column: str) -> None:
    assert codes_of(column) is None


@pytest.mark.parametrize("column", ["", "-", "-1", " -1 ", "-1|-1"])
def test_what_is_linked_to_nothing_has_no_codes(column: str) -> None:
    assert codes_of(column) == ()


@pytest.mark.parametrize("between", ["|", "+", ",", ";", " | "])
def test_several_codes_are_told_apart_and_each_counts_once(between: str) -> None:
    column = between.join(["D003920", "OMIM:217000", "D003920"])

    assert codes_of(column) == (("MSH", "D003920"), ("OMIM", "217000"))


def test_a_part_that_is_linked_to_nothing_is_no_single_code() -> None:
    assert codes_of("D003920|-1") == (("MSH", "D003920"), ("", ""))


@given(st.text("CD0123456789MESHOIUL:|+,- ", max_size=24))
def test_codes_never_have_what_joins_them(column: str) -> None:
    for vocabulary, code in codes_of(column) or ():
        assert not set(code) & set("|+,:")
        assert bool(code) == bool(vocabulary)
        assert code.lower() in column.lower()
