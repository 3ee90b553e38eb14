"""Texts for digests, which do not depend on Python's version of Unicode."""

from __future__ import annotations

import hashlib
import sys
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from medsim.core.canonical import canonical_digest, canonical_text
from medsim.evaluations.layouts import RatedColumns
from medsim.evaluations.separation import Categories, Category
from medsim.studies.folder import draw_id

NEW = "\u1c89"  # Cyrillic capital letter Tje, since Unicode 16
OTHERS_NEW = "\U0001ccd6\U00011bc0\ua7da"  # also since Unicode 16


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_characters_unknown_to_python_are_not_escaped() -> None:
    assert canonical_text([(NEW, OTHERS_NEW)]) == f"[('{NEW}', '{OTHERS_NEW}')]"
    assert canonical_digest(("a", NEW)) == sha256(f"('a', '{NEW}')")
    assert canonical_text("\\u1c89") == r"'\\u1c89'"  # a backslash in a text is not an escape
    assert canonical_text("\\" + NEW) == f"'\\\\{NEW}'"


def test_characters_that_every_python_escapes_stay_escaped() -> None:
    text = "\x00\x85\xa0\xad\u200b\u2028\u3000\ud800\ue000\ufeff\ufffe\U0001ffff\U000f0000"
    assert canonical_text(text) == (
        r"'\x00\x85\xa0\xad\u200b\u2028\u3000\ud800\ue000\ufeff\ufffe\U0001ffff\U000f0000'"
    )
    assert canonical_digest(text)  # a lone surrogate could not be encoded


def test_data_classes_are_supported() -> None:
    columns = RatedColumns(term1=f"{NEW}1", term2="é", ratings=("a'b",))
    assert canonical_text(columns) == (
        f"RatedColumns(term1='{NEW}1', term2='é', ratings=(\"a'b\",), separator=None, "
        "higher_is_similar=None)"
    )


def test_characters_of_unicode_14_are_as_in_repr() -> None:
    characters = [
        chr(code_point)
        for code_point in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code_point)) != "Cn"
    ]
    differing = {sign for sign in characters if canonical_text(sign) != repr(sign)}

    # Later versions have more format characters, which their Python escapes.
    assert all(unicodedata.category(sign) == "Cf" for sign in differing)
    if unicodedata.unidata_version == "14.0.0":
        assert not differing


@given(
    st.recursive(st.text(st.characters(max_codepoint=0x2FF)) | st.integers() | st.none(), st.lists)
)
def test_plain_texts_are_as_in_repr(value: object) -> None:
    assert canonical_text(value) == repr(value)
    assert canonical_digest(value) == sha256(repr(value))


def test_draws_and_fingerprints_have_fixed_values() -> None:
    category = Category(name="x", concept_id="1", terms=(NEW,))
    categories = Categories(categories=(category,), n_shared_concepts=0, n_shared_terms=0)

    assert draw_id(7, "item", NEW, "b") == sha256(f"(7, 'item', '{NEW}', 'b')")[:16]
    assert categories.provenance()["fingerprint"] == sha256(f"[('x', '1', ('{NEW}',))]")
