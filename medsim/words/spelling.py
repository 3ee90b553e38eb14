"""American spellings of British words, those of medicine among them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

_OF_VERBS = r"e[drs]?$|ers$|ing$|ations?$"
_BEFORE_ISE = "al|an|ar|en|er|et|ic|id|il|im|in|ll|mat|ol|on|or|ot|un"
_BEFORE_OUR = (
    "arb|ard|arm|behavi|cand|clam|col|demean|endeav|fav|ferv|flav|harb|hon|hum|lab|neighb|od|parl|"
    "ranc|rig|rum|sav|savi|splend|succ|tum|val|vap|vig"
)

# Parts of words that no American word has, but for the Latin names that are excepted.
_SAFE = tuple(
    (re.compile(british), american)
    for british, american in (
        (r"haem(?!ophilus|onchus|aphysalis)", "hem"),
        (r"aemi", "emi"),
        (r"oedem", "edem"),
        (r"oesoph(?!agostom)", "esoph"),
        (r"oestr", "estr"),
        (r"anaesth", "anesth"),
        (r"paed", "ped"),
        (r"gynaec", "gynec"),
        (r"^foet", "fet"),
        (r"rrhoe", "rrhe"),
        (r"pnoe", "pne"),
        (r"coeliac", "celiac"),
        (r"^caec(?=um|a|o)", "cec"),
        (r"^faec(?=es$|al$|ul)", "fec"),
        (r"aetiolog", "etiolog"),
        (r"caesar[ei]an", "cesarean"),
        (r"leucocyt", "leukocyt"),
        (r"sulph", "sulf"),
        (r"manoeuvr(e|(?=ing|ab))", "maneuver"),
        (rf"({_BEFORE_OUR})our", r"\1or"),
        (r"(calib|cent|fib|goit|lit|lust|met|sab|scept|spect|theat|tit)re(?=s?$)", r"\1er"),
        (rf"((?:ana|cata|dia|hydro|para)ly)s(?={_OF_VERBS})", r"\1z"),
        (rf"(?<=..)({_BEFORE_ISE})is(?={_OF_VERBS})", r"\1iz"),
    )
)

# What may be British, or may be anything: only where the American word is used as well.
_DOUBTFUL = tuple(
    (re.compile(british), american)
    for british, american in (
        (rf"is(?={_OF_VERBS})", "iz"),
        (rf"ys(?={_OF_VERBS})", "yz"),
        (r"(?<=[b-df-hj-np-tv-z])re$", "er"),
        (r"ogue$", "og"),
        (r"amme$", "am"),
        (r"our", "or"),
        (r"ence$", "ense"),
        (r"[ao]e(?=.)", "e"),
    )
)
_SHORTEST_DOUBTFUL = 6
_AS_THEY_ARE = frozenset({"analyses", "catalyses", "dialyses", "hydrolyses", "paralyses", "timbre"})


def american(word: str, used: AbstractSet[str]) -> str:
    """Return the American spelling of a word, or the word itself where it has no other.

    The library that there is for this, breame 0.1.2, is a list of 1,730 words from 2021 that lacks
    oedema, ischaemia, uraemia, dyspnoea, caecum and catheterise, so these are rules of our own.
    Parts that are British alone are always changed (haemoglobin, oedema, tumour, neutralise). Other
    changes are made only if their result is among the words that are used, and not to words of five
    letters or fewer: so poor, hour, does, aerobic and expertise stay, and ionise becomes ionize
    where that is used. Plurals such as analyses stay.

    Args:
        word: in lower case.
        used: words of the class in the corpus.
    """
    if word in _AS_THEY_ARE:
        return word
    for part, instead in _SAFE:
        word = part.sub(instead, word)
    for part, instead in _DOUBTFUL:
        changed = part.sub(instead, word)
        if len(word) >= _SHORTEST_DOUBTFUL and changed in used:
            word = changed
    return word
