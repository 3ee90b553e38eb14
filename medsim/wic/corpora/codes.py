"""Codes of concepts as corpora write them."""

from __future__ import annotations

import re

UNLINKED = ("", "")
"""The code of a part of a mention that is linked to nothing."""

_BETWEEN_PARTS = re.compile(r"[|+,;]")
_NOTHING = {"", "-", "-1"}
_FORMS = (
    ("MSH", re.compile(r"(?:(?:MESH|MSH): *)?([CD][0-9]{6}(?:[0-9]{3})?)", re.IGNORECASE)),
    ("OMIM", re.compile(r"O?MIM: *((?:PS)?[0-9]{6})", re.IGNORECASE)),
    ("UMLS", re.compile(r"(?:UMLS: *)?(C[0-9]{7})", re.IGNORECASE)),
)
_OF_OTHERS = re.compile(r"(?!(?:mesh|msh|o?mim|umls):)([a-z]\w*): *([^\s:]+)", re.IGNORECASE)


def codes_of(column: str) -> tuple[tuple[str, str], ...] | None:
    """Return the codes that a mention is linked to, each once, in their order.

    Several are joined by a bar, a plus, a comma or a semicolon. MeSH's ids stand with their prefix
    or without: D, or C for supplementary concepts, and six or nine digits; a C and seven digits is
    a concept of UMLS; OMIM's ids, and those of any other vocabulary, have a prefix, such as
    "HP:0001658". "-1", "-" and nothing link to nothing.

    Returns:
        (vocabulary, code) each; none where all parts link to nothing, ``UNLINKED`` among them where
        some do; None for a code in no such form.
    """
    found: dict[tuple[str, str], None] = {}
    for part in _BETWEEN_PARTS.split(column):
        if (code := _code(part.strip())) is None:
            return None
        found[code] = None
    return () if list(found) == [UNLINKED] else tuple(found)


def _code(part: str) -> tuple[str, str] | None:
    if part in _NOTHING:
        return UNLINKED
    for vocabulary, form in _FORMS:
        if (match := form.fullmatch(part)) is not None:
            return vocabulary, match[1].upper()
    match = _OF_OTHERS.fullmatch(part)
    return None if match is None else (match[1], match[2])
