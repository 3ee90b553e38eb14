"""The rules of a benchmark of words in context, for one pair of terms at a time."""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from functools import lru_cache

from rapidfuzz.distance import Indel

from medsim.core.errors import needing
from medsim.core.terms import last_lemma, lowered
from medsim.corpora import ENGLISH
from medsim.wic import GROUPS, SIMILARITY

QUOTAS: dict[str, dict[str, int]] = {
    "dev": dict(zip(GROUPS, (200, 50, 200, 50), strict=True)),
    "test": dict(zip(GROUPS, (400, 100, 400, 100), strict=True)),
}
"""The number of True instances, and of False ones, of each group and split in BioWiC."""

# Marks, such as vowel signs in Hindi, are parts of letters, but not to regular expressions.
_MARKS = "".join(chr(at) for at in range(0x300, 0x20000) if unicodedata.category(chr(at))[0] == "M")
_WORD = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{_MARKS}])*")


def group_of(
    term1: str,
    term2: str,
    *,
    share_concept: bool | None,
    language: str = ENGLISH,
    similarity: float = SIMILARITY,
) -> str | None:
    """Return the group of two terms: the first of ``medsim.wic.GROUPS`` that applies.

    It shares only RapidFuzz with the search that builds a benchmark, so it can check the search.
    Groups and their order are as in Rouhizadeh et al. (2024). ``share_concept`` says whether both
    terms are names of one concept of the terminology, ignoring case; if it is None, synonyms are
    skipped. Labels with a ratio above ``similarity`` are similar. The order of the two terms does
    not matter.
    """
    lemma1, lemma2 = lemma_pair(term1, term2, language)
    if equal_ignoring_case(term1, term2) or lemma1 == lemma2:
        return "term_identity"
    if one_abbreviates(term1, term2):
        return "abbreviations"
    if share_concept:
        return "synonyms"
    is_similar = label_ratio(term1, term2) > Fraction(str(similarity))
    return "label_similarity" if is_similar else None


def equal_ignoring_case(term1: str, term2: str) -> bool:
    """Return whether two terms differ at most in case."""
    lower1, lower2 = lowered([term1, term2])
    return lower1 == lower2


def one_abbreviates(term1: str, term2: str) -> bool:
    """Return whether one term, in lower case, is the initials of the other."""
    lower1, lower2 = lowered([term1, term2])
    return lower1 == initials_of(lower2) or lower2 == initials_of(lower1)


def label_ratio(term1: str, term2: str) -> Fraction:
    """Return the exact similarity of two labels, from 0 to 1.

    It is the ratio (|a| + |b| - d) / (|a| + |b|) of the lower-cased terms. Lengths are code points;
    d is the edit distance in which a substitution costs 2.
    """
    lower1, lower2 = lowered([term1, term2])
    total = len(lower1) + len(lower2)
    return 1 - Fraction(Indel.distance(lower1, lower2), total) if total else Fraction(1)


def term_pair(term1: str, term2: str) -> tuple[str, str]:
    """Return a pair of terms normalised for order and case."""
    lower1, lower2 = sorted(lowered([term1, term2]))
    return lower1, lower2


def lemma_pair(term1: str, term2: str, language: str = ENGLISH) -> tuple[str, str]:
    """Return a pair of terms normalised by lemmas."""
    lemma1, lemma2 = sorted(lemma_of(term, language) for term in (term1, term2))
    return lemma1, lemma2


def initials_of(lower_term: str) -> str:
    """Return the first code points of the words between white space."""
    return "".join(word[0] for word in lower_term.split())


@lru_cache(maxsize=1 << 17)
def lemma_of(term: str, language: str = ENGLISH) -> str:
    """Return a term in lower case with every word in it replaced by its lemma in a language.

    A word is a run of letters with their marks; the characters between words stay. So "Review
    articles" and "review article" have the same lemma, "IL-1" and "IL-10" do not; and terms that
    are equal ignoring case have the same lemma. Rouhizadeh et al. (2024) use spaCy's lemmas;
    simplemma's need no model.
    """
    (lower,) = lowered([term])
    return _WORD.sub(lambda word: _lemma_of_word(word[0], language), lower)


@lru_cache(maxsize=1 << 17)
def _lemma_of_word(word: str, language: str) -> str:
    with needing("lemmas of terms need simplemma", "wic"):
        import simplemma  # noqa: PLC0415 — an extra
    return last_lemma(word, lambda form: lowered([simplemma.lemmatize(form, lang=language)])[0])
