"""Lemmas of terms, which tell forms of one term from other terms."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from medsim.core.errors import needing
from medsim.core.terms import last_lemma, lowered
from medsim.corpora import ENGLISH

# Marks belong to their letters, as vowels do in Hindi, but regular expressions take none for one.
_MARKS = "".join(chr(at) for at in range(0x300, 0x20000) if unicodedata.category(chr(at))[0] == "M")
_WORD = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{_MARKS}])*")


@lru_cache(maxsize=1 << 17)
def lemma_of(term: str, language: str = ENGLISH) -> str:
    """Return a term in lower case with every word in it replaced by its lemma in a language.

    A word is a run of letters with their marks; the characters between words stay. So "Review
    articles" and "review article" have one lemma, "IL-1" and "IL-10" do not; and terms that are
    equal ignoring case have one. Rouhizadeh et al. (2024) take spaCy's lemmas; simplemma's need no
    model.
    """
    (lower,) = lowered([term])
    return _WORD.sub(lambda word: _lemma_of_word(word[0], language), lower)


@lru_cache(maxsize=1 << 17)
def _lemma_of_word(word: str, language: str) -> str:
    with needing("lemmas of terms need simplemma", "wic"):
        import simplemma  # noqa: PLC0415 — an extra
    return last_lemma(word, lambda one: lowered([simplemma.lemmatize(one, lang=language)])[0])
