"""The instructions for language models that are asked about names, and answers in replies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from medsim.core.terms import lowered
from medsim.embeddings.replies import parse_answer
from medsim.questions.reading import LETTERS

if TYPE_CHECKING:
    from collections.abc import Sequence

INSTRUCTIONS = {
    "choice": "Answer the question about medical names. Exactly one of the lettered names is "
    "right. Answer with its letter only.",
    "pairs": "You are given two medical terms. Decide whether they mean the same, that is, whether "
    "both stand for the same concept. Answer with one word: YES if they mean the same, NO if they "
    "do not.",
}
"""The instructions by way of asking."""

_LETTER = re.compile(r"[\W_]*([A-Za-z])(?:[\W_]*\Z|[).:,*\]_]|\s*\n)")
_CUED = re.compile(
    r"(?i:\b(?:answer|choice|option|letter|boxed)\b(?: is)?)[\W_]{0,9}([A-Z])\b"
    r"(?!['\u2019]| (?:or|and)\b| ?/)"
)
_NEGATED = re.compile(r"\b(?:not|none|neither|nor|except)\b|n['\u2019]t\b", re.IGNORECASE)


def parse_choice(text: str, term: str, names: Sequence[str]) -> str | None:
    """Return the letter of the chosen name in a reply; None if it is not clear.

    A reply may be the name, begin with its letter, have its letter after a word such as "answer",
    or have the name of only one choice and no negation. Case of names does not count.

    Args:
        text: ``Reply.content``.
        term: the term of the question, which the reply may repeat.
        names: the choices.
    """
    lower, asked, *choices = lowered([text, term, *names])
    letters = dict(zip(choices, LETTERS, strict=False))
    if (whole := lower.strip(" \n*\"'.")) in letters and len(whole) > 1:
        return letters[whole]
    if (match := _LETTER.match(text)) is not None:
        found = {match[1].upper()}
    elif not (found := {*_CUED.findall(text)}) and not _NEGATED.search(text):
        for name in sorted({asked, *letters}, key=len, reverse=True):
            lower, n_times = re.subn(rf"(?<!\w){re.escape(name)}(?!\w)", "\n", lower)
            if n_times and len(name) > 1:
                found.add(letters.get(name, ""))
    found.discard("")
    return found.pop() if len(found) == 1 and found <= {*letters.values()} else None


def parse_pair(text: str) -> str | None:
    """Return yes or no from a reply; None if it is not clear."""
    answer = parse_answer(text)
    return None if answer is None else ("no", "yes")[answer]
