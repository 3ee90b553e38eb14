"""Which terms count as covered: those of which all words have vectors, or any."""

from __future__ import annotations

from pathlib import Path

import pytest

import medsim

KNOWN = {"heart": (1.0, 0.2), "attack": (0.3, 1.0), "cardiac": (0.9, 0.1)}
PAIRS = [
    ("heart attack", "cardiac", 3),
    ("heart attack", "cardiac arrest", 2),
    ("heart", "attack", 1),
    ("arrest", "heart", 0),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = ["term1,term2,rating", *(",".join(map(str, pair)) for pair in PAIRS)]
    (tmp_path / "rated.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = [f"{word} {x} {y}" for word, (x, y) in KNOWN.items()]
    (tmp_path / "some.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path


def run(folder: Path, path: str = "some.txt", **options) -> medsim.Evaluation:
    given = {"resamples": 100, "metrics": ["avg_cos"], **options}
    return medsim.evaluate(
        folder / "rated.csv", {"some": f"{folder}/{path}"}, folder / "out", **given
    )


def covered(out: medsim.Evaluation) -> set[tuple[str, str]]:
    pairs, scores = out.pairs().collect(), out.scores().collect()
    found = pairs.join(scores.drop_nulls("similarity"), on="pair_id")
    return set(found.select("term1", "term2").rows())


def by_hand(needed) -> set[tuple[str, str]]:
    """Return the pairs of which both terms have vectors of as many words as are needed."""
    return {
        (one, other)
        for one, other, _ in PAIRS
        if all(needed(word in KNOWN for word in term.split()) for term in (one, other))
    }


@pytest.mark.parametrize(("options", "rule"), [({}, all), ({"coverage": "any"}, any)])
def test_all_words_must_have_vectors_unless_any_is_asked_for(folder: Path, options, rule) -> None:
    out = run(folder, **options)

    assert covered(out) == by_hand(rule)
    assert by_hand(all) != by_hand(any)
    assert out.manifest.options["coverage"] == rule.__name__
    told = ["coverage of all words" in signature for signature in out.results()["signature"]]
    assert all(told) if rule is all else not any(told)


@pytest.mark.parametrize(("of_all", "of_one", "rule"), [("all", "any", any), ("any", "all", all)])
def test_an_embedding_may_have_a_rule_of_its_own(
    folder: Path, of_all: str, of_one: str, rule
) -> None:
    out = run(folder, f"some.txt,coverage={of_one}", coverage=of_all)

    assert covered(out) == by_hand(rule)
    assert out.manifest.embeddings["some"]["options"] == {"coverage": of_one}
