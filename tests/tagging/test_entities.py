"""Entities are those of conlleval and of the package seqeval."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medsim.tagging.corpus import Entity, entities_of, tags_of

TAGS = st.sampled_from(["O", *(f"{prefix}-{kind}" for prefix in "BIES" for kind in ("X", "Y"))])

RULES = {
    "": [],
    "O O": [],
    "B-X I-X O": [("X", 0, 2)],
    "B-X B-X": [("X", 0, 1), ("X", 1, 2)],
    "O I-X I-X": [("X", 1, 3)],  # as in IOB1
    "I-X": [("X", 0, 1)],
    "B-Y I-X": [("Y", 0, 1), ("X", 1, 2)],
    "B-X I-Y I-X": [("X", 0, 1), ("Y", 1, 2), ("X", 2, 3)],
    "I-X I-Y": [("X", 0, 1), ("Y", 1, 2)],
    "O B-X I-X": [("X", 1, 3)],  # the end of a sentence ends it
    "S-X S-X": [("X", 0, 1), ("X", 1, 2)],
    "B-X I-X E-X I-X": [("X", 0, 3), ("X", 3, 4)],
    "B-X E-X E-X": [("X", 0, 2), ("X", 2, 3)],
    "O E-X": [("X", 1, 2)],
    "B-X S-X": [("X", 0, 1), ("X", 1, 2)],
    "B-X-1 I-X-1": [("X-1", 0, 2)],
}
"""The rules of conlleval (Tjong Kim Sang 2002), and what they make of tags of other schemes."""


@pytest.mark.parametrize(("tags", "expected"), RULES.items())
def test_entities_begin_and_end_as_conlleval_has_it(tags: str, expected: list) -> None:
    assert entities_of(tags.split()) == expected


@given(st.lists(TAGS, max_size=12))
def test_entities_are_those_of_seqeval(tags: list[str]) -> None:
    sequence_labeling = pytest.importorskip(
        "seqeval.metrics.sequence_labeling", reason="seqeval, of the extra dev, is not installed"
    )

    expected = [(kind, first, last + 1) for kind, first, last in
                sequence_labeling.get_entities(tags)]  # fmt: skip

    assert entities_of(tags) == expected


@pytest.mark.parametrize("tags", ["B-X L-X O U-Y", "B-X E-X O S-Y"])
def test_the_letters_of_bilou_are_those_of_iobes(tags: str) -> None:
    assert entities_of(tags.split()) == [("X", 0, 2), ("Y", 3, 4)]


@given(st.lists(TAGS, max_size=12))
def test_tags_in_bio_have_the_same_entities(tags: list[str]) -> None:
    entities = entities_of(tags)

    again = tags_of(entities, len(tags))

    assert entities_of(again) == entities
    assert {tag[0] for tag in again} <= set("BIO")


def test_tags_are_in_bio() -> None:
    assert tags_of([Entity("X", 1, 3), Entity("Y", 3, 4)], 5) == ["O", "B-X", "I-X", "B-Y", "O"]
