"""Lemmas of terms, which tell forms of one term from other terms."""

from __future__ import annotations

import re
from functools import lru_cache

from medsim.core.errors import OptionError
from medsim.core.terms import lowered

_WORD = re.compile(r"[^\W\d_]+")


def lemma_of(term: str) -> str:
    """Return a term in lower case with every word in it replaced by its lemma.

    A word is a run of letters; the characters between words stay. So "Review articles" and "review
    article" have one lemma, "IL-1" and "IL-10" do not; and terms that are equal ignoring case have
    one. Rouhizadeh et al. (2024) take spaCy's lemmas; simplemma's need no model.
    """
    (lower,) = lowered([term])
    return _WORD.sub(lambda word: _lemma_of_word(word[0]), lower)


@lru_cache(maxsize=1 << 17)
def _lemma_of_word(word: str) -> str:
    try:
        import simplemma  # noqa: PLC0415 — an extra
    except ImportError as error:
        raise OptionError(
            "lemmas of terms need simplemma; install medsim with its extra wic"
        ) from error
    return lowered([simplemma.lemmatize(word, lang="en")])[0]
