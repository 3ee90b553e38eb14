"""Tests of lemmas of terms."""

import pytest

from medsim.wic.making.lemmas import lemma_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Review articles", "review article"),
        ("silenced", "Silencing"),
        ("hematomas", "Hematoma"),
    ],
)
def test_forms_of_a_term_have_one_lemma(one: str, other: str) -> None:
    assert lemma_of(one) == lemma_of(other)


@pytest.mark.parametrize(
    ("one", "other"), [("IL-1", "IL-10"), ("AS", "A"), ("beta-chain", "alpha-chain")]
)
def test_other_terms_have_other_lemmas(one: str, other: str) -> None:
    assert lemma_of(one) != lemma_of(other)
