"""The rules of words in context, a pair of terms at a time, and lemmas."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simplemma.strategies.dictionaries.dictionary_factory import DefaultDictionaryFactory

from medsim.wic import GROUPS
from medsim.wic.rules import (
    QUOTAS,
    group_of,
    label_ratio,
    lemma_of,
    lemma_pair,
    one_abbreviates,
    term_pair,
)

TERMS = st.text("abcABC é-𝒳ßİ", min_size=1, max_size=12)


def longest_common_subsequence(a: str, b: str) -> int:
    """Return the length of the subsequence by the textbook's table."""
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, character in enumerate(a, start=1):
        for j, other in enumerate(b, start=1):
            if character == other:
                table[i][j] = table[i - 1][j - 1] + 1
            else:
                table[i][j] = max(table[i - 1][j], table[i][j - 1])
    return table[-1][-1]


@given(TERMS, TERMS)
def test_the_ratio_matches_the_textbook_in_lower_case(term1: str, term2: str) -> None:
    a, b = term1.lower(), term2.lower()
    # With a substitution at 2, d is |a| + |b| - 2 lcs.
    assert label_ratio(term1, term2) == Fraction(
        2 * longest_common_subsequence(a, b), len(a) + len(b)
    )


@pytest.mark.parametrize(
    ("term1", "term2", "expected"),
    [
        ("MTD", "Morbus tal dovak", True),
        ("Morbus  tal\tdovak", "mtd", True),
        ("MT", "Morbus tal dovak", False),
        ("MTD", "Morbus tal-dovak", False),  # words are split only at white space
        ("M T D", "Morbus tal dovak", False),
        ("C", "calor", True),
        ("İB", "i̇stan brin", False),  # in lower case, dotted I is two code points
    ],
)
def test_an_abbreviation_is_the_initials_of_the_other(term1, term2, expected) -> None:
    assert one_abbreviates(term1, term2) is expected
    assert one_abbreviates(term2, term1) is expected


@pytest.mark.parametrize(
    ("term1", "term2", "share_concept", "expected"),
    [
        ("Tal fever", "tal FEVER", False, "term_identity"),
        ("Tal fevers", "tal fever", False, "term_identity"),
        ("Tal fevers", "tal fever", True, "term_identity"),
        ("TF", "tal fever", True, "abbreviations"),
        ("TALS", "TALs", None, "term_identity"),  # equal ignoring case, though lemmas differ
        ("tal fever", "brinosis", True, "synonyms"),
        ("tal fever", "tall fever", True, "synonyms"),
        ("tal fever", "tall fever", False, "label_similarity"),
        ("tal fever", "tall fever", None, "label_similarity"),
        ("tal fever", "brinosis", False, None),
        ("tal fever", "brinosis", None, None),
        ("abcd", "abce", None, None),  # 6 of 8: exactly 0.75
        ("ABCDE", "abcdf", None, "label_similarity"),  # 8 of 10
        ("abcdefghijklmnopqrst", "abcdefghijklmno", None, "label_similarity"),  # 30 of 35
        ("abcdefghijkl", "abcdefghi123", None, None),  # 18 of 24
        ("éabcd", "eabcd", None, "label_similarity"),  # code points, not bytes
    ],
)
def test_the_first_group_that_applies_is_the_group(term1, term2, share_concept, expected) -> None:
    assert group_of(term1, term2, share_concept=share_concept) == expected


def test_labels_are_similar_above_the_chosen_ratio() -> None:
    for term1, term2, similarity, expected in (
        ("abcd", "abce", 0.7, "label_similarity"),  # 6 of 8
        ("abcdefghij", "abcdefg123", 0.7, None),  # 14 of 20: exactly 0.7
        ("abcde", "abcdf", 0.8, None),
    ):
        group = group_of(term1, term2, share_concept=False, similarity=similarity)
        assert group == expected


@given(TERMS, TERMS, st.sampled_from([True, False, None]))
def test_the_order_of_terms_does_not_matter(term1: str, term2: str, share_concept) -> None:
    group = group_of(term1, term2, share_concept=share_concept)

    assert group == group_of(term2, term1, share_concept=share_concept)
    assert group is None or group in GROUPS
    assert term_pair(term1, term2) == term_pair(term2, term1)
    assert lemma_pair(term1, term2) == lemma_pair(term2, term1)


def test_pairs_are_equal_ignoring_case_or_by_lemmas() -> None:
    assert term_pair("Tal", "Brin") == term_pair("BRIN", "tal") != term_pair("tals", "brin")
    assert lemma_pair("fevers", "Cell") == lemma_pair("cells", "fever")


def test_quotas_match_the_published_splits() -> None:
    assert [sum(QUOTAS[split].values()) for split in ("dev", "test")] == [500, 1000]
    assert all(2 * QUOTAS["dev"][group] == QUOTAS["test"][group] for group in GROUPS)


@pytest.mark.parametrize(
    ("term", "other", "same"),
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
def test_forms_of_a_term_share_a_lemma_and_other_terms_do_not(term, other, same) -> None:
    assert (lemma_of(term) == lemma_of(other)) == same


def test_lemmas_depend_on_the_language() -> None:
    plural, singular = "बीमारियाँ", "बीमारी"  # vowels are marks
    assert lemma_of(plural, "hi") == lemma_of(singular, "hi")
    assert lemma_of(plural) != lemma_of(singular)


def test_the_lemma_of_a_lemma_is_itself() -> None:
    dictionary = DefaultDictionaryFactory().get_dictionary("en")
    words = [word if isinstance(word, str) else word.decode() for word in dictionary]
    lemmas = {lemma_of(word) for word in [*words[::10], "bacterium", "bacteria", "meetings"]}
    assert len(lemmas) > 10_000
    assert {lemma for lemma in lemmas if lemma_of(lemma) != lemma} == set()
    assert lemma_of("bacteria") == "bacterium"
