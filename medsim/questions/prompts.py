"""The chats that ask language models about names, and the answers in their replies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from medsim.embeddings.replies import parse_answer
from medsim.questions.reading import LETTERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.embeddings.replies import Messages

INSTRUCTIONS = {
    "choice": "Answer the question about medical names. Exactly one of the lettered names is "
    "right. Answer with its letter only.",
    "pairs": "You are given two medical terms. Decide whether they mean the same, that is, whether "
    "both stand for the same concept. Answer with one word: YES if they mean the same, NO if they "
    "do not.",
}
"""The instructions by way of asking."""

_OPENING = re.compile(r"[\W_]*")
_LETTER = re.compile(r"[\W_]*([A-Za-z])(?:[\W_]*\Z|[).:,*\]_]|\s*\n)")
_CUED = re.compile(
    r"(?i:\b(?:answer|choice|option|letter)\b(?: is)?)[\W_]{0,9}([A-Z])\b"
    r"(?!['\u2019]| (?:or|and)\b| ?/)"
)
_NEGATED = re.compile(r"\b(?:not|none|neither|nor|except)\b|n['\u2019]t\b", re.IGNORECASE)


def chats_of(
    ask: str, shots: Sequence[tuple[str, str]], questions: Sequence[str]
) -> list[Messages]:
    """Return a chat for each question, after examples with their answers.

    The instruction comes before the first question, since some models have no system message.
    """
    first = [
        {"role": role, "content": text}
        for shot in shots
        for role, text in zip(("user", "assistant"), shot, strict=True)
    ]
    chats = [[*first, {"role": "user", "content": text}] for text in questions]
    for chat in chats:
        chat[0] = chat[0] | {"content": f"{INSTRUCTIONS[ask]}\n\n{chat[0]['content']}"}
    return chats


def parse_choice(text: str, term: str, names: Sequence[str]) -> str | None:
    """Return the letter of the chosen name in a reply; None if it is not clear.

    A reply may begin with the name or with its letter, or have its letter after a word such as
    "answer", or have the name of only one choice and no negation. Case of names does not count.

    Args:
        text: ``Reply.content``.
        term: the term of the question, which the reply may repeat.
        names: the choices.
    """
    letters = {name.casefold(): letter for name, letter in zip(names, LETTERS, strict=False)}
    known = [name for name in {term.casefold(), *letters} if len(name) > 1]
    known.sort(key=lambda name: (-len(name), name))
    lower = _OPENING.sub("", text.casefold(), count=1)
    found: set[str] = set()
    first = next((name for name in known if _named(name).match(lower)), "")
    if first in letters:
        found = {letters[first]}
    elif (match := _LETTER.match(text)) is not None:
        found = {match[1].upper()}
    elif not (found := {*_CUED.findall(text)}) and not _NEGATED.search(text):
        for name in known:
            lower, n_times = _named(name).subn("\n", lower)
            found |= {letters[name]} if n_times and name in letters else set()
    return found.pop() if len(found) == 1 and found <= {*letters.values()} else None


def _named(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def parse_pair(text: str) -> str | None:
    """Return yes or no from a reply; None if it is not clear."""
    answer = parse_answer(text)
    return None if answer is None else ("no", "yes")[answer]
