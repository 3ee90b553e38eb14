"""Terms: lower case, ids and packing."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medsim.core.terms import TERM_SCHEMA, lowered, numbered, pack

text = st.text(max_size=8)
any_code_points = st.text(st.characters(exclude_categories=()), max_size=8)  # surrogates too


@pytest.mark.parametrize(
    ("term", "lower"),
    [
        ("", ""),
        ("GERD", "gerd"),
        ("\u0130", "i\u0307"),  # a dotted capital I becomes two code points
        ("\u039f\u0394\u039f\u03a3", "\u03bf\u03b4\u03bf\u03c2"),  # a final sigma
        ("\u1e9e", "\u00df"),
        ("\u212b", "\u00e5"),  # the angstrom sign
        ("\u01c5", "\u01c6"),  # title case
        ("\u13a0", "\uab70"),
    ],
)
def test_terms_are_lower_cased_by_the_full_rules_of_unicode(term: str, lower: str) -> None:
    assert lowered([term]) == [lower]


def test_terms_are_numbered_in_order_of_code_points() -> None:
    frame = numbered(pl.Series(["b", "\U0001d4b3", "B", "\ufb01", "a", "", "A"]))
    assert frame.schema == pl.Schema(TERM_SCHEMA)
    assert frame.rows() == [
        (0, "", "", 0),
        (1, "A", "a", 1),
        (2, "B", "b", 2),
        (3, "a", "a", 1),
        (4, "b", "b", 2),
        (5, "\ufb01", "\ufb01", 3),
        (6, "\U0001d4b3", "\U0001d4b3", 4),
    ]


@given(st.lists(st.text("aAbB\u0130i\u0307\u03a3\u03c3\u03c2", max_size=4), unique=True))
def test_ids_sort_like_texts_and_nodes_like_lower_cased_texts(terms: list[str]) -> None:
    frame = numbered(pl.Series(terms, dtype=pl.String))
    rows = frame.rows(named=True)
    assert frame.schema == pl.Schema(TERM_SCHEMA)
    assert [row["term"] for row in rows] == sorted(terms)
    assert [row["term_id"] for row in rows] == list(range(len(terms)))
    lower = [unicodedata.normalize("NFC", row["term"].lower()) for row in rows]
    nodes = sorted(set(lower))
    assert [row["lower_term"] for row in rows] == lower
    assert [nodes[row["node_id"]] for row in rows] == lower


@given(any_code_points)
def test_every_spelling_of_a_text_has_one_lower_case(term: str) -> None:
    spellings = [unicodedata.normalize(form, term) for form in ("NFC", "NFD")]
    assert len(set(lowered([term, *spellings]))) == 1


@given(st.lists(text, max_size=8))
def test_packed_terms_are_concatenated_code_points(terms: list[str]) -> None:
    packed = pack(pl.Series(terms, dtype=pl.String))
    assert (packed.codes.dtype, packed.starts.dtype) == (np.uint32, np.int64)
    assert packed.codes.tolist() == [ord(character) for term in terms for character in term]
    assert packed.starts.tolist() == [len("".join(terms[:at])) for at in range(len(terms) + 1)]
    whole = packed.codes.tobytes().decode("utf-32-le")
    assert [whole[begin:end] for begin, end in pairwise(packed.starts)] == terms
