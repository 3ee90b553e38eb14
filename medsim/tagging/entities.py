"""Entities in sequences of tags, by the rules of the script conlleval."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

OUTSIDE = "O"
"""The tag of a word that is in no entity."""

PREFIXES = {"B": "B", "I": "I", "E": "E", "L": "E", "S": "S", "U": "S"}
"""The first letters of tags: begin, inside, end (also last), single (also unit)."""

_ENDING = {"E", "S"}
_BEGINNING = {"B", "S"}


class Entity(NamedTuple):
    """An entity of a sentence: its type, its first word, and one past its last, counted from 0."""

    kind: str
    start: int
    end: int


def entities_of(tags: Sequence[str]) -> list[Entity]:
    """Return the entities of a sentence in their order, whatever scheme its tags are in.

    They are those of conlleval, the script of CoNLL's shared tasks, and of the package seqeval. An
    entity begins at B and S; and at any other tag but O where the word before is in no entity, ends
    one by E or S, or is of another type. It ends before O, before one that begins, and with the
    sentence. So an I after O begins an entity, as does an I-X after B-Y.

    Args:
        tags: of one sentence: O, or a letter of ``PREFIXES``, a hyphen and a type.
    """
    found: list[Entity] = []
    begun = -1  # the first word of an entity that has no end yet
    before, kind = OUTSIDE, ""
    for at, tag in enumerate(tags):
        letter, _, own = tag.partition("-")
        letter = PREFIXES.get(letter, OUTSIDE)
        begins = letter in _BEGINNING or before == OUTSIDE or before in _ENDING or own != kind
        if begun >= 0 and (letter == OUTSIDE or begins):
            found.append(Entity(kind, begun, at))
            begun = -1
        if letter != OUTSIDE and begins:
            begun = at
        before, kind = letter, own
    if begun >= 0:
        found.append(Entity(kind, begun, len(tags)))
    return found


def tags_of(entities: Iterable[Entity], n_words: int) -> list[str]:
    """Return the tags of a sentence in the scheme BIO: B for the first word of each entity.

    Args:
        entities: that share no word.
        n_words: of the sentence.
    """
    tags = [OUTSIDE] * n_words
    for kind, start, end in entities:
        tags[start] = f"B-{kind}"
        tags[start + 1 : end] = [f"I-{kind}"] * (end - start - 1)
    return tags
