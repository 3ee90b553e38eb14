"""British and American spellings of English words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from medsim.core.data import toml_of

_DATA = toml_of(__package__, "spelling.toml")
_PARTS = {name: "|".join(words.split()) for name, words in _DATA["alternatives"].items()}
_RULES = {
    kind: [(re.compile(part.format_map(_PARTS)), instead) for part, instead in rules]
    for kind, rules in _DATA["rules"].items()
}
_NOUNS = re.compile(_PARTS["nouns"])
_RARER_AT_MOST = 10
_SHORTEST_SPELT = 5  # letters of words with two spellings; shorter ones may be symbols


def american(word: str, counts: Mapping[str, int]) -> str:
    """Return the American spelling of a word, or the word itself if no rule applies.

    The existing library, breame 0.1.2, a list of 1,730 words from 2021, lacks oedema, ischaemia,
    uraemia, dyspnoea, caecum and catheterise. These rules instead name British parts of words and
    their position in a word. A word without a rule stays unchanged, since a wrong change would lose
    the word. The few parts that American writers use too (amoeba, catalogue) are changed if the
    corpus has the result at least a tenth as often. Plurals such as analyses stay. The word is in
    lower case.
    """
    if _NOUNS.search(word):
        return word
    word = _respelled(word, "british")
    for part, instead in _RULES["doubtful"]:
        changed = part.sub(instead, word)
        if counts.get(changed, 0) * _RARER_AT_MOST >= max(counts.get(word, 0), 1):
            word = changed
    return word


def is_respelled(word1: str, word2: str) -> bool:
    """Return whether two words in lower case are spellings of one word, such as tumour and tumor.

    It is meant for two names of one concept, or nearly one: other words may pass too.
    """
    return _respelled(word1, "lenient") == _respelled(word2, "lenient")


@lru_cache(maxsize=1 << 17)  # words recur in every corpus and terminology
def _respelled(word: str, kind: str) -> str:
    if kind == "lenient" and len(word) < _SHORTEST_SPELT:
        return word
    for part, instead in _RULES[kind]:
        word = part.sub(instead, word)
    return word
