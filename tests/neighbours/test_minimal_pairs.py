"""Pairs of names that one changed word tells apart."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from rapidfuzz.distance import Levenshtein

from medsim.neighbours.difference import MINIMAL_KINDS, DifferenceClassifier, minimal_pairs

SIDES = {"left", "right", "bilateral", "unilateral"}
NEGATIONS = {"not", "no", "absent"}
LEFT_OUT = SIDES | NEGATIONS - {"absent"}
WORDS = [*LEFT_OUT, "1", "2", "12", "ii", "x", "acute", "chronic", "typical", "atypical", "absent"]


def found(names: list[str], components: list[int] | None = None) -> set[tuple[str, str, str]]:
    """Return each pair with its kind."""
    lower = pl.Series(names, dtype=pl.String)
    groups = np.arange(len(names)) if components is None else np.array(components)
    pairs = minimal_pairs(lower, groups.astype(np.int32), threads=1)
    assert (pairs["row1"] < pairs["row2"]).all()
    return {(names[one], names[other], kind) for one, other, kind in pairs.iter_rows()}


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("fracture of left arm", "fracture of right arm", "side"),
        ("cleft lip", "cleft lip, bilateral", "side"),
        ("seizure with fever", "seizure without fever", "negation"),
        ("hodgkin lymphoma", "non-hodgkin lymphoma", "negation"),
        ("complete form", "incomplete form", "negation"),
        ("absent reflex", "present reflex", "negation"),
        ("acute renal failure", "chronic renal failure", "opposite"),
        ("anterior lobe", "posterior lobe", "opposite"),
        ("hyperkalemia", "hypokalemia", "opposite"),
        ("trisomy 9", "trisomy 21", "number"),
        ("monosomy 1p", "trisomy 1p", "number"),
        ("third toe", "fourth toe", "number"),
        ("type ii fibre", "type viii fibre", "roman"),
        ("hepatitis a", "hepatitis b", "code"),
        ("alpha chain", "gamma chain", "code"),
        ("ileum", "ilium", "letter"),
    ],
)
def test_one_changed_word_is_found(one: str, other: str, kind: str) -> None:
    assert found([one, other]) == {(one, other, kind)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("left arm of 1", "right arm of 2"),  # two words
        ("absent/small lens", "small lens"),  # no contrary
        ("tumour", "tumor"),  # the same word
        ("toe, short", "toe short"),
        ("impacted tooth", "impacted teeth"),
        ("renal failure", "liver failure"),
    ],
)
def test_other_differences_are_left_out(one: str, other: str) -> None:
    assert not found([one, other])


def test_linked_names_are_left_out() -> None:
    names = ["type 1", "type 2", "type 3"]

    assert {pair[:2] for pair in found(names, [0, 0, 1])} == {
        ("type 1", "type 3"),
        ("type 2", "type 3"),
    }


@pytest.mark.parametrize("names", [[], ["left arm"], ["", "-"]])
def test_few_names_have_no_pairs(names: list[str]) -> None:
    assert not found(names)


@pytest.mark.parametrize("seed", [1, 2])
def test_pairs_are_those_of_brute_force(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 — no secret
    names = sorted({" ".join(draw.choices([*WORDS, "toe", "lobe"], k=3)) for _ in range(250)})
    names += sorted({name.split(maxsplit=1)[1] for name in names} - {*names})
    between = DifferenceClassifier(names).between

    expected = set()
    for one, other in combinations(names, 2):
        words = sorted([one.split(), other.split()], key=len)
        short, long = words
        left_out = len(long) == len(short) + 1 and any(
            long[:at] + long[at + 1 :] == short and long[at] in LEFT_OUT for at in range(len(long))
        )
        differ = [pair for pair in zip(short, long, strict=False) if pair[0] != pair[1]]
        exchanged = len(long) == len(short) and len(differ) == 1
        if exchanged and len(NEGATIONS & {*differ[0]}) == len(SIDES & {*differ[0]}) == 1:
            continue  # a side for a negation is no change of one word
        if left_out or exchanged or Levenshtein.distance(one, other) == 1:
            kind = between(one, other).kind
            if kind in MINIMAL_KINDS:
                expected.add((one, other, kind))
    assert len({kind for _, _, kind in expected}) > 4
    assert found(names) == expected
