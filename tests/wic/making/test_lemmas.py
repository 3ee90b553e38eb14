"""Tests of lemmas of terms."""

import pytest
from simplemma.strategies.dictionaries.dictionary_factory import DefaultDictionaryFactory

from medsim.wic.rules import lemma_of


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Review articles", "review article", True),
        ("silenced", "Silencing", True),
        ("hematomas", "Hematoma", True),
        ("bacteria", "Bacterium", True),
        ("lung meetings", "lung meeting", True),
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


def test_a_lemma_is_its_own_lemma() -> None:
    dictionary = DefaultDictionaryFactory().get_dictionary("en")
    words = [word if isinstance(word, str) else word.decode() for word in dictionary]
    lemmas = {lemma_of(word) for word in [*words[::10], "bacterium", "bacteria", "meetings"]}
    assert len(lemmas) > 10_000
    assert {lemma for lemma in lemmas if lemma_of(lemma) != lemma} == set()
    assert lemma_of("bacteria") == "bacterium"
