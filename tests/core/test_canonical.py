"""Digests, which do not depend on Python's version of Unicode."""

from __future__ import annotations

import hashlib

from medsim.core.canonical import canonical_digest
from medsim.evaluations.layouts import RatedColumns
from medsim.evaluations.separation import Categories, Category
from medsim.studies.folder import draw_id

NEW = "\u1c89"  # Cyrillic capital letter Tje, since Unicode 16


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_characters_are_escaped_by_the_same_rule_in_every_python() -> None:
    assert canonical_digest(("a", NEW)) == sha256(r"('a', '\u1c89')")
    assert canonical_digest("\\u1c89") == sha256(r"'\\u1c89'")  # a backslash and letters
    assert canonical_digest("\xe9\u2028\ud800\U0001f600") == sha256(r"'\xe9\u2028\ud800\U0001f600'")
    columns = RatedColumns(term1=f"{NEW}1", term2="\xe9", ratings=("a'b",))
    assert canonical_digest(columns) == sha256(
        r"RatedColumns(term1='\u1c891', term2='\xe9', "
        'ratings=("a\'b",), separator=None, higher_is_similar=None)'
    )


def test_draws_and_fingerprints_have_fixed_values() -> None:
    category = Category(name="x", concept_id="1", terms=(NEW,))
    categories = Categories(categories=(category,), n_shared_concepts=0, n_shared_terms=0)

    assert draw_id(7, "item", NEW, "b") == sha256(r"(7, 'item', '\u1c89', 'b')")[:16]
    assert categories.provenance()["fingerprint"] == sha256(r"[('x', '1', ('\u1c89',))]")
