"""Tests of lemmas of terms."""

import pytest

from medsim.wic.making.lemmas import lemma_of


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Review articles", "review article", True),
        ("silenced", "Silencing", True),
        ("hematomas", "Hematoma", True),
        ("IL-1", "IL-10", False),
        ("AS", "A", False),
        ("beta-chain", "alpha-chain", False),
    ],
)
def test_forms_of_a_term_have_one_lemma_and_other_terms_others(one, other, same) -> None:
    assert (lemma_of(one) == lemma_of(other)) == same


def test_lemmas_are_those_of_the_language() -> None:
    one, other = "बीमारियाँ", "बीमारी"  # whose vowels are marks
    assert lemma_of(one, "hi") == lemma_of(other, "hi")
    assert lemma_of(one) != lemma_of(other)
