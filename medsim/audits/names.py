"""Finds names that concepts share, names of retired concepts, and malformed names."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from medsim.audits.audited import Audited

_PATTERNS = {
    "spacing": r"\s{2,}|[^\S ]|[(\[{]\s|\s[)\]}]",
    "characters": "[\\x00-\\x08\\x0e-\\x1f\\x7f-\\x84\\x86-\\x9f\u00ad\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\ue000-\uf8ff\ufb00-\ufb06\ufeff\uff01-\uff5e\ufff9-\uffff]"
    "|[ÃÂ][\u0080-\u00bf]|â€|&(?:[a-zA-Z]{2,8}|#[0-9]+);|</?[a-z]{1,6}>",
    "last_character": r"^(?:[,;:.&|\\]|\p{Pd}\s)|(?:[,;:/&|\\_=*]|\s\p{Pd}|[^\W\d_]{5}\.)$",
}
_PAIRED = {")": "(", "]": "[", "}": "{"}
_BRACKETS = re.compile(r"[()\[\]{}]")
_LETTERS = re.compile(r"[^\W\d_]+")
_GREEK_LIKE_LATIN = re.compile(
    "[\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bd\u03bf]"
)
_OTHER_SCRIPTS = {"CYRILLIC", "ARMENIAN", "CHEROKEE"}


def shared_names(audited: Audited) -> pl.DataFrame:
    """Return the pairs of active concepts that have the same name when case is ignored."""
    return audited.store.frame("audits/shared_name")


def retired_names(audited: Audited) -> pl.DataFrame:
    """Return the names of retired concepts that active concepts have without an association."""
    return audited.store.frame("audits/retired_name")


def malformed_names(audited: Audited) -> pl.DataFrame:
    """Return malformed and repeated names of active concepts, and concepts without a main name."""
    names = audited.store.frame("audits/active_description")
    term = pl.col("term1")
    found = [
        names.filter(term.str.contains(pattern)).with_columns(
            kind=pl.lit(kind), part1=term.str.extract(pattern, 0)
        )
        for kind, pattern in _PATTERNS.items()
    ]
    found += [
        names.filter(term.map_elements(test, pl.Boolean)).with_columns(kind=pl.lit(kind))
        for kind, test in (("brackets", _is_unbalanced), ("mixed_scripts", _is_mixed))
    ]
    others = [audited.store.frame(f"audits/{kind}") for kind in ("repeated", "no_main_name")]
    return pl.concat([*found, *others], how="diagonal")


def _is_unbalanced(term: str) -> bool:
    opened = []
    for bracket in _BRACKETS.findall(term):
        if bracket not in _PAIRED:
            opened.append(bracket)
        elif not opened or opened.pop() != _PAIRED[bracket]:
            return True
    return bool(opened)


def _is_mixed(term: str) -> bool:
    if term.isascii():
        return False
    words = _LETTERS.findall(term)
    scripts = [{unicodedata.name(letter, "").partition(" ")[0] for letter in w} for w in words]
    has_greek_letter = any(
        "LATIN" in of_word and _GREEK_LIKE_LATIN.search(word)
        for word, of_word in zip(words, scripts, strict=True)
    )
    every = set[str]().union(*scripts)
    return "LATIN" in every and (has_greek_letter or not every.isdisjoint(_OTHER_SCRIPTS))
