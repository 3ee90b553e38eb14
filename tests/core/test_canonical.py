"""Texts to make digests of, which do not depend on what Python knows of Unicode."""

from __future__ import annotations

import hashlib
import sys
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from medsim.core.canonical import canonical_digest, canonical_text
from medsim.evaluations.layouts import RatedColumns
from medsim.evaluations.targets import Categories, Category
from medsim.studies.folder import draw_id

NEW = "\u1c89"  # Cyrillic capital letter Tje, since Unicode 16
OTHERS_NEW = "\U0001ccd6\U00011bc0\ua7da"  # also since Unicode 16


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_characters_that_python_may_not_know_stand_for_themselves() -> None:
    assert canonical_text([(NEW, OTHERS_NEW)]) == f"[('{NEW}', '{OTHERS_NEW}')]"
    assert canonical_digest(("a", NEW)) == sha256(f"('a', '{NEW}')")
    assert canonical_text("\\u1c89") == r"'\\u1c89'"  # a backslash in a text is no escape
    assert canonical_text("\\" + NEW) == f"'\\\\{NEW}'"


def test_what_every_python_escapes_stays_escaped() -> None:
    text = "\x00\x85\xa0\xad\u200b\u2028\u3000\ud800\ue000\ufeff\ufffe\U0001ffff\U000f0000"
    assert canonical_text(text) == (
        r"'\x00\x85\xa0\xad\u200b\u2028\u3000\ud800\ue000\ufeff\ufffe\U0001ffff\U000f0000'"
    )
    assert canonical_digest(text)  # a lone surrogate could not be encoded


def test_data_classes_are_taken_as_well() -> None:
    columns = RatedColumns(term1=f"{NEW}1", term2="é", ratings=("a'b",))
    assert canonical_text(columns) == (
        f"RatedColumns(term1='{NEW}1', term2='é', ratings=(\"a'b\",), separator=None, "
        "higher_is_similar=None)"
    )


def test_characters_that_unicode_14_knows_are_as_in_repr() -> None:
    known = [
        chr(code_point)
        for code_point in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code_point)) != "Cn"
    ]
    differing = {one for one in known if canonical_text(one) != repr(one)}

    # Later versions have further format characters, which their Python escapes.
    assert all(unicodedata.category(one) == "Cf" for one in differing)
    if unicodedata.unidata_version == "14.0.0":
        assert not differing


@given(
    st.recursive(st.text(st.characters(max_codepoint=0x2FF)) | st.integers() | st.none(), st.lists)
)
def test_plain_texts_are_as_in_repr(value: object) -> None:
    assert canonical_text(value) == repr(value)
    assert canonical_digest(value) == sha256(repr(value))


def test_a_draw_and_a_fingerprint_of_terms_are_defined_without_python() -> None:
    category = Category(name="x", concept_id="1", terms=(NEW,))
    categories = Categories(categories=(category,), n_shared_concepts=0, n_shared_terms=0)

    assert draw_id(7, "item", NEW, "b") == sha256(f"(7, 'item', '{NEW}', 'b')")[:16]
    assert categories.provenance()["fingerprint"] == sha256(f"[('x', '1', ('{NEW}',))]")
