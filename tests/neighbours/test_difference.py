"""The classes of differences between names."""

from __future__ import annotations

import pytest

from medsim.neighbours.difference import DifferenceClassifier, series_of


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("visual acuity 0.1", "visual acuity 1.0", "number"),
        ("stage 2", "stage ii", "roman"),
        ("grade iiia", "grade iiib", "code"),
        ("grade iii", "grade iiib", "code"),
        ("grade iia", "grade iiia", "roman"),
        ("down's syndrome", "down syndrome", "plural"),
        ("downs syndrome", "down's syndrome", "punctuation"),
        ("2-methyl x", "3-methyl x", "number"),
        ("1-2 toe", "12 toe", "number"),
        ("type x factor", "type v factor", "roman"),
        ("type x factor", "type y factor", "code"),
        ("impacted tooth", "impacted teeth", "plural"),
        ("bacterium in blood", "bacteria in blood", "plural"),
        ("tumour of hand", "tumor of hand", "spelling"),
        ("monosomy of 1", "trisomy of 1", "number"),
        ("fog protein", "phog protein", "other"),
        ("no binding", "nos binding", "letter"),
        ("short toe", "short toes", "plural"),
        ("left-to-right shunt", "right-to-left shunt", "word_order"),
        ("leucocyte count", "leukocyte count", "spelling"),
        ("nad(p) binding", "nadp binding", "other"),
        ("cyst (liver)", "cyst liver", "punctuation"),
        ("with fever", "without fever", "negation"),
        ("left eye", "right eye", "side"),
        ("(+)-bornane", "(-)-bornane", "code"),
        ("5'-deiodinase", "5-deiodinase", "code"),
        ("ab", "ba", "letter"),
    ],
)
def test_differences_are_classified(one: str, other: str, kind: str) -> None:
    between = DifferenceClassifier([one, other]).between

    assert between(one, other).kind == between(other, one).kind == kind


def test_a_difference_has_the_parts_that_differ() -> None:
    assert DifferenceClassifier([]).between("type ii lesion", "type v lesion")[1:] == ("ii", "v")


@pytest.mark.parametrize(
    ("kind", "one", "other", "common"),
    [
        ("number", "type 1 gout", "type 12 gout", "type # gout"),
        ("number", "visual acuity 0.1", "visual acuity 1.0", "visual acuity #.#"),
        ("number", "2nd toe", "third toe", None),
        ("number", "monosomy of 1", "trisomy of 1", None),
        ("number", "type ii of 2", "type ii of 3", "type ii of #"),
        ("roman", "type ii of 2", "type iv of 2", "type # of #"),
        ("code", "hepatitis a", "hepatitis \u03b2", "hepatitis #"),
        ("code", "\u5fc3\u81d3 a", "\u809d\u81d3 a", None),
        ("side", "left eye", "right eye", None),
        ("number", "", "1", None),
    ],
)
def test_names_of_a_series_have_a_text_in_common(
    kind: str, one: str, other: str, common: str | None
) -> None:
    assert series_of(kind, one, other) == series_of(kind, other, one) == common
